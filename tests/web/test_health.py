"""What machines are told that watch this one, while everything else of it is busy."""

import asyncio
import json
import threading

import pytest
from django.db import connection, transaction
from django.utils import timezone

from dashboard.approvals.queries.hold import database_doubt, doubt_database
from dashboard.audit import heads
from dashboard.audit.models import AuditHead, AuditVerification
from dashboard.live import hub
from dashboard.live.push import current_hub
from dashboard.web import health
from dashboard.web.handler import POOLS, PooledHandler
from tests.web.raw import ask

WITHIN_S = 20  # only of a test that fails


@pytest.fixture
def busy(monkeypatch):
    """Pages that take until the test ends, and how many have begun."""
    begun, end = threading.Semaphore(0), threading.Event()

    def respond(*_):
        begun.release()
        assert end.wait(2 * WITHIN_S)
        raise RuntimeError("The test is over.")

    monkeypatch.setattr(PooledHandler, "_respond", respond)
    yield begun
    end.set()


@pytest.mark.django_db(transaction=True)
async def test_every_server_watches_its_database(monkeypatch, tmp_path):
    """Not only `start`: any server of the application, from its first request on."""
    (tmp_path / "audit_head").write_text(f"900:{'a' * 64}\n")
    monkeypatch.setattr(heads, "beside", lambda: tmp_path / "audit_head")
    monkeypatch.setattr(hub, "was_looked_at", lambda **_: False)
    try:
        await ask("/api/v1/approvals")
        assert "lacks the entry 900" in database_doubt()
    finally:
        await current_hub().close()
        doubt_database("")


async def test_it_answers_while_every_thread_is_busy(busy):
    pages = [asyncio.create_task(ask("/", how)) for how in ("GET", "POST") for _ in range(20)]
    for _ in range(POOLS["strangers"]):
        await asyncio.to_thread(busy.acquire)

    async with asyncio.timeout(WITHIN_S):
        status, headers, body = await ask("/healthz")
    for page in pages:
        page.cancel()

    assert (status, body) == (200, b'{"status": "ok"}')
    assert headers[b"content-type"] == b"application/json"
    assert headers[b"cache-control"] == b"no-store"


async def test_head_is_answered_with_the_same_headers_and_no_body():
    get, head = await ask("/healthz"), await ask("/healthz", "HEAD")

    for _, headers, _ in (get, head):
        del headers[b"x-request-id"]
    assert (head[0], head[1], head[2]) == (200, get[1], b"")


async def test_other_methods_are_refused():
    status, headers, _ = await ask("/healthz", "POST")

    assert (status, headers[b"allow"]) == (405, b"GET, HEAD")


async def test_whether_it_may_approve_is_answered_while_every_thread_is_busy(busy, monkeypatch):
    monkeypatch.setattr(health, "readiness", lambda: (200, b"{}"))
    pages = [asyncio.create_task(ask("/", how)) for how in ("GET", "POST") for _ in range(20)]
    for _ in range(POOLS["strangers"]):
        await asyncio.to_thread(busy.acquire)

    async with asyncio.timeout(WITHIN_S):
        status, _, body = await ask("/readyz")
    for page in pages:
        page.cancel()

    assert (status, body) == (200, b"{}")


async def test_a_database_that_does_not_answer_makes_a_server_not_ready_in_time(monkeypatch):
    asked, end = [], threading.Event()

    def stuck():
        asked.append(True)
        end.wait(WITHIN_S)
        return 200, b"{}"

    monkeypatch.setattr(health, "readiness", stuck)
    monkeypatch.setattr(health, "READY_WITHIN_S", 0.1)
    first, second = await ask("/readyz"), await ask("/readyz")
    end.set()

    why = ["The database did not answer within 2 s."]
    said = {"ready": False, "may_approve": False, "why": why}
    assert [(status, json.loads(body)) for status, _, body in (first, second)] == [(503, said)] * 2
    assert len(asked) == 1  # who asks while one check is under way waits for that one


@pytest.mark.engine("postgresql")
@pytest.mark.django_db(transaction=True)
async def test_a_log_whose_end_somebody_holds_makes_a_server_not_ready(token):
    held, end = threading.Event(), threading.Event()

    def hold():
        with transaction.atomic():
            AuditHead.objects.select_for_update().get(pk=1)
            held.set()
            end.wait(WITHIN_S)
        connection.close()

    holder = asyncio.create_task(asyncio.to_thread(hold))
    await asyncio.to_thread(held.wait)
    async with asyncio.timeout(WITHIN_S):
        status, _, _ = await ask("/readyz")
    end.set()
    await holder

    assert status == 503


@pytest.fixture
def doubted(db):
    """The last verification of the log failed."""
    AuditVerification.objects.create(
        asked_by="operator",
        asked_at=timezone.now(),
        until=3,
        hash="0" * 64,
        ended_at=timezone.now(),
        problem="entry 2 was changed",
    )


def test_a_log_that_does_not_hold_is_shown_and_stops_no_server(client, doubted):
    assert client.get("/readyz").status_code == 200


def test_a_log_that_does_not_hold_makes_a_server_not_ready_where_a_setting_says_so(
    client, doubted, settings
):
    settings.READY_NEEDS_WHOLE_LOG = True

    reply = client.get("/readyz")
    [why] = reply.json()["why"]
    assert reply.status_code == 503
    assert why.startswith("The last verification of the audit log failed. An auditor sees why")
    AuditVerification.objects.update(problem="")
    assert client.get("/readyz").status_code == 200
