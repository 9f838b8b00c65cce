"""Until when a request can be snoozed.

It comes back while half of the time that is left remains, at the latest: nobody misses a time
limit by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from django.db.models import QuerySet

from dashboard.accounts.models import User
from dashboard.approvals.models import Snooze
from dashboard.statements import rows

LEAST_LEFT = timedelta(minutes=2)
"""With less than this left, a request cannot be snoozed."""

MORNING = time(8, tzinfo=UTC)


class SnoozeLength(StrEnum):
    """How long to snooze a request."""

    QUARTER = "15min"
    HOUR = "1h"
    MORNING = "morning"
    LONGEST = "longest"


class SnoozeChoice(NamedTuple):
    """A length of snoozing, and when the request would come back."""

    length: SnoozeLength
    until: datetime


def choices(now: datetime, expires_at: datetime) -> list[SnoozeChoice]:
    """Lengths on offer, the shortest first and the longest last; none near the time limit."""
    return list(_choices(now, expires_at)) if expires_at - now >= LEAST_LEFT else []


def until(length: SnoozeLength, now: datetime, expires_at: datetime) -> datetime:
    """Return when a request that is snoozed at ``now`` comes back."""
    longest = now + (expires_at - now) / 2
    return longest if length is SnoozeLength.LONGEST else min(_meant(length, now), longest)


def _choices(now: datetime, expires_at: datetime) -> Iterator[SnoozeChoice]:
    longest = until(SnoozeLength.LONGEST, now, expires_at)
    offered = [
        SnoozeChoice(length, _meant(length, now))
        for length in SnoozeLength
        if length is not SnoozeLength.LONGEST
    ]
    yield from sorted(
        (choice for choice in offered if choice.until < longest), key=lambda one: one.until
    )
    yield SnoozeChoice(SnoozeLength.LONGEST, longest)


def _meant(length: SnoozeLength, now: datetime) -> datetime:
    match length:
        case SnoozeLength.QUARTER:
            return now + timedelta(minutes=15)
        case SnoozeLength.HOUR:
            return now + timedelta(hours=1)
        case _:
            return datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), MORNING)


def snoozed_by(person: User, now: datetime) -> dict[UUID, datetime]:
    """Requests that a person has snoozed, and when they come back."""
    return dict(_snoozed_by(person.pk, now))


@rows(User.id, Snooze.until)
def _snoozed_by(person_id: int, now: datetime) -> QuerySet[Snooze, tuple[UUID, datetime]]:
    snoozes = Snooze.objects.holding(now).filter(person=person_id)
    return snoozes.order_by().values_list("approval", "until")
