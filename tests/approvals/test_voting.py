"""Several people have to say yes, and one no is final."""

import json
from datetime import timedelta

import pytest

from approval_client.wire import Status
from dashboard.accounts.services import groups, people
from dashboard.approvals import services
from dashboard.approvals.errors import NotAllowed, ReasonMissing
from dashboard.approvals.judging import demands_of
from dashboard.approvals.models import Decision, Vote
from dashboard.approvals.permission import why_not_count
from dashboard.audit.models import AuditEntry
from tests import make

pytestmark = pytest.mark.django_db


def review(**demands):
    return {"name": "Careful", "effect": "review", "demands": demands}


@pytest.fixture
def two(token):
    """A request that two people have to approve."""
    make.in_force(review(approvals=2))
    return make.pending(token)


def status(approval):
    approval.refresh_from_db()
    return approval.status


def test_the_first_of_two_is_a_vote_and_opens_nothing(two, alice):
    vote = make.decided(two, alice, reason="Looks right.")

    assert isinstance(vote, Vote)
    assert (status(two), vote.person, vote.reason) == (Status.PENDING, alice, "Looks right.")
    assert AuditEntry.objects.filter(action="approval.voted").count() == 1


def test_the_second_of_two_approves(two, alice, bob):
    make.decided(two, alice)

    decision = make.decided(two, bob)

    assert isinstance(decision, Decision)
    assert (status(two), decision.decided_by) == (Status.APPROVED, bob)


def test_one_person_with_every_role_cannot_be_two(two):
    many = make.person("many", reviewer=True, admin=True, auditor=True)

    for _ in range(3):
        make.decided(two, many)

    assert (status(two), two.votes.count()) == (Status.PENDING, 1)
    assert AuditEntry.objects.filter(action="approval.voted").count() == 1


def test_one_rejection_is_final_whatever_was_voted(two, alice, bob):
    make.decided(two, alice)

    make.decided(two, bob, Status.REJECTED)

    assert status(two) == Status.REJECTED


def test_who_approved_may_still_reject(two, alice):
    make.decided(two, alice)

    make.decided(two, alice, Status.REJECTED)

    assert status(two) == Status.REJECTED


def test_a_vote_raises_the_version_and_keeps_the_basis(two, alice, bob):
    seen, basis = two.version, make.basis(two)

    make.decided(two, alice)

    two.refresh_from_db()
    assert two.version > seen
    assert make.decided(two, bob, basis=basis).status == Status.APPROVED


def test_the_vote_of_somebody_who_lost_the_role_counts_no_more(two, alice, bob):
    make.decided(two, alice)
    people.change_roles(alice, roles={}, by=make.BY)

    make.decided(two, bob)

    assert status(two) == Status.PENDING


def test_a_yes_that_gave_less_than_is_asked_now_counts_no_more(two, alice, bob):
    make.decided(two, alice)
    make.in_force(review(approvals=2, reason_required=True))
    services.judge_pending_again()

    make.decided(two, bob, reason="Checked.")

    assert status(two) == Status.PENDING


def test_who_said_yes_under_a_laxer_policy_can_say_it_anew(two, alice, bob):
    make.decided(two, alice)
    make.in_force(review(approvals=2, reason_required=True))
    services.judge_pending_again()
    make.decided(two, bob, reason="Checked.")

    make.decided(two, alice, reason="Checked too.")

    assert status(two) == Status.APPROVED
    assert json.loads(two.decision.counted) == ["bob", "alice"]


def test_a_decision_names_only_those_whose_yes_counted(two, alice, bob):
    many = make.person("many", reviewer=True)
    make.decided(two, many)
    people.change_roles(many, roles={}, by=make.BY)
    make.decided(two, alice)

    make.decided(two, bob)

    two.refresh_from_db()
    entry = AuditEntry.objects.get(action="approval.approved")
    assert sorted(json.loads(two.decision.counted)) == ["alice", "bob"]
    assert sorted(json.loads(entry.details)["approved_by"]) == ["alice", "bob"]


def test_a_closed_request_answers_a_voter_with_the_vote(two, alice, bob):
    first = make.decided(two, alice)
    make.decided(two, bob)

    assert make.decided(two, alice).pk == first.pk


def test_only_the_group_counts(token, alice, bob):
    make.group("operators", alice)
    make.in_force(review(groups=["operators"]))
    approval = make.pending(token)

    with pytest.raises(NotAllowed, match="a yes from operators"):
        make.decided(approval, bob)

    assert make.decided(approval, alice).status == Status.APPROVED


def test_anybody_who_reviews_may_reject_what_a_group_approves(token, bob):
    make.in_force(review(groups=["operators"]))

    assert make.decided(make.pending(token), bob, Status.REJECTED).status == Status.REJECTED


def test_a_group_that_nobody_is_in_approves_nothing(token, alice):
    make.in_force(review(groups=["operators"]))

    with pytest.raises(NotAllowed):
        make.decided(make.pending(token), alice)


def test_who_leaves_the_group_is_counted_no_more(token, alice, bob):
    group = make.group("operators", alice, bob)
    make.in_force(review(groups=["operators"], approvals=2))
    approval = make.pending(token)
    make.decided(approval, alice)
    groups.set_members(group, members=[bob], by=make.BY)

    make.decided(approval, bob)

    assert status(approval) == Status.PENDING


@pytest.mark.parametrize("padding", ["", "#" * 66_000, "(" * 90, ")("])
def test_padding_does_not_make_one_person_enough(token, alice, padding):
    writes = {"findings": {"names": ["control-system-write"]}}
    make.in_force({**review(approvals=2), "when": writes})
    code = f"import epics\nepics.PV('SR:C01:HV').put(1)\n{padding}"
    asked = make.pending(token, content={"code": code, "language": "python"})

    assert isinstance(make.decided(asked, alice), Vote)
    assert status(asked) == Status.PENDING


def test_the_other_group_counts_from_half_time_on(token, bob):
    make.group("deputies", bob)
    make.in_force(review(groups=["operators"], escalate_to="deputies"))
    early, late = make.pending(token), make.half_over(token)

    with pytest.raises(NotAllowed):
        make.decided(early, bob)

    assert make.decided(late, bob).status == Status.APPROVED


@pytest.mark.parametrize(("limit_s", "half_s"), [(None, 900), (600, 300)])
@pytest.mark.parametrize("agents_own_s", [None, 40, 3600])
def test_the_agents_own_time_limit_does_not_move_half_time(
    token, bob, limit_s, half_s, agents_own_s
):
    make.group("deputies", bob)
    escalating = {"groups": ["operators"], "escalate_to": "deputies"}
    make.in_force(review(**escalating, **({"time_limit_s": limit_s} if limit_s else {})))
    asked = make.pending(token, time_limit_s=agents_own_s)
    required = demands_of(asked.judgements.latest("id"))

    def counts(after_s):
        return not why_not_count(
            asked, required, bob, asked.submitted_at + timedelta(seconds=after_s)
        )

    assert [counts(after_s) for after_s in (0, 21, half_s - 1, half_s)] == [
        False,
        False,
        False,
        True,
    ]


def test_added_time_does_not_move_half_time(token, alice, bob):
    make.group("deputies", bob)
    make.in_force(review(groups=["operators"], escalate_to="deputies"))
    asked = make.half_over(token)

    services.extend(
        approval_id=asked.pk, person=alice, auth="session:password", ends=asked.expires_at
    )

    assert make.decided(asked, bob).status == Status.APPROVED


def test_a_rule_lets_an_owner_approve(token, alice):
    make.own(token.agent, alice)
    make.in_force(review(owner_may_approve=True))

    assert make.decided(make.pending(token), alice).status == Status.APPROVED


def test_a_reason_can_be_asked_for(token, alice):
    make.in_force(review(reason_required=True))
    approval = make.pending(token)

    with pytest.raises(ReasonMissing):
        make.decided(approval, alice, reason="  ")

    assert status(approval) == Status.PENDING
    assert make.decided(approval, alice, reason="Checked.").reason == "Checked."


def test_a_rejection_never_needs_a_reason(token, alice):
    make.in_force(review(reason_required=True))

    assert make.decided(make.pending(token), alice, Status.REJECTED).status == Status.REJECTED


def test_the_end_can_be_asked_for(token, alice):
    make.in_force(review(whole_content=True))
    approval = make.pending(token)

    with pytest.raises(NotAllowed, match="whole content"):
        make.decided(approval, alice, shown={"end_seen": ""})

    assert make.decided(approval, alice, shown={"end_seen": "yes"}).status == Status.APPROVED


def test_the_policy_shortens_the_time_limit_and_never_lengthens_it(token):
    make.in_force(review(time_limit_s=60))

    limits = [make.pending(token, time_limit_s=s) for s in (30, 600, None)]

    assert [(a.expires_at - a.submitted_at).seconds for a in limits] == [30, 60, 60]
