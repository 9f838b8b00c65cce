"""One call to the dashboard, with retries: without I/O, so that both clients share it.

A flow is a generator. It yields a ``Call`` and is sent a ``Reply`` or a ``Failure``, or it yields
a ``Sleep`` or a ``Tell`` and is sent None.
"""

from __future__ import annotations

import logging
import math
import random
import re
import time
import uuid
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, TypeAlias, TypeVar
from urllib.parse import quote, urlsplit

from approval_client._accepted import is_id
from approval_client._answers import (
    Answer,
    Malformed,
    is_json,
    is_problem,
    read_answer,
    read_problem,
)
from approval_client._errors import (
    NotADashboard,
    ProtocolMismatch,
    RequestRefused,
    TokenRefused,
    Unreachable,
)
from approval_client.wire import (
    MAX_BODY_BYTES,
    PROTOCOL,
    UNSUPPORTED_PROTOCOL,
    OutcomeState,
    Status,
    canonical_json,
    parse_json,
    protocol_version,
)

T = TypeVar("T")
logger = logging.getLogger("approval_client")

CALL_TIMEOUT_S = 30.0  # the server inspects content before it answers
FIRST_DELAY_S = 0.25
MAX_DELAY_S = 5.0
MAX_RETRY_AFTER_S = 60.0  # a server that asks for more is asked again after this
FIRST_CONTACT_S = 50.0  # with the last try and the farewell this ends within a minute
SHORTEST_TRY_S = 1.0
SHORTEST_START_S = 10.0  # an approval whose start is not heard of is used up all the same
SLOWEST_LINE = 16_384  # bytes a second that a body may take to be sent
MAX_ANSWER_BYTES = 16 * MAX_BODY_BYTES  # a page of decisions has a few of such at most
WARN_EVERY_S = 60.0
_ANSWERED = frozenset({200, 201})
_TOKEN_REFUSED = frozenset({401, 403})
_NOT_FOUND = 404
_TRY_AGAIN = frozenset({408, 425, 429})
_NO_PROTOCOL = (
    "The dashboard does not say which version of the protocol it speaks, so it is older than this "
    f"approval-client, which speaks version {PROTOCOL}. Nothing was approved. Upgrade the server."
)
_REFUSALS_FROM = 300
_ERRORS_FROM = 400
_FAILURES_FROM = 500
_NOT_IMPLEMENTED = 501  # by web servers that take no POST; no proxy says it for a while
MAX_LINK = 500  # characters
MAX_CAUSE = 200  # characters of what a listener raised
_ADDRESS = re.compile(r"(\w{1,20}://)(?:[^/\s@]*+@)?([^/\s?#]*+)[^\s'\"]*+")
"""An address: its path may be a key, as that of a webhook is, and before its host a password."""

MAX_LOCATION = 200  # characters of a redirect's target that go into an error message


@dataclass(frozen=True, kw_only=True)
class Call:
    """One HTTP request. The driver adds the address and the token.

    Attributes:
        timeout_s: How long a try may take at most, besides the time to send a body.
        shortest_s: How long a try takes at least before it is given up, whatever time is left.
        path_again: Where to look first after an outage, if ``path`` answers only after a while.
    """

    method: str
    path: str
    text: str | None = None
    data: bytes | None = field(default=None, repr=False)
    key: str = ""
    timeout_s: float = CALL_TIMEOUT_S
    shortest_s: float = SHORTEST_TRY_S
    path_again: str = ""

    @property
    def limit_s(self) -> float:
        """How long the whole exchange may take."""
        return self.timeout_s + len(self.content() or b"") / SLOWEST_LINE

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


@dataclass
class Tell:
    """Call ``listener`` with ``answer``, and go on whatever it raises.

    Attributes:
        name: Names the listener in the log.
        instead: Tells the same where the listener fails. It raises nothing.
        has_failed: Whether the listener failed.
    """

    name: str
    listener: Callable[[Answer], object]
    answer: Answer
    instead: Callable[[Answer], object]
    has_failed: bool = False

    def failed(self, error: Exception) -> None:
        """Log that the listener failed, and why, and tell the answer in the usual way."""
        self.has_failed = True
        logger.warning(
            "%s failed (%s). This changes no answer. The request: %s",
            self.name,
            _cause(error),
            plain(self.answer.review_url, MAX_LINK),
        )
        self.instead(self.answer)


def _cause(error: Exception) -> str:
    name = type(error).__name__
    try:
        message = one_line(_ADDRESS.sub(r"\1\2/…", str(error)[: 4 * MAX_CAUSE]), MAX_CAUSE)
    except Exception:  # noqa: BLE001 - it is the host's code too
        message = ""
    return f"{name}: {message}" if message else name


def one_line(text: str, most: int) -> str:
    """Return text of a bounded length on one line, which can do nothing to a terminal."""
    return plain(" ".join(text[: 2 * most].split()), most)


def plain(text: str, most: int) -> str:
    """Return text that can do nothing to a terminal."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text[:most])


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came back. ``protocol`` is the header that names its version, empty without one."""

    status: int
    body: bytes
    protocol: str
    retry_after: str = ""
    location: str = ""


@dataclass(frozen=True)
class Failure:
    """Nothing came back.

    Attributes:
        stranger: Why what answers there is no dashboard, where that is certain.
        untrusted: Why its certificate is not trusted, where that is what failed.
        unsendable: What was to be sent is not valid HTTP, so nothing was.
    """

    detail: str
    stranger: str = ""
    untrusted: str = ""
    unsendable: bool = False


Received: TypeAlias = Reply | Failure | None
Flow: TypeAlias = Generator[Call | Sleep | Tell, Received, T]


@dataclass(frozen=True)
class Trouble:
    """A try that failed and may be made again."""

    detail: str
    retry_after_s: float = 0.0


@dataclass
class Contact:
    """Whether the dashboard ever answered at its address.

    A dashboard that did is waited for through restarts. Before, the address may be wrong, and
    nobody should wait half an hour for a typing error.

    Attributes:
        quiet_until: When an outage may be told again, on the clock of the calls.
    """

    address: str = ""
    reached: bool = False
    quiet_until: float = -math.inf

    def heard(self, received: Received) -> None:
        """Note that something came back: only a dashboard signs its replies."""
        if isinstance(received, Reply) and protocol_version(received.protocol):
            self.reached = True

    def __str__(self) -> str:
        return f"The dashboard at {self.address!r}" if self.address else "The dashboard"


@dataclass(frozen=True, kw_only=True)
class Timing:
    """The clock, in seconds that never run backwards, chance from 0 to 1, and the contact."""

    clock: Callable[[], float] = time.monotonic
    jitter: Callable[[], float] = field(default=random.random)
    contact: Contact = field(default_factory=Contact)


def insist(
    call: Call,
    *,
    until: float,
    timing: Timing,
    first_until: float = math.inf,
    doubt: Callable[[Answer], str] = lambda _: "",
) -> Flow[Answer]:
    """Make ``call`` until there is a usable answer; at least once, and until ``until`` is over.

    As long as no dashboard ever answered at the address, it is given up after ``FIRST_CONTACT_S``,
    and at once if something else answers.

    Args:
        call: Safe to repeat.
        until: When to give up, on the clock of ``timing``.
        timing: Clock and chance.
        first_until: When to give up, if no dashboard ever answered.
        doubt: Says why an answer cannot be used, or nothing.

    Raises:
        Unreachable: There was no usable answer until then.
        NotADashboard: What answers is something else.
        TokenRefused: The dashboard does not accept the token.
        RequestRefused: The dashboard refused what was sent.
        ProtocolMismatch: The dashboard speaks another version of the protocol.
    """

    def understand(reply: Reply) -> Answer:
        answer = read_answer(reply.body)
        if reason := doubt(answer):
            raise Malformed(reason)
        return answer

    return insist_on(call, understand, until=until, timing=timing, first_until=first_until)


def insist_on(
    call: Call,
    understand: Callable[[Reply], T],
    *,
    until: float,
    timing: Timing,
    first_until: float = math.inf,
) -> Flow[T]:
    """Do the same for other answers: ``understand`` reads them or raises Malformed."""
    delay_s = FIRST_DELAY_S
    contact, was_reached, is_told, look = timing.contact, timing.contact.reached, False, ""
    give_up_first_at = min(timing.clock() + FIRST_CONTACT_S, first_until)
    while True:
        over_at = until if contact.reached else min(until, give_up_first_at)
        left_s = max(call.shortest_s, over_at - timing.clock())
        attempt = replace(call, path=look or call.path, timeout_s=min(call.timeout_s, left_s))
        outcome = _read(attempt, (yield attempt), understand, contact)
        if not isinstance(outcome, Trouble):
            if is_told:
                _tell_restored(outcome, contact, was_reached=was_reached, link=bool(look))
            if not look or not _is_pending(outcome):
                return outcome
            is_told, look = False, ""
            continue
        now = timing.clock()
        remaining_s = (until if contact.reached else min(until, give_up_first_at)) - now
        if remaining_s <= 0:
            _give_up(outcome, contact)
        if now >= contact.quiet_until:
            logger.warning(
                "%s could not answer (%s). Trying again for %.0f s at most.",
                *(contact, outcome.detail, remaining_s),
            )
            contact.quiet_until, is_told = now + WARN_EVERY_S, True
        look = call.path_again if is_told else ""
        pause_s = max(delay_s / 2 + timing.jitter() * delay_s / 2, outcome.retry_after_s)
        yield Sleep(min(pause_s, remaining_s))
        delay_s = min(2 * delay_s, MAX_DELAY_S)


def _tell_restored(outcome: object, contact: Contact, *, was_reached: bool, link: bool) -> None:
    """Log that an outage that was told is over: who read of it would take it to go on.

    Args:
        link: Say what is waited for. What was only just submitted is told by itself.
    """
    waits = ""
    if link and isinstance(outcome, Answer) and outcome.status is Status.PENDING:
        waits = f" Waiting for a person: {plain(outcome.review_url, MAX_LINK)}"
    logger.warning("%s answers %s.%s", contact, "again" if was_reached else "now", waits)


def _is_pending(outcome: object) -> bool:
    return isinstance(outcome, Answer) and outcome.status is Status.PENDING


def read(call: Call, received: Received) -> Answer | Trouble:
    """Read ``received``: an answer, a reason to try again, or an error."""
    contact = Contact(reached=True)  # it was asked before
    return _read(call, received, lambda reply: read_answer(reply.body), contact)


def _read(
    call: Call, received: Received, understand: Callable[[Reply], T], contact: Contact
) -> T | Trouble:
    contact.heard(received)
    if not isinstance(received, Reply):
        return _without_reply(call, received, contact)
    status = received.status
    if not contact.reached and (reason := _why_stranger(received, understand)):
        _refuse_stranger(contact, reason)
    if received.protocol and protocol_version(received.protocol) != PROTOCOL:
        raise ProtocolMismatch(_other_protocol(received.protocol))
    if status in _ANSWERED:
        try:
            answer = understand(received)
        except Malformed as error:
            return Trouble(f"the answer cannot be used: {error}")
        if not received.protocol:  # by a server of before there were versions
            raise ProtocolMismatch(_NO_PROTOCOL, answer.id if isinstance(answer, Answer) else "")
        return answer
    if status in _TOKEN_REFUSED:
        raise TokenRefused(
            f"The dashboard did not accept the token (HTTP {status}). Nothing was approved. "
            "Perhaps it was cut off when it was copied, was revoked, or is over. Set "
            "DASHBOARD_TOKEN to all of it, or have an admin issue another one on the page Agents."
        )
    if _REFUSALS_FROM <= status < _FAILURES_FROM and status not in _TRY_AGAIN:
        _refuse(call, received)
    return Trouble(f"it answered HTTP {status}", _seconds(received.retry_after))


def _without_reply(call: Call, failure: Failure | None, contact: Contact) -> Trouble:
    if failure is None:
        return Trouble("there was no reply")
    if failure.unsendable:
        raise RequestRefused(
            f"{call.method} {call.path} cannot be sent, because it would not be valid HTTP "
            f"({failure.detail}). Nothing was sent and nothing was approved. Sending the same "
            "again will not help.",
            code="invalid",
        )
    if not contact.reached:
        _doubt_contact(failure, contact)
    return Trouble(failure.detail)


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


APPROVALS = "/api/v1/approvals"


AGENT = "/api/v1/agent"


def _refuse(call: Call, reply: Reply) -> NoReturn:
    problem = read_problem(reply.status, reply.body)
    if problem.code == UNSUPPORTED_PROTOCOL:
        raise ProtocolMismatch(f"{problem.detail} Nothing was approved.")
    problem = replace(problem, detail=_as_written(call, problem.detail))
    detail = f": {problem.detail}" if problem.detail else "."
    has_code = problem.code != f"http_{reply.status}"
    remedy = "" if has_code else " Check that DASHBOARD_URL is the dashboard's own address."
    if has_code and reply.status == _NOT_FOUND and call.path in {APPROVALS, AGENT}:
        remedy = (
            " The address has a path too much: set DASHBOARD_URL to the address that the "
            "dashboard prints when it starts, without /api/v1."
        )
    raise RequestRefused(
        f"The dashboard refused {call.method} {call.path} with HTTP {reply.status}, code "
        f"{problem.code!r}{detail} Nothing was approved. Sending the same again will not help."
        f"{remedy}",
        code=problem.code,
        detail=problem.detail,
    )


def _as_written(call: Call, detail: str) -> str:
    """Name the tool where the capability was made of its name: nobody wrote the capability."""
    place, rest = "body.capability:", detail.removeprefix("body.capability:")
    if call.text is None or not detail.startswith(place):
        return detail
    body = parse_json(call.text)
    is_derived = body["capability"] == body["content"].get("tool")
    return f"body.content.tool:{rest}" if is_derived else detail


def _give_up(trouble: Trouble, contact: Contact) -> NoReturn:
    is_tls = contact.address.startswith("https:") and not contact.reached
    perhaps = " If it is served without TLS, its address begins with http://." if is_tls else ""
    raise Unreachable(
        f"{contact} gave no usable answer in time (last try: {trouble.detail}). Nothing was "
        "approved. Check that the dashboard is running and that DASHBOARD_URL is its address."
        f"{perhaps}"
    )


# --- what answers and is no dashboard ----------------------------------------------------------


def _doubt_contact(failure: Failure, contact: Contact) -> None:
    """Raise if trying again would not help, because the address is wrong."""
    if failure.stranger:
        _refuse_stranger(contact, failure.stranger)
    if failure.untrusted:
        raise Unreachable(
            f"{contact} was not asked, because its certificate is not trusted "
            f"({failure.untrusted}). Nothing was approved. Check DASHBOARD_URL, or have this "
            "machine trust the certificate, with SSL_CERT_FILE for example."
        )


def _why_stranger(reply: Reply, understand: Callable[[Reply], Any]) -> str:
    """Say why this first reply is not a dashboard's; nothing if it may be one.

    A dashboard signs its replies with its protocol. One from before there were versions is known
    by what it answers. A proxy whose dashboard is being started says that it cannot reach it.
    """
    status, body = reply.status, reply.body
    if reply.protocol or status in _TRY_AGAIN or is_problem(body):
        return ""
    if status >= _FAILURES_FROM and status != _NOT_IMPLEMENTED:
        return ""
    if status in _ANSWERED:
        try:
            understand(reply)
        except Malformed:
            pass
        else:
            return ""
    if _REFUSALS_FROM <= status < _ERRORS_FROM:
        where = f" to {reply.location[:MAX_LOCATION]!r}" if reply.location else ""
        return f"it redirects{where} (HTTP {status})"
    if body.lstrip()[:1] == b"<":
        return f"it answers with a web page (HTTP {status})"
    flaw = "with other JSON" if is_json(body) else "without the header Approval-Protocol"
    return f"it answers {flaw} (HTTP {status})"


def _refuse_stranger(contact: Contact, why: str) -> NoReturn:
    where = repr(contact.address) if contact.address else "the address"
    path = urlsplit(contact.address).path
    too_much = f" Perhaps {path!r} at its end is too much." if path else ""
    raise NotADashboard(
        f"What answers at {where} is not a dashboard, or something stands in front of it: {why}. "
        "Nothing was approved. Set DASHBOARD_URL to the address that the dashboard prints when "
        f"it starts.{too_much}"
    )


def _seconds(retry_after: str) -> float:
    # The other form, a date, is not one that the dashboard sends.
    if not (retry_after.isascii() and retry_after.isdigit()):
        return 0.0
    return min(float(retry_after[:6]), MAX_RETRY_AFTER_S)


# --- what is sent, besides the question itself -------------------------------------------------

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
        report = {
            "exit_code": self.exit_code,
            "error": _plain(self.error) or None,
            "duration_s": None if self.duration_s is None else round(self.duration_s, 3),
            "output_head": _plain(self.output_head) or None,
        }
        return {name: value for name, value in report.items() if value is not None}


def canonical_id(approval_id: str) -> str:
    """Return an id as the dashboard writes it: it also reads capitals and no hyphens."""
    return str(uuid.UUID(approval_id)) if is_id(approval_id) else approval_id


def path(approval_id: str) -> str:
    """Return where ``approval_id`` lives."""
    return f"{APPROVALS}/{quote(canonical_id(approval_id), safe='')}"


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
    shortest_s = SHORTEST_START_S if state is OutcomeState.STARTED else SHORTEST_TRY_S
    return Call(
        method="POST",
        path=where,
        text=text,
        key=uuid.uuid4().hex,
        timeout_s=timeout_s,
        shortest_s=shortest_s,
    )


def _plain(text: str) -> str:
    # A report must not fail over what a program printed: NUL and half surrogates are not sent.
    return text[:MAX_TEXT].replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
