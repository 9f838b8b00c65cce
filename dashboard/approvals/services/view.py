"""Who has seen what: views, served parts, revealed secrets, and agents that poll."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from django.db import connection, transaction

from dashboard.accounts.models import User
from dashboard.approvals.models import (
    VIEWING_FOR,
    ApprovalRequest,
    Poll,
    Reveal,
    ServedPart,
    View,
    Viewing,
)
from dashboard.approvals.rules.view import TextPart
from dashboard.approvals.services.closing import lock
from dashboard.audit.actions import Action
from dashboard.audit.services import Actor, AuditEvent, record
from dashboard.clock import database_now


def mark_viewed(*, approval_id: UUID, person: User, auth: str) -> bool:
    """Record the first time that somebody saw a request; returns whether this was it.

    Raises:
        NotFound: There is no such request.
    """
    if View.objects.filter(approval=approval_id, person=person).exists():
        return False
    with transaction.atomic(durable=True):
        approval = lock(approval_id)
        _, is_new = View.objects.get_or_create(
            approval=approval, person=person, defaults={"seen_at": database_now()}
        )
        if is_new:
            record(Actor.of_user(person.username, auth), viewed_event(approval))
        return is_new


def viewed_event(approval: ApprovalRequest) -> AuditEvent:
    """The audit entry of somebody's first view of a request."""
    return AuditEvent(Action.APPROVAL_VIEWED, str(approval.pk), approval.digest)


def note_viewing(*, approval_id: UUID, person: User) -> None:
    """Note that somebody has a pending request in sight now. It is not recorded.

    One statement, and no bell: pages ask for it themselves, every twenty seconds.
    """
    Viewing.objects.bulk_create(
        [Viewing(approval_id=approval_id, person=person, last_seen_at=database_now())],
        update_conflicts=True,
        unique_fields=["approval", "person"],
        update_fields=["last_seen_at"],
    )


def forget_viewings() -> int:
    """Delete what was noted of viewing and is over; returns how much."""
    return Viewing.objects.filter(last_seen_at__lte=database_now() - VIEWING_FOR).delete()[0]


def note_served(*, approval_id: UUID, person: User, parts: Iterable[TextPart]) -> None:
    """Note that parts of a content are served to a person; repeating it changes nothing.

    Not an audit entry: the decision's own entry and its ``shown`` say what was read.
    """
    rows = ServedPart.objects.filter(approval=approval_id, person=person)
    noted = {TextPart(*row) for row in rows.values_list("view", "part")}
    if fresh := [part for part in parts if part not in noted]:
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
    """Record that a person has the hidden secrets of a request shown; returns whether that is new.

    Args:
        places: Where they stand, in our words, for the record.

    Raises:
        NotFound: There is no such request.
    """
    with transaction.atomic(durable=True):
        approval = lock(approval_id)
        _, is_new = Reveal.objects.get_or_create(
            approval=approval, person=person, defaults={"revealed_at": database_now()}
        )
        if is_new:
            details = {"places": list(places)}
            event = AuditEvent(
                Action.APPROVAL_REVEALED, str(approval.pk), approval.digest, details
            )
            record(Actor.of_user(person.username, auth), event)
        return is_new


def note_waiting(ids: Iterable[UUID]) -> None:
    """Remember that agents wait for these now, which they were noted to have begun."""
    with transaction.atomic(durable=True):
        polls = Poll.objects.filter(approval__id__among=ids)
        if connection.features.has_select_for_update:  # in one order, as in note_polls
            list(polls.order_by("pk").select_for_update().values_list("pk", flat=True))
        polls.update(last_polled_at=database_now())


def note_polls(last_polled: Mapping[UUID, datetime]) -> None:
    """Remember when agents last waited: ``{approval id: moment}``, in one statement.

    Always in the order of the ids, so that two servers that note the same ones, or a verb that
    locks several, do not wait for each other.
    """
    polls = [Poll(approval_id=pk, last_polled_at=at) for pk, at in sorted(last_polled.items())]
    Poll.objects.bulk_create(
        polls,
        batch_size=500,
        update_conflicts=True,
        unique_fields=["approval"],
        update_fields=["last_polled_at"],
    )
