from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection

from dashboard.approvals import guards
from dashboard.approvals.rules import readiness
from dashboard.audit.models import AuditEntry, AuditHead
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
def test_a_clock_that_was_set_back_stands_in_the_way(token, monkeypatch):
    last = AuditEntry.objects.latest("seq").at
    monkeypatch.setattr(readiness, "database_now", lambda: last - timedelta(seconds=6))

    (why,) = readiness.obstacles()
    assert why.startswith(f"The clock was set back: it stands before {last:%Y-%m-%d %H:%M:%S} UTC")


@pytest.mark.django_db
def test_a_log_without_its_head_stands_in_the_way(token):
    AuditHead.objects.all().delete()

    assert [why.startswith(CUT) for why in readiness.obstacles()] == [True]


@pytest.mark.engine("sqlite")
@pytest.mark.django_db
def test_a_disk_that_is_nearly_full_stands_in_the_way(db, monkeypatch):
    monkeypatch.setattr(readiness, "_LEAST_FREE_MB", 10**9)

    assert ["make room" in why for why in readiness.obstacles()] == [True]
