"""Nobody answered in time."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction

from approval_client.wire import Source, Status
from dashboard.approvals.clock import database_now
from dashboard.approvals.models import ApprovalRequest, Decision
from dashboard.approvals.services._closing import close, lock
from dashboard.audit.services import Actor

_BATCH = 100


def expire(approval_id: UUID) -> bool:
    """Close a request as expired if its time limit has passed, and say whether it did so now.

    Raises:
        NotFound: There is no such request.
    """
    with transaction.atomic():
        approval = lock(approval_id)
        now = database_now()
        if approval.status != Status.PENDING or approval.expires_at > now:
            return False
        expire_locked(approval, now)
        return True


def expire_overdue() -> int:
    """Close what is overdue, a hundred at the most, each in a transaction of its own.

    Returns:
        How many were closed.
    """
    overdue = ApprovalRequest.objects.overdue(database_now()).order_by("expires_at")
    return sum(expire(pk) for pk in list(overdue.values_list("pk", flat=True)[:_BATCH]))


def expire_locked(approval: ApprovalRequest, now: datetime) -> Decision:
    """Close a locked, pending, overdue request."""
    decision = Decision(
        approval=approval,
        status=Status.EXPIRED,
        source=Source.DEADLINE,
        reason="Nobody decided within the time limit.",
        decided_at=now,
    )
    return close(decision, actor=Actor("deadline"))
