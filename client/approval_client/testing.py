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
import hashlib
import itertools
import threading
import time
import uuid
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import httpx2

from approval_client._accepted import (
    cancel_problem,
    check_notebook,
    is_digest,
    is_id,
    is_key,
    moment,
    parameter_problem,
    report_problem,
    submission_problem,
    whole_report,
    whole_submission,
)
from approval_client._async_client import AsyncClient
from approval_client._calls import AGENT, APPROVALS
from approval_client._defaults import defaults
from approval_client._flow import DECISIONS
from approval_client._sync_client import Client
from approval_client.wire import (
    MAX_BODY_BYTES,
    MAX_NOTEBOOK_BYTES,
    PROTOCOL,
    PROTOCOL_HEADER,
    UNSUPPORTED_PROTOCOL,
    JsonError,
    OutcomeState,
    Source,
    Status,
    canonical_json,
    digest,
    parse_json,
    protocol_version,
)

# --- the server's rules about requests ---------------------------------------------------------

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
VALID_S, HOLD_S = 600, 25
_places = itertools.count(1)


class FakeProblem(Exception):
    """A call that the dashboard answers with a problem."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail = status, code, detail


@dataclass(frozen=True)
class Verdict:
    """What somebody will say, or said before: ``grant`` is the number of a remembered approval.

    ``content`` is an edit, and ``steps`` says what becomes of the steps of a plan.
    """

    status: Status
    reason: str = ""
    content: Any = None
    grant: int | None = None
    steps: tuple[dict[str, Any], ...] = ()

    @property
    def source(self) -> Source:
        """Who closes a request with it."""
        return Source.REVIEWER if self.grant is None else Source.GRANT


@dataclass
class FakeApproval:
    """One request as the dashboard keeps it, for tests to look at.

    Attributes:
        body: What was submitted, whole.
        started: How often it was started: never, or once.
        finished: The last report of its end.
        cancel_reason: What the agent said when it withdrew.
        place: Grows with each request that is closed; 0 while it is open.
    """

    id: str
    body: dict[str, Any]
    submitted_at: datetime
    verdict: Verdict | None
    status: Status = Status.PENDING
    version: int = 1
    decision: dict[str, Any] | None = None
    started_key: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    finished: dict[str, Any] = field(default_factory=dict)
    finished_key: str = ""
    cancel_reason: str | None = None
    place: int = 0
    _start_report: dict[str, Any] = field(default_factory=dict, repr=False)
    _end_report: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def content(self) -> Any:
        """What would run."""
        return self.body["content"]

    @property
    def evidence(self) -> Any:
        """What the agent said about it."""
        return self.body.get("evidence", {})

    @property
    def started(self) -> int:
        """How often it was started."""
        return int(self.started_at is not None)

    @property
    def digest(self) -> str:
        """The digest of the content, computed here and not taken from the agent."""
        return digest(self.body["kind"], self.content)

    @property
    def expires_at(self) -> datetime:
        """When reviewers may no longer decide."""
        return self.submitted_at + timedelta(seconds=self.body.get("time_limit_s") or 1800)

    def close(self, verdict: Verdict, source: Source, at: datetime) -> None:
        """Close it, once."""
        if self.status is not Status.PENDING:
            raise FakeProblem(409, "already_closed", f"This request is {self.status} already.")
        edited = verdict.content is not None
        approved = verdict.status is Status.APPROVED
        self.place = next(_places)
        self.status, self.version = verdict.status, self.version + 1
        self.decision = {
            "status": verdict.status,
            "source": source,
            "reason": verdict.reason,
            "decided_by": "reviewer" if source is Source.REVIEWER else None,
            "decided_at": stamp(at),
            "digest": digest(self.body["kind"], verdict.content) if edited else self.digest,
            "valid_until": stamp(at + timedelta(seconds=VALID_S)) if approved else None,
            "grant": verdict.grant,
        }
        self.decision |= {"content": verdict.content} if edited else {}
        self.decision |= {"steps": list(verdict.steps)} if verdict.steps else {}

    def take_back(self, reason: str, by: str, at: datetime) -> None:
        """Take the approval back, which was not started."""
        self.status, self.version = Status.CANCELLED, self.version + 1
        self.decision = {
            "status": Status.CANCELLED,
            "source": Source.REVIEWER,
            "reason": f"The approval was taken back by {by}: {reason}",
            "decided_by": by,
            "decided_at": stamp(at),
            "digest": self.digest,
            "valid_until": stamp(at),
            "grant": None,
            "taken_back": True,
        }

    def tick(self, now: datetime, *, heard: bool) -> None:
        """Let time pass: expire what is overdue, and decide what somebody has heard of."""
        if self.status is Status.PENDING and now >= self.expires_at:
            expiry = Verdict(Status.EXPIRED, "Nobody decided in time.")
            self.close(expiry, Source.DEADLINE, now)
        if self.status is Status.PENDING and heard and (verdict := self._answering) is not None:
            self.close(verdict, verdict.source, now)

    @property
    def _answering(self) -> Verdict | None:
        # A remembered approval answers only agents that accept one.
        remembered = self.verdict is not None and self.verdict.grant is not None
        return None if remembered and not self.body.get("accepts_grants") else self.verdict

    def start(self, key: str, report: dict[str, Any], now: datetime, *, on_hold: bool) -> None:
        """Use the approval, once; the same report under the same key may say so again."""
        if self.started_key:
            used = FakeProblem(409, "already_started", "This approval was used already.")
            self._must_be_same((self.started_key, self._start_report), (key, report), used)
            return
        decision = self._must_be_approved(report["digest"])
        if decision.get("taken_back"):
            raise FakeProblem(409, "taken_back", f"{decision['reason']} Nothing may run.")
        if on_hold:
            raise FakeProblem(409, "on_hold", "Everything is on hold.")
        if now >= datetime.fromisoformat(decision["valid_until"]):
            raise FakeProblem(409, "approval_expired", "The time to use this approval is over.")
        self.started_key, self.started_at, self._start_report = key, now, report
        self.version += 1

    def finish(self, key: str, report: dict[str, Any], now: datetime) -> None:
        """Note how it ended, once; the same report under the same key may say so again."""
        if self.finished_key:
            refusal = FakeProblem(409, "already_finished", "The end was reported already.")
            self._must_be_same((self.finished_key, self._end_report), (key, report), refusal)
            return
        self._must_be_approved(report["digest"])
        if not self.started:
            raise FakeProblem(409, "not_started", "It was never started.")
        fields = {name: report[name] for name in report if name not in {"state", "digest"}}
        self.finished_key, self.finished, self.finished_at = key, fields, now
        self.version, self._end_report = self.version + 1, report

    def _must_be_same(
        self,
        earlier: tuple[str, dict[str, Any]],
        now: tuple[str, dict[str, Any]],
        other: FakeProblem,
    ) -> None:
        if earlier[0] != now[0]:
            raise other
        if not same(whole_report(earlier[1]), whole_report(now[1])):
            raise FakeProblem(409, "idempotency_conflict", "The key names another report.")

    def _must_be_approved(self, named: str) -> dict[str, Any]:
        decision = self.decision or {}
        if self.status is not Status.APPROVED and not decision.get("taken_back"):
            raise FakeProblem(409, "not_approved", f"This request is {self.status}.")
        if named != decision["digest"]:
            raise FakeProblem(409, "digest_mismatch", "The approval is about different content.")
        return decision

    def answer(self, now: datetime, base_url: str) -> dict[str, Any]:
        """Return the answer that every call gets."""
        return {
            "id": self.id,
            "status": self.status,
            "digest": self.digest,
            "version": self.version,
            "now": stamp(now),
            "submitted_at": stamp(self.submitted_at),
            "expires_at": stamp(self.expires_at),
            "review_url": f"{base_url}/approvals/{self.id}",
            "policy": {"revision": 1, "trace": ["No rule matched."]},
            "decision": self.decision,
            "outcome": {
                "started_at": stamp(self.started_at),
                "finished_at": stamp(self.finished_at),
            },
        }


def stamp(moment: datetime | None) -> Any:
    """Write a moment as the dashboard does."""
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


def read_body(request: httpx2.Request) -> dict[str, Any]:
    """Read a submission or report as strictly as the dashboard does."""
    if len(request.content) > MAX_BODY_BYTES:
        raise FakeProblem(413, "too_large", "The body has more than 1 MiB.")
    if not request.content:
        raise FakeProblem(422, "invalid", "body: is missing. Nothing was done.")
    media_type = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise FakeProblem(415, "unsupported_media_type", "Send the body as application/json.")
    try:
        value = parse_json(request.content)
    except JsonError as error:
        raise FakeProblem(400, error.code, str(error)) from None
    if not isinstance(value, dict):
        raise FakeProblem(422, "invalid", "body: must be an object. Nothing was done.")
    return value


def check(problem: tuple[str, str] | None) -> None:
    """Refuse what the dashboard refuses."""
    if problem is not None:
        where, reason = problem
        raise FakeProblem(422, "invalid", f"body.{where}: {reason}. Nothing was done.")


def check_parameters(request: httpx2.Request, path: str) -> dict[str, str]:
    """Return the parameters of an address, and refuse what the dashboard refuses."""
    parameters = dict(request.url.params.multi_items())  # of two, the last one counts
    if problem := parameter_problem(parameters, path):
        where, reason = problem
        raise FakeProblem(422, "invalid", f"query.{where}: {reason}. Nothing was done.")
    return parameters


def hold_of(request: httpx2.Request) -> float:
    """Return how long a call waits, in seconds."""
    return float(check_parameters(request, "wait").get("hold", HOLD_S))


def not_allowed() -> FakeProblem:
    """Refuse a method."""
    return FakeProblem(405, "method_not_allowed", "This address takes other methods.")


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Say whether two submissions or reports are the same whole."""
    return canonical_json(one) == canonical_json(other)


# --- what is sent back -------------------------------------------------------------------------


def key_of(request: httpx2.Request) -> str:
    """Return the idempotency key of a call."""
    key = request.headers.get("Idempotency-Key", "")
    if not is_key(key):
        reason = "must be 1 to 200 visible characters"
        raise FakeProblem(422, "invalid", f"header.Idempotency-Key: {reason}. Nothing was done.")
    return str(key)


def as_json(status: int, value: Any, media_type: str = "application/json") -> httpx2.Response:
    """Return a reply with a JSON body."""
    headers = {"Content-Type": media_type, PROTOCOL_HEADER: str(PROTOCOL)}
    return httpx2.Response(status, headers=headers, content=canonical_json(value).encode())


def as_problem(refused: FakeProblem) -> httpx2.Response:
    """Return a refusal."""
    fields = {
        "type": "about:blank",
        "title": refused.code,
        "status": refused.status,
        "detail": refused.detail,
        "code": refused.code,
    }
    return as_json(refused.status, fields, "application/problem+json")


# --- the order of decisions --------------------------------------------------------------------

__all__ = ["DECISIONS", "decisions"]
_LIMIT = 50


def decisions(
    request: httpx2.Request, approvals: Sequence[FakeApproval], now: datetime, base_url: str
) -> httpx2.Response:
    """Answer one call; whoever looks has heard, so whatever will be decided is decided."""
    parameters = check_parameters(request, "decisions")
    for approval in approvals:
        approval.tick(now, heard=True)
    closed = sorted((entry for entry in approvals if entry.place), key=lambda one: one.place)
    matches = _from(closed, parameters.get("after"), parameters.get("since"))
    page = matches[: int(float(parameters.get("limit", _LIMIT)))]
    last_approval = page[-1] if page else closed[-1] if closed else None
    payload = {
        "decisions": [approval.answer(now, base_url) for approval in page],
        "next": last_approval and last_approval.id,
        "more": len(matches) > len(page),
    }
    return as_json(200, payload)


def _from(closed: list[FakeApproval], after: str | None, since: str | None) -> list[FakeApproval]:
    if after:
        ids = [uuid.UUID(approval.id) for approval in closed]
        if uuid.UUID(after) not in ids:
            raise FakeProblem(404, "not_found", "There is no such request.")
        return closed[ids.index(uuid.UUID(after)) + 1 :]
    if since:
        begin = moment(since)
        late = [_decided_at(approval) >= begin for approval in closed]
        return closed[late.index(True) :] if any(late) else []
    return closed


def _decided_at(approval: FakeApproval) -> datetime:
    return datetime.fromisoformat((approval.decision or {})["decided_at"])


# --- the server's rules about notebooks --------------------------------------------------------

NOTEBOOKS = "/api/v1/notebooks/"


def keep(request: httpx2.Request, kept: dict[str, bytes], now: datetime) -> httpx2.Response:
    """Keep a notebook under its digest; the same one again changes nothing."""
    digest, body = request.url.path.removeprefix(NOTEBOOKS), bytes(request.content)
    if len(body) > MAX_NOTEBOOK_BYTES:
        raise FakeProblem(413, "too_large", "The notebook has more than 10 MiB.")
    if not is_digest(digest):
        raise FakeProblem(422, "invalid", "path.digest: is not one. Nothing was done.")
    if request.headers.get("Content-Encoding", "identity") != "identity":
        raise FakeProblem(415, "unsupported_media_type", "Send the notebook as it is.")
    if hashlib.sha256(body).hexdigest() != digest:
        raise FakeProblem(
            409, "digest_mismatch", "The bytes have another SHA-256 than the address."
        )
    if digest in kept:
        return as_json(200, _kept(digest, body, now))
    try:
        check_notebook(body)
    except JsonError as error:
        status = 422 if error.code == "not_a_notebook" else 400
        raise FakeProblem(status, error.code, f"{error} The notebook was not kept.") from None
    kept[digest] = body
    return as_json(201, _kept(digest, body, now))


def _kept(digest: str, body: bytes, now: datetime) -> dict[str, Any]:
    return {"digest": digest, "size": len(body), "sent_at": stamp(now)}


# --- the dashboard -----------------------------------------------------------------------------

__all__ = ["FakeApproval", "FakeDashboard", "Verdict", "approve", "reject", "remember"]

Held: TypeAlias = Generator[None, None, httpx2.Response]
TICK_S = 0.005  # how often a manual dashboard looks whether somebody decided


def approve(reason: str = "", content: Any = None, steps: Sequence[Any] = ()) -> Verdict:
    """Return an approval; with ``content`` of an edit. ``steps`` as in ``ApprovalResponse``."""
    return Verdict(Status.APPROVED, reason, content, steps=tuple(steps))


def remember(grant: int = 1) -> Verdict:
    """Return a remembered approval, for an agent that accepts one."""
    return Verdict(Status.APPROVED, f"A person approved this before (grant {grant}).", grant=grant)


def reject(reason: str) -> Verdict:
    """Return a rejection."""
    return Verdict(Status.REJECTED, reason)


class FakeDashboard:
    """A dashboard in memory. Make one by saying how it answers.

    Attributes:
        approvals: Everything that was asked, oldest first.
        notebooks: Every notebook that was sent, by its digest.
        calls: Every call as ``"METHOD /path"``, oldest first.
        on_hold: Set it to put everything on hold, also what was approved.
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
        self._lock = threading.RLock()  # clients of several threads may share it

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
        with self._lock:
            for approval in self.approvals:
                if approval.status is Status.PENDING and approval.verdict is None:
                    approval.verdict = verdict
                    return
            self._script.append(verdict)

    def take_back(self, reason: str, by: str = "reviewer") -> None:
        """Take back the newest approval that was not started.

        Raises:
            ValueError: There is none.
        """
        with self._lock:
            for approval in reversed(self.approvals):
                approval.tick(self._now(), heard=True)
                if approval.status is Status.APPROVED and not approval.started_key:
                    approval.take_back(reason, by, self._now())
                    return
        raise ValueError("There is no approval that was not started.")

    def clock(self) -> float:
        """Return this dashboard's time in seconds; its clients go by it too."""
        return self._skipped_s + (time.monotonic() if self._by_hand else 0.0)

    def advance(self, seconds: float) -> None:
        """Let time jump."""
        with self._lock:
            self._skipped_s += seconds

    async def _advance_async(self, seconds: float) -> None:
        self.advance(seconds)
        await asyncio.sleep(0)

    def _now(self) -> datetime:
        return EPOCH + timedelta(seconds=self.clock())

    def _carry(self, request: httpx2.Request) -> httpx2.Response:
        steps = self._serve(request)
        while (response := self._step(steps)) is None:
            time.sleep(TICK_S)
        return response

    async def _carry_async(self, request: httpx2.Request) -> httpx2.Response:
        steps = self._serve(request)
        while (response := self._step(steps)) is None:  # noqa: ASYNC110 - tests decide in any thread
            await asyncio.sleep(TICK_S)
        return response

    def _step(self, steps: Held) -> httpx2.Response | None:
        with self._lock:
            try:
                next(steps)
            except StopIteration as stop:
                response: httpx2.Response = stop.value
                return response
        return None

    def _serve(self, request: httpx2.Request) -> Held:
        if not self.reachable:
            raise httpx2.ConnectError("Connection refused", request=request)
        self.calls.append(f"{request.method} {request.url.path}")
        try:
            return (yield from self._route(request))
        except FakeProblem as refused:
            return as_problem(refused)

    def _route(self, request: httpx2.Request) -> Held:
        if protocol_version(request.headers.get(PROTOCOL_HEADER, "1")) != PROTOCOL:
            raise FakeProblem(
                400, UNSUPPORTED_PROTOCOL, "This server speaks version 1. Upgrade it."
            )
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or token != self.token:
            raise FakeProblem(401, "unauthorized", "This token is not known.")
        if not request.url.path.startswith(f"{APPROVALS}/"):
            return self._elsewhere(request)
        match request.method, request.url.path.removeprefix(f"{APPROVALS}/").split("/"):
            case _, ["", *_]:
                pass
            case "GET", [approval_id]:
                return self._answer(self._find(approval_id), heard=False)
            case "GET", [approval_id, "wait"]:
                self._must_be_id(approval_id)
                hold_s = hold_of(request)
                return (yield from self._wait(self._find(approval_id), hold_s))
            case "POST", [approval_id, "cancel"]:
                return self._cancel(approval_id, request)
            case "POST", [approval_id, "outcome"]:
                return self._outcome(approval_id, request)
            case _, [_] | [_, "wait" | "cancel" | "outcome"]:
                raise not_allowed()
        raise FakeProblem(404, "not_found", "There is nothing here.")

    def _elsewhere(self, request: httpx2.Request) -> httpx2.Response:
        path = request.url.path
        folder, _, name = path.rpartition("/")
        is_notebook = f"{folder}/" == NOTEBOOKS and name
        match request.method, path:
            case "POST", endpoint if endpoint == APPROVALS:
                return self._submit(request)
            case "PUT", _ if is_notebook:
                return keep(request, self.notebooks, self._now())
            case "GET", endpoint if endpoint == DECISIONS:
                return decisions(request, self.approvals, self._now(), self.url)
            case "GET", endpoint if endpoint == AGENT:
                check_parameters(request, "agent")
                return as_json(200, self._access())
            case _, endpoint if is_notebook or endpoint in {APPROVALS, DECISIONS, AGENT}:
                raise not_allowed()
        raise FakeProblem(404, "not_found", "There is nothing here.")

    def _access(self) -> dict[str, Any]:
        return {
            "agent": "agent",
            "token_expires_at": None,
            "now": stamp(self._now()),
            "policy_revision": 1,
            "on_hold": self.on_hold,
            "has_approvers": True,
        }

    def _must_be_id(self, approval_id: str) -> None:
        if not is_id(approval_id):
            raise FakeProblem(422, "invalid", "path.approval_id: is not one. Nothing was done.")

    def _find(self, approval_id: str) -> FakeApproval:
        self._must_be_id(approval_id)
        for approval in self.approvals:
            if uuid.UUID(approval.id) == uuid.UUID(approval_id):
                approval.tick(self._now(), heard=False)
                return approval
        raise FakeProblem(404, "not_found", "There is no such request.")

    def _submit(self, request: httpx2.Request) -> httpx2.Response:
        body = read_body(request)
        check(submission_problem(body))
        key = key_of(request)
        if earlier_approval := self._keys.get(key):
            if not same(whole_submission(earlier_approval.body), whole_submission(body)):
                raise FakeProblem(409, "idempotency_conflict", "The key names another request.")
            return self._answer(earlier_approval, heard=False)
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

    def _cancel(self, approval_id: str, request: httpx2.Request) -> httpx2.Response:
        body = read_body(request)
        check(cancel_problem(body))
        approval = self._find(approval_id)
        taken_back = approval.decision is not None and approval.decision.get("taken_back")
        if approval.status is Status.CANCELLED and not taken_back:
            return self._answer(approval)
        reason = body.get("reason", "")
        approval.close(Verdict(Status.CANCELLED, reason), Source.AGENT, self._now())
        approval.cancel_reason = reason
        return self._answer(approval)

    def _outcome(self, approval_id: str, request: httpx2.Request) -> httpx2.Response:
        body = read_body(request)
        check(report_problem(body))
        key, approval = key_of(request), self._find(approval_id)
        if body["state"] == OutcomeState.STARTED:
            approval.start(key, body, self._now(), on_hold=self.on_hold)
        else:
            approval.finish(key, body, self._now())
        return self._answer(approval)

    def _answer(
        self, approval: FakeApproval, *, heard: bool = True, status: int = 200
    ) -> httpx2.Response:
        approval.tick(self._now(), heard=heard)
        return as_json(status, approval.answer(self._now(), self.url))
