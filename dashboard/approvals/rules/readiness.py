"""May this server approve, and if not why: asked at start and by ``/readyz``."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Subquery

from dashboard import pages
from dashboard.approvals import guards
from dashboard.approvals.clock import database_now
from dashboard.audit.models import AuditEntry, AuditHead

_LEAST_FREE_MB = 20
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
    return sorted(
        name for app, name in set(loader.applied_migrations) - on_disk if app == "dashboard"
    )


def _obstacles() -> Iterator[str]:
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        yield f"The database lacks migrations: run `{settings.OPERATOR_COMMAND} migrate`."
        return
    if newer := newer_migrations():
        yield f"The database was migrated by a newer version ({newer[-1]}): run that version."
    if absent := guards.missing():
        yield (
            f"The database lacks {len(absent)} guards ({absent[0]}, …): run "
            f"`{settings.OPERATOR_COMMAND} migrate`."
        )
    yield from _audit()
    if connection.vendor == "sqlite":
        yield from _sqlite_options()
        yield from _disk()


_CLOCKS_DIFFER_BY = timedelta(seconds=5)


def _audit() -> Iterator[str]:
    existed = AuditEntry.objects.exists()
    # One statement, so one moment: between two, another server may append to the log.
    newest = AuditEntry.objects.order_by("-seq")
    ends = AuditHead.objects.filter(pk=1).values_list(
        "seq",
        "hash",
        *(Subquery(newest.values(name)[:1]) for name in ("seq", "hash", "at")),
    )
    seq, hash_, last_seq, last_hash, last_at = ends.first() or (0, "", None, None, None)
    if (seq or existed) and (seq, hash_) != (last_seq, last_hash):
        yield (
            "The end of the audit log is not where it should be, so something was cut off or "
            f"added: run `{settings.OPERATOR_COMMAND} verify_audit`."
        )

    if last_at and last_at - database_now() > _CLOCKS_DIFFER_BY:
        yield (
            f"The clock was set back: it stands before {last_at:%Y-%m-%d %H:%M:%S} UTC, when the "
            "last entry of the audit log was written. Time limits mean nothing until it is right."
        )


def _disk() -> Iterator[str]:
    free_mb = shutil.disk_usage(settings.DATA_DIR).free / 2**20
    if free_mb < _LEAST_FREE_MB:
        yield (
            f"The disk of {settings.DATA_DIR} has {free_mb:.0f} MB left, so decisions cannot be "
            "kept for long: make room."
        )


def _sqlite_options() -> Iterator[str]:
    with connection.cursor() as cursor:
        for name, expected in _PRAGMAS.items():
            cursor.execute(f"PRAGMA {name}")
            setting = cursor.fetchone()[0]
            if setting != expected:
                yield f"SQLite's {name} is {setting!r} and should be {expected!r}."
