"""Who is assigned to a request: what pages say of it, and what people do about it there."""

import pytest

from approval_client.wire import Status
from dashboard.approvals import services
from dashboard.approvals.queries.assignment import assignment_of
from tests import make
from tests.web.pages import ids, page_of, post, read

AUTH = "session:password"


def attend_of(browser, approval):
    return page_of(browser, approval).one(id="request-status")


def test_assigning_and_releasing_lead_back_to_the_request(browser, ask, alice):
    approval = ask()

    answer = post(browser, approval, "assign")
    assert (answer.status_code, answer.url) == (303, f"/approvals/{approval.pk}")
    said = attend_of(browser, approval).one(class_="status-who").text
    assert said.startswith("Assigned to you")
    post(browser, approval, "release")

    assert assignment_of(approval) is None


def test_another_sees_who_is_on_it_and_takes_it_over_knowingly(
    browser, browser_of, ask, alice, bob
):
    approval = ask()
    post(browser, approval, "assign")
    bobs = browser_of(bob)

    form = page_of(bobs, approval).one("form", action=f"/approvals/{approval.pk}/assign")
    assert form.one("button").text == "Take over from alice"
    assert post(bobs, approval, "assign").status_code == 409
    post(bobs, approval, "assign", over=form.one("input", name="over")["value"])

    said = attend_of(browser, approval).one(class_="status-who").text
    assert said.startswith("bob took this over from you just now")


def test_a_hand_over_names_its_giver_and_draws_the_word(browser, browser_of, ask, alice, bob):
    approval = ask()

    post(browser, approval, "hand-over", to="bob", note="Look\u202e here")

    strip = attend_of(browser_of(bob), approval)
    assert strip.one(class_="status-who").text.startswith("alice assigned this to you just now")
    assert "\u202e" not in strip.one("blockquote").raw


@pytest.mark.parametrize("form", [{}, {"to": "nobody"}, {"to": "bob", "note": "x" * 501}])
def test_a_hand_over_that_says_too_little_or_too_much_does_nothing(browser, ask, bob, form):
    approval = ask()

    answer = post(browser, approval, "hand-over", **form)

    assert (answer.status_code, assignment_of(approval)) == (422, None)
    assert "Nothing was changed." in read(answer).one(role="alert").text


def test_approve_on_what_another_is_on_asks_once_more(browser, answer, ask, bob):
    approval = ask()
    services.assign(approval_id=approval.pk, person=bob, auth=AUTH)

    first = answer(browser, approval)

    bar = read(first).one(id="request-bar")
    assert first.status_code == 409
    assert "This has been assigned to bob since" in bar.one(role="alert").text
    assert bar.one("button", value="approve").text == "Approve anyway"
    answer(browser, approval, despite=bar.one("input", name="despite")["value"])
    approval.refresh_from_db()
    assert approval.status == Status.APPROVED


def test_what_was_handed_to_me_is_for_me_though_my_yes_does_not_count(browser, agent, alice, bob):
    make.own(agent, alice)
    approval = make.pending(make.token(agent))
    assert ids(browser, "/?mine=1") == []

    services.hand_over(approval_id=approval.pk, person=bob, auth=AUTH, to=alice)

    assert ids(browser, "/?mine=1") == [str(approval.pk)]


def test_a_row_says_who_is_on_it_and_who_reads_it(browser, browser_of, ask, alice, bob):
    carol = make.person("carol", reviewer=True)
    approval = ask()
    services.assign(approval_id=approval.pk, person=bob, auth=AUTH)
    browser_of(bob).post(f"/approvals/{approval.pk}/seen")
    browser_of(carol).post(f"/approvals/{approval.pk}/seen")

    row = read(browser.get("/")).one("li", class_="item")

    assert row.one(class_="item-assignment").text == "Assigned to bob"
    assert row.one(class_="item-meta").text == "Assigned to bob carol is viewing"


def test_an_auditor_sees_it_and_can_do_nothing_about_it(browser_of, ask, alice):
    approval = ask()
    services.assign(approval_id=approval.pk, person=alice, auth=AUTH)

    strip = attend_of(browser_of(make.person("aud", auditor=True)), approval)

    assert strip.one(class_="status-who").text.startswith("Assigned to alice")
    assert list(strip.all("button")) == []


def test_the_page_takes_as_many_queries_with_attention_as_without(
    browser, ask, alice, bob, count_queries
):
    approvals = [ask() for _ in range(5)]
    browser.get("/")
    before = count_queries(lambda: browser.get("/"))
    for approval in approvals:
        services.assign(approval_id=approval.pk, person=bob, auth=AUTH)
        services.note_viewing(approval_id=approval.pk, person=bob)

    browser.get("/")  # which reads the rows that changed
    assert count_queries(lambda: browser.get("/")) == before
