import pytest
from django.db import IntegrityError, connection, transaction

from dashboard.approvals import guards
from dashboard.approvals.rules.readiness import obstacles
from tests import make

pytestmark = pytest.mark.django_db

REQUEST, DECISION = "dashboard_approvalrequest", "dashboard_decision"


def refused(statement, match=None):
    with (
        pytest.raises(IntegrityError, match=match),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("content", "'{}'"),
        ("digest", "'0'"),
        ("evidence", "'[]'"),
        ("kind", "'memory'"),
        ("capability", "'x'"),
        ("submission_hash", "'0'"),
        ("accepts_edits", "'1'"),
    ],
)
def test_what_was_asked_never_changes(token, column, value):
    make.pending(token)

    refused(f"UPDATE {REQUEST} SET {column} = {value}", "what was asked never changes")


@pytest.mark.parametrize("status", ["pending", "rejected", "expired"])
def test_a_final_status_never_changes(token, alice, status):
    make.approved(token, alice)

    refused(f"UPDATE {REQUEST} SET status = '{status}'", "a final status never changes")


def test_a_status_does_not_move_without_a_decision(token):
    make.pending(token)

    refused(f"UPDATE {REQUEST} SET status = 'approved'", "a status moves with its decision only")


def test_a_decision_never_changes(token, alice):
    make.approved(token, alice)

    refused(f"UPDATE {DECISION} SET reason = 'other'", "never change")


@pytest.mark.parametrize("table", ["judgement", "decision", "auditentry"])
def test_what_was_recorded_is_never_deleted(token, alice, table):
    make.approved(token, alice)

    refused(f"DELETE FROM dashboard_{table}", "never change")


def test_requests_are_never_deleted(token):
    make.pending(token)

    refused(f"DELETE FROM {REQUEST}", "requests are never deleted")


@pytest.mark.engine("sqlite")  # only SQLite replaces rows
@pytest.mark.parametrize("table", [REQUEST, DECISION, "dashboard_auditentry"])
@pytest.mark.parametrize("recursive", ["ON", "OFF"])
def test_no_row_is_replaced_on_sqlite(token, alice, table, recursive, request):
    make.approved(token, alice)
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA recursive_triggers={recursive}")
    request.addfinalizer(connection.close)  # the next test opens one with all its settings

    refused(f"INSERT OR REPLACE INTO {table} SELECT * FROM {table} LIMIT 1")


@pytest.mark.engine("postgresql")  # only PostgreSQL truncates
def test_no_table_is_truncated_on_postgresql(token, alice):
    make.approved(token, alice)

    refused("TRUNCATE dashboard_auditentry", "never change")


def test_all_guards_are_on():
    assert guards.missing() == []


def test_a_missing_guard_stands_in_the_way_of_approving():
    guards.remove()
    count = len(list(guards.guards()))

    assert obstacles() == [
        f"The database lacks {count} guards (request_content, …): run `python manage.py migrate`."
    ]
