import json
from contextlib import nullcontext
from datetime import timedelta

import pytest
from django.db import DatabaseError

from approval_client.wire import Source, Status
from dashboard.accounts import tokens
from dashboard.accounts.services import groups, people
from dashboard.approvals import services
from dashboard.approvals.errors import (
    AlreadyClosed,
    NotAllowed,
    NotFound,
    OnHold,
    ReasonMissing,
    StaleBasis,
)
from dashboard.approvals.models import Decision, Vote
from dashboard.approvals.rules.answer import why_not_count
from dashboard.approvals.rules.judgement import demands_of
from dashboard.approvals.rules.likeness import earlier_answer, saw_the_end
from dashboard.approvals.rules.logged import texts_of
from dashboard.approvals.services import Basis, closing
from dashboard.audit.models import AuditEntry
from dashboard.inspection.findings import Finding, Report, Severity
from tests import make

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("status", [Status.APPROVED, Status.REJECTED])
def test_a_reviewer_closes_a_request(token, alice, status):
    approval = make.pending(token)

    decision = make.decided(approval, alice, status, reason="Seen.")

    approval.refresh_from_db()
    assert (approval.status, decision.source) == (status, Source.REVIEWER)
    assert (decision.decided_by, decision.reason) == (alice, "Seen.")
    assert decision.digest == approval.digest


def test_an_approval_is_good_for_ten_minutes(token, alice):
    decision = make.decided(make.pending(token), alice)

    assert (decision.valid_until - decision.decided_at).total_seconds() == 600


def test_a_rejection_needs_no_reason_and_opens_nothing(token, alice):
    decision = make.decided(make.pending(token), alice, Status.REJECTED)

    assert (decision.reason, decision.valid_until) == ("", None)


def test_the_plain_word_rejects_as_well_and_is_no_vote(token, alice):
    decision = make.decided(make.pending(token), alice, "rejected")

    assert (decision.status, Vote.objects.count()) == (Status.REJECTED, 0)


def test_a_second_reviewer_is_told_and_nothing_is_recorded(token, alice, bob):
    approval = make.pending(token)
    make.decided(approval, alice, Status.REJECTED)

    with pytest.raises(AlreadyClosed, match=r"was rejected already.*was not recorded\."):
        make.decided(approval, bob)

    approval.refresh_from_db()
    assert approval.status == Status.REJECTED


@pytest.mark.parametrize("answer", [Status.APPROVED, Status.REJECTED])
def test_the_same_answer_of_the_same_person_again_returns_the_first(token, alice, answer):
    approval = make.pending(token)
    first = make.decided(approval, alice, answer)

    assert make.decided(approval, alice, answer) == first
    assert AuditEntry.objects.filter(action=f"approval.{answer}").count() == 1


def test_the_same_answer_of_somebody_else_is_refused(token, alice, bob):
    approval = make.pending(token)
    make.decided(approval, alice)

    with pytest.raises(AlreadyClosed):
        make.decided(approval, bob)


def test_another_answer_of_the_same_person_is_refused(token, alice):
    approval = make.pending(token)
    make.decided(approval, alice, Status.REJECTED)

    with pytest.raises(AlreadyClosed):
        make.decided(approval, alice, Status.APPROVED)


def test_after_the_time_limit_nothing_is_approved_also_when_nobody_swept(token, alice):
    approval = make.overdue(token)

    with pytest.raises(AlreadyClosed, match="has expired already"):
        make.decided(approval, alice)

    approval.refresh_from_db()
    assert (approval.status, approval.decision.source) == (Status.EXPIRED, Source.DEADLINE)


@pytest.mark.parametrize("field", ["digest", "judgement_id"])
def test_a_decision_about_something_else_than_was_shown_is_refused(token, alice, field):
    approval = make.pending(token)
    other = make.basis(approval)._replace(**{field: 0 if field == "judgement_id" else "0" * 64})

    with pytest.raises(StaleBasis, match="Nothing was recorded"):
        make.decided(approval, alice, basis=other)

    assert not Decision.objects.exists()


@pytest.mark.parametrize("role", ["admin", "auditor"])
def test_only_reviewers_decide(token, role):
    somebody = make.person("somebody", **{role: True})

    with pytest.raises(NotAllowed, match="was not recorded"):
        make.decided(make.pending(token), somebody, Status.REJECTED)


def test_a_reviewer_who_lost_the_role_cannot_decide_from_an_open_page(token, alice, ada):
    approval = make.pending(token)
    people.change_roles(alice, roles={"auditor": True}, by=make.BY)

    with pytest.raises(NotAllowed):
        make.decided(approval, alice)  # alice still carries the old flags


def test_a_reviewer_who_was_deactivated_cannot_decide(token, alice):
    approval = make.pending(token)
    people.set_active(alice, active=False, by=make.BY)

    with pytest.raises(NotAllowed):
        make.decided(approval, alice)


def test_an_owner_may_not_approve_but_may_reject_what_their_agent_asks(alice):
    token = make.token(make.agent("mine", owner=alice))

    with pytest.raises(NotAllowed, match="You own mine or issued its token"):
        make.decided(make.pending(token), alice)

    assert make.decided(make.pending(token), alice, Status.REJECTED).status == Status.REJECTED


def test_an_owner_may_approve_when_the_policy_says_so(alice):
    make.in_force(owner_may_approve=True)
    token = make.token(make.agent("mine", owner=alice))

    assert make.decided(make.pending(token), alice).status == Status.APPROVED


@pytest.mark.parametrize("may_before", [True, False])
def test_of_the_policy_then_and_the_policy_now_the_stricter_holds(alice, may_before):
    make.in_force(owner_may_approve=may_before)
    approval = make.pending(make.token(make.agent("mine", owner=alice)))
    make.in_force(owner_may_approve=not may_before)
    services.judge_pending_again()

    with pytest.raises(NotAllowed, match="You own mine or issued its token"):
        make.decided(approval, alice)


def test_on_hold_nothing_is_approved_and_rejecting_still_works(token, alice, ada):
    approval = make.pending(token)
    services.place_hold(by=ada, auth="session:password")

    with pytest.raises(OnHold, match="Nothing was recorded"):
        make.decided(approval, alice)

    assert make.decided(approval, alice, Status.REJECTED).status == Status.REJECTED


def test_an_unknown_request_cannot_be_decided(alice, token):
    approval = make.pending(token)
    approval_id = make.agent("x").pk and "00000000-0000-4000-8000-000000000000"

    with pytest.raises(NotFound):
        services.decide(
            approval_id=approval_id,
            answer=services.ReviewerAnswer(
                reviewer=alice, auth="", status=Status.APPROVED, basis=make.basis(approval)
            ),
        )


@pytest.mark.parametrize("status", [Status.PENDING, Status.EXPIRED, Status.CANCELLED, "yes"])
def test_a_reviewer_approves_or_rejects_and_nothing_else(token, alice, status):
    approval = make.pending(token)

    with pytest.raises(ValueError, match="A reviewer approves or rejects"):
        make.decided(approval, alice, status, basis=Basis("", 0))


def test_without_a_record_nothing_is_decided(token, alice, monkeypatch):
    approval = make.pending(token)

    def broken(*_):
        raise DatabaseError("disk full")

    monkeypatch.setattr(closing, "record", broken)
    with pytest.raises(DatabaseError):
        make.decided(approval, alice)

    approval.refresh_from_db()
    assert approval.status == Status.PENDING
    assert not Decision.objects.exists()


def test_a_decision_is_recorded_with_who_how_and_what(token, alice):
    approval = make.pending(token)
    make.decided(approval, alice, Status.REJECTED, reason="Wrong sector.")

    entry = AuditEntry.objects.get(action="approval.rejected")
    assert (entry.actor, entry.auth) == ("user:alice", "session:password")
    assert (entry.subject, entry.digest) == (str(approval.pk), approval.digest)
    assert texts_of([entry])[entry.seq] == ("Wrong sector.", True)


def test_who_made_a_token_may_not_approve_what_is_asked_with_it(agent, alice, bob):
    token, _ = tokens.issue(agent, by=make.BY, creator=alice)

    with pytest.raises(NotAllowed, match="or issued its token"):
        make.decided(make.pending(token), alice)

    assert make.decided(make.pending(token), bob).status == Status.APPROVED


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


def test_a_second_vote_of_the_same_person_with_another_reason_is_refused(two, alice):
    make.decided(two, alice, reason="Looks right.")

    with pytest.raises(NotAllowed, match="approved this already, with another reason"):
        make.decided(two, alice, reason="No, wait.")


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

    assert make.decided(two, alice) == first


def test_a_voter_is_told_that_somebody_rejected_meanwhile(two, alice, bob):
    make.decided(two, alice)
    make.decided(two, bob, Status.REJECTED)

    with pytest.raises(AlreadyClosed):
        make.decided(two, alice)


def test_only_the_group_counts(token, alice, bob):
    make.group("operators", alice)
    make.in_force(review(groups=["operators"]))
    approval = make.pending(token)

    with pytest.raises(NotAllowed, match="an approval from operators"):
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


@pytest.mark.parametrize("whole_content", [True, False])
def test_a_vote_with_a_masked_token_ends_when_a_rule_demands_that_all_is_revealed(
    token, alice, bob, whole_content
):
    make.in_force(review(approvals=2, whole_content=whole_content))
    approval = make.pending(token)
    masked = {"end_seen": "yes", "masked": 1, "masked_tokens": 1}
    make.decided(approval, alice, shown=masked)
    make.in_force(review(approvals=2, whole_content=whole_content, reveal_required=True))
    services.judge_pending_again()

    with pytest.raises(NotAllowed, match="masked"):
        make.decided(approval, bob, shown=masked)
    make.decided(approval, bob, shown={"end_seen": "yes"})

    assert status(approval) == Status.PENDING


@pytest.mark.parametrize(("tokens", "counts"), [(1, True), (0, False), (None, False)])
def test_a_mask_is_no_obstacle_only_where_it_covers_a_token(token, alice, tokens, counts):
    approval = make.pending(token)
    shown = {"end_seen": "yes", "masked": 1}
    if tokens is not None:
        shown["masked_tokens"] = tokens

    with nullcontext() if counts else pytest.raises(NotAllowed, match="masked"):
        make.decided(approval, alice, shown=shown)

    assert (status(approval) == Status.APPROVED) is counts


def test_the_policy_shortens_the_time_limit_and_never_lengthens_it(token):
    make.in_force(review(time_limit_s=60))

    limits = [make.pending(token, time_limit_s=s) for s in (30, 600, None)]

    assert [(a.expires_at - a.submitted_at).seconds for a in limits] == [30, 60, 60]


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
    report = Report((Finding("network", Severity.LOW, 1, 1, "uses-network"),), ("python",))
    make.inspected(monkeypatch, report)

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


@pytest.mark.parametrize("answer", [Status.APPROVED, Status.REJECTED])
def test_the_same_answer_with_other_words_is_another_one(token, alice, answer):
    approval = make.pending(token)
    make.decided(approval, alice, answer, reason="First.")

    with pytest.raises(AlreadyClosed):
        make.decided(approval, alice, answer, reason="Second.")


def test_an_answer_that_repeats_an_earlier_one_returns_the_first_when_sent_again(
    token, alice, bob
):
    earlier = make.decided(make.pending(token, run_id="r"), alice, Status.REJECTED, reason="No.")
    same = make.pending(token, run_id="r")
    first = again(same, bob, earlier)

    assert again(same, bob, earlier) == first


def test_an_approval_that_repeats_an_earlier_one_is_not_the_one_with_other_words(
    token, alice, bob
):
    earlier = make.decided(make.pending(token, run_id="r"), alice, reason="Earlier.")
    same = make.pending(token, run_id="r")
    make.decided(same, bob, reason="By hand.")

    with pytest.raises(AlreadyClosed):
        again(same, bob, earlier)


def test_an_approval_that_allows_steps_is_not_the_one_that_did_not(token, alice):
    make.in_force(make.REMEMBERS)
    steps = {"steps": [{"code": "print(1)", "language": "python"}]}
    more = {"kind": "plan", "capability": "plan", "content": steps, "accepts_grants": True}
    plan = make.pending(token, run_id="r", **more)
    make.decided(plan, alice)

    with pytest.raises(AlreadyClosed):
        make.decided(plan, alice, allow_steps=True)
