"""The answer of a person to exactly the same question is given again by one press."""

import json
from importlib import import_module

import pytest

from approval_client.wire import Source, Status
from dashboard.accounts.services import people
from dashboard.approvals.errors import NotAllowed, StaleBasis
from dashboard.approvals.models import Decision
from dashboard.approvals.repeating import earlier_answer, saw_the_end
from dashboard.audit.models import AuditEntry
from dashboard.inspection.findings import Finding, Report, Severity
from tests import make

pytestmark = pytest.mark.django_db


def answered(token, person, status=Status.REJECTED, reason="Wrong sector.", **changes):
    approval = make.pending(token, **({"run_id": "r"} | changes))
    return make.decided(approval, person, status, reason=reason)


def found(approval):
    return earlier_answer(approval, approval.judgements.latest("id"))


def again(approval, person, earlier, **more):
    return make.decided(
        approval, person, Status(earlier.status), repeats=earlier, shown={"end_seen": ""}, **more
    )


def test_a_no_is_given_again_with_its_words_and_names_the_first(token, alice, bob):
    earlier = answered(token, alice)
    same = make.pending(token, run_id="r")

    decision = again(same, bob, found(same))

    assert (decision.status, decision.reason) == (Status.REJECTED, "Wrong sector.")
    assert (decision.decided_by, decision.repeats) == (bob, earlier)
    details = json.loads(AuditEntry.objects.latest("seq").details)
    assert details["repeats"] == str(earlier.approval_id)


def test_my_own_yes_is_given_again_and_its_end_was_seen_then(token, alice):
    earlier = answered(token, alice, Status.APPROVED)
    same = make.pending(token, run_id="r")

    decision = again(same, alice, earlier)

    assert (decision.status, saw_the_end(earlier, alice)) == (Status.APPROVED, True)
    assert json.loads(decision.shown)["repeats"] == earlier.pk


def test_a_yes_is_not_given_again_after_a_later_one_that_took_a_change(token, alice, bob):
    answered(token, alice, Status.APPROVED, accepts_edits=True)
    changed = make.pending(token, run_id="r", accepts_edits=True)
    edit = make.edited(changed, alice)
    make.decided(changed, bob, basis=make.basis(changed, edit))

    assert found(make.pending(token, run_id="r", accepts_edits=True)) is None


def test_the_yes_of_somebody_else_still_has_to_be_read_to_the_end(token, alice, bob):
    earlier = answered(token, alice, Status.APPROVED)
    same = make.pending(token, run_id="r")

    with pytest.raises(NotAllowed, match="whole content"):
        again(same, bob, earlier)

    seen = make.decided(same, bob, repeats=earlier)
    assert (seen.status, seen.decided_by) == (Status.APPROVED, bob)


def test_a_reason_that_is_asked_for_is_that_of_then(token, alice):
    make.in_force({"name": "Why", "effect": "review", "demands": {"reason_required": True}})
    earlier = answered(token, alice, Status.APPROVED, reason="Checked.")

    assert again(make.pending(token, run_id="r"), alice, earlier).reason == "Checked."


def test_where_several_have_to_approve_it_counts_as_one(token, alice, bob):
    make.in_force({"name": "Two", "effect": "review", "demands": {"approvals": 2}})
    first = make.pending(token, run_id="r")
    make.decided(first, bob)
    earlier = make.decided(first, alice)
    same = make.pending(token, run_id="r")

    again(same, alice, earlier)

    same.refresh_from_db()
    assert (same.status, same.votes.count()) == (Status.PENDING, 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"run_id": "other"},
        {"content": {"code": "print(1) "}},
        {"capability": "python"},
        {"objective": "Another one."},
        {"evidence": {"execution_mode": "write"}},
    ],
)
def test_any_difference_is_another_question(token, alice, changes):
    answered(token, alice)

    assert found(make.pending(token, **({"run_id": "r"} | changes))) is None


def test_without_a_run_nothing_belongs_together(token, alice):
    answered(token, alice, run_id="")

    assert found(make.pending(token)) is None


def test_another_agent_asks_another_question(token, alice):
    answered(token, alice)

    assert found(make.pending(make.token(make.agent("other")), run_id="r")) is None


def test_under_another_policy_it_is_another_question(token, alice):
    answered(token, alice)
    make.in_force()

    assert found(make.pending(token, run_id="r")) is None


def test_with_other_findings_it_is_another_question(token, alice, monkeypatch):
    answered(token, alice)
    report = Report((Finding("network", Severity.LOW, 1, 1, "Opens a connection."),), ("python",))
    submitting = import_module("dashboard.approvals.services.submit")
    monkeypatch.setattr(submitting, "inspect", lambda *_: report)

    assert found(make.pending(token, run_id="r")) is None


def test_what_no_person_answered_is_not_given_again(token):
    make.in_force({"name": "No", "effect": "reject"})
    make.pending(token, run_id="r")

    assert Decision.objects.get().source == Source.POLICY
    assert found(make.pending(token, run_id="r")) is None


def test_the_last_answer_of_a_person_counts(token, alice, bob):
    answered(token, alice, Status.APPROVED)
    last = answered(token, bob)

    assert found(make.pending(token, run_id="r")) == last


def test_what_was_approved_is_not_rejected_as_before(token, alice):
    earlier = answered(token, alice, Status.APPROVED)
    same = make.pending(token, run_id="r")

    with pytest.raises(StaleBasis):
        make.decided(same, alice, Status.REJECTED, repeats=earlier)


def test_an_answer_to_something_else_is_not_given_again(token, alice):
    earlier = answered(token, alice, content={"code": "print(2)"})

    with pytest.raises(StaleBasis):
        again(make.pending(token, run_id="r"), alice, earlier)


def test_who_lost_the_right_gives_nothing_again(token, alice, bob):
    earlier = answered(token, alice, Status.APPROVED)
    people.change_roles(alice, roles={}, by=make.BY)

    with pytest.raises(NotAllowed):
        again(make.pending(token, run_id="r"), alice, earlier)
