from datetime import timedelta

import pytest
from django.utils import timezone

from approval_client.wire import Kind, Status
from dashboard.approvals.services import note_polls
from dashboard.inspection.findings import Finding, Severity
from dashboard.web.desk import queue
from tests import make
from tests.web.pages import read

CODE = {"code": "import os\n# tidy up\nos.remove('a')", "language": "python"}


def items(response):
    return list(read(response).one(id="list").all("li", class_="item"))


def gists(response):
    return [item.one(class_="item-summary").text for item in items(response)]


def test_what_has_least_time_left_comes_first(browser, ask):
    later = ask(time_limit_s=900)
    sooner = ask(time_limit_s=60)

    shown = [item["data-id"] for item in items(browser.get("/"))]

    assert shown == [str(sooner.pk), str(later.pk)]


def test_a_row_says_kind_agent_gist_and_time_left_and_its_link_only_our_words(
    browser, ask, inspected
):
    inspected()
    ask(content=CODE, run_id="r1", time_limit_s=600)

    item = items(browser.get("/"))[0]

    assert item.one("a").text == "Code from beamline"
    assert item.one(class_="item-summary").text == "In the agent’s words: os.remove('a')"
    assert item.one(class_="left")["data-tone"] == "calm"
    assert item.one(class_="item-run").text == "run r1"


def test_each_kind_has_a_gist_of_its_own(browser, ask):
    call = {"tool": "send", "arguments": {"to": "all"}}
    ask(kind=Kind.TOOL_CALL, capability="send", content=call)
    ask(kind=Kind.PLAN, capability="plan", content={"steps": [{"do": "look"}, {"do": "act"}]})
    note = {"operation": "add", "user_id": "u", "content": "Likes tea.", "existing": None}
    ask(kind=Kind.MEMORY, capability="memory", content=note)

    said = "In the agent’s words: "
    assert gists(browser.get("/")) == [
        said + 'send {"to":"all"}',
        said + "look",
        said + "Likes tea.",
    ]


def test_hidden_characters_of_a_gist_and_a_run_are_drawn(browser, ask, inspected):
    inspected()
    ask(content={"code": "a\u202eb"}, run_id="\u200b")

    item = items(browser.get("/"))[0]

    assert [glyph.text for glyph in item.all(class_="glyph")] == ["RLO", "ZWSP"]


def test_an_agent_cannot_write_markup_into_the_list(browser, ask):
    ask(content={"code": "<b>'\"&</b>"}, run_id="<i>")

    item = items(browser.get("/"))[0]

    assert [*item.all("b"), *item.all("i")] == []


def test_nobody_is_waiting_when_the_agent_has_stopped_asking(browser, token, ask):
    approval = ask()
    long_ago = timezone.now() - timedelta(seconds=50)
    make._backdate(approval, submitted_at=long_ago)
    note_polls({approval.pk: long_ago})

    alone = [e.text for e in items(browser.get("/"))[0].all(class_="item-alone")]

    assert alone == ["nobody is waiting any more"]


def test_somebody_is_waiting_while_the_agent_polls(browser, ask):
    approval = ask()
    make._backdate(approval, submitted_at=timezone.now() - timedelta(seconds=50))
    note_polls({approval.pk: timezone.now()})

    assert list(items(browser.get("/"))[0].all(class_="item-alone")) == []


def test_the_decided_tab_says_who_and_what(browser, ask, alice, bob, inspected):
    inspected()
    make.decided(ask(), bob, Status.REJECTED)
    make.decided(ask(), alice)

    shown = [
        (item.one(class_="badge").text, item.one(class_="item-meta").text)
        for item in items(browser.get("/?show=decided"))
    ]

    assert shown == [("Approved", "by you just now"), ("Rejected", "by bob just now")]


@pytest.mark.parametrize(
    ("severity", "shown"),
    [
        (Severity.HIGH, ["Found: high"]),
        (Severity.MEDIUM, ["Found: medium"]),
        (Severity.LOW, ["Found: low"]),
        (Severity.INFO, []),
    ],
)
def test_a_row_shows_the_gravest_finding(browser, ask, inspected, severity, shown):
    inspected(
        Finding("file-read", Severity.INFO, 1, 1, 'Says "severity":"high" in its sentence.'),
        Finding("network", severity, 1, 1, "Opens a connection."),
    )
    ask()

    row = items(browser.get("/"))[0]

    assert [risk.text for risk in row.all(class_="risk")] == shown


def test_a_row_without_findings_shows_none(browser, ask, inspected):
    inspected()
    ask()

    assert list(items(browser.get("/"))[0].all(class_="risk")) == []


def test_the_decided_tab_says_that_a_remembered_yes_answered(browser, token, alice, inspected):
    inspected()
    make.granted(token, alice)
    make.pending(token, accepts_grants=True)

    rows = items(browser.get("/?show=decided"))

    told = [row.one(class_="item-meta").text for row in rows]
    assert told == ["by a remembered yes just now", "by you just now"]


def test_both_tabs_count_what_waits(browser, ask, alice):
    ask()
    make.decided(ask(), alice)

    counts = [read(browser.get(f"/?show={tab}")).one(class_="count") for tab in ("", "decided")]

    assert [count.text for count in counts] == ["1", "1"]


def test_the_next_action_is_the_most_urgent_request(browser, ask):
    ask(time_limit_s=900)
    urgent = ask(time_limit_s=60)

    button = read(browser.get("/")).one(id="pane").one(class_="button--primary")

    assert (button.text, button["href"]) == ("Read the most urgent", f"/approvals/{urgent.pk}")


def test_the_empty_queue_says_what_will_appear_and_how_to_connect_an_agent(browser):
    page = read(browser.get("/"))

    assert page.one("h2").text == "Nothing waits for an answer"
    assert "DASHBOARD_URL=http://127.0.0.1:8000" in page.one("pre").text
    assert "start --demo" in page.one(class_="empty").text


def test_a_long_queue_is_cut_and_says_so(browser, ask, monkeypatch):
    monkeypatch.setattr(queue, "MOST_ROWS", 2)
    for _ in range(3):
        ask()

    page = read(browser.get("/"))

    assert len(list(page.all("li", class_="item"))) == 2
    assert page.one(class_="queue-end").text.startswith("and 1 more")
    assert page.one(class_="count").text == "3"


@pytest.mark.parametrize("tab", ["waiting", "decided"])
def test_thirty_rows_cost_as_many_queries_as_one(
    browser, ask, alice, tab, django_assert_num_queries, count_queries
):
    def one_more():
        approval = ask()
        if tab == "decided":
            make.decided(approval, alice)

    one_more()
    cost = count_queries(lambda: browser.get(f"/?show={tab}"))
    for _ in range(29):
        one_more()

    with django_assert_num_queries(cost):
        browser.get(f"/?show={tab}")


def test_the_list_alone_is_what_open_pages_fetch(browser, ask):
    ask()

    page = read(browser.get("/queue", headers={"HX-Request": "true"}))

    assert [e["id"] for e in page.inside if hasattr(e, "tag")] == ["list", "choose"]


def test_somebody_without_a_role_is_told_what_they_lack(browser_of, db):
    response = browser_of(make.person("nora")).get("/")

    assert response.status_code == 403
    assert read(response).one("h1").text == "You may not read this yet"


def test_somebody_signed_out_is_sent_to_sign_in(client):
    response = client.get("/", HTTP_HOST="127.0.0.1:8000")

    assert (response.status_code, response["Location"]) == (302, "/sign-in?next=/")
