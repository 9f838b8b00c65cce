import re
from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.html import strip_tags

from approval_client.wire import OutcomeState, Status
from dashboard.approvals import services
from dashboard.approvals.services import lift_hold
from dashboard.web import content
from dashboard.web.desk import view
from dashboard.web.drawing import moments
from tests import make
from tests.web.pages import bar_of, links, page_of, read


def test_a_reviewer_is_offered_both_answers_with_the_basis(browser, ask):
    approval = ask()

    bar = bar_of(browser, approval)

    buttons = [b["value"] for b in bar.all("button", name="verdict")]
    hidden = {i["name"]: i["value"] for i in bar.all("input") if i["type"] == "hidden"}
    assert buttons == ["approve", "reject"]
    assert hidden["digest"] == approval.digest
    assert hidden["judgement"] == str(approval.judgements.get().pk)
    assert view.what_was_shown(str(approval.pk), hidden["shown"])["lines"] == 1


def test_what_was_shown_of_one_request_does_not_count_for_another(browser, ask):
    one, other = ask(), ask()
    shown = bar_of(browser, one).one("input", name="shown")["value"]

    assert view.what_was_shown(str(other.pk), shown) is None
    assert view.what_was_shown(str(one.pk), shown + "x") is None


def test_an_owner_sees_why_approve_is_not_offered(browser, alice):
    approval = make.pending(make.token(make.agent("hers", owner=alice)))

    bar = bar_of(browser, approval)

    approve, reject = bar.all("button", name="verdict")
    assert ("disabled" in approve.attributes, "disabled" in reject.attributes) == (True, False)
    assert bar.one(id="why-not").text == (
        "You own hers or issued its token, and the policy requires somebody else to approve its "
        "requests. An admin can add a reviewer, or let owners approve in the policy. You can "
        "still reject it."
    )


def test_an_owner_may_approve_where_the_policy_says_so(browser, alice):
    make.in_force(owner_may_approve=True)
    approval = make.pending(make.token(make.agent("hers", owner=alice)))

    approve = bar_of(browser, approval).one("button", value="approve")
    assert "disabled" not in approve.attributes


@pytest.mark.parametrize("role", ["auditor", "admin"])
def test_who_does_not_review_reads_only(browser_of, ask, role):
    bar = bar_of(browser_of(make.person("r", **{role: True})), ask())

    assert list(bar.all("form")) == []
    assert bar.text == "You can read this. Only reviewers decide; an admin can make you one."


def test_on_hold_approve_is_off_and_every_page_says_so(browser, ask, hold, ada):
    approval = ask()

    page = page_of(browser, approval)
    assert "disabled" in page.one("button", value="approve").attributes
    assert page.one(class_="gate").text.startswith("On hold: nothing is approved or started.")
    lift_hold(by=ada, auth="session:password")
    assert list(page_of(browser, approval).all(class_="gate")) == []


def test_what_is_too_long_to_be_shown_whole_cannot_be_approved(browser, ask):
    approval = ask(content={"code": "\n" * content.MOST_LINES})

    page = page_of(browser, approval)

    assert list(page.all("code", class_="line")) == []
    assert "disabled" in page.one("button", value="approve").attributes
    assert page.one(id="why-not").text == content.TOO_LONG


def test_after_an_approval_the_page_says_who_and_what_may_happen(browser, ask, alice):
    approval = ask()
    decision = make.decided(approval, alice)

    result = bar_of(browser, approval).one(class_="result")

    assert result.one("strong").text == "Approved by you"
    until = strip_tags(moments.clock(decision.valid_until))
    assert result.one(class_="small").text == f"The agent may start it once, until {until}."
    assert result.one(class_="small").one("time")["data-local"] == "clock"


def test_start_and_end_are_told_as_the_agent_reports_them(browser, ask, alice, token):
    approval = ask()
    make.decided(approval, alice)
    make.report(approval, token)
    end = {"exit_code": 3, "duration_s": 75.0, "error": "No <b>disk</b>", "output_head": "out"}
    make.report(approval, token, OutcomeState.FINISHED, key="k2", **end)

    result = bar_of(browser, approval).one(class_="result")

    assert re.fullmatch(
        r"The agent started it [0-9.]+ m?s later\. It ended with an error after 1 min 15 s, "
        r"exit code 3, says the agent\.",
        result.one(class_="small").text,
    )
    assert [p.text for p in result.one(class_="untrusted").all("p")] == ["No <b>disk</b>", "out"]


def test_an_end_that_was_not_reported_is_not_promised(browser, ask, alice, token):
    approval = ask()
    make.decided(approval, alice)
    make.report(approval, token)

    told = bar_of(browser, approval).one(class_="result").one(class_="small").text

    assert told.endswith("It has not reported how it ended. Not every agent does.")


def test_an_approval_that_was_not_used_in_time_is_told(browser, ask, alice, monkeypatch):
    approval = ask()
    monkeypatch.setattr(services.closing, "VALID_FOR", timedelta(0))
    make.decided(approval, alice)

    told = bar_of(browser, approval).one(class_="result").text
    assert "The agent did not start it; the approval ran out at" in told


def test_a_rejection_shows_its_reason(browser, ask, bob):
    approval = ask()
    make.decided(approval, bob, Status.REJECTED, reason="Wrong sector.")

    result = bar_of(browser, approval).one(class_="result")

    assert result.one("strong").text == "Rejected by bob"
    assert result.one(class_="result-reason").text == "Wrong sector."


def test_expired_is_told_even_before_the_sweep(browser, token):
    result = bar_of(browser, make.overdue(token)).one(class_="result")

    assert result.one("strong").text == "Expired: nobody decided in time"
    assert result.one(class_="small").text == "Nothing was approved, so nothing may run."


def test_the_reason_of_an_agent_that_withdrew_is_its_own_voice(browser, ask, token):
    approval = ask()
    services.cancel(approval_id=approval.pk, token=token, reason="Not \u202eneeded")

    result = bar_of(browser, approval).one(class_="result")

    assert result.one("strong").text == "Withdrawn by the agent"
    assert result.one(class_="said").text == "Not RLOneeded"


def test_what_the_policy_decided_says_that_nobody_was_asked(browser, ask):
    make.in_force(modes={"global_mode": "disabled"})

    page = page_of(browser, ask())

    assert page.one(class_="why").one("h2").text == "Why nobody was asked"
    assert page.one(class_="result").one("strong").text == (
        "Approved by the policy; nobody was asked"
    )
    assert page.one(class_="gate").text.startswith("The gate is off.")


def test_after_a_decision_the_next_action_is_the_next_request(browser, ask, alice):
    later, sooner, done = ask(time_limit_s=900), ask(time_limit_s=60), ask()
    make.decided(done, alice)

    back = ("Take back…", f"/approvals/{done.pk}/take-back")
    assert links(bar_of(browser, done)) == [back, ("Next request", f"/approvals/{sooner.pk}")]
    make.decided(sooner, alice)
    make.decided(later, alice)
    assert links(bar_of(browser, done)) == [back, ("Back to the queue", "/")]


def test_the_next_request_is_one_that_an_agent_waits_for(browser, ask, alice):
    left, waited_for, done = ask(time_limit_s=900), ask(time_limit_s=1800), ask()
    make._backdate(left, submitted_at=timezone.now() - timedelta(seconds=300))
    make.decided(done, alice, Status.REJECTED)

    assert links(bar_of(browser, done)) == [("Next request", f"/approvals/{waited_for.pk}")]


def test_the_next_request_is_none_that_was_approved_by_the_same_person(browser, ask, alice):
    make.in_force({"name": "Two", "effect": "review", "demands": {"approvals": 2}})
    voted, other, done = ask(time_limit_s=60), ask(time_limit_s=900), ask()
    make.decided(voted, alice)
    make.decided(done, alice, Status.REJECTED)

    assert links(bar_of(browser, done)) == [("Next request", f"/approvals/{other.pk}")]


def test_the_page_tells_how_long_is_left(browser, ask):
    approval = ask(time_limit_s=600)
    make._backdate(approval, submitted_at=timezone.now() - timedelta(seconds=3600))

    left = page_of(browser, approval).one(id="request-status").one(class_="left")

    assert (left["data-tone"], left["datetime"]) == ("soon", approval.expires_at.isoformat())


def test_the_state_alone_is_what_open_pages_fetch(browser, ask):
    approval = ask()

    page = read(browser.get(f"/approvals/{approval.pk}/state"))

    ids = [e["id"] for e in page.inside if hasattr(e, "tag")]
    assert ids == ["request-status", "request-why", "request-bar"]


def test_the_stamp_changes_with_what_the_bar_shows_and_only_then(browser, ask, bob):
    approval = ask()
    stamps = [bar_of(browser, approval)["data-stamp"] for _ in range(2)]
    make.decided(approval, bob)

    assert stamps[0] == stamps[1] != bar_of(browser, approval)["data-stamp"]
