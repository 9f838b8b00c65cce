"""Whether anything can be approved now: a hold, a clock set back, a database in doubt."""

from __future__ import annotations

import time
from typing import Any

from django.db.models import Exists, Model, QuerySet, Subquery

from dashboard.approvals.errors import ClockBehind, DatabaseInDoubt, OnHold, Stopped
from dashboard.approvals.models import Hold
from dashboard.audit.models import AuditHead
from dashboard.clock import Now, is_behind, now_in
from dashboard.statements import rows

NOT_LOOKED_AT = "The database did not answer yet since this server was started."


class _Watched:
    """What this process found of its database: see ``doubt_database``."""

    doubt = ""
    looked_at: float | None = None


def doubt_database(doubt: str) -> None:
    """Have this process approve nothing because of ``doubt``; empty where there is none."""
    _Watched.doubt, _Watched.looked_at = doubt, time.monotonic()


def doubt_until_looked_at() -> None:
    """Have this process approve nothing until it has looked at its database once."""
    if _Watched.looked_at is None:
        _Watched.doubt = NOT_LOOKED_AT


def was_looked_at(within_s: float) -> bool:
    """Whether this process looked at its database within the last ``within_s`` seconds."""
    looked_at = _Watched.looked_at
    return looked_at is not None and time.monotonic() - looked_at < within_s


def database_doubt() -> str:
    """Say what this process found wrong with the database a moment ago; empty if nothing."""
    return _Watched.doubt


def active_hold() -> Hold | None:
    """The active hold, with the person who placed it, or None."""
    return _active_hold.first()


@rows()
def _active_hold() -> QuerySet[Hold]:
    return Hold.objects.select_related("placed_by").filter(active=True).order_by("id")[:1]


def with_stop() -> dict[str, Any]:
    """Annotations of a statement that reads other things too, under the lock: for ``stop_in``."""
    head = AuditHead.objects.filter(pk=1).values("latest_at")
    is_active = Exists(Hold.objects.filter(active=True))
    return {"held": is_active, "latest_at": Subquery(head), "now": Now()}


def stop_in(row: Model) -> Stopped | None:
    """Say what stops all approving, of a row that was read ``with_stop``; None if nothing does.

    A hold stays as it is while ``lock_for_judging`` is held.
    """
    columns = vars(row)
    if database_doubt():
        return DatabaseInDoubt()
    if columns["held"]:
        return OnHold()
    latest_at = columns["latest_at"]
    return ClockBehind(latest_at) if is_behind(now_in(row), latest_at) else None


def present_stop() -> Stopped | None:
    """Say what stops all approving now; None if nothing does."""
    head = _stops.first()
    if head is None:  # nothing was ever recorded, so no clock was set back
        if database_doubt():
            return DatabaseInDoubt()
        return OnHold() if active_hold() else None
    return stop_in(head)


@rows()
def _stops() -> QuerySet[AuditHead]:
    is_active = Exists(Hold.objects.filter(active=True))
    return AuditHead.objects.filter(pk=1).annotate(held=is_active, now=Now())
