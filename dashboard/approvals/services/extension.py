"""A reviewer adds time to a request that would expire."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import F

from dashboard.accounts.models import User
from dashboard.approvals.errors import NotAllowed
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.rules.extension import extension
from dashboard.approvals.rules.judgement import demands_of
from dashboard.approvals.services.closing import event, lock_open, raise_version
from dashboard.audit.actions import Action
from dashboard.audit.services import Actor, record

_NO_MORE = (
    "No more time can be added: it was added as often as allowed, the agent waits no longer, "
    "or the policy allows no more. Nothing was changed."
)
_TOO_EARLY = "Time can be added near the end of the time limit only. Nothing was changed."


def extend(*, approval_id: UUID, person: User, auth: str, ends: datetime) -> datetime:
    """Move the time limit of a request, and return when it expires now.

    ``ends`` is when it would have expired as the page showed it: adding to that twice adds once.
    The agent follows, because each answer tells it the time limit.

    Raises:
        NotFound, NotAllowed, AlreadyClosed, TimeOver: As ``lock_open`` does; ``NotAllowed`` also
            where nothing can be added.
    """
    with transaction.atomic(durable=True):
        approval, now = lock_open(approval_id, person)
        if approval.expires_at != ends:
            return approval.expires_at
        offered = extension(approval, demands_of(approval.judgements.latest("id")))
        if offered is None:
            raise NotAllowed(_NO_MORE)
        if now < offered.opens_at:
            raise NotAllowed(_TOO_EARLY)
        added_s = (offered.until - approval.expires_at).total_seconds()
        ApprovalRequest.objects.filter(pk=approval.pk).update(
            expires_at=offered.until,
            extensions=F("extensions") + 1,
            extended_s=F("extended_s") + added_s,
        )
        raise_version(approval)
        until = offered.until.isoformat()
        record(
            Actor.of_user(person.username, auth),
            event(Action.APPROVAL_EXTENDED, approval, until=until),
        )
        return offered.until
