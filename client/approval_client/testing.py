"""For authors of agents: a dashboard in memory, so that tests need no server and no person.

    def test_my_agent_stops_when_told_no():
        dashboard = FakeDashboard.rejecting("Not on a Friday.")

        result = run_my_agent(dashboard.client())

        assert result == "stopped"
        assert dashboard.approvals[0].content == {"code": "deploy()"}

It keeps the real one's rules: digests are computed and compared, a key asks once, an approval is
used once and not after its time. Unless it is ``manual()``, time does not pass but jumps, so
nothing sleeps.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, TypeAlias

import httpx2

from approval_client._async_client import AsyncClient
from approval_client._defaults import defaults
from approval_client._fake import (
    EPOCH,
    FakeApproval,
    Refused,
    Verdict,
    check_submission,
    read_body,
    same,
)
from approval_client._fake_decisions import DECISIONS, decisions
from approval_client._fake_notebooks import NOTEBOOKS, keep
from approval_client._fake_replies import as_json, as_problem, key_of
from approval_client._sent import APPROVALS
from approval_client._sync_client import Client
from approval_client.wire import (
    PROTOCOL,
    PROTOCOL_HEADER,
    UNSUPPORTED_PROTOCOL,
    OutcomeState,
    Source,
    Status,
    protocol_version,
)

__all__ = ["FakeApproval", "FakeDashboard", "Verdict", "approve", "reject", "remember"]

Held: TypeAlias = Generator[None, None, httpx2.Response]
TICK_S = 0.005  # how often a manual dashboard looks whether somebody decided


def approve(reason: str = "", content: Any = None, steps: Sequence[Any] = ()) -> Verdict:
    """Return a yes; with ``content`` to an edit, and ``steps`` as in ``ApprovalResponse``."""
    return Verdict(Status.APPROVED, reason, content, steps=tuple(steps))


def remember(grant: int = 1) -> Verdict:
    """Return a yes that somebody gave before, for an agent that accepts one."""
    return Verdict(Status.APPROVED, f"A person said yes before (grant {grant}).", grant=grant)


def reject(reason: str) -> Verdict:
    """Return a no."""
    return Verdict(Status.REJECTED, reason)


class FakeDashboard:
    """A dashboard in memory. Make one by saying how it answers.

    Attributes:
        approvals: Everything that was asked, oldest first.
        notebooks: Every notebook that was sent, by its digest.
        calls: Every call as ``"METHOD /path"``, oldest first.
        on_hold: Set it to hold everything, approved or not.
        reachable: Unset it to refuse connections.
    """

    url = "http://localhost:8765"
    token = "dash_fake"  # noqa: S105 - opens nothing but this

    def __init__(
        self, *script: Verdict | None, otherwise: Verdict | None = None, by_hand: bool = False
    ) -> None:
        self.approvals: list[FakeApproval] = []
        self.notebooks: dict[str, bytes] = {}
        self.calls: list[str] = []
        self.on_hold = False
        self.reachable = True
        self._script = deque(script)
        self._otherwise = otherwise
        self._by_hand = by_hand
        self._skipped_s = 0.0
        self._keys: dict[str, FakeApproval] = {}

    @classmethod
    def approving(cls, reason: str = "") -> FakeDashboard:
        """Approve everything."""
        return cls(otherwise=approve(reason))

    @classmethod
    def rejecting(cls, reason: str) -> FakeDashboard:
        """Reject everything."""
        return cls(otherwise=reject(reason))

    @classmethod
    def scripted(cls, *verdicts: Verdict | None) -> FakeDashboard:
        """Give these answers in order, None for no answer, and then no more."""
        return cls(*verdicts)

    @classmethod
    def silent(cls) -> FakeDashboard:
        """Never answer: everything expires, at once as far as the test is concerned."""
        return cls()

    @classmethod
    def manual(cls) -> FakeDashboard:
        """Wait in real time for ``approve_next`` and ``reject_next``."""
        return cls(by_hand=True)

    @classmethod
    def unreachable(cls) -> FakeDashboard:
        """Refuse every connection."""
        fake = cls()
        fake.reachable = False
        return fake

    def client(self) -> Client:
        """Return a client of this dashboard."""
        carrier = httpx2.MockTransport(self._carry)
        return Client(
            self.url, self.token, transport=carrier, clock=self.clock, sleep=self.advance
        )

    def async_client(self) -> AsyncClient:
        """Return an asynchronous client of this dashboard."""
        carrier = httpx2.MockTransport(self._carry_async)
        return AsyncClient(
            self.url, self.token, transport=carrier, clock=self.clock, sleep=self._advance_async
        )

    @contextmanager
    def installed(self) -> Iterator[FakeDashboard]:
        """Be the dashboard of ``approval_func`` and of every gate that names no client."""
        with defaults(self.client, self.async_client):
            yield self

    def approve_next(self, reason: str = "") -> None:
        """Approve the oldest request that nobody answered, or the next one to come."""
        self.decide_next(approve(reason))

    def reject_next(self, reason: str) -> None:
        """Reject the oldest request that nobody answered, or the next one to come."""
        self.decide_next(reject(reason))

    def decide_next(self, verdict: Verdict) -> None:
        """Answer the oldest request that nobody answered, or the next one to come."""
        for approval in self.approvals:
            if approval.status is Status.PENDING and approval.verdict is None:
                approval.verdict = verdict
                return
        self._script.append(verdict)

    def clock(self) -> float:
        """Return this dashboard's time in seconds; its clients go by it too."""
        return self._skipped_s + (time.monotonic() if self._by_hand else 0.0)

    def advance(self, seconds: float) -> None:
        """Let time jump."""
        self._skipped_s += seconds

    async def _advance_async(self, seconds: float) -> None:
        self.advance(seconds)
        await asyncio.sleep(0)

    def _now(self) -> datetime:
        return EPOCH + timedelta(seconds=self.clock())

    def _carry(self, request: httpx2.Request) -> httpx2.Response:
        held = self._serve(request)
        while (response := _step(held)) is None:
            time.sleep(TICK_S)
        return response

    async def _carry_async(self, request: httpx2.Request) -> httpx2.Response:
        held = self._serve(request)
        while (response := _step(held)) is None:  # noqa: ASYNC110 - tests decide in any thread
            await asyncio.sleep(TICK_S)
        return response

    def _serve(self, request: httpx2.Request) -> Held:
        if not self.reachable:
            raise httpx2.ConnectError("Connection refused", request=request)
        self.calls.append(f"{request.method} {request.url.path}")
        try:
            return (yield from self._route(request))
        except Refused as refused:
            return as_problem(refused)

    def _route(self, request: httpx2.Request) -> Held:
        if protocol_version(request.headers.get(PROTOCOL_HEADER, "1")) != PROTOCOL:
            raise Refused(400, UNSUPPORTED_PROTOCOL, "This server speaks version 1. Upgrade it.")
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            raise Refused(401, "unauthorized", "This token was issued to nobody.")
        if not request.url.path.startswith(APPROVALS):
            return self._elsewhere(request)
        parts = request.url.path.removeprefix(APPROVALS).strip("/").split("/")
        match request.method, parts:
            case "POST", [""]:
                return self._submit(request)
            case "GET", [approval_id]:
                return self._answer(self._find(approval_id), heard=False)
            case "GET", [approval_id, "wait"]:
                hold_s = float(request.url.params.get("hold", "0"))
                return (yield from self._wait(self._find(approval_id), hold_s))
            case "POST", [approval_id, "cancel"]:
                return self._cancel(self._find(approval_id), read_body(request.content))
            case "POST", [approval_id, "outcome"]:
                return self._outcome(self._find(approval_id), request)
        raise Refused(404, "not_found", "There is nothing here.")

    def _elsewhere(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "PUT" and request.url.path.startswith(NOTEBOOKS):
            return keep(request, self.notebooks)
        if request.method == "GET" and request.url.path == DECISIONS:
            return decisions(request, self.approvals, self._now(), self.url)
        raise Refused(404, "not_found", "There is nothing here.")

    def _find(self, approval_id: str) -> FakeApproval:
        for approval in self.approvals:
            if approval.id == approval_id:
                approval.tick(self._now(), heard=False)
                return approval
        raise Refused(404, "not_found", "There is no such request.")

    def _submit(self, request: httpx2.Request) -> httpx2.Response:
        body, key = read_body(request.content), key_of(request)
        if known := self._keys.get(key):
            if not same(known.body, body):
                raise Refused(409, "idempotency_conflict", "The key names another request.")
            return self._answer(known, heard=False)
        check_submission(body)
        verdict = self._script.popleft() if self._script else self._otherwise
        approval = FakeApproval(str(uuid.uuid4()), body, self._now(), verdict)
        self.approvals.append(approval)
        self._keys[key] = approval
        return self._answer(approval, heard=False, status=201)

    def _wait(self, approval: FakeApproval, hold_s: float) -> Held:
        until = self.clock() + hold_s
        approval.tick(self._now(), heard=True)
        while approval.status is Status.PENDING and self.clock() < until:
            if self._by_hand:
                yield
            else:
                left_s = (approval.expires_at - self._now()).total_seconds()
                self.advance(min(until - self.clock(), left_s))
            approval.tick(self._now(), heard=True)
        return self._answer(approval)

    def _cancel(self, approval: FakeApproval, body: dict[str, Any]) -> httpx2.Response:
        if approval.status is Status.CANCELLED:
            return self._answer(approval)
        reason = body.get("reason", "")
        approval.close(Verdict(Status.CANCELLED, reason), Source.AGENT, self._now())
        approval.cancel_reason = reason
        return self._answer(approval)

    def _outcome(self, approval: FakeApproval, request: httpx2.Request) -> httpx2.Response:
        body, key = read_body(request.content), key_of(request)
        state, named = body.pop("state", None), body.pop("digest", "")
        if state == OutcomeState.STARTED:
            approval.start(key, named, self._now(), on_hold=self.on_hold)
        elif state == OutcomeState.FINISHED:
            approval.finish(key, named, body, self._now())
        else:
            raise Refused(422, "invalid", f"{state!r} is no state.")
        return self._answer(approval)

    def _answer(
        self, approval: FakeApproval, *, heard: bool = True, status: int = 200
    ) -> httpx2.Response:
        approval.tick(self._now(), heard=heard)
        return as_json(status, approval.answer(self._now(), self.url))


def _step(held: Held) -> httpx2.Response | None:
    try:
        next(held)
    except StopIteration as done:
        response: httpx2.Response = done.value
        return response
    return None
