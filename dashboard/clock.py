"""The one clock that deadlines are judged by."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import DateTimeField, Func, Model

CLOCKS_DIFFER_BY = timedelta(seconds=5)
"""A clock that is corrected in small steps goes back by less."""


def is_behind(now: datetime, latest_at: datetime | None) -> bool:
    """Whether the clock was set back: the log has an entry of ``latest_at``, which is to come."""
    return latest_at is not None and latest_at - now > CLOCKS_DIFFER_BY


def written(at: datetime) -> str:
    """Return a moment as our JSON has it: ``2026-03-04T12:00:00.000000Z``."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def database_now() -> datetime:
    """Return the moment at which this is called, by the database's clock where it has a good one.

    Call it after the lock was taken: a transaction that waited for a lock must not judge by the
    time at which it began. PostgreSQL's ``now()`` is that wrong time, ``clock_timestamp()`` is
    not. SQLite lives on this host and tells milliseconds only, so there it is Python's clock.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT clock_timestamp()")
            return cursor.fetchone()[0].astimezone(UTC)  # type: ignore[no-any-return]
    return datetime.now(UTC)


class Now(Func):
    """``database_now()`` as part of a statement that reads other things too, under the lock.

    Annotate it as ``now``, and ask ``now_in`` for it.
    """

    function, arity = "clock_timestamp", 0
    output_field = DateTimeField()

    def as_sqlite(self, *_: Any, **__: Any) -> tuple[str, tuple[()]]:
        """Read nothing: SQLite's clock is Python's."""
        return "NULL", ()


def now_in(row: Model) -> datetime:
    """Return the moment at which a row was read that is annotated with ``Now``."""
    moment: datetime | None = vars(row)["now"]
    return moment.astimezone(UTC) if moment else datetime.now(UTC)
