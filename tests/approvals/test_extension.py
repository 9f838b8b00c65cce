"""A time limit can grow near its end, a few times, and never beyond what agent and policy say."""

from datetime import timedelta

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from approval_client.wire import Status
from dashboard.approvals import services
from dashboard.approvals.errors import AlreadyClosed, NotAllowed, TimeOver
from dashboard.approvals.models import ApprovalRequest
from dashboard.audit.models import AuditEntry
from tests import make

pytestmark = pytest.mark.django_db
FIVE = timedelta(minutes=5)


def extend(approval, person, **changes):
    ends = changes.get("ends", approval.expires_at)
    return services.extend(
        approval_id=approval.pk, person=person, auth="session:password", ends=ends
    )


@pytest.fixture
def ending(token):
    """In its last minute."""
    return make.pending(token, time_limit_s=50)


def test_a_press_adds_five_minutes_and_is_recorded(ending, alice):
    until = extend(ending, alice)

    assert until == ending.expires_at + FIVE
    ending.refresh_from_db()
    assert (ending.expires_at, ending.version) == (until, 2)
    assert AuditEntry.objects.latest("seq").action == "approval.extended"


def test_the_same_press_twice_adds_once(ending, alice):
    until = extend(ending, alice)

    assert extend(ending, alice) == until


def test_no_more_is_added_than_the_agent_waits(token, alice):
    ending = make.pending(token, time_limit_s=50, max_wait_s=70)

    assert extend(ending, alice) == ending.submitted_at + timedelta(seconds=70)
    ending.refresh_from_db()
    with pytest.raises(NotAllowed, match="the agent waits no longer"):
        extend(ending, alice)


def test_no_more_is_added_than_the_policy_allows(token, alice):
    make.in_force({"name": "Quick", "effect": "review", "demands": {"time_limit_s": 55}})
    ending = make.pending(token, time_limit_s=50)

    assert extend(ending, alice) == ending.submitted_at + timedelta(seconds=55)


def test_time_is_added_three_times_at_the_most(ending, alice):
    for _ in range(3):
        with make._unguarded():
            ApprovalRequest.objects.filter(pk=ending.pk).update(
                submitted_at=timezone.now() - timedelta(hours=1),
                expires_at=timezone.now() + timedelta(seconds=30),
            )
        ending.refresh_from_db()
        extend(ending, alice)

    ending.refresh_from_db()
    with pytest.raises(NotAllowed, match="as often as allowed"):
        extend(ending, alice)


def test_long_before_the_end_nothing_is_added(token, alice):
    with pytest.raises(NotAllowed, match="near the end"):
        extend(make.pending(token), alice)


def test_what_is_over_or_answered_gets_no_time(token, ending, alice):
    with pytest.raises(TimeOver):
        extend(make.overdue(token), alice)
    make.decided(ending, alice)
    with pytest.raises(AlreadyClosed):
        extend(ending, alice)


def test_who_may_not_decide_adds_nothing(ending, ada):
    with pytest.raises(NotAllowed):
        extend(ending, ada)


def test_the_agent_is_told_the_new_end(ending, alice, client, agent):
    until = extend(ending, alice)

    secret = make.secret(agent)
    told = client.get(
        f"/api/v1/approvals/{ending.pk}", headers={"authorization": f"Bearer {secret}"}
    )

    assert told.json()["expires_at"][:19] == until.isoformat()[:19]


@pytest.mark.parametrize("changes", [{"extensions": 0}, {"extended_s": 999}])
def test_the_database_refuses_time_that_nobody_counted(ending, changes):
    later = ending.expires_at + FIVE

    with pytest.raises(DatabaseError, match="grows by an extension only"), transaction.atomic():
        ApprovalRequest.objects.filter(pk=ending.pk).update(expires_at=later, **changes)


def test_the_database_refuses_another_end_for_what_is_closed(ending, alice):
    make.decided(ending, alice, Status.REJECTED)

    with pytest.raises(DatabaseError), transaction.atomic():
        ApprovalRequest.objects.filter(pk=ending.pk).update(
            expires_at=ending.expires_at + FIVE, extensions=1
        )
