"""Comparing the tables with the audit log, beside traffic and without a false alarm."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from typing import Any

from django.db import InterfaceError, OperationalError, transaction

from dashboard.approvals.rules.proof import (
    Disagreement,
    ProofStep,
    beginning,
    rows_to_compare,
    step_at,
)
from dashboard.audit import services as audit
from dashboard.audit.services import Compared

STEP_S = 0.2
"""How long a part of a verification in the background takes, besides its last rows.

It shares a thread with what notes that agents wait.
"""

log = logging.getLogger(__name__)


class _TableComparison:
    """Compares some rows of the tables with the log, for ``audit.verify_on``."""

    def begin(self) -> tuple[str, int]:
        return beginning(), rows_to_compare()

    def __call__(self, place: str) -> Compared:
        until, rows = time.monotonic() + STEP_S, 0
        while True:
            step = step_at(place)
            rows += len(step.keys) if step.part.rows else 0
            if differences := disagreements(step):
                return Compared(step.then, rows, differences[0].said)
            place = step.then
            if not place or time.monotonic() > until:
                return Compared(place, rows)


def verify_on() -> bool:
    """Take the next part of the verification that a page asked for; is there more of it?"""
    return audit.verify_on(compare=_TableComparison())


def compare() -> Iterator[tuple[int, list[Disagreement]]]:
    """Compare all tables with the log, some rows at a time.

    Yields:
        How many rows came next, and what they and the log say differently.
    """
    place = beginning()
    while place:
        step = step_at(place)
        yield len(step.keys) if step.part.rows else 0, disagreements(step)
        place = step.then


def disagreements(step: ProofStep) -> list[Disagreement]:
    """Return what the rows of one step and the log say differently.

    What is read first was perhaps changed before the rest was read, by an ordinary decision. So
    whatever looks wrong is read again while nobody can record anything, and that counts.
    """
    suspects = {difference.key for difference in _differences(step, step.keys)}
    if not suspects:
        return []
    with transaction.atomic():
        audit.hold_still()
        return _differences(step, [key for key in step.keys if key in suspects])


def _differences(step: ProofStep, keys: list[Any]) -> list[Disagreement]:
    if not keys:
        return []
    try:
        with transaction.atomic():  # on PostgreSQL, a read that failed ends its transaction
            return list(step.part.check(keys))
    except (OperationalError, InterfaceError):
        raise  # the database is away, which says nothing of its rows
    except Exception:
        # Rows that nobody can read are no reason to stop looking, and none to say nothing.
        log.exception("Rows of %s cannot be compared with the audit log.", step.part.name)
        sentence = f"something that is stored under {step.part.name} cannot be read"
        return [Disagreement(key, sentence) for key in keys]
