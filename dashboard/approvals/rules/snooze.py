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

from dashboard.accounts.models import User
from dashboard.approvals.models import PutOff

LEAST_LEFT = timedelta(minutes=2)
"""With less than this left, a request cannot be put off."""

MORNING = time(8, tzinfo=UTC)


class Later(StrEnum):
    """How long to put a request off."""

    QUARTER = "15min"
    HOUR = "1h"
    MORNING = "morning"
    LONGEST = "longest"


class Choice(NamedTuple):
    """A way to put a request off, and when it would come back."""

    later: Later
    until: datetime


def choices(now: datetime, expires_at: datetime) -> list[Choice]:
    """Offer what ends in time, the soonest first, and then the longest; nothing near the end."""
    return list(_choices(now, expires_at)) if expires_at - now >= LEAST_LEFT else []


def until(later: Later, now: datetime, expires_at: datetime) -> datetime:
    """Say when a request comes back that is put off at ``now``."""
    longest = now + (expires_at - now) / 2
    return longest if later is Later.LONGEST else min(_meant(later, now), longest)


def _choices(now: datetime, expires_at: datetime) -> Iterator[Choice]:
    longest = until(Later.LONGEST, now, expires_at)
    offered = [Choice(later, _meant(later, now)) for later in Later if later is not Later.LONGEST]
    yield from sorted(
        (choice for choice in offered if choice.until < longest), key=lambda one: one.until
    )
    yield Choice(Later.LONGEST, longest)


def _meant(later: Later, now: datetime) -> datetime:
    match later:
        case Later.QUARTER:
            return now + timedelta(minutes=15)
        case Later.HOUR:
            return now + timedelta(hours=1)
        case _:
            return datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), MORNING)


def snoozed_by(person: User, now: datetime) -> set[UUID]:
    """Name what a person does not want to see yet."""
    held = PutOff.objects.holding(now).filter(person=person)
    return set(held.values_list("approval", flat=True))
