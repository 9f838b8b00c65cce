import json
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from dashboard.approvals import guards
from dashboard.audit.chain import Break, Walk
from dashboard.audit.models import AuditEntry, AuditHead
from dashboard.audit.services import Actor, AuditEvent, record, verify

pytestmark = pytest.mark.django_db
ALICE = Actor("user:alice", "session:password")


def record_some(count=3):
    for number in range(count):
        record(ALICE, AuditEvent("tested", f"thing:{number}", details={"number": number}))


def test_an_entry_says_who_how_what_and_when():
    record(ALICE, AuditEvent("tested", "thing:1", "d" * 64, {"why": "because"}))

    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.auth, entry.action) == ("user:alice", "session:password", "tested")
    assert (entry.subject, entry.digest) == ("thing:1", "d" * 64)
    assert json.loads(entry.details) == {"why": "because"}
    assert timezone.now() - entry.at < timedelta(seconds=10)


def test_a_log_of_several_recordings_is_whole():
    record_some()

    assert verify() is None
    assert AuditHead.objects.get().seq == 3


def test_an_empty_log_is_whole():
    assert verify() is None


def test_a_cut_tail_is_found_by_the_head():
    record_some()
    guards.remove()
    AuditEntry.objects.filter(seq=3).delete()

    assert verify() == Break(3, "the log ends at entry 2, but 3 was written")


def test_a_tail_cut_together_with_the_head_is_found_by_a_head_kept_elsewhere():
    record_some()
    kept = {3: {AuditHead.objects.get().hash}}
    guards.remove()
    AuditEntry.objects.filter(seq=3).delete()
    AuditHead.objects.update(seq=2, hash=AuditEntry.objects.get(seq=2).hash)

    assert verify() is None
    assert verify(expect=kept) == Break(3, "the log was cut off after entry 2")


def test_the_walk_stands_at_the_head_afterwards():
    record_some()
    walk = Walk()

    verify(walk)

    assert (walk.seq, walk.hash) == (3, AuditHead.objects.get().hash)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE dashboard_auditentry SET actor = 'mallory' WHERE seq = 2",
        "DELETE FROM dashboard_auditentry WHERE seq = 2",
        (
            "INSERT INTO dashboard_auditentry SELECT 9, at, actor, auth, action, subject, digest, "
            "details, prev, hash FROM dashboard_auditentry WHERE seq = 3"
        ),
    ],
)
def test_the_database_refuses_to_change_the_past(statement):
    record_some()

    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)

    assert verify() is None


@pytest.mark.django_db(transaction=True)
def test_recording_outside_a_transaction_is_an_error():
    with pytest.raises(RuntimeError, match="must run inside the transaction that it describes"):
        record(ALICE, AuditEvent("tested"))
