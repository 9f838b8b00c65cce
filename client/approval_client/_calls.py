"""One call to the dashboard, with retries: without I/O, so that both clients share it.

A flow is a generator. It yields a ``Call`` and is sent a ``Reply`` or a ``Failure``, or it yields
a ``Sleep`` and is sent None.
"""

from __future__ import annotations

import logging
import random
import time
import uuid
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias, TypeVar
from urllib.parse import quote

from approval_client._answers import Answer, Malformed, read_answer, read_problem
from approval_client._errors import (
    ProtocolMismatch,
    RequestRefused,
    TokenRefused,
    Unreachable,
)
from approval_client.wire import (
    PROTOCOL,
    UNSUPPORTED_PROTOCOL,
    OutcomeState,
    canonical_json,
    protocol_version,
)

T = TypeVar("T")
logger = logging.getLogger("approval_client")

CALL_TIMEOUT_S = 30.0  # the server inspects content before it answers
FIRST_DELAY_S = 0.25
MAX_DELAY_S = 5.0
MAX_RETRY_AFTER_S = 60.0  # a server that asks for more is asked again after this
_ANSWERED = frozenset({200, 201})
_TOKEN_REFUSED = frozenset({401, 403})
_TRY_AGAIN = frozenset({408, 425, 429})
_NO_PROTOCOL = (
    "The dashboard does not say which version of the protocol it speaks, so it is older than this "
    f"approval-client, which speaks version {PROTOCOL}. Nothing was approved. Upgrade the server."
)
_REFUSALS_FROM = 300
_FAILURES_FROM = 500


@dataclass(frozen=True, kw_only=True)
class Call:
    """One HTTP request. The driver adds the address and the token."""

    method: str
    path: str
    text: str | None = None
    data: bytes | None = field(default=None, repr=False)
    key: str = ""
    timeout_s: float = CALL_TIMEOUT_S

    def headers(self) -> dict[str, str]:
        """Return the headers that belong to this call alone."""
        kind = {} if self.text is None else {"Content-Type": "application/json"}
        if self.data is not None:
            kind = {"Content-Type": "application/octet-stream"}
        return kind | ({"Idempotency-Key": self.key} if self.key else {})

    def content(self) -> bytes | None:
        """Return the body to send."""
        return self.data if self.text is None else self.text.encode()


@dataclass(frozen=True)
class Sleep:
    """Do nothing for a while."""

    seconds: float


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came back. ``protocol`` is the header that names its version, empty without one."""

    status: int
    body: bytes
    protocol: str
    retry_after: str = ""


@dataclass(frozen=True)
class Failure:
    """Nothing came back."""

    detail: str


Received: TypeAlias = Reply | Failure | None
Flow: TypeAlias = Generator[Call | Sleep, Received, T]


@dataclass(frozen=True)
class Trouble:
    """A try that failed and may be made again."""

    detail: str
    retry_after_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Timing:
    """The clock, in seconds that never run backwards, and chance from 0 to 1."""

    clock: Callable[[], float] = time.monotonic
    jitter: Callable[[], float] = field(default=random.random)


def insist(
    call: Call,
    *,
    until: float,
    timing: Timing,
    doubt: Callable[[Answer], str] = lambda _: "",
) -> Flow[Answer]:
    """Make ``call`` until there is a usable answer; at least once, and until ``until`` is over.

    Args:
        call: Safe to repeat.
        until: When to give up, on the clock of ``timing``.
        timing: Clock and chance.
        doubt: Says why an answer cannot be used, or nothing.

    Raises:
        Unreachable: There was no usable answer until then.
        TokenRefused: The dashboard does not accept the token.
        RequestRefused: The dashboard refused what was sent.
        ProtocolMismatch: The dashboard speaks another version of the protocol.
    """

    def understand(reply: Reply) -> Answer:
        answer = read_answer(reply.body)
        if reason := doubt(answer):
            raise Malformed(reason)
        return answer

    return insist_on(call, understand, until=until, timing=timing)


def insist_on(
    call: Call, understand: Callable[[Reply], T], *, until: float, timing: Timing
) -> Flow[T]:
    """Do the same for other answers: ``understand`` reads them or raises Malformed."""
    delay_s = FIRST_DELAY_S
    while True:
        outcome = _read(call, (yield call), understand)
        if not isinstance(outcome, Trouble):
            return outcome
        remaining_s = until - timing.clock()
        if remaining_s <= 0:
            _give_up(outcome)
        if delay_s == FIRST_DELAY_S:
            logger.warning("The dashboard could not answer (%s). Trying again.", outcome.detail)
        pause_s = max(delay_s / 2 + timing.jitter() * delay_s / 2, outcome.retry_after_s)
        yield Sleep(min(pause_s, remaining_s))
        delay_s = min(2 * delay_s, MAX_DELAY_S)


def read(call: Call, received: Received) -> Answer | Trouble:
    """Read ``received``: an answer, a reason to try again, or an error."""
    return _read(call, received, lambda reply: read_answer(reply.body))


def _read(call: Call, received: Received, understand: Callable[[Reply], T]) -> T | Trouble:
    if not isinstance(received, Reply):
        return Trouble(received.detail if received else "there was no reply")
    status = received.status
    if received.protocol and protocol_version(received.protocol) != PROTOCOL:
        raise ProtocolMismatch(_other_protocol(received.protocol))
    if status in _ANSWERED:
        try:
            found = understand(received)
        except Malformed as error:
            return Trouble(f"the answer cannot be used: {error}")
        if not received.protocol:  # by a server of before there were versions
            raise ProtocolMismatch(_NO_PROTOCOL, found.id if isinstance(found, Answer) else "")
        return found
    if status in _TOKEN_REFUSED:
        raise TokenRefused(
            f"The dashboard did not accept the token (HTTP {status}). Nothing was approved. "
            "Set DASHBOARD_TOKEN to a token that was issued to this agent and not revoked."
        )
    if _REFUSALS_FROM <= status < _FAILURES_FROM and status not in _TRY_AGAIN:
        _refuse(call, received)
    return Trouble(f"it answered HTTP {status}", _seconds(received.retry_after))


def _other_protocol(header: str) -> str:
    version = protocol_version(header)
    if not version:
        spoken, remedy = (
            repr(header[:40]),
            "Check that DASHBOARD_URL is the dashboard's own address.",
        )
    else:
        older = "approval-client" if version > PROTOCOL else "the server"
        spoken, remedy = f"version {version}", f"Upgrade {older}."
    return (
        f"The dashboard speaks {spoken} of the protocol and this approval-client speaks version "
        f"{PROTOCOL}. Nothing was approved. {remedy}"
    )


def _refuse(call: Call, reply: Reply) -> NoReturn:
    problem = read_problem(reply.status, reply.body)
    if problem.code == UNSUPPORTED_PROTOCOL:
        raise ProtocolMismatch(f"{problem.detail} Nothing was approved.")
    said = f": {problem.detail}" if problem.detail else "."
    told = problem.code != f"http_{reply.status}"
    remedy = "" if told else " Check that DASHBOARD_URL is the dashboard's own address."
    raise RequestRefused(
        f"The dashboard refused {call.method} {call.path} with HTTP {reply.status}, code "
        f"{problem.code!r}{said} Nothing was approved. Sending the same again will not help."
        f"{remedy}",
        code=problem.code,
        detail=problem.detail,
    )


def _give_up(trouble: Trouble) -> NoReturn:
    raise Unreachable(
        f"The dashboard gave no usable answer in time (last try: {trouble.detail}). Nothing was "
        "approved. Check that the dashboard is running and that DASHBOARD_URL is its address."
    )


def _seconds(retry_after: str) -> float:
    # The other form, a date, is not one that the dashboard sends.
    if not (retry_after.isascii() and retry_after.isdigit()):
        return 0.0
    return min(float(retry_after[:6]), MAX_RETRY_AFTER_S)


# --- what is sent, besides the question itself -------------------------------------------------

APPROVALS = "/api/v1/approvals"
MAX_TEXT = 4000  # characters of output and errors that are reported


@dataclass(frozen=True)
class Finished:
    """How something that was approved ended."""

    exit_code: int | None = None
    error: str = ""
    duration_s: float | None = None
    output_head: str = ""

    def fields(self) -> dict[str, Any]:
        """Return what was given, cut to what the server takes."""
        given = {
            "exit_code": self.exit_code,
            "error": _plain(self.error) or None,
            "duration_s": None if self.duration_s is None else round(self.duration_s, 3),
            "output_head": _plain(self.output_head) or None,
        }
        return {name: value for name, value in given.items() if value is not None}


def path(approval_id: str) -> str:
    """Return where ``approval_id`` lives."""
    return f"{APPROVALS}/{quote(approval_id, safe='')}"


def cancellation(approval_id: str, reason: str, *, timeout_s: float) -> Call:
    """Return the call that withdraws a request."""
    text = canonical_json({"reason": _plain(reason)} if reason else {})
    where = f"{path(approval_id)}/cancel"
    return Call(method="POST", path=where, text=text, timeout_s=timeout_s)


def outcome(
    approval_id: str,
    state: OutcomeState,
    content_digest: str,
    fields: dict[str, Any],
    timeout_s: float = CALL_TIMEOUT_S,
) -> Call:
    """Return the call that reports an outcome, with a key of its own for its retries."""
    text = canonical_json({"state": state, "digest": content_digest, **fields})
    where = f"{path(approval_id)}/outcome"
    return Call(method="POST", path=where, text=text, key=uuid.uuid4().hex, timeout_s=timeout_s)


def _plain(text: str) -> str:
    # A report must not fail over what a program printed: NUL and half surrogates are not sent.
    return text[:MAX_TEXT].replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
