from datetime import UTC, timedelta
from uuid import UUID

import pytest

from approval_client.wire import Kind, OutcomeState, Status
from dashboard.approvals import guards
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.rules import history as history_rules
from dashboard.web.desk import history
from tests import make
from tests.web.pages import links, read

PLAN = {"kind": Kind.PLAN, "content": {"steps": [{"task": "look"}]}}


def on_page(browser, query=""):
    """The ids on a page of the history, in its order."""
    response = browser.get(f"/history{query}")
    assert response.status_code == 200
    found = links(next(read(response).all("tbody"), read(response).one("p")))
    return [href.rpartition("/")[2] for _, href in found if href.startswith("/approvals/")]


def ids(*approvals):
    return [str(approval.pk) for approval in approvals]


def test_the_newest_stands_first(browser, ask):
    asked = [ask() for _ in range(3)]

    assert on_page(browser) == ids(*asked[::-1])


def test_a_row_says_who_answered_after_how_long_and_what_came_of_it(browser, token, bob):
    approval = make.approved(token, bob)
    make.report(approval, token)
    make.report(approval, token, OutcomeState.FINISHED, exit_code=0)

    row = read(browser.get("/history")).one("tbody").one("tr")

    answer, then = row.one("td", **{"data-label": "Answer"}), row.one(**{"data-label": "Outcome"})
    assert [p.text.partition(" after ")[0] for p in answer.all("p")] == ["Approved", "by bob"]
    assert then.text == "finished, exit code 0"


def test_a_row_says_that_what_was_approved_is_not_what_was_asked(browser, ask, alice, bob):
    approval = ask(accepts_edits=True)
    edit = make.edited(approval, alice)
    make.decided(approval, bob, basis=make.basis(approval, edit))

    answer = read(browser.get("/history")).one("td", **{"data-label": "Answer"})

    said = [p.text.partition(" after ")[0] for p in answer.all("p")]
    assert said == ["Approved", "with a change by bob"]


@pytest.mark.parametrize(
    "query",
    ["?kind=plan", "?run=eek", "?status=rejected", "?source=reviewer", "?decided_by=bob"],
)
def test_each_filter_leaves_what_fits(browser, ask, bob, query):
    ask()
    wanted = ask(run_id="week", **PLAN)
    make.decided(wanted, bob, Status.REJECTED, reason="No.")

    assert on_page(browser, query) == ids(wanted)


def test_the_tool_is_a_filter_beside_all_others(browser, ask):
    call = {"kind": Kind.TOOL_CALL, "content": {"tool": "delete_all", "arguments": {}}}
    ask(), ask(**call | {"content": {"tool": "look", "arguments": {}}})
    wanted = ask(**call)

    assert on_page(browser, "?tool=delete_all") == ids(wanted)
    assert on_page(browser, "?agent=beamline&kind=tool_call&tool=delete_all") == ids(wanted)
    assert on_page(browser, "?tool=delete") == []


def test_the_agent_is_a_filter(browser, ask):
    ask()
    other = make.pending(make.token(make.agent("other")))

    assert on_page(browser, "?agent=other") == ids(other)


@pytest.mark.parametrize(("days", "found"), [(0, True), (1, False)])
def test_days_are_a_filter_and_both_belong_to_it(browser, ask, days, found):
    approval = ask()
    asked_at = approval.submitted_at.astimezone(UTC).date()
    day = asked_at - timedelta(days=days)

    query = f"?since={day - timedelta(days=1)}&until={day}"
    assert on_page(browser, query) == (ids(approval) if found else [])


@pytest.mark.parametrize("query", ["?until=9999-12-31", "?since=0001-01-01"])
def test_the_first_and_the_last_day_there_is_leave_out_nothing(browser, ask, query):
    approval = ask()

    assert on_page(browser, query) == ids(approval)


def test_pages_follow_each_other_without_a_gap_and_keep_the_filter(browser, ask, monkeypatch):
    monkeypatch.setattr(history, "PAGE_SIZE", 2)
    asked = [ask(run_id="r") for _ in range(5)]
    ask(run_id="s")

    found, query = [], "?run=r"
    while query:
        page = read(browser.get(f"/history{query}"))
        found += on_page(browser, query)
        query = next((href[8:] for text, href in links(page) if text == "Older"), "")

    assert found == ids(*asked[::-1])


def test_what_was_asked_in_the_same_moment_is_on_one_page_only(browser, ask, monkeypatch):
    monkeypatch.setattr(history, "PAGE_SIZE", 1)
    asked = [ask(), ask()]
    guards.remove()
    ApprovalRequest.objects.update(submitted_at=asked[0].submitted_at)
    guards.install()

    first = on_page(browser)
    (older,) = [h for t, h in links(read(browser.get("/history"))) if t == "Older"]

    assert sorted(first + on_page(browser, older[8:])) == sorted(ids(*asked))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?kind=nothing", "There is no such kind. Choose one of the list."),
        ("?status=x", "There is no such status. Choose one of the list."),
        ("?source=x", "There is no such way to be answered. Choose one of the list."),
        ("?since=yesterday", "Enter a valid date, such as 2026-03-31."),
        ("?until=2026-02-30", "Enter a valid date, such as 2026-03-31."),
        ("?since=2026-03-02&until=2026-03-01", "This is before the first day, so no day is left."),
        ("?run=%00", "Null characters are not allowed."),
        ("?agent=%3Cb%3E", "Use up to 100 letters"),
        ("?after=x", "The address of this page is damaged."),
        ("?after=2026-01-01_x", "The address of this page is damaged."),
        (
            f"?after=0001-01-01T00:00:00%2B14:00_{UUID(int=7)}",
            "The address of this page is damaged.",
        ),
    ],
)
def test_a_filter_that_makes_no_sense_is_told_so_and_finds_nothing(browser, ask, query, said):
    ask()
    page = read(browser.get(f"/history{query}"))

    assert said in page.text
    assert page.one("h2").text == "Nothing was searched"
    assert browser.post(f"/history/export{query}").status_code == 400


def test_an_empty_history_says_so(browser):
    assert "No agent has asked anything yet." in read(browser.get("/history")).text


def test_a_filter_that_nothing_fits_leads_back_to_all(browser, ask):
    ask()

    page = read(browser.get("/history?kind=plan"))

    assert page.one("h2").text == "No requests"
    assert ("Clear filters", "/history") in links(page)


def test_hidden_characters_are_drawn_and_no_link_speaks_for_an_agent(browser, ask):
    ask(run_id="evil\u202e", content={"code": "evil\u202e"})

    page = read(browser.get("/history"))

    assert "\u202e" not in page.raw
    assert [a.text for a in page.all("a") if "evil" in a.text] == []


@pytest.mark.parametrize("role", ["reviewer", "admin", "auditor"])
def test_readers_find_it_in_the_navigation(db, browser_of, role):
    reader = browser_of(make.person("rita", **{role: True}))

    page = read(reader.get("/history"))

    assert ("History", "/history") in links(page.one("nav", class_="nav"))


def test_without_a_role_nothing_is_read_or_exported(db, browser_of):
    nora = browser_of(make.person("nora"))

    assert nora.get("/history").status_code == 403
    assert nora.post("/history/export", {"format": "csv"}).status_code == 403


def test_thirty_rows_cost_as_many_queries_as_one(browser, token, alice, count_queries):
    make.report(make.approved(token, alice, run_id="r"), token)
    one = count_queries(lambda: browser.get("/history"))
    for _ in range(29):
        make.report(make.approved(token, alice, run_id="r"), token)

    assert count_queries(lambda: browser.get("/history")) == one


def test_a_page_says_how_far_back_it_looked_and_the_next_goes_on_there(
    browser, ask, bob, monkeypatch
):
    monkeypatch.setattr(history_rules, "LOOKED_THROUGH", 3)
    monkeypatch.setattr(history, "PAGE_SIZE", 2)
    wanted = [ask(run_id="r") for _ in range(3)]
    for _ in range(4):
        ask()

    page = read(browser.get("/history?run=r"))
    ((older, href),) = [link for link in links(page) if "after" in link[1]]

    assert page.one("h2").text == "Nothing found yet"
    assert "This page looked through 3 requests, back to" in page.text
    assert older == "Look further back"
    found, query = [], href[8:]
    while query:
        page = read(browser.get(f"/history{query}"))
        found += on_page(browser, query)
        query = next((href[8:] for _, href in links(page) if "after" in href), "")
    assert found == ids(*wanted[::-1])


def test_what_is_asked_while_a_page_is_read_makes_nothing_stand_twice(browser, ask, monkeypatch):
    monkeypatch.setattr(history_rules, "_STEP", 2)
    monkeypatch.setattr(history, "PAGE_SIZE", 8)
    wanted = [ask(run_id="r") for _ in range(4)]
    place = history_rules.HistoryPlace

    def asked_meanwhile(*fields):
        ask()
        return place(*fields)

    monkeypatch.setattr(history_rules, "HistoryPlace", asked_meanwhile)

    assert on_page(browser, "?run=r") == ids(*wanted[::-1])


def test_an_agent_that_is_not_there_asked_nothing(browser, ask):
    ask()

    assert on_page(browser, "?agent=nobody") == []
