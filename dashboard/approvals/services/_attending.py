"""What the verbs of attention share: they are for people who may decide, and for what is open."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from approval_client.wire import Status
from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.approvals.clock import database_now
from dashboard.approvals.errors import AlreadyClosed, NotAllowed, TimeOver
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.services._closing import lock
from dashboard.audit.services import Actor, Event

_NO_RIGHT = "You are not a reviewer (any more). Nothing was changed."


def lock_open(approval_id: UUID, person: User) -> tuple[ApprovalRequest, datetime]:
    """Lock a request that ``person`` could answer now, and say when now is.

    Raises:
        NotFound: There is no such request.
        NotAllowed: The person may not decide (any more).
        AlreadyClosed: It was answered.
        TimeOver: Its time limit has passed.
    """
    approval = lock(approval_id)
    if not roles.may_decide(User.objects.get(pk=person.pk)):
        raise NotAllowed(_NO_RIGHT)
    if approval.status != Status.PENDING:
        raise AlreadyClosed(approval)
    now = database_now()
    if approval.expires_at <= now:
        raise TimeOver
    return approval, now


def event(verb: str, approval: ApprovalRequest, **details: str) -> Event:
    """The audit entry of a verb of attention."""
    return Event(f"approval.{verb}", str(approval.pk), approval.digest, details)


def actor(person: User, auth: str) -> Actor:
    """Name a person for the record."""
    return Actor(f"user:{person.username}", auth)
