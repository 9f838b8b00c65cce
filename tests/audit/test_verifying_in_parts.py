"""A verification that a page asked for goes on in small parts, in whichever process."""

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from dashboard.approvals import guards
from dashboard.audit import services
from dashboard.audit.chain import Walk
from dashboard.audit.models import AuditEntry, AuditHead, AuditVerification
from dashboard.audit.queries import last_ended
from dashboard.audit.services import (
    Actor,
    AuditEvent,
    ask_to_verify,
    keep_verification,
    record,
    verify_on,
)

ANA = Actor("user:ana", "session:password")


@pytest.fixture
def log(db):
    """Twelve entries."""
    with transaction.atomic():
        record(ANA, *(AuditEvent("test", str(n)) for n in range(12)))


def walked(most=5):
    """Take parts until there are no more; returns where each of them ended."""
    places = []
    while verify_on(most):
        places.append(AuditVerification.objects.latest("id").seq)
    return places


def ended():
    found = AuditVerification.objects.latest("id")
    assert found.ended_at
    return found.seq, found.problem


def tamper(sql):
    guards.remove()
    with connection.cursor() as cursor:
        cursor.execute(sql)
    guards.install()


def test_it_goes_on_from_where_it_stands(log):
    ask_to_verify(ANA)

    assert walked() == [5, 10]
    assert ended() == (12, "")


def test_the_end_is_recorded_under_the_name_of_who_asked(log):
    ask_to_verify(ANA)
    walked()

    entry = AuditEntry.objects.latest("seq")
    assert (entry.action, entry.actor, entry.auth) == ("audit.verified", *ANA)


def test_nothing_is_walked_that_nobody_asked_for(log):
    assert verify_on() is False
    assert AuditEntry.objects.count() == 12


def test_who_asks_twice_gets_the_walk_that_is_under_way(log):
    first = ask_to_verify(ANA)

    assert ask_to_verify(Actor("user:ben")).pk == first.pk


def test_what_is_written_meanwhile_is_walked_too(log):
    ask_to_verify(ANA)
    verify_on(5)
    with transaction.atomic():
        record(ANA, AuditEvent("test", "later"))
    walked()

    assert ended() == (13, "")


def test_a_changed_entry_ends_it(log):
    ask_to_verify(ANA)
    tamper("UPDATE dashboard_auditentry SET subject = 'x' WHERE seq = 7")
    walked()

    assert ended() == (6, "entry 7 was changed")


def test_an_end_that_was_cut_off_is_found(log):
    tamper("DELETE FROM dashboard_auditentry WHERE seq > 8")
    ask_to_verify(ANA)
    walked()

    assert ended() == (8, "the log ends at entry 8, but 12 was written")


def test_a_head_that_was_kept_is_looked_for_on_the_way_and_at_the_end(log):
    head = AuditHead.objects.get()
    for seq, problem in ((3, "entry 3 is not the one that was expected"), (99, "the log was cut")):
        ask_to_verify(ANA, (seq, "0" * 64))
        walked()
        assert ended()[1].startswith(problem)

    ask_to_verify(ANA, (head.seq, head.hash))
    walked()
    assert ended()[1] == ""


def test_a_part_that_another_process_took_is_not_counted_twice(log):
    asked = ask_to_verify(ANA)
    verify_on(5)
    AuditVerification.objects.filter(pk=asked.pk).update(seq=0, hash="0" * 64)
    walked()

    assert ended() == (12, "")
    assert AuditEntry.objects.filter(action="audit.verified").count() == 1


def test_how_much_is_done(log):
    asked = ask_to_verify(ANA)
    verify_on(5)
    asked.refresh_from_db()
    assert asked.percent == 41

    walked()
    asked.refresh_from_db()
    assert asked.percent == 100


def test_one_that_began_before_does_not_clear_what_another_found_meanwhile(log):
    ask_to_verify(ANA)
    verify_on(5)
    keep_verification(ANA, Walk(), "entry 3 was changed", expect=(3, "0" * 64))
    walked()

    last = last_ended().get()
    assert (last.problem, last.expect_seq) == ("entry 3 was changed", 3)


def test_a_clock_that_was_set_back_hides_no_failure(log):
    ask_to_verify(ANA)
    walked()
    tomorrow = timezone.now() + timedelta(days=1)
    AuditVerification.objects.update(ended_at=tomorrow)

    keep_verification(ANA, Walk(), "entry 3 was changed")

    assert last_ended().get().problem == "entry 3 was changed"


@pytest.fixture
def heads(settings, tmp_path):
    """The file that ``AUDIT_HEADS`` names; it is not there yet."""
    settings.AUDIT_HEADS = str(tmp_path / "heads")
    return tmp_path / "heads"


def test_a_head_of_the_file_that_does_not_fit_is_looked_for_the_next_time_too(
    log, heads, settings
):
    heads.write_text(f"3:{'0' * 64}\n")
    ask_to_verify(ANA)
    walked()
    settings.AUDIT_HEADS = ""

    ask_to_verify(ANA)
    walked()

    assert ended()[1] == "entry 3 is not the one that was expected"


def test_a_head_of_the_file_does_not_replace_the_one_that_was_typed(log, heads):
    entry = AuditEntry.objects.get(seq=3)
    heads.write_text(f"3:{entry.hash}\n")
    ask_to_verify(ANA, (3, "0" * 64))
    walked()

    assert ended()[1] == "two heads of entry 3 differ"


def test_a_file_of_heads_that_is_gone_ends_it(log, heads):
    ask_to_verify(ANA)
    walked()

    assert ended()[1].startswith("The heads that were kept cannot be read")


def test_a_disk_that_is_away_for_a_moment_only_delays_it(log, heads, monkeypatch):
    ask_to_verify(ANA)
    with monkeypatch.context() as broken:
        broken.setattr(services, "kept_heads", raises(OSError(5, "Input/output error")))
        assert verify_on(5) is True
    heads.touch()
    walked()

    assert ended() == (12, "")


def raises(error):
    def fails():
        raise error

    return fails
