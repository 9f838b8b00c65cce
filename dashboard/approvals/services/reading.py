"""A person reads: parts of a long content were served, and secrets were shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db import transaction

from dashboard.accounts.models import User
from dashboard.approvals.clock import database_now
from dashboard.approvals.coverage import Part
from dashboard.approvals.models import Reveal, ServedPart
from dashboard.approvals.services._closing import lock
from dashboard.audit.services import Actor, Event, record


def note_served(*, approval_id: UUID, person: User, parts: Iterable[Part]) -> None:
    """Note that parts of a content are on their way to a person; again is nothing new.

    It is no entry of the log: a decision's own entry and what it ``shown`` say what was read.
    """
    rows = ServedPart.objects.filter(approval=approval_id, person=person)
    known = {Part(*row) for row in rows.values_list("view", "part")}
    if fresh := [part for part in parts if part not in known]:
        at = database_now()
        ServedPart.objects.bulk_create(
            (
                ServedPart(
                    approval_id=approval_id, person=person, view=view, part=number, served_at=at
                )
                for view, number in fresh
            ),
            ignore_conflicts=True,
        )


def reveal(*, approval_id: UUID, person: User, auth: str, places: Sequence[str]) -> bool:
    """Have the masked secrets of a request shown to a person; says whether that is new.

    Args:
        places: Where they stand, in our words, for the record.

    Raises:
        NotFound: There is no such request.
    """
    with transaction.atomic():
        approval = lock(approval_id)
        _, first = Reveal.objects.get_or_create(
            approval=approval, person=person, defaults={"revealed_at": database_now()}
        )
        if first:
            details = {"places": list(places)}
            event = Event("approval.revealed", str(approval.pk), approval.digest, details)
            record(Actor(f"user:{person.username}", auth), event)
        return first
