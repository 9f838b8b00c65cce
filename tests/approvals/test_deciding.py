import pytest
from django.db import DatabaseError

from approval_client.wire import Source, Status
from dashboard.accounts import tokens
from dashboard.accounts.services import people
from dashboard.approvals import services
from dashboard.approvals.errors import (
    AlreadyClosed,
    NotAllowed,
    NotFound,
    OnHold,
    StaleBasis,
)
from dashboard.approvals.models import Decision
from dashboard.approvals.services import Basis, _closing
from dashboard.audit.models import AuditEntry
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


def test_a_second_reviewer_is_told_and_nothing_is_recorded(token, alice, bob):
    approval = make.pending(token)
    make.decided(approval, alice, Status.REJECTED)

    with pytest.raises(AlreadyClosed, match=r"was rejected already.*was not recorded\."):
        make.decided(approval, bob)

    approval.refresh_from_db()
    assert approval.status == Status.REJECTED


def test_the_same_answer_of_the_same_person_again_returns_the_first(token, alice):
    approval = make.pending(token)
    first = make.decided(approval, alice)

    assert make.decided(approval, alice).pk == first.pk
    assert AuditEntry.objects.filter(action="approval.approved").count() == 1


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

    with pytest.raises(NotAllowed, match="You own mine or made its token"):
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

    with pytest.raises(NotAllowed, match="You own mine or made its token"):
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
            reviewer=alice,
            auth="",
            status=Status.APPROVED,
            basis=make.basis(approval),
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

    monkeypatch.setattr(_closing, "record", broken)
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
    assert '"reason":"Wrong sector."' in entry.details


def test_who_made_a_token_may_not_approve_what_is_asked_with_it(agent, alice, bob):
    token, _ = tokens.issue(agent, by=make.BY, creator=alice)

    with pytest.raises(NotAllowed, match="or made its token"):
        make.decided(make.pending(token), alice)

    assert make.decided(make.pending(token), bob).status == Status.APPROVED
