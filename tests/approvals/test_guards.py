import pytest
from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from dashboard.approvals import guards, services
from dashboard.approvals.models import Outcome
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

    [said] = obstacles()
    assert said.startswith(f"The database lacks {count} guards (request_content, …): run `")
    assert said.endswith(f"`{settings.OPERATOR_COMMAND} migrate`.")


RECALL = (
    "INSERT INTO dashboard_recall (seq, approval_id, agent_id, person_id, source, reason, "
    "taken_back_at) SELECT {seq}, id, agent_id, (SELECT id FROM dashboard_user LIMIT 1), 'admin', "
    f"'No.', submitted_at FROM {REQUEST}"
)


@pytest.mark.parametrize("state", ["pending", "started"])
def test_only_an_unused_approval_is_taken_back(token, alice, state):
    if state == "pending":
        make.pending(token)
    else:
        make.report(make.approved(token, alice), token)

    refused(RECALL.format(seq=9), "only an unused approval is taken back, once")


def test_an_approval_is_not_taken_back_twice(token, alice):
    make.approved(token, alice)
    with connection.cursor() as cursor:
        cursor.execute(RECALL.format(seq=8))

    refused(RECALL.format(seq=9), "only an unused approval is taken back, once")


def test_what_was_taken_back_never_starts(token, alice):
    approval = make.approved(token, alice)
    with connection.cursor() as cursor:
        cursor.execute(RECALL.format(seq=8))

    with pytest.raises(IntegrityError, match="never starts"), transaction.atomic():
        Outcome.objects.create(
            approval=approval, state="started", digest=approval.digest, reported_at=timezone.now()
        )


@pytest.mark.parametrize(
    "statement", ["UPDATE dashboard_recall SET reason = 'x'", "DELETE FROM dashboard_recall"]
)
def test_a_recall_never_changes(token, alice, statement):
    make.approved(token, alice)
    with connection.cursor() as cursor:
        cursor.execute(RECALL.format(seq=8))

    refused(statement, "rows of dashboard_recall never change")


@pytest.mark.parametrize(
    "column", ["ended_by_id = NULL", "ended_because = 'x'", "ended_at = NULL"]
)
def test_how_a_grant_ended_never_changes(token, bob, column):
    grant = make.granted(token, bob, content={"code": "1", "language": "python"})
    services.revoke_grant(grant.pk, by=bob, auth="session:password")

    refused(f"UPDATE dashboard_grant SET {column}", "an ended grant stays ended")
