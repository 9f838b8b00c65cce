"""The log is proved while others write to it: whole is whole, and a break is found."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.db import connection, transaction
from django.db.models import F

from dashboard.approvals import guards
from dashboard.audit import services
from dashboard.audit.chain import Break, Walk
from dashboard.audit.models import AuditEntry, AuditHead
from dashboard.audit.services import Actor, AuditEvent, record, verify

ALICE = Actor("user:alice", "session:password")


def record_some(count=3):
    with transaction.atomic():
        for number in range(count):
            record(ALICE, AuditEvent("tested", f"thing:{number}"))


def from_another_connection(work):
    def run():
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as elsewhere:
        return elsewhere.submit(run).result()


@pytest.fixture
def meanwhile(monkeypatch):
    """Have something done, from another connection, after an entry was walked over; once."""

    def meanwhile(work, after):
        real = services.links

        def links(*args):
            for link in real(*args):
                yield link
                if link.seq == after:
                    from_another_connection(work)

        monkeypatch.setattr(services, "_PAGE", 1, raising=False)
        monkeypatch.setattr(services, "links", links)

    return meanwhile


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("after", [1, 3])
def test_entries_written_during_the_walk_do_not_break_the_log(meanwhile, after):
    record_some(3)
    walk = Walk()
    meanwhile(lambda: record_some(2), after=after)

    assert verify(walk) is None
    assert (walk.seq, walk.hash) == (5, AuditHead.objects.get().hash)


@pytest.mark.django_db(transaction=True)
def test_a_log_that_begins_during_the_walk_is_whole(monkeypatch):
    real = services.links

    def links(*args):
        if not AuditEntry.objects.exists():
            from_another_connection(record_some)
        return real(*args)

    monkeypatch.setattr(services, "links", links)

    assert verify() is None


def unguarded(change):
    def work():
        guards.remove()
        change()

    return work


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("guards_afterwards")
class TestWhatHappensDuringTheWalkIsFound:
    def test_a_tail_cut_off_together_with_its_head(self, meanwhile):
        record_some(3)
        second = AuditEntry.objects.get(seq=2).hash

        def cut():
            AuditEntry.objects.filter(seq=3).delete()
            AuditHead.objects.update(seq=2, hash=second)

        meanwhile(unguarded(cut), after=1)

        assert verify() == Break(3, "the log ends at entry 2, but 3 was written")

    def test_an_entry_changed_after_the_head_that_was_read_first(self, meanwhile):
        record_some(3)

        def forge():
            record_some(2)
            guards.remove()
            AuditEntry.objects.filter(seq=5).update(actor="user:mallory")

        meanwhile(forge, after=3)

        assert verify() == Break(5, "entry 5 was changed")


@pytest.fixture
def guards_afterwards():
    """A test that commits takes the guards off for all that come after it."""
    yield
    guards.install()


@pytest.mark.django_db
class TestAHeadThatWasSet:
    @pytest.fixture(autouse=True)
    def _log(self):
        record_some(3)

    def test_back_to_an_earlier_entry(self):
        AuditHead.objects.update(seq=2, hash=AuditEntry.objects.get(seq=2).hash)

        assert verify() == Break(3, "the log goes on to entry 3, but its head is entry 2")

    def test_forward_to_an_entry_that_was_never_written(self):
        AuditHead.objects.update(seq=4, hash="f" * 64)

        assert verify() == Break(4, "the log ends at entry 3, but 4 was written")

    def test_to_another_hash(self):
        AuditHead.objects.update(hash="f" * 64)

        assert verify() == Break(3, "entry 3 is not the one that the head of the log names")

    def test_to_nothing(self):
        AuditHead.objects.all().delete()

        assert verify() == Break(3, "the head of the log is missing")


@pytest.mark.django_db
class TestTheMomentOfAnEntry:
    @pytest.mark.parametrize("microsecond", [0, 1, 120_000, 999_999])
    def test_is_read_as_it_was_hashed(self, monkeypatch, microsecond):
        at = datetime(2026, 11, 23, 7, 5, 9, microsecond, tzinfo=UTC)
        monkeypatch.setattr(services, "timezone", SimpleNamespace(now=lambda: at))
        record_some(2)

        assert verify() is None

    def test_moved_by_a_microsecond_is_found(self):
        record_some(3)
        guards.remove()
        moved = F("at") + timedelta(microseconds=1)
        AuditEntry.objects.filter(seq=2).update(at=moved)

        assert verify() == Break(2, "entry 2 was changed")

    @pytest.mark.engine("sqlite")
    @pytest.mark.parametrize("more", ["+05:00", " ", "9", "x"])
    def test_with_more_text_than_a_moment_is_found(self, more):
        record_some(3)
        guards.remove()
        with connection.cursor() as cursor:
            cursor.execute("UPDATE dashboard_auditentry SET at = at || %s WHERE seq = 2", [more])

        assert verify() == Break(2, "entry 2 was changed")


@pytest.mark.django_db
@pytest.mark.parametrize("seq", [0, -1])
def test_an_entry_before_the_first_one_is_a_break(seq):
    record_some(2)
    guards.remove()
    AuditEntry.objects.create(
        seq=seq, at=datetime.now(UTC), actor="a", action="b", prev="", hash=""
    )

    assert verify() == Break(1, f"entry {seq} stands before the first one")
