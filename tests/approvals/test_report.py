from datetime import timedelta

import pytest

from approval_client.wire import OutcomeState, Status
from dashboard.approvals import guards, services
from dashboard.approvals.errors import (
    AlreadyFinished,
    AlreadyStarted,
    ApprovalExpired,
    ClockBehind,
    DigestMismatch,
    IdempotencyConflict,
    NotApproved,
    NotFound,
    NotStarted,
    OnHold,
)
from dashboard.approvals.models import Decision, Outcome
from dashboard.audit.models import AuditEntry
from tests import make

pytestmark = pytest.mark.django_db
FINISHED = OutcomeState.FINISHED


@pytest.fixture
def approval(token, alice):
    return make.approved(token, alice)


def test_an_approval_is_started_once(approval, token):
    make.report(approval, token, key="a")

    with pytest.raises(AlreadyStarted, match="nothing may run"):
        make.report(approval, token, key="b")

    assert Outcome.objects.count() == 1


def test_the_same_report_under_the_same_key_changes_nothing(approval, token):
    make.report(approval, token, key="a")

    assert make.report(approval, token, key="a").pk == approval.pk
    assert AuditEntry.objects.filter(action="outcome.started").count() == 1


def test_the_same_key_for_another_report_is_a_conflict(approval, token):
    make.report(approval, token, key="a")
    make.report(approval, token, FINISHED, key="b", exit_code=0)

    with pytest.raises(IdempotencyConflict):
        make.report(approval, token, FINISHED, key="b", exit_code=1)


def test_an_end_is_reported_once(approval, token):
    make.report(approval, token, key="a")
    make.report(approval, token, FINISHED, key="b")

    with pytest.raises(AlreadyFinished):
        make.report(approval, token, FINISHED, key="c")


def test_an_end_needs_a_beginning(approval, token):
    with pytest.raises(NotStarted):
        make.report(approval, token, FINISHED)


def test_an_outcome_is_kept_with_what_was_seen(approval, token):
    make.report(approval, token, key="a")
    make.report(approval, token, FINISHED, exit_code=3, duration_s=0.5, output_head="boom")

    outcome = Outcome.objects.get(state=FINISHED)
    assert (outcome.exit_code, outcome.duration_s, outcome.output_head) == (3, 0.5, "boom")


def test_nothing_starts_after_the_approval_has_run_out(approval, token):
    guards.remove()
    decision = Decision.objects.get()
    Decision.objects.update(valid_until=decision.decided_at - timedelta(seconds=1))
    guards.install()

    with pytest.raises(ApprovalExpired, match="Nothing may run"):
        make.report(approval, token)


def test_nothing_starts_while_the_clock_stands_before_the_log(approval, token):
    make.clock_set_back(hours=1)

    with pytest.raises(ClockBehind, match="The server's clock was set back: it stands before"):
        make.report(approval, token)
    assert not Outcome.objects.exists()


def test_a_clock_that_went_back_by_a_second_stops_nothing(approval, token):
    make.clock_set_back(seconds=1)

    make.report(approval, token)

    assert Outcome.objects.count() == 1


def test_other_content_than_was_approved_does_not_start(approval, token):
    with pytest.raises(DigestMismatch, match="Nothing may run"):
        make.report(approval, token, digest="0" * 64)


def test_another_agent_cannot_use_an_approval(approval):
    with pytest.raises(NotFound):
        make.report(approval, make.token(make.agent("other")))


def test_nothing_starts_while_everything_is_on_hold(approval, token, ada):
    services.place_hold(by=ada, auth="session:password")
    with pytest.raises(OnHold):
        make.report(approval, token)

    services.lift_hold(by=ada, auth="session:password")

    assert make.report(approval, token).pk == approval.pk


@pytest.mark.parametrize("status", [Status.PENDING, Status.REJECTED, Status.CANCELLED])
def test_only_what_was_approved_starts(token, alice, status):
    approval = make.pending(token)
    if status == Status.REJECTED:
        make.decided(approval, alice, status)
    if status == Status.CANCELLED:
        services.cancel(approval_id=approval.pk, token=token)

    with pytest.raises(NotApproved):
        make.report(approval, token)
