"""Why a person is asked, and what is asked of people, in words."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils.html import strip_tags

from approval_client.wire import Kind
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.services import judge_pending_again
from dashboard.policies.judgements.grounds import ModeSays
from dashboard.policies.judgements.wording import IN_DOUBT, MODES, NOT_COVERED
from dashboard.policies.rules.demands import Circle, Required
from dashboard.web.desk.judgement import demands_in_words
from dashboard.web.drawing import moments
from tests import make
from tests.web.pages import page_of

ASKED_AT = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
ONE = ApprovalRequest(submitted_at=ASKED_AT, expires_at=ASKED_AT + timedelta(minutes=30))
CALM = {"whole_content": False}


def test_only_who_may_approve_later_is_said_beside_the_rules():
    both = Required(approvals=2, circles=(Circle(("ops",), ("managers",)),))

    said = [strip_tags(sentence) for sentence in demands_in_words(both, ONE)]
    assert said == ["From 2026-03-04 12:15:00 UTC on managers may approve too."]
    assert demands_in_words(Required(approvals=2, reason_required=True), ONE) == []


def test_the_page_says_what_the_policy_demands(browser, ask):
    make.group("operators")
    demands = {"approvals": 2, "groups": ["operators"], "reason_required": True}
    make.in_force({"name": "Careful", "effect": "review", "demands": demands | CALM})

    why = page_of(browser, ask()).one(class_="why")

    assert why.one(class_="why-trace").text == (
        f"{MODES[ModeSays.ALL_CODE]} Rule “Careful”: two people from operators must "
        "approve, with a reason; reading to the end is not required. Policy revision 2."
    )
    assert why.one(class_="why-brief").text == (
        "Rule Careful: two people of operators must approve, with a reason."
    )
    assert why.one("summary").one(class_="why-votes").text == "0 of 2"


def test_what_the_policy_says_stands_behind_the_sentence(browser, ask):
    why = page_of(browser, ask()).one(class_="why")

    assert why.one(class_="why-brief").text == MODES[ModeSays.ALL_CODE]
    assert why.one("details").one(class_="why-trace").text == (
        f"{MODES[ModeSays.ALL_CODE]} Policy revision 1."
    )


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"effect": "approve"}, "Rule It approves this."),
        ({"effect": "reject", "reason": "No."}, "Rule It rejects this."),
    ],
)
def test_the_rule_that_ended_a_request_is_named(browser, ask, inspected, rule, said):
    inspected()
    make.in_force({"name": "It", **rule}, modes={"capabilities": {"python_execution": None}})

    assert page_of(browser, ask()).one(class_="why-brief").text == said


def test_a_person_who_is_asked_because_of_a_doubt_is_told(browser, ask):
    make.in_force(
        {"name": "It", "effect": "approve"}, modes={"capabilities": {"python_execution": None}}
    )
    approval = ask(content={"code": "x = (", "language": "python"})

    assert page_of(browser, approval).one(class_="why-brief").text == IN_DOUBT


def test_where_no_rule_speaks_a_person_decides(browser, ask):
    content = {"tool": "t", "arguments": {}}
    page = page_of(browser, ask(kind=Kind.TOOL_CALL, capability="t", content=content))

    said = page.one(class_="why-brief").text
    assert said == NOT_COVERED[Kind.TOOL_CALL]


def test_where_nobody_is_asked_nothing_is_demanded(browser, ask):
    make.in_force(modes={"global_mode": "disabled"})

    why = page_of(browser, ask()).one(class_="why")

    assert why.one("h2").text == "Why nobody was asked"
    assert list(why.all(class_="why-demands")) == []


def test_a_request_that_was_judged_again_says_what_was_said_before(browser, ask):
    approval = ask()
    make.in_force({"name": "Two", "effect": "review", "demands": {"approvals": 2}})
    judge_pending_again()

    why = page_of(browser, approval).one(class_="why")

    assert "Rule “Two”: two people must approve." in why.one(class_="why-trace").text
    assert why.one("summary").one(class_="why-changed").text == "Policy changed"
    earlier = why.one("details").one(class_="why-earlier").text
    assert earlier.startswith("Judged again at ")
    assert earlier.endswith(
        f"because the policy changed. Revision 1 said: {MODES[ModeSays.ALL_CODE]}"
    )


def test_a_new_policy_that_says_the_same_is_not_worth_a_word(browser, ask):
    approval = ask()
    make.in_force()
    judge_pending_again()

    assert list(page_of(browser, approval).all(class_="why-changed")) == []


ESCALATING = {
    "name": "Late",
    "effect": "review",
    "demands": {"groups": ["operators"], "escalate_to": "managers", "time_limit_s": 1200},
}


def test_half_time_is_that_of_the_policy(browser, token):
    make.group("operators")
    make.in_force(ESCALATING)
    approval = make.pending(token, time_limit_s=900)

    half = strip_tags(moments.clock(approval.submitted_at + timedelta(seconds=600)))
    said = page_of(browser, approval).one(class_="why-demands").text
    assert f"From {half} on managers may approve too." in said


def test_it_is_said_that_a_group_does_not_get_its_turn(browser, token):
    make.group("operators")
    make.in_force(ESCALATING)
    approval = make.pending(token, time_limit_s=60)

    half = strip_tags(moments.clock(approval.submitted_at + timedelta(seconds=600)))
    ends = strip_tags(moments.clock(approval.expires_at))
    said = page_of(browser, approval).one(class_="why-demands").text
    assert f"From {half} on managers could approve too, but the time limit ends before" in said
    assert f"at {ends}." in said
