"""What the database itself refuses, whatever the code forgets.

Triggers, because constraints cannot compare a row with what it was: content never changes, a
final status never changes, a status needs its decision, an answer is about what was asked or
about an edit of it, edits, votes, decisions and their order, judgements, outcomes, recalls, policy
revisions and audit entries are only ever inserted, and an audit entry follows the one before it.

SQLite silently drops a table's triggers when a migration rebuilds the table, so there they are
taken off before migrations and put on after them, and nobody else reads or writes the file from
before the first is off until all are on. A mark stands in the table of migrations meanwhile, with
which no process records anything, so a migration that is killed loosens nothing. On PostgreSQL
they stay on meanwhile. A migration that has to change what a guard keeps takes that guard off
itself, in its own transaction. ``missing()`` tells what is not there, or does something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from django.apps import apps
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import QuerySet
from django.db.models.signals import post_migrate, pre_migrate

UNDER_WAY = "~a_migration_that_did_not_end"
"""Stands among the migrations while guards are off: no process knows it, so none records."""

# The columns of a request that may change.
_MOVES = {"status", "version", "judged_under", "expires_at", "extensions", "extended_s"}
_MOVES_OF_TOOLS = {"claims", "tool_class", "classed_by_id", "classed_at"}
_MOVES_OF_GRANTS = {"uses", "ended_at", "ended_by_id", "ended_because"}
_INSERT_ONLY = [
    "inspection",
    "requestheadline",
    "judgementgrounds",
    "judgement",
    "edit",
    "vote",
    "signature",
    "decision",
    "closing",
    "outcome",
    "recall",
    "servedpart",
    "reveal",
    "policyrevision",
    "auditentry",
    "notebookpin",
    "passkey",
    "passkeyconfirmation",
    "passkeyremoval",
]


class TableGuard(NamedTuple):
    """Refuses ``when`` (such as ``"UPDATE"``) on ``table`` where ``condition`` holds.

    ``condition`` is SQL over ``OLD`` and ``NEW`` that both databases read; ``{differs}`` stands
    for the operator that compares two values of which either may be NULL.
    """

    name: str
    table: str
    when: str
    condition: str
    message: str


@cache
def guards() -> tuple[TableGuard, ...]:
    """Every guard, by table."""
    return (*_all(),)


def _all() -> Iterator[TableGuard]:
    yield from _of_requests()
    yield from _of_closing()
    yield from _of_recalls()
    yield from _of_grants()
    yield from _of_tools()
    yield from _of_audit()
    yield from _of_notebooks()
    for name in _INSERT_ONLY:
        message = f"rows of {_table(name)} never change"
        for when in ("UPDATE", "DELETE"):
            yield TableGuard(f"{name}_no_{when.lower()}", _table(name), when, "1 = 1", message)


@transaction.atomic
def install() -> None:
    """Put every guard on, replacing what is there."""
    remove()
    with connection.cursor() as cursor:
        for guard in guards():
            for statement in _creation(guard, connection.vendor):
                cursor.execute(statement)


@transaction.atomic
def remove() -> None:
    """Take every guard off: before migrations, and before a test database is emptied."""
    with connection.cursor() as cursor:
        for guard in guards():
            if connection.vendor == "postgresql":
                cursor.execute(f"DROP FUNCTION IF EXISTS guard_{guard.name}() CASCADE")
            else:
                cursor.execute(f"DROP TRIGGER IF EXISTS guard_{guard.name}")


def are_off() -> bool:
    """Whether a migration took them off and did not come to its end."""
    tables = connection.introspection.table_names()
    return _migrations_table() in tables and _mark().exists()


def missing() -> list[str]:
    """Names of the guards that are not on as they have to be; nothing is approved without them."""
    present = _all_present()
    return [guard.name for guard in guards() if not _is_on(guard, present)]


def differing() -> list[str]:
    """Names of the guards that do something else than here, where each has one of its name.

    So it is after an upgrade that changes what a guard refuses. Where one is absent, somebody
    dropped it.
    """
    present = _all_present()
    if any(f"guard_{guard.name}" not in present for guard in guards()):
        return []
    return [guard.name for guard in guards() if not _is_on(guard, present)]


def _all_present() -> dict[str, Any]:
    return _on_postgresql() if connection.vendor == "postgresql" else _present()


def _is_on(guard: TableGuard, present: dict[str, Any]) -> bool:
    name = f"guard_{guard.name}"
    if connection.vendor != "postgresql":
        return bool(present.get(name) == _creation(guard, connection.vendor)[0])
    body = _body(guard)
    is_on = present.get(name) == (guard.table, _ROW[guard.when], body)
    all_rows = (guard.table, _TRUNCATE, body)
    return is_on and (guard.when != "DELETE" or present.get(f"{name}_all") == all_rows)


_ROW = {"INSERT": 7, "DELETE": 11, "UPDATE": 19}
_TRUNCATE = 34
"""What PostgreSQL calls, in ``pg_trigger.tgtype``, before each row, and before the statement."""


def _on_postgresql() -> dict[str, Any]:
    query = (
        "SELECT t.tgname, c.relname, t.tgtype, p.prosrc FROM pg_trigger t "
        "JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid "
        "WHERE t.tgenabled IN ('O', 'A') AND t.tgname LIKE 'guard_%'"
    )
    with connection.cursor() as cursor:
        cursor.execute(query)
        return {name: (table, kind, body) for name, table, kind, body in cursor.fetchall()}


def connect() -> None:
    """Have every migration take the guards off and put them on again."""
    app = apps.get_app_config("dashboard")
    pre_migrate.connect(_before_migration, sender=app)
    post_migrate.connect(_after_migration, sender=app)


def _before_migration(plan: Sequence[Any] = (), **_: Any) -> None:
    if plan and connection.vendor == "sqlite":  # where nothing is to be migrated, they stay on
        _taken_off.update(_present())
        _keep_for_this_connection("EXCLUSIVE")
        with transaction.atomic():
            if _taken_off and not are_off():
                MigrationRecorder.Migration.objects.create(app="dashboard", name=UNDER_WAY)
            remove()


def _after_migration(**_: Any) -> None:
    tables = connection.introspection.table_names()
    with transaction.atomic():
        if all(guard.table in tables for guard in guards()):
            install()
        _mark().delete()
    _taken_off.clear()
    if connection.vendor == "sqlite":
        _keep_for_this_connection("NORMAL")


_taken_off: dict[str, str] = {}
"""Guards that are off while migrations run on SQLite, by name, and how each was made."""


def put_back() -> None:
    """Put on again what was taken off before migrations that failed; nothing if none did."""
    if not _taken_off:
        return
    with transaction.atomic(), connection.cursor() as cursor:
        for name, statement in _taken_off.items():
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
            cursor.execute(statement)
        _mark().delete()
    _taken_off.clear()
    _keep_for_this_connection("NORMAL")


def _mark() -> QuerySet[Any]:
    return MigrationRecorder.Migration.objects.filter(app="dashboard", name=UNDER_WAY)


def _migrations_table() -> str:
    return str(MigrationRecorder.Migration._meta.db_table)  # noqa: SLF001 - public by custom


def _present() -> dict[str, str]:
    query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'guard_%'"
    with connection.cursor() as cursor:
        cursor.execute(query)
        return dict(cursor.fetchall())


def _keep_for_this_connection(mode: str) -> None:
    """Have SQLite keep its lock between transactions, or give it back after the next one."""
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA locking_mode = {mode}")
    with transaction.atomic(), connection.cursor() as cursor:  # takes effect with it
        cursor.execute("SELECT count(*) FROM sqlite_master")


def _table(model: str) -> str:
    return str(apps.get_model("dashboard", model)._meta.db_table)  # noqa: SLF001 - public by custom


def _of_requests() -> Iterator[TableGuard]:
    table = _table("approvalrequest")
    changes = _changes("approvalrequest", _MOVES)
    message = "what was asked never changes"
    yield TableGuard("request_content", table, "UPDATE", changes, message)
    yield TableGuard("request_kept", table, "DELETE", "1 = 1", "requests are never deleted")
    final = "OLD.status <> 'pending' AND NEW.status <> OLD.status"
    yield TableGuard("request_final", table, "UPDATE", final, "a final status never changes")
    back = "NEW.version < OLD.version"
    yield TableGuard("request_version", table, "UPDATE", back, "a version never goes back")
    longer = (
        "NEW.expires_at {differs} OLD.expires_at AND OLD.status <> 'pending' "
        "OR NEW.expires_at > OLD.expires_at AND NEW.extensions <= OLD.extensions "
        "OR NEW.extensions < OLD.extensions"
    )
    message = "a time limit grows by an extension only"
    yield TableGuard("request_time", table, "UPDATE", longer, message)
    born = f"NEW.status <> 'pending' OR EXISTS (SELECT 1 FROM {table} r WHERE r.id = NEW.id)"
    yield TableGuard(
        "request_born_pending", table, "INSERT", born, "a request begins as pending, once"
    )


def _changes(model: str, moves: set[str]) -> str:
    """The condition that any column but those in ``moves`` changes."""
    fields = apps.get_model("dashboard", model)._meta.fields  # noqa: SLF001 - public by custom
    fixed_columns = [field.column for field in fields if field.column not in moves]
    return " OR ".join(f"OLD.{column} {{differs}} NEW.{column}" for column in fixed_columns)


def _of_grants() -> Iterator[TableGuard]:
    grant, vote, request = _table("grant"), _table("vote"), _table("approvalrequest")
    changes = _changes("grant", _MOVES_OF_GRANTS)
    yield TableGuard("grant_terms", grant, "UPDATE", changes, "the terms of a grant never change")
    yield TableGuard("grant_kept", grant, "DELETE", "1 = 1", "grants are never deleted")
    columns = ("ended_at", "ended_by_id", "ended_because", "uses")
    changed = " OR ".join(f"NEW.{column} {{differs}} OLD.{column}" for column in columns)
    revived = f"NEW.uses < OLD.uses OR (OLD.ended_at IS NOT NULL AND ({changed}))"
    yield TableGuard("grant_ended", grant, "UPDATE", revived, "an ended grant stays ended")
    pending = f"SELECT 1 FROM {request} r WHERE r.id = NEW.approval_id AND r.status = 'pending'"
    closed = f"NOT EXISTS ({pending}) OR NOT ({_names_its_content()})"
    yield TableGuard("vote_in_time", vote, "INSERT", closed, "votes are for what is pending")
    late = f"NOT EXISTS ({pending})"
    yield TableGuard(
        "edit_in_time", _table("edit"), "INSERT", late, "edits are of what is pending"
    )


def _of_tools() -> Iterator[TableGuard]:
    tool = _table("tool")
    changes = _changes("tool", _MOVES_OF_TOOLS)
    yield TableGuard("tool_names", tool, "UPDATE", changes, "a tool stays what it is")
    yield TableGuard("tool_kept", tool, "DELETE", "1 = 1", "tools are never deleted")


def _names_its_content() -> str:
    """The condition that a new row is about what was asked, or about the edit that it names."""
    request, edit = _table("approvalrequest"), _table("edit")
    return (
        f"(NEW.edit_id IS NULL AND EXISTS (SELECT 1 FROM {request} q WHERE q.id = "
        "NEW.approval_id AND q.digest = NEW.digest)) OR EXISTS (SELECT 1 FROM "
        f"{edit} e WHERE e.id = NEW.edit_id AND e.approval_id = NEW.approval_id "
        "AND e.digest = NEW.digest)"
    )


def _of_closing() -> Iterator[TableGuard]:
    request, decision = _table("approvalrequest"), _table("decision")
    undecided = (
        "NEW.status <> 'pending' AND OLD.status = 'pending' AND NOT EXISTS (SELECT 1 FROM "
        f"{decision} d WHERE d.approval_id = NEW.id AND d.status = NEW.status)"
    )
    message = "a status moves with its decision only"
    yield TableGuard("request_decided", request, "UPDATE", undecided, message)
    late = (
        f"NOT EXISTS (SELECT 1 FROM {request} r WHERE r.id = NEW.approval_id AND r.status = "
        f"'pending') OR EXISTS (SELECT 1 FROM {decision} d WHERE d.approval_id = NEW.approval_id)"
    )
    yield TableGuard("decision_once", decision, "INSERT", late, "a request is decided once")
    another_content = f"NOT ({_names_its_content()})"
    message = "a decision is about what was asked or about its edit"
    yield TableGuard("decision_content", decision, "INSERT", another_content, message)
    unwanted = (
        f"NEW.edit_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {request} r WHERE "
        "r.id = NEW.approval_id AND r.accepts_edits)"
    )
    message = "an edit answers only who accepts edits"
    yield TableGuard("decision_edit_accepted", decision, "INSERT", unwanted, message)
    unapproved = (
        f"NOT EXISTS (SELECT 1 FROM {request} r WHERE r.id = NEW.approval_id "
        "AND r.status = 'approved')"
    )
    outcome = _table("outcome")
    message = "only what was approved has an outcome"
    yield TableGuard("outcome_of_approved", outcome, "INSERT", unapproved, message)


def _of_recalls() -> Iterator[TableGuard]:
    request, recall, outcome = _table("approvalrequest"), _table("recall"), _table("outcome")
    used = (
        f"NOT EXISTS (SELECT 1 FROM {request} r WHERE r.id = NEW.approval_id AND r.status = "
        f"'approved') OR EXISTS (SELECT 1 FROM {outcome} o WHERE o.approval_id = NEW.approval_id) "
        f"OR EXISTS (SELECT 1 FROM {recall} c WHERE c.approval_id = NEW.approval_id)"
    )
    message = "only an unused approval is taken back, once"
    yield TableGuard("recall_of_unused", recall, "INSERT", used, message)
    back = f"EXISTS (SELECT 1 FROM {recall} c WHERE c.approval_id = NEW.approval_id)"
    message = "what was taken back never starts"
    yield TableGuard("outcome_not_taken_back", outcome, "INSERT", back, message)


def _of_audit() -> Iterator[TableGuard]:
    table = _table("auditentry")
    apart = (
        f"NEW.seq <> 1 + COALESCE((SELECT MAX(e.seq) FROM {table} e), 0) OR (NEW.seq > 1 AND NOT "
        f"EXISTS (SELECT 1 FROM {table} e WHERE e.seq = NEW.seq - 1 AND e.hash = NEW.prev))"
    )
    yield TableGuard("audit_follows", table, "INSERT", apart, "an entry follows the one before it")


def _of_notebooks() -> Iterator[TableGuard]:
    table, pin = _table("notebook"), _table("notebookpin")
    yield TableGuard("notebook_content", table, "UPDATE", "1 = 1", "a notebook never changes")
    pinned = f"EXISTS (SELECT 1 FROM {pin} p WHERE p.notebook_id = OLD.id)"
    yield TableGuard(
        "notebook_kept", table, "DELETE", pinned, "a pinned notebook is never deleted"
    )


@cache
def _creation(guard: TableGuard, vendor: str) -> tuple[str, ...]:
    return (*_statements(guard, vendor),)


def _statements(guard: TableGuard, vendor: str) -> Iterator[str]:
    name = f"guard_{guard.name}"
    if vendor != "postgresql":
        condition = guard.condition.format(differs="IS NOT")
        yield (
            f"CREATE TRIGGER {name} BEFORE {guard.when} ON {guard.table} WHEN {condition} "
            f"BEGIN SELECT RAISE(ABORT, '{guard.message}'); END"
        )
        return
    yield f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $${_body(guard)}$$"
    yield (
        f"CREATE TRIGGER {name} BEFORE {guard.when} ON {guard.table} FOR EACH ROW "
        f"EXECUTE FUNCTION {name}()"
    )
    if guard.when == "DELETE":
        yield (
            f"CREATE TRIGGER {name}_all BEFORE TRUNCATE ON {guard.table} FOR EACH STATEMENT "
            f"EXECUTE FUNCTION {name}()"
        )


@cache
def _body(guard: TableGuard) -> str:
    """What a guard's function does, on PostgreSQL."""
    condition = guard.condition.format(differs="IS DISTINCT FROM")
    row = "OLD" if guard.when == "DELETE" else "NEW"
    return (
        f" BEGIN IF TG_OP = 'TRUNCATE' THEN RAISE EXCEPTION '{guard.message}' "
        "USING ERRCODE = '23514'; "
        f"END IF; IF {condition} THEN RAISE EXCEPTION '{guard.message}' USING ERRCODE = '23514'; "
        f"END IF; RETURN {row}; END "
    )
