"""The one clock that deadlines are judged by."""

from __future__ import annotations

from datetime import UTC, datetime

from django.db import connection


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
