"""Attempts at sending: begun by one process, settled once, and made again after pauses."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import F, Q, QuerySet

from dashboard.clock import database_now
from dashboard.notifications.models import Attempted, State

MOST_ATTEMPTS = 10
FIRST_PAUSE_S = 5.0
PAUSE_GROWS = 4.0
LONGEST_PAUSE_S = 6 * 3600.0
MINE_FOR = timedelta(seconds=60)
"""How long something belongs to who began to send it: longer than an attempt can take."""
KEPT_FOR = timedelta(days=30)
KILLED = "The server stopped during the last attempt. The message may or may not have arrived."
Thing = TypeVar("Thing", bound=Attempted)


def take(due: Callable[[], QuerySet[Thing]]) -> Thing | None:
    """Begin an attempt at what waits longest, or return None if nothing is due.

    Of two who try at once one gets it, and it is theirs for a minute.

    Args:
        due: Reads what may be sent now. It is asked again in the statement that takes one.

    Returns:
        It, with this attempt counted.
    """
    while True:
        row = due().filter(state=State.WAITING, due_at__lte=database_now()).first()
        if row is None:
            return None
        if row.attempts >= MOST_ATTEMPTS:  # who made the last one was killed over it
            conclude(type(row), row.pk, row.attempts, State.GIVEN_UP, KILLED)
            continue
        now = database_now()
        claim = {"attempts": F("attempts") + 1, "due_at": now + MINE_FOR, "tried_at": now}
        still = due().order_by().select_related(None).values("pk")
        # Whoever waited for the row looks again at its own columns alone, not at the subquery.
        same = _waiting(type(row), row.pk, row.attempts).filter(due_at=row.due_at)
        if same.filter(pk__in=still).update(**claim):
            row.attempts, row.tried_at = row.attempts + 1, now
            return row


def fail(
    model: type[Attempted],
    pk: UUID,
    number: int,
    sentence: str,
    retry_after_s: float = 0.0,
    again_at: datetime | None = None,
) -> datetime | None:
    """Write down that an attempt failed: tried again later, or given up after the last.

    Args:
        retry_after_s: How long the receiver asks to be left alone.
        again_at: When it is tried again; by default after the pause of ``pause_s``.

    Returns:
        When it is tried again, or now if it is given up; None if it was no longer the caller's to
        write down.
    """
    now = database_now()
    if number >= MOST_ATTEMPTS:
        return now if conclude(model, pk, number, State.GIVEN_UP, sentence) else None
    pause = max(pause_s(number, random.random()), retry_after_s)  # noqa: S311 - spreads calls
    again_at = again_at or now + timedelta(seconds=pause)
    return again_at if _waiting(model, pk, number).update(due_at=again_at, said=sentence) else None


def leave_alone(receivers: QuerySet[Any], seconds: float) -> None:
    """Send nothing to a receiver that asked for it, so long."""
    if seconds:
        receivers.update(rests_until=database_now() + timedelta(seconds=seconds))


def resting(receiver: str, now: datetime) -> Q:
    """Select messages to receivers that are to be left alone; ``receiver`` names the relation."""
    return Q(**{f"{receiver}__rests_until__gt": now})


def under_way() -> Q:
    """Select what somebody is sending right now: only they know whether it arrives."""
    return Q(attempts__gt=0, tried_at__gt=database_now() - MINE_FOR)


def conclude(model: type[Attempted], pk: UUID, number: int, state: State, sentence: str) -> bool:
    """Write down how it ended, if nobody else has begun another attempt."""
    return bool(_waiting(model, pk, number).update(state=state, said=sentence))


def drop(waiting: QuerySet[Any], sentence: str) -> int:
    """Drop those of the messages that nobody is sending right now; returns how many."""
    ids = waiting.order_by().values("pk")
    free = _rows(waiting.model).filter(~under_way(), state=State.WAITING, pk__in=ids)
    return free.update(state=State.DROPPED, said=sentence)


def forget(model: type[Attempted]) -> int:
    """Delete what nobody needs any more, a month old; returns how many."""
    old = _rows(model).filter(made_at__lte=database_now() - KEPT_FOR)
    return old.exclude(state=State.WAITING).delete()[0]


def pause_s(attempts: int, chance: float) -> float:
    """Return how long to wait after an attempt that failed, in seconds.

    Four times as long after each, up to six hours, and up to a quarter less by chance, so that a
    host that was away is not called by everybody at once.
    """
    whole = min(FIRST_PAUSE_S * PAUSE_GROWS ** (attempts - 1), LONGEST_PAUSE_S)
    return whole * (1 - chance / 4)


def _waiting(model: type[Attempted], pk: UUID, number: int) -> QuerySet[Any]:
    return _rows(model).filter(pk=pk, state=State.WAITING, attempts=number)


def _rows(model: type[Attempted]) -> QuerySet[Any]:
    return model._default_manager.all()  # noqa: SLF001 - Django's own name for it
