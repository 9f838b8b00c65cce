"""What the queue holds for one person. Reads only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from dashboard.accounts.models import User
from dashboard.approvals.attention import claimed_by, put_off_by
from dashboard.approvals.narrowing import need


@dataclass(frozen=True, slots=True)
class Mine:
    """What the queue holds for one person.

    Attributes:
        due: What needs them or is claimed by them, and is not put off.
        claimed: What they are on.
        later: What they put off.
    """

    due: set[UUID]
    claimed: set[UUID]
    later: set[UUID]


def mine(person: User, now: datetime) -> Mine:
    """Name what is for this person, now and later."""
    claimed, later = claimed_by(person, now), put_off_by(person, now)
    return Mine((need(person, now) | claimed) - later, claimed, later)
