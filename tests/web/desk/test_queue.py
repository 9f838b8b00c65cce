import re
from functools import partial

import pytest
from django.utils import timezone

from approval_client.wire import Kind, Status
from dashboard.approvals import services
from dashboard.approvals.services import note_polls
from dashboard.inspection.findings import Finding, Severity
from dashboard.inspection.sentences import SENTENCES
from dashboard.notifications.services import set_webhook
from dashboard.web.desk import queue
from tests import make
from tests.web.pages import links, read

NETWORK = SENTENCES["uses-network"].rstrip(".")
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


def test_a_row_says_what_it_is_whose_and_how_much_time_is_left(browser, ask, inspected):
    inspected()
    ask(content=CODE, run_id="r1", time_limit_s=600)

    item = items(browser.get("/"))[0]

    assert item.one("a").text == "Python, 3 lines"
    assert item.one(class_="item-agent").text == "beamline"
    assert item.one(class_="item-summary").text == "In the agent’s words: os.remove('a')"
    assert item.one(class_="left")["data-tone"] == "calm"
    assert re.fullmatch(r"9:5\d|10:00", item.one(class_="left").text)
    assert item.one(class_="left-rest")["width"] in {"99", "100"}


def test_each_kind_has_a_title_and_a_line_of_its_own(browser, ask):
    call = {"tool": "send", "arguments": {"to": "all", "text": "Hi"}}
    ask(kind=Kind.TOOL_CALL, capability="send", content=call)
    ask(kind=Kind.PLAN, capability="plan", content={"steps": [{"do": "look"}, {"do": "act"}]})
    note = {"operation": "add", "user_id": "u", "content": "Likes tea.", "existing": None}
    ask(kind=Kind.MEMORY, capability="memory", content=note)

    response = browser.get("/")

    titles = [item.one("a").text for item in items(response)]
    assert titles == ["send all", "Plan, 2 steps", "Memory of u: +1 line"]
    said = "In the agent’s words: "
    assert gists(response) == [
        said + "text=Hi",
        said + "look … and 1 more",
        said + "Likes tea.",
    ]


def test_where_the_title_says_it_all_the_line_is_the_purpose(browser, ask):
    call = {"tool": "send", "arguments": {"to": "all"}}
    ask(kind=Kind.TOOL_CALL, capability="send", content=call, objective="<b>Tell\u200b them")

    purpose = items(browser.get("/"))[0].one(class_="item-purpose")

    assert purpose.text == "The agent says: <b>TellZWSP them"


def test_hidden_characters_of_a_line_are_drawn(browser, ask, inspected):
    inspected()
    ask(content={"code": "a\u202eb"}, run_id="\u200b")

    item = items(browser.get("/"))[0]

    assert [glyph.text for glyph in item.all(class_="glyph")] == ["RLO"]


def test_an_agent_cannot_write_markup_into_the_list(browser, ask):
    ask(content={"code": "<b>'\"&</b>"}, run_id="<i>")

    item = items(browser.get("/"))[0]

    assert [*item.all("b"), *item.all("i")] == []


@pytest.fixture
def abandoned(ask):
    """A request whose agent has stopped asking."""
    approval = ask()
    make.silent(approval)
    return approval


def test_what_no_agent_waits_for_is_one_row_that_leads_to_all_of_it(browser, ask, abandoned):
    waiting = ask()

    page = read(browser.get("/"))

    assert [item["data-id"] for item in page.all("li", class_="item")] == [str(waiting.pk)]
    assert page.one(class_="abandoned").text == "1 abandoned (agent gone) Show"
    assert counts(page) == ["1", "1"]
    listed = items(browser.get(page.one(class_="abandoned").one("a")["href"]))
    assert [item["data-id"] for item in listed] == [str(abandoned.pk)]
    assert listed[0].one(class_="item-away")["title"] == "The agent stopped waiting"


def test_the_open_request_has_its_row_though_no_agent_waits_for_it(browser, ask, abandoned):
    ask()

    assert len(items(browser.get(f"/approvals/{abandoned.pk}"))) == 2
    beside = f"http://127.0.0.1:8000/approvals/{abandoned.pk}?order=risk"
    assert len(items(browser.get("/queue", headers={"HX-Current-URL": beside}))) == 2
    assert len(items(browser.get("/queue", headers={"HX-Current-URL": "//[x"}))) == 1


def test_somebody_is_waiting_while_the_agent_polls(browser, ask, abandoned):
    note_polls({abandoned.pk: timezone.now()})

    assert [item["data-id"] for item in items(browser.get("/"))] == [str(abandoned.pk)]


def test_an_agent_that_is_called_need_not_wait(browser, agent, ada, abandoned):
    webhook = set_webhook(agent=agent, url="https://a.example/", by=ada, auth="session:password")[
        0
    ]

    page = f"/approvals/{abandoned.pk}"
    assert len(items(browser.get("/"))) == 1
    assert "Agent gone" not in browser.get(page).text
    type(webhook).objects.update(is_active=False)
    assert items(browser.get("/")) == []
    assert "Agent gone" in browser.get(page).text


def test_what_is_abandoned_and_assigned_to_me_stays_under_my_name(browser, alice, abandoned):
    services.assign(approval_id=abandoned.pk, person=alice, auth="session:password")

    assert len(items(browser.get("/?show=assigned"))) == 1
    assert items(browser.get("/?mine=1")) == []


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
        (Severity.HIGH, f"High risk: {NETWORK}"),
        (Severity.MEDIUM, f"Medium risk: {NETWORK}"),
        (Severity.LOW, f"Low risk: {NETWORK}"),
        (Severity.INFO, "Code"),
    ],
)
def test_a_row_shows_the_gravest_finding(browser, ask, inspected, severity, shown):
    inspected(
        Finding("file-read", Severity.INFO, 1, 1, "file-read", about='"severity":"high"'),
        Finding("network", severity, 1, 1, "uses-network"),
    )
    ask()

    sign = items(browser.get("/"))[0].one(class_="sign")

    assert (sign["title"], sign.text) == (shown, shown)


def test_a_row_without_findings_shows_its_kind(browser, ask, inspected):
    inspected()
    ask()

    assert items(browser.get("/"))[0].one(class_="sign")["title"] == "Code"


def test_the_decided_tab_says_that_a_remembered_yes_answered(browser, token, alice, inspected):
    inspected()
    make.granted(token, alice)
    make.pending(token, accepts_grants=True)

    rows = items(browser.get("/?show=decided"))

    told = [row.one(class_="item-meta").text for row in rows]
    assert told == ["by a remembered approval just now", "by you just now"]


def counts(page):
    return [count.text for count in page.one(class_="tabs").all(class_="count")]


def test_every_tab_counts_what_waits(browser, ask, alice):
    ask()
    make.decided(ask(), alice)

    assert (
        counts(read(browser.get("/"))) == counts(read(browser.get("/?show=decided"))) == ["1", "1"]
    )


@pytest.mark.parametrize(
    ("tab", "words"),
    [
        ("", "No requests are waiting."),
        ("?show=assigned", "Nothing is assigned to you."),
        ("?show=snoozed", "No snoozed requests."),
        ("?show=abandoned", "No abandoned requests."),
        ("?show=decided", "No decisions yet."),
        ("?q=x", "Nothing matches your filters."),
    ],
)
def test_an_empty_list_says_so_in_one_sentence(browser, tab, words):
    assert read(browser.get(f"/{tab}")).one(class_="queue-end").text == words


def test_the_next_action_is_the_most_urgent_request(browser, ask):
    ask(time_limit_s=900)
    urgent = ask(time_limit_s=60)

    button = read(browser.get("/")).one(id="pane").one(class_="button--primary")

    assert (button.text, button["href"]) == ("Open the most urgent", f"/approvals/{urgent.pk}")


def test_the_empty_queue_says_what_will_appear_and_how_to_connect_an_agent(browser):
    page = read(browser.get("/"))

    assert page.one("h2").text == "No requests are waiting"
    assert "DASHBOARD_URL=http://127.0.0.1:8000" in page.one("pre").text
    assert "start --demo" in page.one(class_="empty").text


@pytest.fixture
def five(ask, monkeypatch):
    """Five requests that no page holds together."""
    monkeypatch.setattr(queue, "MOST_ROWS", 2)
    return [str(ask(time_limit_s=100 * (n + 1)).pk) for n in range(5)]


def ids(response):
    return [item["data-id"] for item in items(response)]


def test_all_of_a_long_queue_is_reached_page_by_page(browser, five):
    found, address = [], "/"
    while address:
        response = browser.get(address)
        found += ids(response)
        pages = read(response).one(class_="pages")
        more = [f"/{link['href']}" for link in pages.all("a") if link.text == "More"]
        address = more[0] if more else ""

    assert found == five
    assert [link.text for link in pages.all("a")] == ["Back"]
    assert "5 to 5 of 5" in pages.text


def test_a_page_that_is_gone_meanwhile_is_the_last(browser, five):
    assert ids(browser.get("/?page=9")) == five[4:]


@pytest.mark.parametrize("page", ["0", "x", "99999999"])
def test_a_page_that_cannot_be_is_the_first_and_said(browser, five, page):
    response = browser.get(f"/?page={page}")

    assert ids(response) == five[:2]
    assert "There is no such page" in read(response).one(class_="list-said").text


def test_the_list_opens_at_the_page_that_holds_the_open_request(browser, five):
    assert ids(browser.get(f"/approvals/{five[3]}")) == five[2:4]
    assert ids(browser.get(f"/approvals/{five[3]}?page=1")) == five[:2]


def calls(ask, *paths, tool="read", **more):
    fields = {"kind": Kind.TOOL_CALL, "capability": "files", **more}
    return [ask(content={"tool": tool, "arguments": {"path": p}}, **fields) for p in paths]


def folds(response):
    return [
        (fold.one(class_="item-link").text, fold.one(class_="item-summary").text)
        for fold in read(response).one(id="list").all(class_="item--fold")
    ]


def test_calls_that_are_alike_are_one_row_that_leads_to_the_page_of_all(browser, ask, inspected):
    inspected()
    alike = calls(ask, "/a", "/b", "/c")

    response = browser.get("/")

    assert folds(response) == [
        ("read ×3 alike, nobody has classed this tool Review all", "/a · /b · /c")
    ]
    assert items(response)[0].one("a")["href"] == "/bulk?" + "&".join(f"id={a.pk}" for a in alike)


def test_the_open_request_is_in_no_fold(browser, ask):
    first, *_ = calls(ask, "/a", "/b", "/c", "/d")

    response = browser.get(f"/approvals/{first.pk}")

    assert [fold[0].split(" alike")[0] for fold in folds(response)] == ["read ×3"]
    assert items(response)[0]["data-id"] == str(first.pk)


def test_two_are_too_few_to_fold(browser, ask):
    calls(ask, "/a", "/b")

    assert folds(browser.get("/")) == []


@pytest.mark.parametrize("severity", [Severity.MEDIUM, Severity.HIGH])
def test_what_is_risky_is_in_no_fold(browser, ask, inspected, severity):
    inspected(Finding("network", severity, 1, 1, "uses-network"))
    calls(ask, "/a", "/b", "/c")

    assert folds(browser.get("/")) == []


def test_what_was_classed_irreversible_since_it_was_listed_is_in_no_fold(
    browser, ask, inspected, ada
):
    inspected()
    alike = calls(ask, "/a", "/b", "/c")
    assert len(folds(browser.get("/"))) == 1

    change = services.ClassChange("", "irreversible")
    services.class_tools({alike[0].tool_id: change}, by=ada, auth="session:password")

    assert folds(browser.get("/")) == []


def test_what_differs_in_tool_arguments_agent_or_findings_is_in_no_fold(browser, ask, inspected):
    inspected()
    calls(ask, "/a", "/b")
    calls(ask, "/c", tool="write")
    ask(
        kind=Kind.TOOL_CALL,
        capability="files",
        content={"tool": "read", "arguments": {"path": "/d", "all": True}},
    )
    calls(partial(make.pending, make.token(make.agent("other"))), "/e")
    inspected(Finding("network", Severity.LOW, 1, 1, "uses-network"))
    calls(ask, "/f")

    assert folds(browser.get("/")) == []


def test_code_is_in_no_fold_though_it_is_the_same(browser, ask, inspected):
    inspected()
    for _ in range(3):
        ask(content={"code": "print(1)"})

    assert folds(browser.get("/")) == []


def test_what_is_not_mine_to_answer_or_somebodys_is_in_no_fold(browser_of, ada, bob, ask):
    approvals = calls(ask, "/a", "/b", "/c")
    services.assign(approval_id=approvals[0].pk, person=bob, auth="session:password")

    assert folds(browser_of(ada).get("/")) == []
    assert folds(browser_of(make.person("carol", reviewer=True)).get("/")) == []
    assert len(folds(browser_of(bob).get("/"))) == 1


def test_no_fold_holds_more_than_are_answered_together(browser, ask, monkeypatch):
    monkeypatch.setattr(queue, "MOST", 3)
    calls(ask, *map(str, range(7)))

    told = [fold[0].split(" alike")[0] for fold in folds(browser.get("/"))]

    assert told == ["read ×3", "read ×3"]
    assert items(browser.get("/"))[-1].one("a").text == "read 6"


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
    assert read(response).one("h1").text == "You have no role yet"


def test_somebody_without_a_role_is_told_who_can_give_one(browser_of, ada):
    page = read(browser_of(make.person("nora")).get("/"))

    assert "you are not permitted to see any request" in page.text
    assert f"Ask an admin ({ada.username}) to give you a role" in page.text
    assert [text for text, _ in links(page.one("nav"))] == ["Queue"]


def test_somebody_signed_out_is_sent_to_sign_in(client):
    response = client.get("/", HTTP_HOST="127.0.0.1:8000")

    assert (response.status_code, response["Location"]) == (302, "/sign-in?next=/")
