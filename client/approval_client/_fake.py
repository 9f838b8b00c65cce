"""The server's rules about requests, in memory: what ``FakeDashboard`` answers with."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from approval_client.wire import (
    MAX_BODY_BYTES,
    JsonError,
    Kind,
    Source,
    Status,
    canonical_json,
    digest,
    parse_json,
)

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
VALID_S = 600
TIME_LIMITS_S = (5, 2_592_000)
_places = itertools.count(1)
_REQUIRED = {"kind", "capability", "content"}
_OPTIONAL = {
    "objective",
    "evidence",
    "run_id",
    "time_limit_s",
    "max_wait_s",
    "accepts_edits",
    "accepts_grants",
}
_CONTENT = {
    Kind.CODE: ({"code"}, {"language"}),
    Kind.TOOL_CALL: ({"tool", "arguments"}, set[str]()),
    Kind.PLAN: ({"steps"}, set[str]()),
    Kind.MEMORY: ({"operation", "user_id", "content"}, {"existing"}),
}


class Refused(Exception):
    """A call that the dashboard answers with a problem."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail = status, code, detail


@dataclass(frozen=True)
class Verdict:
    """What somebody will say, or said before: ``grant`` is the number of a remembered yes.

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
        return self.submitted_at + timedelta(seconds=self.body.get("time_limit_s", 1800))

    def close(self, verdict: Verdict, source: Source, at: datetime) -> None:
        """Close it, once."""
        if self.status is not Status.PENDING:
            raise Refused(409, "already_closed", f"This request is {self.status} already.")
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

    def tick(self, now: datetime, *, heard: bool) -> None:
        """Let time pass: expire what is overdue, and decide what somebody has heard of."""
        if self.status is Status.PENDING and now >= self.expires_at:
            told = Verdict(Status.EXPIRED, "Nobody decided in time.")
            self.close(told, Source.DEADLINE, now)
        if self.status is Status.PENDING and heard and (verdict := self._answering) is not None:
            self.close(verdict, verdict.source, now)

    @property
    def _answering(self) -> Verdict | None:
        # A remembered yes answers only who said that it may.
        remembered = self.verdict is not None and self.verdict.grant is not None
        return None if remembered and not self.body.get("accepts_grants") else self.verdict

    def start(self, key: str, named: str, now: datetime, *, on_hold: bool) -> None:
        """Use the approval, once; the same key may say so again."""
        self._must_be_approved(named)
        if self.started_key == key:
            return
        decision = self.decision or {}
        if self.started_key:
            raise Refused(409, "already_started", "This approval was used already.")
        if on_hold:
            raise Refused(409, "on_hold", "Everything is held at the moment.")
        if now >= datetime.fromisoformat(decision["valid_until"]):
            raise Refused(409, "approval_expired", "The time to use this approval is over.")
        self.started_key, self.started_at = key, now

    def finish(self, key: str, named: str, fields: dict[str, Any], now: datetime) -> None:
        """Note how it ended, once; the same key may say so again."""
        self._must_be_approved(named)
        if self.finished_key == key:
            return
        if self.finished_key:
            raise Refused(409, "already_finished", "The end was reported already.")
        if not self.started:
            raise Refused(409, "not_started", "It was never started.")
        if len(fields.get("output_head", "")) > 4000:  # noqa: PLR2004 - the contract's number
            raise Refused(422, "invalid", "output_head has more than 4000 characters.")
        self.finished_key, self.finished, self.finished_at = key, fields, now

    def _must_be_approved(self, named: str) -> None:
        if self.status is not Status.APPROVED or self.decision is None:
            raise Refused(409, "not_approved", f"This request is {self.status}.")
        if named != self.decision["digest"]:
            raise Refused(409, "digest_mismatch", "The approval is about other content.")

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


def read_body(raw: bytes) -> dict[str, Any]:
    """Read a submission or report as strictly as the dashboard does."""
    if len(raw) > MAX_BODY_BYTES:
        raise Refused(413, "too_large", "The body has more than 1 MiB.")
    try:
        value = parse_json(raw)
    except JsonError as error:
        raise Refused(400, error.code, str(error)) from None
    if not isinstance(value, dict):
        raise Refused(422, "invalid", "The body is not an object.")
    return value


def check_submission(body: dict[str, Any]) -> None:
    """Refuse what the dashboard refuses."""
    _expect_keys(body, _REQUIRED, _OPTIONAL)
    if body["kind"] not in set(Kind):
        raise Refused(422, "invalid", f"{body['kind']!r} is no kind.")
    required, optional = _CONTENT[Kind(body["kind"])]
    _expect_keys(body["content"], required, optional)
    if body["content"].get("code") == "" or body["content"].get("steps") == []:
        raise Refused(422, "invalid", "There is nothing to approve.")
    low, high = TIME_LIMITS_S
    for name in ("time_limit_s", "max_wait_s"):
        if not low <= body.get(name, low) <= high:
            raise Refused(422, "invalid", f"{name} must be {low} to {high}.")


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Say whether two submissions are the same whole."""
    return canonical_json(one) == canonical_json(other)


def _expect_keys(value: Any, required: set[str], optional: set[str]) -> None:
    found = set(value) if isinstance(value, dict) else set()
    if required - found or found - required - optional:
        raise Refused(422, "invalid", f"Expected {sorted(required)}, got {sorted(found)}.")
