"""Guards are on whenever another process may write, also while migrations run or have failed."""

import sqlite3

import pytest
from django.core.management import call_command
from django.db import connection, migrations, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from dashboard.approvals import guards
from dashboard.approvals.rules.readiness import database_doubts, newer_migrations, obstacles
from dashboard.audit.actions import Action
from dashboard.audit.services import Actor, AuditEvent, NewerSchema, record
from dashboard.management import prepare
from tests import make

pytestmark = pytest.mark.django_db(transaction=True)


def elsewhere(statement):
    """Do something on another connection that waits for nobody; returns what went wrong."""
    if connection.vendor == "postgresql":
        return ""
    other = sqlite3.connect(connection.settings_dict["NAME"], timeout=0.05)
    try:
        other.execute(statement)
    except sqlite3.OperationalError as error:
        return str(error)
    finally:
        other.close()
    return ""


@pytest.fixture
def with_a_migration(monkeypatch):
    """Have one migration more, which does something; undone in the end."""

    def add(act):
        class Extra(migrations.Migration):
            dependencies = [last_one()]
            operations = [migrations.RunPython(lambda *_: act(), migrations.RunPython.noop)]

        load = MigrationLoader.load_disk

        def load_with_it(self):
            load(self)
            self.disk_migrations["dashboard", "9999_extra"] = Extra("9999_extra", "dashboard")

        monkeypatch.setattr(MigrationLoader, "load_disk", load_with_it)

    yield add
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE name = '9999_extra'")


def last_one():
    graph = MigrationExecutor(connection).loader.graph
    return next(node for node in graph.leaf_nodes() if node[0] == "dashboard")


def test_where_nothing_is_to_be_migrated_they_stay_on(monkeypatch):
    monkeypatch.setattr(guards, "remove", lambda: pytest.fail("They were taken off."))
    monkeypatch.setattr(guards, "install", lambda: None)

    call_command("migrate", verbosity=0)


@pytest.mark.engine("sqlite")
def test_nobody_else_reads_or_writes_while_they_are_off(with_a_migration):
    seen = []

    def look():
        seen.append((len(guards.missing()) > 0, elsewhere("SELECT count(*) FROM sqlite_master")))

    with_a_migration(look)
    call_command("migrate", verbosity=0)

    assert seen == [(True, "database is locked")]
    assert guards.missing() == []
    assert elsewhere("SELECT count(*) FROM sqlite_master") == ""


@pytest.mark.engine("postgresql")
def test_they_stay_on_while_migrations_run(with_a_migration):
    seen = []
    with_a_migration(lambda: seen.append(guards.missing()))
    call_command("migrate", verbosity=0)

    assert seen == [[]]
    assert guards.missing() == []


def test_they_are_on_after_a_migration_that_failed(with_a_migration):
    def fail():
        raise RuntimeError("It failed.")

    with_a_migration(fail)
    with pytest.raises(RuntimeError, match="It failed"):
        call_command("migrate", verbosity=0)

    assert guards.missing() == []
    assert elsewhere("BEGIN IMMEDIATE") == ""


@pytest.mark.engine("sqlite")
def test_while_they_are_off_nobody_records_anything(with_a_migration):
    """Also once whoever migrates was killed: the lock is gone then, and the mark is not."""
    seen = []

    def ask():
        with pytest.raises(NewerSchema), transaction.atomic():
            record(Actor.of_agent("x", "dash_x"), AuditEvent(Action.BACKUP_MADE))
        seen.append(guards.are_off())

    with_a_migration(ask)
    call_command("migrate", verbosity=0)

    assert seen == [True]
    assert not guards.are_off()


@pytest.mark.engine("sqlite")
def test_the_next_migration_puts_on_what_a_killed_one_left_off(token):
    guards.remove()
    MigrationRecorder.Migration.objects.create(app="dashboard", name=guards.UNDER_WAY)
    assert newer_migrations() == []
    call_command("migrate", verbosity=0)

    assert guards.missing() == []
    assert not guards.are_off()
    make.pending(token)


def test_a_guard_that_does_nothing_counts_as_missing():
    change_a_guard()
    assert guards.missing() == ["request_final"]
    guards.install()
    assert guards.missing() == []


@pytest.mark.engine("postgresql")
@pytest.mark.parametrize("name", ["guard_auditentry_no_delete_all", "guard_auditentry_no_delete"])
def test_a_table_that_could_be_emptied_at_once_lacks_a_guard(name):
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER {name} ON dashboard_auditentry")
    assert guards.missing() == ["auditentry_no_delete"]
    guards.install()


def change_a_guard():
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "CREATE OR REPLACE FUNCTION guard_request_final() RETURNS trigger "
                "LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$"
            )
        else:
            cursor.execute("DROP TRIGGER guard_request_final")
            cursor.execute(
                "CREATE TRIGGER guard_request_final BEFORE UPDATE ON dashboard_approvalrequest "
                "WHEN 1 = 0 BEGIN SELECT RAISE(ABORT, 'never'); END"
            )


def drop_a_guard():
    with connection.cursor() as cursor:
        on_table = " ON dashboard_approvalrequest" if connection.vendor == "postgresql" else ""
        cursor.execute(f"DROP TRIGGER guard_request_final{on_table}")


def test_a_guard_that_differs_is_put_on_anew_by_the_next_start(caplog):
    change_a_guard()
    prepare._migrate()

    assert guards.missing() == []
    assert "put on anew: ['request_final']" in caplog.text


def test_a_guard_that_was_dropped_is_told_and_not_put_on_in_silence():
    drop_a_guard()
    prepare._migrate()

    assert guards.missing() == ["request_final"]
    assert any("lacks 1 guard (request_final)" in obstacle for obstacle in obstacles())
    guards.install()


def test_guards_of_a_newer_version_put_an_older_server_into_no_doubt():
    """It records nothing beside a newer schema, and agents are told to try again."""
    change_a_guard()
    assert next(database_doubts(), "") != ""
    MigrationRecorder.Migration.objects.create(app="dashboard", name="9999_newer")

    assert next(database_doubts(), "") == ""
    MigrationRecorder.Migration.objects.filter(name="9999_newer").delete()
    guards.install()


def test_a_migration_that_did_not_end_is_an_obstacle():
    MigrationRecorder.Migration.objects.create(app="dashboard", name=guards.UNDER_WAY)

    assert any("A migration did not end" in obstacle for obstacle in obstacles())
    prepare._migrate()
    assert not guards.are_off()
