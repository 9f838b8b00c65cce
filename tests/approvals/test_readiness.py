import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import OperationalError, connection

from dashboard.approvals import guards
from dashboard.approvals.rules import readiness
from dashboard.audit import heads
from dashboard.audit.models import AuditEntry, AuditHead
from dashboard.sqlite3 import base
from tests import make

CUT = "The end of the audit log is not where it should be"


def in_threads(*works):
    def run(work):
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works))


@pytest.mark.django_db(transaction=True)
def test_a_server_is_ready_also_while_others_write(token, settings):
    settings.PENDING_PER_TOKEN = 1000
    busy = [True]

    def write():
        for _ in range(60):
            make.pending(token)
        busy.clear()

    def look():
        found = []
        while busy:
            found += readiness.obstacles()
        return found

    assert in_threads(write, look)[1] == []


@pytest.mark.django_db
def test_a_cut_log_stands_in_the_way(token):
    guards.remove()
    AuditEntry.objects.order_by("-seq")[:1].get().delete()
    guards.install()

    assert [why.startswith(CUT) for why in readiness.obstacles()] == [True]


@pytest.mark.django_db
def test_a_clock_that_was_set_back_stands_in_the_way_whatever_was_recorded_since(token, ada):
    latest_at = make.clock_set_back(seconds=60)
    make.pending(token)

    (why,) = readiness.obstacles()
    at = f"{latest_at:%Y-%m-%d %H:%M:%S}"
    assert why.startswith(f"The clock was set back: it stands before {at} UTC")


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Keep a head in the data folder; returns a function that writes its file."""
    monkeypatch.setattr(heads, "beside", lambda: tmp_path / "audit_head")
    return (tmp_path / "audit_head").write_text


@pytest.mark.django_db
def test_a_log_that_has_what_was_kept_is_ready(token, kept):
    first = AuditEntry.objects.earliest("seq")
    kept(f"{first.seq}:{first.hash}\n")

    assert readiness.obstacles() == []


@pytest.mark.django_db
@pytest.mark.parametrize("head", [f"900:{'a' * 64}", f"1:{'a' * 64}"])
def test_a_log_that_lacks_what_was_kept_stands_in_the_way(token, kept, head):
    kept(f"{head}\n")

    (why,) = readiness.obstacles()
    assert why.startswith(f"The audit log lacks the entry {head.partition(':')[0]} that was")
    assert "accept_database" in why


@pytest.mark.django_db
@pytest.mark.parametrize("text", ["", "nothing", "12:"])
def test_a_kept_head_that_cannot_be_read_stands_in_the_way(token, kept, text):
    kept(text)

    (why,) = readiness.obstacles()
    assert why.startswith("The head of the audit log that was kept cannot be read: The file ")


@pytest.mark.engine("sqlite")
@pytest.mark.django_db
def test_a_file_that_was_replaced_stands_in_the_way_until_it_is_back(token, monkeypatch):
    name = str(connection.settings_dict["NAME"])
    with monkeypatch.context() as other:
        other.setitem(base._FILES, name, base._FILES[name]._replace(inode=1))
        (why,) = readiness.obstacles()

    assert why.startswith(f"The file {name} was replaced or removed")
    assert readiness.obstacles() == []


@pytest.mark.django_db
def test_a_log_without_its_head_stands_in_the_way(token):
    AuditHead.objects.all().delete()

    assert [why.startswith(CUT) for why in readiness.obstacles()] == [True]


@pytest.mark.engine("sqlite")
@pytest.mark.django_db
def test_a_disk_that_is_nearly_full_stands_in_the_way(db, monkeypatch):
    monkeypatch.setattr(readiness, "_LEAST_FREE_MB", 10**9)

    assert ["make room" in why for why in readiness.obstacles()] == [True]


@pytest.mark.engine("postgresql")
@pytest.mark.django_db
def test_postgresql_is_made_to_write_to_its_disk():
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL work_mem = '64kB'")
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS) {readiness.SPILLING}")
        plan = "\n".join(line for (line,) in cursor.fetchall())

    assert int(re.search(r"temp read=\d+ written=(\d+)", plan)[1]) > 30  # pages of 8 kB


@pytest.mark.engine("postgresql")
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("error", "said"),
    [("DiskFull", "The disk of PostgreSQL is full"), ("QueryCanceled", "does not answer")],
)
def test_what_stops_that_write_stands_in_the_way(error, said):
    import psycopg  # noqa: PLC0415 - where there is none, there is no PostgreSQL

    def refuse(execute, sql, *args):
        if sql == readiness.SPILLING:
            raise OperationalError("no") from getattr(psycopg.errors, error)("no")
        return execute(sql, *args)

    with connection.execute_wrapper(refuse):
        assert [said in why for why in readiness.obstacles()] == [True]
    assert readiness.obstacles() == []
