"""What the address of the queue narrows the list to."""

from urllib.parse import parse_qsl, quote

import pytest
from django.utils import timezone

from approval_client.wire import Kind, Status
from dashboard.approvals import services
from dashboard.approvals.rules.snooze import SnoozeLength
from dashboard.approvals.services import note_polls
from dashboard.inspection.findings import Finding, Severity
from dashboard.web.desk import queue
from tests import make
from tests.web.pages import links, read

CALL = {"tool": "send", "arguments": {"to": "all"}}
OF_GROUP = {"name": "Ops", "effect": "review", "demands": {"groups": ["operators"]}}
OF_TWO = {"name": "Two", "effect": "review", "demands": {"approvals": 2}}


def shown(browser, address):
    page = read(browser.get(address))
    return [item["data-id"] for item in page.one(id="list").all("li", class_="item")]


def said(page):
    return [line.text for line in page.all(class_="list-said")]


def strip(page):
    return page.one(class_="queue-said")


def found(severity):
    return Finding("network", severity, 1, 1, "uses-network")


def test_by_agent(browser, ask):
    ask()
    other = make.pending(make.token(make.agent("other")))

    assert shown(browser, "/?agent=other") == [str(other.pk)]


def test_by_kind(browser, ask):
    ask()
    call = ask(kind=Kind.TOOL_CALL, capability="send", content=CALL)

    assert shown(browser, "/?kind=tool_call") == [str(call.pk)]


def test_by_capability_exactly(browser, ask):
    ask(kind=Kind.TOOL_CALL, capability="send_all", content=CALL)
    call = ask(kind=Kind.TOOL_CALL, capability="send", content=CALL)

    assert shown(browser, "/?capability=send") == [str(call.pk)]


@pytest.mark.parametrize(("least", "count"), [("low", 3), ("medium", 2), ("high", 1)])
def test_by_severity_at_least(browser, ask, inspected, least, count):
    inspected()
    ask()
    for severity in (Severity.INFO, Severity.LOW, Severity.MEDIUM, Severity.HIGH):
        inspected(found(severity))
        ask()

    assert len(shown(browser, f"/?severity={least}")) == count


@pytest.mark.parametrize(
    "text", ["SETPOINT", 'caput("a")', "50%", "_b", "morning", "trim it", "two\nlines"]
)
def test_by_text_in_content_objective_and_run(browser, ask, text):
    ask(content={"code": "500 aab"})
    code = 'setpoint\ncaput("a")\n50%\na_b two\nlines'
    one = ask(content={"code": code}, objective="Trim it", run_id="morning-7")

    assert shown(browser, f"/?q={quote(text)}") == [str(one.pk)]


@pytest.mark.parametrize("text", ["ärger", "ИМЯ", "УТРО"])
def test_a_search_ignores_the_case_of_all_letters(browser, ask, text):
    ask()
    one = ask(content={"code": "ÄRGER имя"}, run_id="утро")

    assert shown(browser, f"/?q={quote(text)}") == [str(one.pk)]


def test_what_needs_me_leaves_out_what_i_approved_and_what_is_my_agents(browser, ask, alice):
    make.in_force(OF_TWO)
    voted, open_one = ask(), ask()
    make.decided(voted, alice)
    make.pending(make.token(make.agent("mine", owner=alice)))

    assert shown(browser, "/?mine=1") == [str(open_one.pk)]


def test_what_needs_me_is_for_my_groups(browser, ask, alice, bob, browser_of):
    make.group("operators", bob)
    make.in_force(OF_GROUP)
    one = ask()

    assert shown(browser, "/?mine=1") == []
    assert shown(browser_of(bob), "/?mine=1") == [str(one.pk)]


def test_from_half_time_on_it_needs_the_other_group_too(browser, token, alice, bob):
    make.group("operators", bob)
    make.group("managers", alice)
    demands = {"groups": ["operators"], "escalate_to": "managers"}
    make.in_force({"name": "Ops", "effect": "review", "demands": demands})
    make.pending(token)
    late = make.half_over(token)
    note_polls({late.pk: timezone.now()})

    assert shown(browser, "/?mine=1") == [str(late.pk)]


def test_nothing_needs_who_may_not_decide(browser_of, ada, ask):
    ask()
    admins = browser_of(ada)

    assert shown(admins, "/?mine=1") == []
    tabs = [link.text for link in read(admins.get("/")).one(class_="tabs").all("a")]
    assert tabs == ["1 all", "decided"]


def test_by_group_whose_yes_is_asked_for(browser, ask, bob):
    make.group("operators", bob)
    make.group("groups", bob)  # a word that stands in every stored demand
    ask()
    make.in_force(OF_GROUP)
    one = ask()

    assert shown(browser, "/?group=operators") == [str(one.pk)]
    assert shown(browser, "/?group=groups") == []


def test_filters_hold_together(browser, ask):
    ask(content={"code": "a"}, run_id="r1")
    ask(content={"code": "b"}, run_id="r2")
    both = ask(content={"code": "a"}, run_id="r2")

    assert shown(browser, "/?q=r2&kind=code&capability=python_execution")[1:] == [str(both.pk)]


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("show=x", "Unknown tab."),
        ("agent=x", "There is no agent of that name"),
        ("kind=x", "There is no such kind"),
        ("capability=%00", "That cannot be the name"),
        ("severity=info", "There is no such severity"),
        ("mine=yes", 'Unknown value for "mine"'),
        ("group=x", "Unknown group."),
        ("q=%00", "A search is text"),
        ("q=" + "x" * 201, "A search is text"),
        ("order=x", "There is no such order"),
    ],
)
def test_what_is_wrong_in_the_address_is_left_out_and_said(browser, ask, address, sentence):
    one = ask()
    page = read(browser.get(f"/?{address}"))

    assert [line.startswith(sentence) for line in said(page)] == [True]
    assert [item["data-id"] for item in page.all("li", class_="item")] == [str(one.pk)]


@pytest.mark.parametrize(
    "address", ["q=%ff%fe", "q=%ed%a0%80", "nothing=1", "agent=a&agent=", "q="]
)
def test_whatever_else_stands_in_the_address_is_no_trouble(browser, ask, address):
    ask()

    assert browser.get(f"/?{address}").status_code == 200


def test_an_empty_result_says_so_with_one_way_back(browser, ask):
    ask()

    page = read(browser.get("/?q=nothing&order=risk"))

    assert strip(page).text == "0 of 1 shown. Show all"
    assert links(strip(page)) == [("Show all", "?order=risk")]
    assert page.one("h2").text == "Nothing matches your filters"


def test_a_narrowed_list_says_how_much_it_leaves_out(browser, ask):
    ask()
    ask(run_id="r1")

    page = read(browser.get("/?q=r1"))

    assert strip(page).text == "1 of 2 shown. Show all"
    assert [count.text for count in page.all(class_="count")] == ["2", "2"]


def test_links_the_next_action_and_what_open_pages_fetch_keep_the_filters(browser, ask):
    one = ask(run_id="r 1")
    page = read(browser.get("/?q=r+1&kind=code"))
    href = f"/approvals/{one.pk}?q=r+1&kind=code"

    assert page.one("a", class_="item-link")["href"] == href
    assert page.one(class_="button--primary")["href"] == href
    assert page.one(id="list")["data-url"] == "/queue?q=r+1&kind=code"


def test_the_list_beside_a_request_stays_the_same(browser, ask):
    ask()
    one = ask(run_id="r1")

    page = read(browser.get(f"/approvals/{one.pk}?q=r1"))

    assert [item["data-id"] for item in page.all("li", class_="item")] == [str(one.pk)]


def test_the_form_shows_what_holds(browser, ask):
    page = read(browser.get("/?q=print&severity=high&mine=1&kind=nothing"))
    form = page.one("form", id="filters")
    chosen = [option["value"] for option in form.all("option") if "selected" in option.attributes]

    assert form.one("input", name="q")["value"] == "print"
    assert chosen == ["", "", "high", "", ""]
    assert form.one("input", name="mine")["value"] == "1"


def test_an_address_cannot_write_markup(browser):
    page = read(browser.get("/?q=" + quote("\"'><b>x</b>")))

    assert list(page.all("b")) == []
    assert page.one("input", name="q")["value"] == "\"'><b>x</b>"


def test_the_decided_tab_is_narrowed_too(browser, ask, alice):
    make.decided(ask(), alice)
    one = ask(run_id="r1")
    make.decided(one, alice, Status.REJECTED)

    assert shown(browser, "/?show=decided&q=r1&mine=1&order=risk") == [str(one.pk)]


def test_only_the_latest_answers_are_looked_through(browser, ask, alice, monkeypatch):
    monkeypatch.setattr(queue, "LOOKED_THROUGH", 1)
    make.decided(ask(run_id="r1"), alice)
    make.decided(ask(run_id="r2"), alice)

    page = read(browser.get("/?show=decided&q=r1"))

    assert strip(page).text == "0 shown, found among the latest 1,000. Show all"


EVERYTHING = (
    "agent=beamline&kind=code&capability=python_execution&severity=low&mine=1"
    "&group=operators&q=print&order=risk"
)


@pytest.mark.parametrize("more", ["", "&show=decided"])
def test_filters_cost_as_many_queries_for_thirty_rows_as_for_one(
    browser, ask, alice, bob, inspected, count_queries, django_assert_num_queries, more
):
    inspected(found(Severity.HIGH))
    make.group("operators", alice, bob)
    demands = {"groups": ["operators"], "approvals": 2}
    make.in_force({"name": "Two", "effect": "review", "demands": demands})

    def one_more():
        approval = ask()
        make.decided(approval, bob)
        if more:
            make.decided(approval, alice)

    one_more()
    cost = count_queries(lambda: browser.get(f"/?{EVERYTHING}{more}"))
    for _ in range(29):
        one_more()

    with django_assert_num_queries(cost):
        assert len(shown(browser, f"/?{EVERYTHING}{more}")) == 30


def tabs(page):
    return [href for _, href in links(page.one("nav", class_="tabs"))]


@pytest.mark.parametrize(
    "show", ["?q=r1", "?q=r1&mine=1", "?show=snoozed&q=r1", "?show=decided&q=r1"]
)
def test_every_tab_keeps_what_narrows_the_list(browser, ask, show):
    ask(run_id="r1")

    found = [
        dict(parse_qsl(href.partition("?")[2])) for href in tabs(read(browser.get(f"/{show}")))
    ]

    assert found == [
        {"mine": "1", "q": "r1"},
        {"q": "r1"},
        {"show": "assigned", "q": "r1"},
        {"show": "snoozed", "q": "r1"},
        {"show": "decided", "q": "r1"},
    ]


def test_an_answer_leads_back_beside_the_narrowed_list_and_to_the_next_in_it(browser, ask, answer):
    others, mine = [ask(time_limit_s=60)], [ask(run_id="r1") for _ in range(2)]
    first, second = mine
    page = read(browser.get(f"/approvals/{first.pk}?q=r1"))
    action = page.one("form", class_="decide")["action"]
    assert action == f"/approvals/{first.pk}/decide?q=r1"

    there = answer(browser, first, query="?q=r1")["Location"]

    assert there == f"/approvals/{first.pk}?q=r1"
    result = read(browser.get(there)).one(class_="result")
    assert links(result)[1:] == [("Next request", f"/approvals/{second.pk}?q=r1")]
    assert others[0].status == Status.PENDING


def test_an_answer_on_a_tab_leads_to_the_next_of_that_tab(browser, ask, answer, alice):
    urgent, first, second = ask(time_limit_s=60), ask(), ask()
    for one in (first, second):
        services.snooze(
            approval_id=one.pk, person=alice, auth="session:password", length=SnoozeLength.QUARTER
        )

    there = answer(browser, first, query="?show=snoozed")["Location"]

    result = read(browser.get(there)).one(class_="result")
    assert links(result)[1:] == [("Next request", f"/approvals/{second.pk}?show=snoozed")]
    assert urgent.status == Status.PENDING


@pytest.mark.parametrize(
    ("address", "is_next"), [("/", False), ("/?show=snoozed", True), ("http://[", False)]
)
def test_the_bar_leads_on_among_what_was_snoozed_from_its_tab_alone(
    browser, ask, alice, address, is_next
):
    done, other = ask(), ask()
    services.snooze(
        approval_id=other.pk, person=alice, auth="session:password", length=SnoozeLength.QUARTER
    )
    make.decided(done, alice)

    headers = {"HX-Request": "true", "HX-Current-URL": address}
    state = read(browser.get(f"/approvals/{done.pk}/state", headers=headers))

    leads_on = ("Next request", f"/approvals/{other.pk}") in links(state)
    assert leads_on is is_next


def test_after_the_last_of_a_narrowed_list_the_way_back_keeps_the_filter(browser, ask, answer):
    ask()
    last = ask(run_id="r1")

    there = answer(browser, last, query="?q=r1")["Location"]

    assert links(read(browser.get(there)).one(class_="result"))[1:] == [
        ("Back to the queue", "/?q=r1")
    ]


def test_what_makes_no_sense_in_an_address_is_not_taken_along(browser, ask, answer):
    there = answer(browser, ask(), query="?kind=x&next=//evil.example")["Location"]

    assert "?" not in there
