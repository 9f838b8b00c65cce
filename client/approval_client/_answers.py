"""Read the server's answers strictly: anything malformed is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from approval_client.wire import Source, Status, StepAnswer, parse_json

# --- reading JSON objects, without believing anything about them -------------------------------

T = TypeVar("T")
ID = re.compile(r"[A-Za-z0-9_-]{1,100}", re.ASCII)
DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


class Malformed(ValueError):
    """The text is not a valid answer."""


class Fields:
    """Takes fields out of a JSON object and insists on their types."""

    def __init__(self, value: Any) -> None:
        if not isinstance(value, dict):
            raise Malformed("it is not a JSON object")
        self._value = value

    def get(self, name: str) -> Any:
        """Return a member, or None."""
        return self._value.get(name)

    def any(self, name: str) -> Any:
        """Return a member that has to be there."""
        if name not in self._value:
            raise Malformed(f"{name!r} is missing")
        return self._value[name]

    def text(self, name: str) -> str:
        """Return text."""
        value = self.any(name)
        if not isinstance(value, str):
            raise Malformed(f"{name!r} is not text")
        return value

    def matching(self, name: str, pattern: re.Pattern[str]) -> str:
        """Return text that matches ``pattern``."""
        value = self.text(name)
        if not pattern.fullmatch(value):
            raise Malformed(f"{name!r} has the wrong form")
        return value

    def whole(self, name: str) -> int:
        """Return a whole number."""
        value = self.any(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise Malformed(f"{name!r} is not a whole number")
        return value

    def status(self, name: str) -> Status:
        """Return the status of a request."""
        word = self.text(name)
        try:
            return Status(word)
        except ValueError:
            raise Malformed(f"{name!r} is not a known value") from None

    def moment(self, name: str) -> datetime:
        """Return a moment with its time zone."""
        value = datetime.fromisoformat(self.text(name))
        if value.utcoffset() is None:
            raise Malformed(f"{name!r} has no time zone")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts."""
        value = self.any(name)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise Malformed(f"{name!r} is not a list of texts")
        return tuple(value)

    def objects(self, name: str) -> list[Fields]:
        """Return a list of objects; none where the member is missing."""
        value = self.get(name) or []
        if not isinstance(value, list):
            raise Malformed(f"{name!r} is not a list")
        return [Fields(item) for item in value]

    def object(self, name: str) -> Fields:
        """Return an object."""
        return Fields(self.any(name))

    def optional(self, name: str, reader: Callable[[str], T]) -> T | None:
        """Return a member as ``reader`` gives it, or None if it is null."""
        return None if self.any(name) is None else reader(name)


def strictly(body: bytes, reader: Callable[[Fields], T]) -> T:
    """Read a JSON object strictly.

    Raises:
        Malformed: It is not JSON, or ``reader`` finds something wrong with it.
    """
    try:
        return reader(Fields(parse_json(body)))
    except Malformed:
        raise
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise Malformed(f"it is not readable ({type(error).__name__})") from None


# --- answers -----------------------------------------------------------------------------------

_NEVER_APPROVE = {Source.DEADLINE, Source.AGENT, Source.ADMIN}
MAX_DETAIL = 500  # characters of the server's words that go into an error message


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The decision: what, by whom and why.

    Attributes:
        taken_back: It was approved, and a person took the approval back before it was used. They
            are ``decided_by``, and ``reason`` is theirs.
    """

    status: Status
    source: str
    reason: str
    decided_by: str
    digest: str
    decided_at: datetime
    valid_until: datetime | None
    edited: bool
    grant: int | None
    steps: tuple[Mapping[str, Any], ...]
    taken_back: bool = False
    content: Any = field(repr=False)  # code does not belong in logs


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A request as the server describes it.

    Attributes:
        now: The server's clock when it answered. Compare ``expires_at`` with it.
        trace: How the policy reached its judgement, one sentence a step.
    """

    id: str
    status: Status
    digest: str
    version: int
    now: datetime
    submitted_at: datetime
    expires_at: datetime
    review_url: str
    policy_revision: int | str | None
    trace: tuple[str, ...]
    decision: Decision | None
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Why the server refused, from ``application/problem+json``."""

    code: str
    detail: str


@dataclass(frozen=True, kw_only=True)
class Access:
    """What the dashboard says of a token, and whether a question can be approved now.

    Attributes:
        agent: The name of the agent that the token was issued to.
        token_expires_at: When the token ends; None if it does not.
        now: The dashboard's clock.
        policy_revision: The number of the policy that holds.
        on_hold: A person has stopped all approvals.
        has_approvers: Whether anybody may approve what this token asks. A rule may want more.
    """

    agent: str
    token_expires_at: datetime | None
    now: datetime
    policy_revision: int
    on_hold: bool
    has_approvers: bool


@dataclass(frozen=True, kw_only=True)
class Page:
    """One page of decided requests, the oldest decision first.

    Attributes:
        last: The id of the last request, where the next page begins; empty if there is none.
        more: Whether there was more when the page was read.
    """

    answers: tuple[Answer, ...]
    last: str
    more: bool


def read_access(body: bytes) -> Access:
    """Read strictly what the dashboard says of a token.

    Raises:
        Malformed: It makes no sense.
    """
    return strictly(body, _access)


def read_answer(body: bytes) -> Answer:
    """Read an answer strictly.

    Raises:
        Malformed: It is not JSON, something is missing or of another type, a word is unknown,
            or it contradicts itself.
    """
    return strictly(body, _answer)


def read_page(body: bytes) -> Page:
    """Read a page of decisions, as strictly.

    Raises:
        Malformed: As with ``read_answer``, or a request in it is not decided.
    """
    return strictly(body, _page)


def read_problem(status: int, body: bytes) -> Problem:
    """Read why the server refused. If that cannot be read, name the HTTP status alone."""
    try:
        payload = parse_json(body)
    except (ValueError, RecursionError):
        payload = None
    members = payload if isinstance(payload, dict) else {}
    code, detail = members.get("code"), members.get("detail")
    return Problem(
        code=code if isinstance(code, str) and code else f"http_{status}",
        detail=detail[:MAX_DETAIL] if isinstance(detail, str) else "",
    )


def is_problem(body: bytes) -> bool:
    """Say whether this is a refusal in the form of the dashboard's, signed or not."""
    try:
        payload = parse_json(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(payload, dict) and payload.keys() >= {"type", "status", "code", "detail"}


def is_json(body: bytes) -> bool:
    """Say whether this can be read as JSON at all."""
    try:
        parse_json(body)
    except (ValueError, RecursionError):
        return False
    return True


def _answer(fields: Fields) -> Answer:
    policy, outcome = fields.object("policy"), fields.object("outcome")
    decision = fields.optional("decision", fields.object)
    answer = Answer(
        id=fields.matching("id", ID),
        status=fields.status("status"),
        digest=fields.matching("digest", DIGEST),
        version=fields.whole("version"),
        now=fields.moment("now"),
        submitted_at=fields.moment("submitted_at"),
        expires_at=fields.moment("expires_at"),
        review_url=fields.text("review_url"),
        policy_revision=_revision(policy.any("revision")),
        trace=policy.texts("trace"),
        decision=None if decision is None else _decision(decision),
        started_at=outcome.optional("started_at", outcome.moment),
        finished_at=outcome.optional("finished_at", outcome.moment),
    )
    _refuse_contradictions(answer)
    return answer


def _access(fields: Fields) -> Access:
    return Access(
        agent=fields.text("agent"),
        token_expires_at=fields.optional("token_expires_at", fields.moment),
        now=fields.moment("now"),
        policy_revision=fields.whole("policy_revision"),
        on_hold=fields.any("on_hold") is not False,
        has_approvers=fields.any("has_approvers") is True,
    )


def _page(fields: Fields) -> Page:
    fields.any("decisions")
    answers = tuple(map(_answer, fields.objects("decisions")))
    last_id = fields.optional("next", lambda name: fields.matching(name, ID)) or ""
    page = Page(answers=answers, last=last_id, more=fields.any("more") is True)
    ids = [answer.id for answer in answers]
    if any(answer.decision is None for answer in answers):
        raise Malformed("it lists a request that is not decided")
    if len(set(ids)) < len(ids) or ids[-1:] not in ([], [last_id]) or (page.more and not ids):
        raise Malformed("its 'next' and 'more' do not fit its decisions")
    return page


def _decision(fields: Fields) -> Decision:
    content = fields.get("content")
    return Decision(
        status=fields.status("status"),
        source=fields.text("source"),
        reason=fields.text("reason"),
        decided_by=fields.optional("decided_by", fields.text) or "",
        digest=fields.matching("digest", DIGEST),
        decided_at=fields.moment("decided_at"),
        valid_until=fields.optional("valid_until", fields.moment),
        edited=content is not None,
        grant=fields.optional("grant", fields.whole),
        steps=tuple(map(_step, fields.objects("steps"))),
        taken_back=fields.get("taken_back") not in (None, False),
        content=content,
    )


def _step(fields: Fields) -> Mapping[str, Any]:
    answer = fields.text("answer")
    if answer not in set(StepAnswer):
        raise Malformed("the answer to a step is not a known value")
    note = {"note": fields.text("note")} if fields.get("note") is not None else {}
    return {"index": int(fields.whole("index")), "answer": answer, **note}


def _refuse_contradictions(answer: Answer) -> None:
    decision = answer.decision
    if decision is None and answer.status is Status.APPROVED:
        raise Malformed("it is approved without a decision")
    if decision is not None and not decision.source:
        raise Malformed("nobody made its decision")
    # A later server may know other sources, but these approve nothing.
    if answer.status is Status.APPROVED and decision and decision.source in _NEVER_APPROVE:
        raise Malformed(f"it is approved by {decision.source}, which approves nothing")
    if answer.finished_at is not None and answer.started_at is None:
        raise Malformed("it has ended and never started")
    if decision is not None and decision.taken_back and answer.status is Status.APPROVED:
        raise Malformed("it is approved and was taken back")
    if decision is not None and decision.status is not answer.status:
        raise Malformed(f"it is {answer.status} and its decision is {decision.status}")


def _revision(value: Any) -> int | str | None:
    if value is None or (isinstance(value, int | str) and not isinstance(value, bool)):
        return value
    raise Malformed("'revision' is neither a number nor text")
