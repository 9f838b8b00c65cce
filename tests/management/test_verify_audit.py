"""``verify_audit`` proves that the log is whole, or names the first break."""

import json
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import OperationalError

from dashboard.accounts.models import User
from dashboard.accounts.services import people
from dashboard.approvals import guards
from dashboard.approvals.queries.present import log_problem
from dashboard.audit.heads import Head, keep_in_file
from dashboard.audit.models import AuditEntry, AuditHead, AuditVerification
from dashboard.audit.services import Actor, AuditEvent, record
from dashboard.management.commands import verify_audit


@pytest.fixture
def log(db):
    """Record three events; returns the heads after each."""
    heads = []
    for number in range(3):
        record(Actor("user:alice", "session:link"), AuditEvent("tested", f"thing:{number}"))
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
        f"Check DATABASE_URL, and run `{settings.OPERATOR_COMMAND} start` or "
        f"`{settings.OPERATOR_COMMAND} migrate` once."
    )


# --- the tables, and what is kept for the pages --------------------------------------------------


@pytest.fixture
def forged(log):
    """A person whom somebody made an admin by hand."""
    people.create_person(username="eve", roles={"auditor": True}, by=people.OPERATOR)
    User.objects.update(is_admin=True)


FORGED = "person eve: their roles are admin, auditor, and the log says auditor"


def test_a_table_that_says_something_else_is_named(broken, forged):
    assert broken() == f"The tables and the audit log disagree: {FORGED}."


def test_a_failed_run_is_kept_and_recorded(broken, forged):
    broken()

    assert log_problem() == FORGED
    entry = AuditEntry.objects.latest("seq")
    assert (entry.action, entry.actor) == ("audit.verified", "operator")
    assert json.loads(entry.details)["problem"] == FORGED


def test_a_clean_run_takes_back_what_a_failed_one_said(broken, command, forged):
    broken()
    User.objects.update(is_admin=False)
    command("verify_audit")

    assert log_problem() == ""


def test_a_clean_run_after_none_that_failed_writes_nothing(command, log):
    command("verify_audit")

    assert not AuditVerification.objects.exists()
    assert AuditEntry.objects.count() == 3


def test_leaving_out_the_head_that_failed_does_not_make_it_clean(broken, log):
    cut_the_tail()
    broken(expect=log[2])  # which is recorded as entry 3 of what is left

    said = "The audit log is broken: entry 3 is not the one that was expected."
    assert broken() == said


def test_a_head_that_fits_makes_it_clean_again(broken, command, log):
    broken(expect=f"3:{'f' * 64}")
    command("verify_audit", expect=log[2])

    assert log_problem() == ""


def test_progress_is_told_apart_from_the_answer(log, monkeypatch):
    monkeypatch.setattr(verify_audit, "_SAY_EVERY_S", 0)
    people.create_first_person(username="ada")
    out, said = StringIO(), StringIO()
    call_command("verify_audit", stdout=out, stderr=said)

    assert out.getvalue().startswith("The audit log is whole. Head: 4:")
    assert "Walked 4 of 4 entries." in said.getvalue()
    assert "Compared 1 of 1 rows with the log." in said.getvalue()


def test_every_head_in_the_file_is_looked_for(broken, command, log, settings, tmp_path):
    settings.AUDIT_HEADS = str(tmp_path / "heads")
    keep_in_file(tmp_path / "heads", Head.parse(log[0]))
    keep_in_file(tmp_path / "heads", Head.parse(log[2]))
    assert command("verify_audit").endswith(f"Head: {log[2]}\n")

    cut_the_tail()
    assert broken() == "The audit log is broken: the log was cut off after entry 2."


def test_a_file_can_be_named(broken, log, tmp_path):
    (tmp_path / "heads").write_text(f"2:{'f' * 64}\n")

    assert "entry 2 is not the one that was expected" in broken(heads=str(tmp_path / "heads"))


def test_a_file_that_holds_something_else_verifies_nothing(broken, log, tmp_path):
    (tmp_path / "heads").write_text("what?\n")

    assert broken(heads=str(tmp_path / "heads")) == (
        f"Nothing was verified. The heads in {tmp_path}/heads cannot be read: "
        f"Line 1 of {tmp_path}/heads is not a head."
    )


def test_a_line_that_was_not_finished_does_not_count(command, log, tmp_path):
    (tmp_path / "heads").write_text(f"{log[0]}\n2026-11-23T2")

    assert "is whole" in command("verify_audit", heads=str(tmp_path / "heads"))


def test_where_a_file_contradicts_itself_nothing_of_it_is_remembered(
    broken, command, log, tmp_path
):
    file, right = tmp_path / "heads", log[2].partition(":")[2]
    file.write_text(f"3:{right}\n3:{'0' * 64}\n")
    assert "two heads of entry 3 differ" in broken(heads=str(file))

    file.write_text(f"3:{right}\n")

    assert "is whole" in command("verify_audit", heads=str(file))


def test_no_head_replaces_another_of_the_same_number(broken, command, log, tmp_path):
    """What the database says of itself takes back no head that stands in a file or was typed."""
    (tmp_path / "heads").write_text(f"3:{'f' * 64}\n")
    broken(expect=f"3:{'e' * 64}")
    AuditVerification.objects.update(expect_hash=log[2].partition(":")[2])

    differ = "The audit log is broken: two heads of entry 3 differ."
    assert broken(heads=str(tmp_path / "heads")) == differ
    assert broken(heads=str(tmp_path / "heads"), expect=log[2]) == differ
