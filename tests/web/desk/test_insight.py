"""The page of figures: what it counts, for whom, and in which order."""

from datetime import UTC, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from approval_client.wire import Status
from dashboard.approvals import guards
from dashboard.approvals.models import ApprovalRequest, View, Vote
from dashboard.approvals.rules import insight
from dashboard.approvals.services import mark_viewed, sum_up
from tests import make
from tests.web.pages import links, read


@pytest.fixture
def auditor(browser_of, db):
    return browser_of(make.person("olga", auditor=True))


def page(browser, query=""):
    response = browser.get(f"/insight{query}")
    assert response.status_code == 200
    return read(response)


def table(browser, query=""):
    """The open table, as rows of texts."""
    section = page(browser, query).one(id="table")
    cells = [[c.text for c in row.all() if c.tag in ("th", "td")] for row in section.all("tr")]
    return cells[1:]


def sums(browser, query=""):
    found = page(browser, query).one("dl", class_="sums")
    return {d.one("dt").text: d.one("strong").text for d in found.all("div")}


def seen(approval, person, ago):
    """Have somebody have seen something ``ago`` seconds ago."""
    mark_viewed(approval_id=approval.pk, person=person, auth="session:password")
    at = timezone.now() - timedelta(seconds=ago)
    View.objects.filter(approval=approval, person=person).update(seen_at=at)


def asked_before(approval, **ago):
    guards.remove()
    at = approval.submitted_at - timedelta(**ago)
    ApprovalRequest.objects.filter(pk=approval.pk).update(submitted_at=at)
    guards.install()


def test_nothing_asked_is_a_state_of_its_own(browser):
    assert "No requests in this period" in page(browser).text


def test_the_sums_count_requests_answers_and_what_nobody_saw(browser, ask, alice):
    make.decided(ask(), alice)
    make.decided(ask(), alice, Status.REJECTED, reason="No.")
    found = sums(browser)

    assert (found["Requests"], found["Approved by people"]) == ("2", "50 %")
    assert found["Expired unseen"] == "0"


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("agent", {"beamline", "other"}),
        ("capability", {"python_execution", "caput"}),
        ("rule", {"no rule: the modes revision 1"}),
    ],
)
def test_requests_are_summed_up_by_agent_capability_and_rule(browser, ask, by, names):
    ask()
    make.pending(make.token(make.agent("other")), capability="caput")

    assert {row[0] for row in table(browser, f"?by={by}")} == names


def test_the_rule_that_decided_stands_with_its_revisions(browser, token):
    make.in_force({"name": "All of it", "effect": "review"})
    make.pending(token)

    assert [row[0] for row in table(browser, "?by=rule")] == ["All of it revision 2"]


def test_a_day_is_one_of_the_calendar(browser, ask):
    today = timezone.now().astimezone(UTC).date()
    ask()
    asked_before(ask(), days=1)

    found = [row[:2] for row in table(browser, "?by=day")]

    assert found == [[f"{today}", "1"], [f"{today - timedelta(days=1)}", "1"]]


@pytest.mark.parametrize(("query", "count"), [("?days=7", 1), ("?days=30", 2), ("?days=90", 2)])
def test_days_back_are_a_filter(browser, ask, query, count):
    ask()
    asked_before(ask(), days=10)

    assert sums(browser, query)["Requests"] == str(count)


def test_other_days_leave_the_table_its_order_and_the_zone(browser, ask):
    ask()
    query = "by=day&sort=-asked&zone=Asia%2FKolkata"

    form = page(browser, f"?{query}").one("form", class_="filter")

    hidden = {field["name"]: field["value"] for field in form.all("input", type="hidden")}
    assert hidden == {"by": "day", "sort": "-asked", "zone": "Asia/Kolkata"}


def test_named_days_are_a_filter_and_both_belong_to_it(browser, ask):
    day = (ask().submitted_at.astimezone(UTC) - timedelta(days=3)).date()
    asked_before(ask(), days=3)

    assert sums(browser, f"?since={day}&until={day}")["Requests"] == "1"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?days=8", "Choose 7, 30 or 90 days"),
        ("?by=x", "There is no such table."),
        ("?until=2026-01-01", "Name the first day too."),
        ("?since=2026-01-02&until=2026-01-01", "This is before the first day"),
        ("?since=2020-01-02&until=2026-01-01", "These are more than 366 days."),
        ("?since=x", "Enter a valid date"),
        ("?zone=Mars/Olympus", "There is no such time zone."),
        ("?zone=../../etc/passwd", "There is no such time zone."),
        ("?sort=%00", "Null characters are not allowed."),
    ],
)
def test_an_address_that_makes_no_sense_is_told_so(browser, query, said):
    response = browser.get(f"/insight{query}")

    assert response.status_code == 400
    assert said in read(response).text


@pytest.mark.parametrize("query", ["?since=9999-12-31", "?since=0001-01-01", "?sort=nothing"])
def test_the_first_and_the_last_day_there_is_are_no_trouble(browser, ask, query):
    ask()

    page(browser, query)


def test_a_head_sorts_by_its_column_and_the_other_way_again(browser, ask):
    ask(capability="a")
    ask(capability="b")
    ask(capability="b")

    def names(query):
        return [row[0] for row in table(browser, query)]

    assert names("?by=capability") == ["b", "a"]
    assert names("?by=capability&sort=asked") == names("?by=capability&sort=name") == ["a", "b"]
    head = page(browser, "?by=capability").one(id="table").one("thead")
    assert [a["href"] for a in head.all("a") if a.text == "Requests"] == [
        "?by=capability&sort=asked#table"
    ]
    assert [th.text for th in head.all("th") if "aria-sort" in th.attributes] == ["Requests"]


def test_what_has_no_value_comes_last_either_way(browser, ask, alice):
    make.decided(ask(capability="decided"), alice)
    ask(capability="waits")

    for sort in ("rate", "-rate"):
        rows = table(browser, f"?by=capability&sort={sort}")
        assert [row[0] for row in rows] == ["decided", "waits"]


def test_auditors_compare_people_and_reviewers_see_their_own_row(
    auditor, browser, ask, alice, bob
):
    for person in (alice, bob):
        make.decided(ask(), person)

    assert {row[0] for row in table(auditor, "?by=person")} == {"alice", "bob"}
    assert [row[0] for row in table(browser, "?by=person")] == ["alice"]


def test_a_quick_yes_is_listed_with_its_lines_for_auditors_and_its_giver(
    auditor, browser, browser_of, ask, alice, bob
):
    approval = ask()
    seen(approval, alice, ago=0.2)
    make.decided(approval, alice, shown={"lines": 40})

    for reader, listed in ((auditor, True), (browser, True), (browser_of(bob), False)):
        hrefs = [href for _, href in links(page(reader))]
        assert (f"/approvals/{approval.pk}" in hrefs) is listed
    assert sums(auditor)["Fast approvals"] == "1"


def test_a_yes_on_a_second_short_look_is_quick(auditor, ask, alice):
    approval = ask()
    seen(approval, alice, ago=20)
    spans = [[1, 2, 0], [3, 3, 1]]
    make.decided(approval, alice, shown={"lines": 3, "in_view": {"spans": spans}})

    assert sums(auditor)["Fast approvals"] == "1"
    assert "in view under 2 s" in page(auditor).text


def test_a_slow_yes_to_few_lines_is_not_listed(auditor, ask, alice):
    approval = ask()
    seen(approval, alice, ago=20)
    make.decided(approval, alice, shown={"lines": 40})

    assert "No fast approvals in this period." in page(auditor).text
    assert Vote.objects.count() == 1


def test_the_same_content_answered_differently_is_listed_with_the_reason(browser, ask, alice, bob):
    make.decided(ask(), alice)
    make.decided(ask(), bob, Status.REJECTED, reason="Wrong sector.")

    (both,) = page(browser).one("ul", class_="disagreed").all("li", class_="card")

    assert "Rejected by bob" in both.text
    assert "Wrong sector." in both.text
    assert "Approved by alice" in both.text


def test_an_answer_that_is_listed_is_told_as_in_the_queue(browser, ask, alice, bob):
    approvals = [ask(content={"code": "x = 1\n" * 3_000}) for _ in range(2)]
    seen(approvals[0], alice, ago=0.2)
    make.decided(approvals[0], alice, shown={"lines": 40})
    make.decided(approvals[1], bob, Status.REJECTED, reason="Wrong sector.")

    listed = [text for text, href in links(page(browser)) if href.startswith("/approvals/")]

    assert listed == ["Code, 3,000 lines: not fully inspected"] * 3


def test_hidden_characters_are_drawn_and_no_link_speaks_for_an_agent(browser, ask):
    ask(capability="evil\u202e")

    shown = page(browser, "?by=capability")

    assert "\u202e" not in shown.raw
    assert [a.text for a in shown.all("a") if "evil" in a.text] == []


def test_what_no_sum_has_yet_is_counted_up_to_a_limit_and_that_is_said(
    browser, ask, alice, monkeypatch
):
    monkeypatch.setattr(insight, "MOST", 2)
    for _ in range(3):
        make.decided(ask(), alice)

    assert sums(browser)["Requests"] == "2"
    assert "Some requests are not counted yet." in page(browser).text

    sum_up()

    assert sums(browser)["Requests"] == "3"
    assert "Some requests are not counted yet." not in page(browser).text


def test_of_many_that_wait_some_are_counted_and_that_is_said(browser, ask, monkeypatch):
    monkeypatch.setattr(insight, "MOST", 2)
    for _ in range(3):
        ask()

    assert "Of what waits now, only 2 requests are counted" in page(browser).text


@pytest.mark.parametrize("by", ["agent", "rule", "person", "day"])
def test_thirty_requests_cost_as_many_queries_as_one(auditor, token, alice, count_queries, by):
    make.approved(token, alice, capability="c")
    one = count_queries(lambda: auditor.get(f"/insight?by={by}"))
    for number in range(29):
        make.approved(token, alice, capability=f"c{number}")

    assert count_queries(lambda: auditor.get(f"/insight?by={by}")) == one


def test_without_a_role_nothing_is_read(db, browser_of):
    assert browser_of(make.person("nora")).get("/insight").status_code == 403


def chart(browser, name, query=""):
    """The sentences of a chart, those that say of anything first."""
    (figure,) = [
        f for f in page(browser, query).all("figure") if f.one("h2")["id"] == f"{name}-title"
    ]
    return [mark.one("title").text for mark in figure.all(class_="mark")]


def test_requests_per_day_say_the_outcomes_of_each_day(browser, ask, alice):
    make.decided(ask(), alice)
    ask()
    today = timezone.now().astimezone(UTC)

    days = chart(browser, "days")

    assert len(days) == 30
    assert days[-1] == (
        f"{today:%a} {today.day} {today:%b %Y}: 2 requests, 1 approved, 1 waiting or withdrawn"
    )
    assert all(day.endswith(": no requests") for day in days[:-1])


def test_the_time_to_decision_stands_beside_the_time_limit(browser, ask, alice):
    make.decided(ask(), alice)
    shown = page(browser)

    assert [limit.text for limit in shown.all(class_="limit")] == ["limit 30 min (1)"]
    assert sum("1 decision," in says for says in chart(browser, "decision")) == 1


def test_an_approval_is_a_dot_that_says_the_time_in_view_and_the_lines(auditor, ask, alice):
    approval = ask()
    seen(approval, alice, ago=0)
    make.decided(approval, alice, shown={"lines": 116})
    View.objects.update(seen_at=Vote.objects.get().voted_at - timedelta(seconds=3))

    assert chart(auditor, "reading") == ["In view 4.0 s, 116 lines, approved by alice"]


def test_approvals_of_others_are_dots_for_auditors_only(auditor, browser_of, ask, alice, bob):
    approval = ask()
    seen(approval, alice, ago=3)
    make.decided(approval, alice, shown={"lines": 4})

    assert len(chart(auditor, "reading")) == 1
    assert chart(browser_of(bob), "reading") == []


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata"])
def test_waiting_is_shown_by_the_hours_of_the_zone(browser, ask, alice, zone):
    approval = ask()
    make.decided(approval, alice)
    at = approval.submitted_at.astimezone(ZoneInfo(zone))

    (said,) = [s for s in chart(browser, "hours", f"?zone={zone}") if "waited" in s]

    assert said.startswith(f"{at:%A %H}:00 to ")


def test_a_period_of_open_requests_has_plain_empty_charts(browser, ask):
    ask(time_limit_s=None)
    shown = page(browser).text

    assert "No approvals in this period." in shown
    assert "No answered or expired requests in this period." in shown


def test_each_agent_has_a_line_of_its_approvals(browser, ask, alice):
    make.decided(ask(), alice)

    line = page(browser).one(id="table").one(class_="spark")

    assert line.one("title").text.startswith("1 approved, at most 1 a day: 0, 0,")


def test_more_days_than_columns_are_drawn_together(browser, ask):
    ask()
    year = (timezone.now() - timedelta(days=365)).date()

    assert len(chart(browser, "days", f"?since={year}")) == 92


def test_all_values_of_the_days_stand_in_a_table(browser, ask, alice):
    make.decided(ask(), alice)
    (figure,) = [f for f in page(browser).all("figure") if f.one("h2")["id"] == "days-title"]

    rows = [[c.text for c in row.all("td")] for row in figure.one("tbody").all("tr")]

    assert rows[-1] == ["1", "0", "0", "0", "0", "1"]
    assert len(rows) == 30
