"""``verify_audit`` proves that the log is whole, or names the first break."""

import pytest
from django.core.management import CommandError
from django.db import OperationalError

from dashboard.approvals import guards
from dashboard.audit.models import AuditEntry, AuditHead
from dashboard.audit.services import Actor, Event, record
from dashboard.management.commands import verify_audit


@pytest.fixture
def log(db):
    """Record three events; returns the heads after each."""
    heads = []
    for number in range(3):
        record(Actor("user:alice", "session:link"), Event("tested", f"thing:{number}"))
        heads.append("{0.seq}:{0.hash}".format(AuditHead.objects.get()))
    return heads


@pytest.fixture
def broken(command):
    """Return why the log is not believed; the exit status is 1."""

    def broken(**options):
        with pytest.raises(CommandError) as refused:
            command("verify_audit", **options)
        assert refused.value.returncode == 1
        return str(refused.value)

    return broken


def test_a_whole_log_prints_its_head(command, log):
    assert command("verify_audit") == f"The audit log is whole. Head: {log[2]}\n"


def test_an_empty_log_is_whole(command):
    assert command("verify_audit") == f"The audit log is whole. Head: 0:{'0' * 64}\n"


def test_a_head_that_was_kept_is_found_again(command, log):
    assert command("verify_audit", expect=log[1]).endswith(f"Head: {log[2]}\n")


def test_a_changed_entry_is_named(broken, log):
    guards.remove()
    AuditEntry.objects.filter(seq=2).update(actor="user:mallory")

    assert broken() == "The audit log is broken: entry 2 was changed."


def test_a_missing_entry_is_named(broken, log):
    guards.remove()
    AuditEntry.objects.filter(seq=2).delete()

    assert broken() == "The audit log is broken: entry 2 is missing."


def cut_the_tail():
    guards.remove()
    AuditEntry.objects.filter(seq=3).delete()
    AuditHead.objects.update(seq=2, hash=AuditEntry.objects.get(seq=2).hash)


def test_a_tail_cut_with_its_head_is_not_seen_by_the_chain_alone(command, log):
    cut_the_tail()

    assert command("verify_audit").endswith(f"Head: {log[1]}\n")


def test_a_tail_cut_with_its_head_is_found_with_a_kept_head(broken, log):
    cut_the_tail()

    assert broken(expect=log[2]) == ("The audit log is broken: the log was cut off after entry 2.")


def test_a_log_that_was_written_anew_is_found_with_a_kept_head(broken, log):
    other = f"3:{'f' * 64}"

    assert broken(expect=other) == (
        "The audit log is broken: entry 3 is not the one that was expected."
    )


@pytest.mark.parametrize(
    "kept", ["", "3", "3:abc", f"x:{'0' * 64}", f"²:{'0' * 64}", "3:" + "g" * 64]
)
def test_a_head_that_was_copied_wrongly_is_refused(broken, log, kept):
    expected = "Nothing was verified. Give --expect as SEQ:HASH, the way this command printed it."

    assert broken(expect=kept or ":") == expected


def test_a_database_that_does_not_answer_is_a_sentence(broken, log, monkeypatch):
    def fail(*_, **__):
        raise OperationalError("no such table: dashboard_auditentry")

    monkeypatch.setattr(verify_audit, "verify", fail)

    assert broken() == (
        "Nothing was done. The database cannot be used: no such table: dashboard_auditentry. "
        "Check DATABASE_URL, and run `python manage.py start` or `python manage.py migrate` once."
    )
