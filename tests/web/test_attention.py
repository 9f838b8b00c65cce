"""What pages say of who is on a request, and what people do about it there."""

from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.approvals import services
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.rules.assignment import assignment_of
from dashboard.approvals.rules.snooze import snoozed_by
from dashboard.wire import Status
from tests import make
from tests.web.pages import bar_of, page_of, read

AUTH = "session:password"


def post(browser, approval, verb, **form):
    return browser.post(f"/approvals/{approval.pk}/{verb}", form)


def attend_of(browser, approval):
    return page_of(browser, approval).one(class_="attend")


def tabs(browser, address="/"):
    nav = read(browser.get(address)).one(class_="tabs")
    return {link.text: "aria-current" in link.attributes for link in nav.all("a")}


def ids(browser, address):
    page = read(browser.get(address)).one(id="list")
    return [item["data-id"] for item in page.all("li", class_="item")]


def test_claim_and_release_lead_back_to_the_request(browser, ask, alice):
    approval = ask()

    answer = post(browser, approval, "claim")
    assert (answer.status_code, answer.url) == (303, f"/approvals/{approval.pk}")
    assert attend_of(browser, approval).one(class_="attend-said").text.startswith("You are on")
    post(browser, approval, "release")

    assert assignment_of(approval) is None


def test_another_sees_who_is_on_it_and_takes_it_over_knowingly(
    browser, browser_of, ask, alice, bob
):
    approval = ask()
    post(browser, approval, "claim")
    bobs = browser_of(bob)

    form = attend_of(bobs, approval).one("form", action=f"/approvals/{approval.pk}/claim")
    assert form.one("button").text == "Take over from alice"
    assert post(bobs, approval, "claim").status_code == 409
    post(bobs, approval, "claim", over=form.one("input", name="over")["value"])

    said = attend_of(browser, approval).one(class_="attend-said").text
    assert said.startswith("bob took this over from you just now.")


def test_a_hand_over_names_its_giver_and_draws_the_word(browser, browser_of, ask, alice, bob):
    approval = ask()

    post(browser, approval, "hand-over", to="bob", note="Look\u202e here")

    strip = attend_of(browser_of(bob), approval)
    assert strip.one(class_="attend-said").text.startswith("alice handed this to you just now.")
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
    assert "bob has been on this since" in bar.one(role="alert").text
    assert bar.one("button", value="approve").text == "Approve all the same"
    answer(browser, approval, despite=bar.one("input", name="despite")["value"])
    approval.refresh_from_db()
    assert approval.status == Status.APPROVED


def test_not_now_leaves_my_queue_and_stands_under_later(browser, browser_of, ask, alice, bob):
    approval, other = ask(), ask()

    post(browser, approval, "later", later="longest")

    assert ids(browser, "/") == ids(browser, "/?mine=1") == [str(other.pk)]
    assert ids(browser, "/?show=later") == [str(approval.pk)]
    assert set(ids(browser_of(bob), "/")) == {str(approval.pk), str(other.pk)}
    post(browser, approval, "back")
    assert snoozed_by(alice, timezone.now()) == set()


def test_the_tabs_count_what_waits_what_is_for_me_mine_and_later(browser, ask):
    one, two, _ = ask(), ask(), ask()
    post(browser, one, "claim")
    post(browser, two, "later", later="longest")

    assert tabs(browser, "/?show=claimed") == {
        "Waiting 2": False,
        "For me 2": False,
        "Mine 1": True,
        "Later 1": False,
        "Decided": False,
    }


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

    assert row.one(class_="item-claim").text == "bob is on this"
    assert [meta.text for meta in row.all(class_="item-meta")][1] == (
        "bob is on this carol is reading"
    )


def test_seen_says_who_else_reads(browser, browser_of, ask, bob):
    approval = ask()
    browser_of(bob).post(f"/approvals/{approval.pk}/seen")

    said = read(browser.post(f"/approvals/{approval.pk}/seen")).one(id="request-reading")

    assert said.text == "bob is reading"


def test_an_auditor_sees_it_and_can_do_nothing_about_it(browser_of, ask, alice):
    approval = ask()
    services.assign(approval_id=approval.pk, person=alice, auth=AUTH)

    strip = attend_of(browser_of(make.person("aud", auditor=True)), approval)

    assert strip.one(class_="attend-said").text.startswith("alice is on this, claimed")
    assert list(strip.all("button")) == []


def test_time_is_offered_near_the_end_and_added(browser, token):
    approval = make.pending(token, time_limit_s=50)
    form = bar_of(browser, approval).one("form", class_="extend")
    assert (form.one("button").text, "hidden" in form.attributes) == ("Add 5 min", False)

    answer = post(browser, approval, "extend", ends=form.one("input", name="ends")["value"])

    assert answer.status_code == 303
    now = ApprovalRequest.objects.get(pk=approval.pk)
    assert now.expires_at == approval.expires_at + timedelta(minutes=5)


def test_long_before_the_end_the_offer_waits(browser, ask):
    assert "hidden" in bar_of(browser, ask()).one("form", class_="extend").attributes


def test_where_the_agent_waits_no_longer_nothing_is_offered(browser, token):
    approval = make.pending(token, time_limit_s=50, max_wait_s=50)

    assert list(bar_of(browser, approval).all("form", class_="extend")) == []


def test_the_same_no_is_one_press_and_says_its_words(browser, answer, ask, alice):
    make.decided(ask(run_id="r"), alice, Status.REJECTED, reason="Wrong sector.")
    same = ask(run_id="r")
    offer = bar_of(browser, same).one(class_="same")
    assert offer.one("button").text == "Same as before: reject"
    assert "by you: Wrong sector. These words are sent again." in offer.text

    number = offer.one("input", name="same_as")["value"]
    answer(browser, same, "same-reject", same_as=number, reason="dropped")

    assert (same.decision.status, same.decision.reason) == (Status.REJECTED, "Wrong sector.")
    result = bar_of(browser, same).one(class_="result-title")
    assert result.one("strong").text == "Rejected by you, as before"


def test_the_same_yes_needs_the_end_in_sight_unless_it_was_mine(
    browser, browser_of, ask, alice, bob
):
    make.decided(ask(run_id="r"), alice)
    same = ask(run_id="r")

    mine, bobs = (bar_of(one, same).one(class_="same") for one in (browser, browser_of(bob)))

    assert "data-unseen" not in mine.one("button").attributes
    assert "data-unseen" in bobs.one("button").attributes


def test_an_answer_as_before_to_something_else_is_refused(browser, answer, ask, alice):
    decision = make.decided(ask(run_id="r"), alice, Status.REJECTED)
    other = ask(run_id="r", content={"code": "print(2)"})

    assert answer(browser, other, "same-reject", same_as=decision.pk).status_code == 409
    other.refresh_from_db()
    assert other.status == Status.PENDING


def test_a_yes_as_before_is_not_offered_to_whose_yes_does_not_count(
    browser, agent, ask, alice, bob
):
    make.decided(ask(run_id="r"), bob)
    make.own(agent, alice)

    assert list(bar_of(browser, ask(run_id="r")).all(class_="same")) == []


def test_the_page_takes_as_many_queries_with_attention_as_without(
    browser, ask, alice, bob, count_queries
):
    approvals = [ask() for _ in range(5)]
    browser.get("/")
    before = count_queries(lambda: browser.get("/"))
    for approval in approvals:
        services.assign(approval_id=approval.pk, person=bob, auth=AUTH)
        services.note_viewing(approval_id=approval.pk, person=bob)

    assert count_queries(lambda: browser.get("/")) == before
