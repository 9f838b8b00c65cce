"""Plays the dashboard's part in tests of the agents' library."""

import asyncio
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
import pytest

from approval_client import ApprovalRequest
from approval_client._calls import Contact, Reply, Sleep, Timing
from approval_client._flow import Conversation

NOW = "2026-11-21T12:00:00Z"
CODE = "print('hello')"


class Stage:
    """Gives prepared replies one after the other, and keeps the time: a sleep makes it pass."""

    def __init__(self, *replies, reached=False, url="https://dashboard.example"):
        self.replies = list(replies)
        self.now = 0.0
        self.calls = []
        self.sleeps = []
        contact = Contact(url, reached)
        self.timing = Timing(clock=lambda: self.now, jitter=lambda: 1.0, contact=contact)

    def play(self, flow):
        received = None
        while True:
            try:
                step = flow.send(received)
            except StopIteration as stop:
                return stop.value
            received = None if self._slept(step) else self._reply(step)

    def talk(self, request, key="k1"):
        return Conversation(request, key=key, timing=self.timing)

    def ask(self, request):
        return self.play(self.talk(request).ask())

    @property
    def paths(self):
        return [f"{call.method} {call.path}" for call in self.calls]

    def _slept(self, step):
        if not isinstance(step, Sleep):
            return False
        self.sleeps.append(step.seconds)
        self.now += step.seconds
        return True

    def _reply(self, call):
        self.calls.append(call)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return reply(self) if callable(reply) else reply


class Say:
    """Makes the honest answers to one request, and leaves room for dishonest ones."""

    def __init__(self, request):
        self.request = request

    def decision(self, status="approved", **changes):
        return {
            "status": status,
            "source": "reviewer",
            "reason": "Looks fine.",
            "decided_by": "alice",
            "decided_at": NOW,
            "digest": self.request.digest,
            "valid_until": "2026-11-21T12:10:00Z",
            "grant": None,
        } | changes

    def fields(self, status="pending", *, decision=None, started_at=None, **changes):
        return {
            "id": "a1",
            "status": status,
            "digest": self.request.digest,
            "version": 1,
            "now": NOW,
            "submitted_at": NOW,
            "expires_at": "2026-11-21T12:30:00Z",
            "review_url": "https://dashboard.example/approvals/a1",
            "policy": {"revision": 3, "trace": ["No rule matched."]},
            "decision": decision,
            "outcome": {"started_at": started_at, "finished_at": None},
        } | changes

    def json(self, fields, status=200, protocol="1"):
        return Reply(status=status, body=json.dumps(fields).encode(), protocol=protocol)

    def pending(self, **changes):
        return self.json(self.fields(**changes))

    def approved(self, *, decision=None, **changes):
        told = self.decision() | (decision or {})
        return self.json(self.fields("approved", decision=told, **changes))

    def started(self, **changes):
        return self.approved(started_at=NOW, **changes)

    def rejected(self, reason="No."):
        return self.json(
            self.fields("rejected", decision=self.decision("rejected", reason=reason))
        )

    def problem(self, status, code, detail="Because."):
        fields = {"type": "about:blank", "status": status, "code": code, "detail": detail}
        return self.json(fields, status)


@pytest.fixture
def stage():
    return Stage


@pytest.fixture
def question():
    return ApprovalRequest.code(CODE)


@pytest.fixture
def say(question):
    return Say(question)


@pytest.fixture
def say_for():
    return Say


@pytest.fixture
def asked():
    """Waits until a FakeDashboard was asked as often as that, and its clients wait."""

    async def asked(fake, times=1):
        while len(fake.approvals) < times:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.01)
        return fake.approvals[-1]

    return asked


@pytest.fixture
def served():
    """Puts a FakeDashboard behind a real socket and gives its address."""
    return _served


@contextmanager
def _served(fake):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            url = f"http://fake{self.path}"
            request = httpx2.Request(self.command, url, headers=dict(self.headers), content=body)
            response = fake._carry(request)
            self.send_response(response.status_code)
            for name, value in response.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(response.content)

        do_GET = do_PUT = do_POST  # noqa: N815 - the names that http.server calls

        def log_message(self, *_):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
