"""Why a person is asked, and what is asked of people, in words."""

from datetime import UTC, datetime, timedelta

import pytest

from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.services import judge_pending_again
from dashboard.policies.demands import Circle, Required
from dashboard.web import times
from dashboard.web.desk.judgement import demands_in_words
from tests import make
from tests.web.pages import page_of

ASKED_AT = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
ONE = ApprovalRequest(submitted_at=ASKED_AT, expires_at=ASKED_AT + timedelta(minutes=30))
CALM = {"whole_content": False}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, []),
        ({"approvals": 2}, ["2 people have to approve."]),
        ({"circles": (Circle(("ops",)),)}, ["1 person of ops has to approve."]),
        (
            {"approvals": 3, "circles": (Circle(("a", "b")), Circle(("c",)))},
            ["3 people of a or b, and also c have to approve."],
        ),
        (
            {"circles": (Circle(("ops",), ("managers",)),)},
            [
                "1 person of ops has to approve.",
                "From 12:15:00 UTC on managers may approve too.",
            ],
        ),
        ({"time_limit_s": 600}, ["It stays open for 10 min at the most."]),
        ({"reason_required": True}, ["A reason is needed to approve."]),
    ],
)
def test_demands_are_said_in_words(asked, said):
    assert demands_in_words(Required(**(CALM | asked)), ONE) == said


def test_the_page_says_what_the_policy_demands(browser, ask):
    make.group("operators")
    demands = {"approvals": 2, "groups": ["operators"], "reason_required": True}
    make.in_force({"name": "Careful", "effect": "review", "demands": demands | CALM})

    why = page_of(browser, ask()).one(class_="why")

    said = [sentence.text for sentence in why.one(class_="why-demands").all("span")]
    assert said == ["2 people of operators have to approve.", "A reason is needed to approve."]
    assert "Rule 'Careful' asks for a review." in why.one("p").text


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

    assert "Rule 'Two' asks for a review." in why.one("p").text
    assert "because the policy changed" in why.one("summary").text
    assert why.one("details").one("p").text == (
        "Revision 1 said: Global mode is 'all_capabilities'. All code requires approval."
    )


def test_a_new_policy_that_says_the_same_is_not_worth_a_word(browser, ask):
    approval = ask()
    make.in_force()
    judge_pending_again()

    assert list(page_of(browser, approval).one(class_="why").all("details")) == []


ESCALATING = {
    "name": "Late",
    "effect": "review",
    "demands": {"groups": ["operators"], "escalate_to": "managers", "time_limit_s": 1200},
}


def test_half_time_is_that_of_the_policy(browser, token):
    make.group("operators")
    make.in_force(ESCALATING)
    approval = make.pending(token, time_limit_s=900)

    half = times.clock(approval.submitted_at + timedelta(seconds=600))
    said = page_of(browser, approval).one(class_="why-demands").text
    assert f"From {half} on managers may approve too." in said


def test_it_is_said_that_a_group_does_not_get_its_turn(browser, token):
    make.group("operators")
    make.in_force(ESCALATING)
    approval = make.pending(token, time_limit_s=60)

    half = times.clock(approval.submitted_at + timedelta(seconds=600))
    ends = times.clock(approval.expires_at)
    said = page_of(browser, approval).one(class_="why-demands").text
    assert f"From {half} on managers could approve too, but the time limit ends before" in said
    assert f"at {ends}." in said
