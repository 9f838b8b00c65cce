"""The ends that no reviewer makes: withdrawn, shut out, out of time."""

import pytest

from approval_client.wire import Source, Status
from dashboard.approvals import queries, services
from dashboard.approvals.errors import AlreadyClosed, NotFound
from dashboard.audit.models import AuditEntry
from tests import make

pytestmark = pytest.mark.django_db


def cancel(approval, token, reason="Changed my mind."):
    return services.cancel(approval_id=approval.pk, token=token, reason=reason)


def test_an_agent_takes_its_question_back(token):
    approval = cancel(make.pending(token), token)

    assert approval.status == Status.CANCELLED
    assert (approval.decision.source, approval.decision.reason) == (
        Source.AGENT,
        "Changed my mind.",
    )


def test_taking_it_back_twice_changes_nothing(token):
    approval = make.pending(token)
    cancel(approval, token)

    assert cancel(approval, token, "Again.").decision.reason == "Changed my mind."


def test_what_was_decided_cannot_be_taken_back(token, alice):
    approval = make.approved(token, alice)

    with pytest.raises(AlreadyClosed, match="was approved already"):
        cancel(approval, token)


def test_what_is_overdue_cannot_be_taken_back_and_is_expired(token):
    approval = make.overdue(token)

    with pytest.raises(AlreadyClosed, match="has expired already"):
        cancel(approval, token)

    approval.refresh_from_db()
    assert approval.status == Status.EXPIRED


def test_an_agent_cannot_take_back_what_another_asked(token):
    other = make.token(make.agent("other"))

    with pytest.raises(NotFound):
        cancel(make.pending(token), other)


def test_the_sweep_closes_what_is_overdue_and_nothing_else(token):
    late, open_ = make.overdue(token), make.pending(token)

    assert services.expire_overdue() == 1

    late.refresh_from_db()
    open_.refresh_from_db()
    assert (late.status, open_.status) == (Status.EXPIRED, Status.PENDING)
    assert late.decision.source == Source.DEADLINE


def test_a_second_sweep_finds_nothing(token):
    make.overdue(token)
    services.expire_overdue()

    assert services.expire_overdue() == 0


def test_whoever_looks_at_an_overdue_request_sees_it_expired(token):
    approval = make.overdue(token)

    assert queries.current(approval.pk).status == Status.EXPIRED
    assert AuditEntry.objects.filter(action="approval.expired").count() == 1


def test_expired_cancelled_and_rejected_stay_three_different_things(token, alice):
    rejected = make.pending(token)
    make.decided(rejected, alice, Status.REJECTED)
    cancelled = cancel(make.pending(token), token)
    expired = queries.current(make.overdue(token).pk)
    rejected.refresh_from_db()

    sources = [a.decision.source for a in (rejected, cancelled, expired)]
    assert sources == [Source.REVIEWER, Source.AGENT, Source.DEADLINE]


def test_revoking_a_token_closes_what_was_asked_with_it(agent, token):
    mine, others = make.pending(token), make.pending(make.token(agent))

    assert services.revoke_token(token, by=make.BY) == 1

    mine.refresh_from_db()
    others.refresh_from_db()
    assert (mine.status, mine.decision.source) == (Status.CANCELLED, Source.ADMIN)
    assert others.status == Status.PENDING


def test_retiring_an_agent_closes_everything_it_asked(agent, token):
    first, second = make.pending(token), make.pending(make.token(agent))

    assert services.retire_agent(agent, by=make.BY) == 2

    for approval in (first, second):
        approval.refresh_from_db()
        assert approval.decision.reason == "The agent was retired."
