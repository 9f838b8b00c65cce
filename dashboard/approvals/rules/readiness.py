"""May this server approve, and if not why: asked at start and by ``/readyz``."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, OperationalError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Subquery

from dashboard import pages
from dashboard.approvals import guards
from dashboard.audit.heads import NoHead, beside, kept_beside
from dashboard.audit.models import AuditEntry, AuditHead
from dashboard.audit.queries import lacks
from dashboard.clock import database_now, is_behind

_LEAST_FREE_MB = 20
_DISK_FULL = "53100"  # https://www.postgresql.org/docs/current/errcodes-appendix.html
SPILLING = "SELECT count(*) FROM generate_series(1, 30000)"
"""Takes more memory than PostgreSQL has for it, where that is 64 kB."""

_PRAGMAS = {
    "busy_timeout": 20_000,
    "foreign_keys": 1,
    "journal_mode": "wal" if settings.SQLITE_HAS_SAFE_WAL else "persist",
    "recursive_triggers": 1,
    "synchronous": 2,
}


def obstacles(*, draws_pages: bool = True) -> list[str]:
    """Say in full sentences what stands in the way of approving; empty when nothing does.

    Args:
        draws_pages: Whether people are served from here. A worker needs no pages, and a server
            beside it may be collecting their files anew.
    """
    try:
        return [*_obstacles(), *(pages.missing() if draws_pages else ())]
    except DatabaseError as error:
        return [f"The database does not answer: {str(error).strip()}."]


def newer_migrations() -> list[str]:
    """Names of migrations that the database has had and this code does not know."""
    loader = MigrationExecutor(connection).loader
    on_disk = set(loader.disk_migrations or {})
    unknown_names = (
        n for app, n in set(loader.applied_migrations) - on_disk if app == "dashboard"
    )
    return sorted(name for name in unknown_names if name != guards.UNDER_WAY)


def database_doubts() -> Iterator[str]:
    """Say what shows that the database is not as this server knew it.

    Guards of a newer version are none of that: an older server records nothing beside it.
    """
    if (absent := guards.missing()) and not (guards.are_off() or newer_migrations()):
        yield (
            f"The database lacks {len(absent)} {'guard' if len(absent) == 1 else 'guards'} "
            f"({absent[0]}{'' if len(absent) == 1 else ', …'}): run "
            f"`{settings.OPERATOR_COMMAND} migrate`."
        )
    yield from _kept_head()


def _obstacles() -> Iterator[str]:
    if connection.vendor == "sqlite" and connection.was_replaced():  # type: ignore[attr-defined]
        yield (
            f"The file {connection.settings_dict['NAME']} was replaced or removed while this "
            "server has it open, so nothing is recorded. Put it back, or restart the server to go "
            "on with another one."
        )
        return
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        yield f"The database lacks migrations: run `{settings.OPERATOR_COMMAND} migrate`."
        return
    if newer := newer_migrations():
        yield f"The database was migrated by a newer version ({newer[-1]}): run that version."
    if guards.are_off():
        yield f"A migration did not end: run `{settings.OPERATOR_COMMAND} migrate`."
    yield from database_doubts()
    yield from _audit()
    if connection.vendor == "sqlite":
        yield from _sqlite_options()
        yield from _disk()
    else:
        yield from _disk_of_postgresql()


def _audit() -> Iterator[str]:
    existed = AuditEntry.objects.exists()
    # One statement, so one moment: between two, another server may append to the log.
    newest = AuditEntry.objects.order_by("-seq")
    ends = AuditHead.objects.filter(pk=1).values_list(
        "seq",
        "hash",
        "latest_at",
        *(Subquery(newest.values(name)[:1]) for name in ("seq", "hash")),
    )
    seq, hash_, latest_at, last_seq, last_hash = ends.first() or (0, "", None, None, None)
    if (seq or existed) and (seq, hash_) != (last_seq, last_hash):
        yield (
            "The end of the audit log is not where it should be, so something was cut off or "
            f"added: run `{settings.OPERATOR_COMMAND} verify_audit`."
        )

    if latest_at and is_behind(database_now(), latest_at):
        yield (
            f"The clock was set back: it stands before {latest_at:%Y-%m-%d %H:%M:%S} UTC, when "
            "the latest entry of the audit log was written. Nothing is approved or started until "
            "then. Set it right, or accept the new time with "
            f"`{settings.OPERATOR_COMMAND} accept_clock --as ADMIN`."
        )


def _kept_head() -> Iterator[str]:
    try:
        head = kept_beside()
    except (OSError, NoHead) as error:
        yield (
            f"The head of the audit log that was kept cannot be read: {error} Make "
            f"{beside()} readable. If it is damaged, delete it after you have looked whether the "
            "database is the one that was used last."
        )
        return
    if head and lacks(head):
        yield (
            f"The audit log lacks the entry {head.seq} that was kept in {beside()}: the "
            "database is another one than before, or was restored from an older backup. Use the "
            "one before, or accept this one with "
            f"`{settings.OPERATOR_COMMAND} accept_database --as ADMIN`."
        )


def database_file() -> Path:
    """The file of an SQLite database itself, where its name is a link."""
    return Path(connection.settings_dict["NAME"]).resolve()


def _disk() -> Iterator[str]:
    folder = database_file().parent
    free_mb = shutil.disk_usage(folder).free / 2**20
    if free_mb < _LEAST_FREE_MB:
        yield (
            f"The disk of {folder} has {free_mb:.0f} MB left, so decisions cannot be kept for "
            "long: make room."
        )


def _disk_of_postgresql() -> Iterator[str]:
    """Have PostgreSQL write half a megabyte beside its tables, for it tells nobody of its disk."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL work_mem = '64kB'")  # more than fits goes into a file
            cursor.execute(SPILLING)
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", "") != _DISK_FULL:
            raise
        yield "The disk of PostgreSQL is full, so decisions cannot be kept: make room."


def _sqlite_options() -> Iterator[str]:
    with connection.cursor() as cursor:
        for name, expected in _PRAGMAS.items():
            cursor.execute(f"PRAGMA {name}")
            setting = cursor.fetchone()[0]
            if setting != expected:
                yield f"SQLite's {name} is {setting!r} and should be {expected!r}."
