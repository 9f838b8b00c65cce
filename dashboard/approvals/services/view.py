"""A person had a request in sight."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from dashboard.accounts.models import User
from dashboard.approvals.clock import database_now
from dashboard.approvals.models import Looking, View
from dashboard.approvals.services._closing import lock
from dashboard.audit.services import Actor, Event, record


def mark_viewed(*, approval_id: UUID, person: User, auth: str) -> bool:
    """Record the first time that somebody saw a request; says whether this was it.

    Raises:
        NotFound: There is no such request.
    """
    if View.objects.filter(approval=approval_id, person=person).exists():
        return False
    with transaction.atomic():
        approval = lock(approval_id)
        _, first = View.objects.get_or_create(
            approval=approval, person=person, defaults={"seen_at": database_now()}
        )
        if first:
            event = Event("approval.viewed", str(approval.pk), approval.digest)
            record(Actor(f"user:{person.username}", auth), event)
        return first


def note_looking(*, approval_id: UUID, person: User) -> None:
    """Note that somebody has a pending request in sight now. It is not recorded.

    One statement, and no bell: pages ask for it themselves, every twenty seconds.
    """
    Looking.objects.bulk_create(
        [Looking(approval_id=approval_id, person=person, last_seen_at=database_now())],
        update_conflicts=True,
        unique_fields=["approval", "person"],
        update_fields=["last_seen_at"],
    )
