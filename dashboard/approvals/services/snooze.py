"""Snooze a request, and end that."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from dashboard.accounts.models import User
from dashboard.approvals.errors import NotAllowed
from dashboard.approvals.models import Claim, PutOff
from dashboard.approvals.rules import snooze
from dashboard.approvals.rules.snooze import Later
from dashboard.approvals.services.closing import actor, announce, event, lock_open, raise_version
from dashboard.audit.services import record

_TOO_LATE = "There is too little time left to put this off. Nothing was changed."


def put_off(*, approval_id: UUID, person: User, auth: str, later: Later) -> PutOff:
    """Take a request out of one person's queue for a while; others still see it.

    It comes back while half of the time that is left remains, at the latest. Whoever puts it off
    is not on it any more.

    Raises:
        NotFound, NotAllowed, AlreadyClosed, TimeOver: As ``lock_open`` does; ``NotAllowed`` also
            near the end of the time limit.
    """
    with transaction.atomic():
        approval, now = lock_open(approval_id, person)
        if not snooze.choices(now, approval.expires_at):
            raise NotAllowed(_TOO_LATE)
        until = snooze.until(later, now, approval.expires_at)
        made, _ = PutOff.objects.update_or_create(
            approval=approval, person=person, defaults={"until": until}
        )
        events = [event("put_off", approval, until=until.isoformat())]
        if Claim.objects.filter(approval=approval, person=person).delete()[0]:
            events.insert(0, event("released", approval))
            raise_version(approval)
        else:
            announce(approval)  # for this person's other pages; nobody else sees a change
        record(actor(person, auth), *events)
        return made


def bring_back(*, approval_id: UUID, person: User, auth: str) -> bool:
    """Put a request back into one person's queue; says whether it was put off.

    Raises:
        NotFound, NotAllowed, AlreadyClosed, TimeOver: As ``lock_open`` does.
    """
    with transaction.atomic():
        approval, _ = lock_open(approval_id, person)
        if not PutOff.objects.filter(approval=approval, person=person).delete()[0]:
            return False
        announce(approval)
        record(actor(person, auth), event("brought_back", approval))
        return True
