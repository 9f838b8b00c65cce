"""Snooze a request, and end that."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from dashboard.accounts.models import User
from dashboard.approvals.errors import NotAllowed
from dashboard.approvals.models import Assignment, Snooze
from dashboard.approvals.rules import snooze as snooze_rules
from dashboard.approvals.rules.snooze import SnoozeLength
from dashboard.approvals.services.closing import announce, event, lock_open, raise_version
from dashboard.audit.actions import Action
from dashboard.audit.services import Actor, record

_TOO_LATE = "There is too little time left to snooze this. Nothing was changed."


def snooze(*, approval_id: UUID, person: User, auth: str, length: SnoozeLength) -> Snooze:
    """Take a request out of one person's queue for a while; others still see it.

    It comes back while half of the time that is left remains, at the latest. Whoever snoozes it
    is not assigned to it any more.

    Raises:
        NotFound, NotAllowed, AlreadyClosed, TimeOver: As ``lock_open`` does; ``NotAllowed`` also
            near the end of the time limit.
    """
    with transaction.atomic(durable=True):
        approval, now = lock_open(approval_id, person)
        if not snooze_rules.choices(now, approval.expires_at):
            raise NotAllowed(_TOO_LATE)
        until = snooze_rules.until(length, now, approval.expires_at)
        row, _ = Snooze.objects.update_or_create(
            approval=approval, person=person, defaults={"until": until}
        )
        events = [event(Action.APPROVAL_SNOOZED, approval, until=until.isoformat())]
        if Assignment.objects.filter(approval=approval, person=person).delete()[0]:
            events.insert(0, event(Action.APPROVAL_RELEASED, approval))
            raise_version(approval)
        else:
            announce(approval)  # for this person's other pages; nobody else sees a change
        record(Actor.of_user(person.username, auth), *events)
        return row


def unsnooze(*, approval_id: UUID, person: User, auth: str) -> bool:
    """Put a request back into one person's queue; says whether it was snoozed.

    Raises:
        NotFound, NotAllowed, AlreadyClosed, TimeOver: As ``lock_open`` does.
    """
    with transaction.atomic(durable=True):
        approval, _ = lock_open(approval_id, person)
        if not Snooze.objects.filter(approval=approval, person=person).delete()[0]:
            return False
        announce(approval)
        record(Actor.of_user(person.username, auth), event(Action.APPROVAL_UNSNOOZED, approval))
        return True
