"""The whole ASGI application, driven without a network."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.db import connection

from dashboard.live import hub as hub_module
from dashboard.live.push import current_hub
from dashboard.live.seen import seen


@pytest.fixture
async def hub(monkeypatch):
    """The hub of this test's loop, ticking fast, closed so that nothing outlives the test."""
    monkeypatch.setattr(hub_module, "TICK_S", 0.1)
    # A wait that ended late may have left a request of an earlier test, which is gone by now.
    monkeypatch.setattr(seen, "_polls", {})
    monkeypatch.setattr(seen, "_tokens", {})
    hub = current_hub()
    yield hub
    await hub.close()
    await asyncio.get_running_loop().shutdown_default_executor()


def in_thread(function):
    """Run database work beside the loop, as a request would, and leave no connection."""

    def work(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        finally:
            connection.close()

    return sync_to_async(work, thread_sensitive=False)


def scope(path, *, secret="", query="", headers=()):
    return {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [
            (b"host", b"127.0.0.1:8000"),
            (b"authorization", f"Bearer {secret}".encode()),
            *headers,
        ],
        "http_version": "1.1",
        "scheme": "http",
        "client": ["127.0.0.1", 1],
        "server": ["127.0.0.1", 8000],
    }


@asynccontextmanager
async def wait_for(approval_id, secret, hold=5):
    """Begin a wait; yields a function that gives (status, body) when it is answered."""
    from dashboard.asgi import application  # noqa: PLC0415 - fills the app registry

    path = f"/api/v1/approvals/{approval_id}/wait"
    talk = ApplicationCommunicator(application, scope(path, secret=secret, query=f"hold={hold}"))
    await talk.send_input({"type": "http.request", "body": b"", "more_body": False})

    async def answer(within_s=3):
        start = await talk.receive_output(within_s)
        body = await talk.receive_output(within_s)
        return start["status"], json.loads(body["body"])

    answer.talk = talk
    yield answer
    await talk.send_input({"type": "http.disconnect"})
    talk.stop(exceptions=False)
