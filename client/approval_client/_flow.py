"""The conversation with the dashboard, without I/O: submit, wait, verify, start.

``Client`` and ``AsyncClient`` drive it; nothing about the protocol is written twice.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeAlias
from urllib.parse import urlencode

from approval_client._answers import (
    ID,
    Access,
    Answer,
    Decision,
    Malformed,
    Page,
    read_access,
    read_page,
)
from approval_client._arguments import (
    UNREPORTED,
    check_end,
    check_seconds,
    check_text,
    check_type,
)
from approval_client._calls import (
    AGENT,
    APPROVALS,
    FIRST_CONTACT_S,
    Call,
    Finished,
    Flow,
    Reply,
    Sleep,
    Timing,
    cancellation,
    canonical_id,
    insist,
    insist_on,
    logger,
    outcome,
    path,
    read,
)
from approval_client._errors import (
    AlreadyUsed,
    DashboardError,
    DigestMismatch,
    NotADashboard,
    NotApproved,
    OnHold,
    ProtocolMismatch,
    RequestRefused,
    TakenBack,
    TokenRefused,
    TooLate,
    Unreachable,
)
from approval_client._models import ApprovalRequest, ApprovalResponse, Asked, Pending
from approval_client._telling import Listeners
from approval_client.wire import (
    EDITABLE,
    MAX_BODY_BYTES,
    JsonError,
    Kind,
    OutcomeState,
    Source,
    Status,
    StepAnswer,
    canonical_json,
    digest,
    parse_json,
    rounded_number,
)

# --- what an agent is told ---------------------------------------------------------------------

_START_REFUSED: dict[str, type[NotApproved]] = {
    "already_started": AlreadyUsed,
    "approval_expired": TooLate,
    "on_hold": OnHold,
    "taken_back": TakenBack,
    "digest_mismatch": DigestMismatch,
}
_WHY_NOT = {
    AlreadyUsed: "It was approved, but the approval was used already. An approval works once.",
    TooLate: "It was approved, but the time to use the approval is over.",
    TakenBack: "It was approved, but the approval was taken back.",
    OnHold: "It was approved, but an admin has put everything on hold.",
    DigestMismatch: "The approval is about different content from what this agent wants to run.",
}


def not_started(error: RequestRefused) -> NotApproved:
    """Return the error for a ``started`` that the dashboard refused."""
    kind = _START_REFUSED.get(error.code, NotApproved)
    reason = _WHY_NOT.get(kind, f"It was approved, but may not start ({error.code}).")
    if kind is TakenBack and error.detail:  # by whom and why
        reason = error.detail
    return kind(f"{reason} Nothing was run. Ask again if it is still wanted.")


def mismatch(found: str, expected: str) -> DigestMismatch:
    """Return the error for an answer about ``found`` where ``expected`` was asked."""
    return DigestMismatch(
        f"The answer is about content {found}, but this agent wants to run "
        f"{expected}. Nothing was approved. Ask again."
    )


_WITHOUT_WORDS = {
    Status.REJECTED: "No reason was given.",
    Status.EXPIRED: "Nobody decided in time.",
    Status.CANCELLED: "The request was withdrawn before anybody decided.",
}


def closed(answer: Answer) -> ApprovalResponse:
    """Return the response for a request that was closed without being approved."""
    if answer.decision is None:
        fields: dict[str, Any] = {"id": answer.id, "status": answer.status, "reason": ""}
    else:
        fields = told(answer, answer.decision)
    fields["reason"] = fields["reason"] or _WITHOUT_WORDS[answer.status]
    return ApprovalResponse(approved=False, **fields)


def told(answer: Answer, decision: Decision) -> dict[str, Any]:
    """Return what any response says about its decision."""
    return {
        "id": answer.id,
        "status": answer.status,
        "reason": decision.reason,
        "source": decision.source,
        "decided_by": decision.decided_by,
        "decided_at": decision.decided_at,
        "digest": decision.digest,
        "valid_until": decision.valid_until,
        "steps": decision.steps,
        "grant": decision.grant,
        "taken_back": decision.taken_back,
        "review_url": answer.review_url,
    }


def unanswered(answer: Answer) -> ApprovalResponse:
    """Return the response for a request that the agent withdrew because nobody decided."""
    return ApprovalResponse(
        approved=False,
        reason="Nobody decided while this agent waited, so it withdrew the request. "
        "Nothing was approved.",
        status=Status.EXPIRED,
        id=answer.id,
        source=Source.AGENT,
        digest=answer.digest,
        review_url=answer.review_url,
    )


def unused(
    request: ApprovalRequest | Asked, answer: Answer, decision: Decision
) -> ApprovalResponse:
    """Return the response for an approval that was verified. Only ``start`` makes it approved."""
    return ApprovalResponse(
        approved=False,
        # A copy: whoever holds the request could change what was approved.
        content=_copy_of(decision.content if decision.edited else request.content),
        edited=decision.edited,
        **told(answer, decision),
    )


def _copy_of(content: Any) -> Any:
    return None if content is None else parse_json(canonical_json(content))


def verify(request: ApprovalRequest | Asked, decision: Decision) -> None:
    """Make sure that ``decision`` is about what this agent would run.

    Raises:
        DigestMismatch: It is not.
    """
    expected = request.digest
    if not isinstance(request, Asked) and digest(request.kind, request.content) != expected:
        raise DigestMismatch(
            "The content of the request was changed after it was asked. Nothing was approved. Ask "
            "again with the content you want."
        )
    if decision.edited:
        if isinstance(request, Asked) or request.accepts_edits is not True:
            raise DigestMismatch(
                "A reviewer changed the content, but this agent does not accept edits. Nothing "
                "was approved. Ask again, with accepts_edits=True if the agent can run edited "
                "content."
            )
        verify_edit(request, decision.content)
        expected = digest(request.kind, decision.content)
    if decision.digest != expected:
        raise mismatch(decision.digest, expected)
    if decision.steps and not _fits_steps(request, decision):
        raise DigestMismatch(
            "What the answer says of the steps of the plan is not what it approves. Nothing was "
            "approved. Ask again."
        )


def _fits_steps(request: ApprovalRequest | Asked, decision: Decision) -> bool:
    """Return whether what may run is exactly the steps that are allowed."""
    answers = {step["index"]: step["answer"] for step in decision.steps}
    indexes = sorted(i for i, answer in answers.items() if answer == StepAnswer.ALLOWED)
    if len(answers) < len(decision.steps):
        return False
    if isinstance(request, Asked):  # whose content is not known, and is approved as a whole
        return len(indexes) == len(answers)
    steps = request.content[EDITABLE[Kind.PLAN]] if request.kind is Kind.PLAN else []
    if not all(index in range(len(steps)) for index in answers):
        return False
    content = decision.content if decision.edited else request.content
    remainder = {EDITABLE[Kind.PLAN]: [steps[index] for index in indexes]}
    return canonical_json({**content, **remainder}) == canonical_json(content)


def verify_edit(request: ApprovalRequest, content: Any) -> None:
    """Make sure that an edit changes nothing but what may be changed, and runs as it is shown.

    Raises:
        DigestMismatch: It does not.
    """
    if number := rounded_number(content):
        raise DigestMismatch(
            f"The answer holds the number {number:.40}, which Python reads as another one. "
            "Nothing was approved. Ask again, or ask the reviewer for one that a double holds."
        )
    name = EDITABLE[request.kind]
    is_object = isinstance(content, dict) and content.keys() == request.content.keys()
    if is_object and canonical_json({**content, name: None}) == canonical_json(
        {**request.content, name: None}
    ):
        value = content[name]
        if request.kind is Kind.PLAN:
            fits = _is_within(value, request.content[name])
        else:
            fits = isinstance(value, dict if request.kind is Kind.TOOL_CALL else str)
        if fits:
            return
    raise DigestMismatch(
        f"The answer changes more than the {name}, or its type, which reviewers may not do. "
        "Nothing was approved. Ask again."
    )


def _is_within(steps: Any, asked: Any) -> bool:
    if not isinstance(steps, list) or not steps:
        return False
    remaining_steps = iter(map(canonical_json, asked))
    return all(canonical_json(step) in remaining_steps for step in steps)


# --- sending a notebook before the question that names it --------------------------------------

NOTEBOOKS = "/api/v1/notebooks"
WITHIN_S = 60.0
FIRST_S = 15.0
_TIMEOUT_S = 60.0  # ten mebibytes over a slow line


def send_notebook(body: bytes, until: float, timing: Timing) -> Flow[None]:
    """Send a notebook. If it is refused, the question is asked without it, and its page says so.

    Tries for ``WITHIN_S`` at most, and never beyond ``until``: a proxy that refuses large bodies
    must not hold the question back. If no dashboard ever answered, the question needs most of the
    time that a first contact gets.

    Raises:
        TokenRefused: The dashboard does not accept the token.
    """
    digest = hashlib.sha256(body).hexdigest()
    call = Call(method="PUT", path=f"{NOTEBOOKS}/{digest}", data=body, timeout_s=_TIMEOUT_S)

    def understand(reply: Reply) -> str:
        if _named(reply.body) != digest:
            raise Malformed("it names another notebook")
        return digest

    now = timing.clock()
    until, first_until = min(until, now + WITHIN_S), now + FIRST_S
    try:
        yield from insist_on(call, understand, until=until, timing=timing, first_until=first_until)
    except RequestRefused as error:
        logger.warning(
            "The notebook was refused (%s). The question is asked without it.", error.code
        )
    except NotADashboard:  # perhaps a proxy that refuses large bodies: the question will tell
        logger.warning("The notebook was refused. The question is asked without it.")
    except Unreachable:
        logger.warning("The notebook could not be sent. The question is asked without it.")


def _named(body: bytes) -> object:
    try:
        payload = parse_json(body)
    except (JsonError, RecursionError):
        return None
    return payload.get("digest") if isinstance(payload, dict) else None


# --- one question ------------------------------------------------------------------------------

HOLD_S = 50  # what the server holds at most; below the idle limit of common proxies
GRACE_S = 10.0  # after expires_at, for the server to say that it expired
DEFAULT_TIME_LIMIT_S = 1800  # the server's default
DEFAULT_VALID_S = 600.0  # the server's default for using an approval
FAREWELL_S = 3.0  # for everything that a withdrawal takes
REPORT_WITHIN_S = 120.0  # a server that is being upgraded comes back in it
SHORT_S = 30.0  # for calls that nobody decides about
Heard: TypeAlias = Callable[[Answer], None]
_EARLY = 0.5  # a wait that ends before this share of its hold may be a server shutting down
_PAUSE_S = 1.0


def check_size(text: str) -> None:
    """Refuse what is too large for the body of a question.

    Raises:
        RequestRefused: It is.
    """
    size = len(text.encode())
    if size > MAX_BODY_BYTES:
        raise RequestRefused(
            f"The request has {size:,} bytes; the limit is {MAX_BODY_BYTES:,}. It was not sent "
            "and nothing was approved. Ask for less at a time.",
            code="too_large",
        )


class Conversation:
    """One question, from asking to starting. Knows whether there is something to withdraw."""

    def __init__(
        self,
        request: ApprovalRequest | Asked,
        *,
        key: str,
        timing: Timing,
        heard: Heard | None = None,
        listeners: Listeners | None = None,
    ) -> None:
        self._request = request
        self._listeners = listeners
        self._heard = heard or (lambda _: None)
        self._body = request.body()
        self._key = key
        self._timing = timing
        self._id = ""
        self._open = self._sent = False
        max_wait_s, time_limit_s = request.max_wait_s, request.time_limit_s
        self._give_up_at = math.inf if max_wait_s is None else timing.clock() + max_wait_s
        self._deadline = self._over_at = self._give_up_at
        self._first_until = timing.clock() + FIRST_CONTACT_S
        if max_wait_s is None:
            self._deadline = timing.clock() + (time_limit_s or DEFAULT_TIME_LIMIT_S)

    def ask(self) -> Flow[ApprovalResponse]:
        """Submit, wait for a decision and, if it approves, start."""
        return (yield from self._use((yield from self._follow((yield from self._submit())))))

    def submit(self) -> Flow[Pending]:
        """Submit and wait for nothing."""
        answer = yield from self._submit()
        self._verify_question(answer)
        return Pending(
            request=self._request,
            id=answer.id,
            idempotency_key=self._key,
            review_url=answer.review_url,
        )

    def resume(self, approval_id: str) -> Flow[ApprovalResponse]:
        """Wait for a decision about what was submitted earlier and, if it approves, start."""
        return (yield from self._use((yield from self.decided(approval_id))))

    def decided(self, approval_id: str) -> Flow[ApprovalResponse]:
        """Wait for a decision about what was submitted earlier, and use no approval.

        The id proves that a dashboard answered, perhaps in another process: it is waited for
        through restarts, as if this one had reached it.
        """
        self._id, self._open = canonical_id(approval_id), True
        contact = replace(self._timing.contact, reached=True)
        self._timing = replace(self._timing, contact=contact)
        answer = yield from self._insist(Call(method="GET", path=path(approval_id)))
        return (yield from self._follow(answer))

    def withdraw(self, reason: str) -> Flow[None]:
        """Tell the dashboard that nobody waits any more: one short try, and only if it matters.

        A submission whose answer never came, or was about something else, is sent again with its
        key, to learn its id.
        """
        if not self._open:
            return
        self._open = False
        timeout_s = FAREWELL_S
        try:
            if not self._id:
                timeout_s /= 2
                call = self._submission(timeout_s=timeout_s)
                answer = read(call, (yield call))
                if not isinstance(answer, Answer) or not self._is_of_ours(answer):
                    return
                self._id = answer.id
            yield cancellation(self._id, reason, timeout_s=timeout_s)
        except DashboardError:
            return  # there is nothing to withdraw, or no way to

    def _submit(self) -> Flow[Answer]:
        check_size(self._body)
        if isinstance(notebook := self._request.notebook, bytes):
            yield from send_notebook(notebook, self._deadline, self._timing)
        self._open = self._sent = True
        try:
            answer = yield from self._insist(self._submission())
        except (NotADashboard, RequestRefused, TokenRefused):
            self._open = False
            raise
        except ProtocolMismatch as error:  # an older server took it; a newer one did not
            self._id, self._open = error.approval_id, bool(error.approval_id)
            raise
        self._id = answer.id
        if answer.status is Status.PENDING:
            logger.info("%s waits for a person: %r", answer.id, answer.review_url[:500])
        return answer

    def _submission(self, **options: Any) -> Call:
        return Call(method="POST", path=APPROVALS, text=self._body, key=self._key, **options)

    def _follow(self, answer: Answer) -> Flow[ApprovalResponse]:
        self._verify_question(answer)
        pending = None
        if answer.status is Status.PENDING and self._listeners is not None:
            yield (pending := self._listeners.pending(answer))
        while answer.status is Status.PENDING:
            self._follow_deadline(answer)
            self._heard(answer)
            asked_at = self._timing.clock()
            if asked_at >= self._deadline:
                yield from self.withdraw("Nobody decided while the agent waited.")
                return unanswered(answer)
            hold_s = min(HOLD_S, math.ceil(self._deadline - asked_at))
            call = Call(
                method="GET",
                path=f"{path(answer.id)}/wait?hold={hold_s}",
                path_again=path(answer.id),
                timeout_s=hold_s + 10.0,
                shortest_s=hold_s + 5.0,
            )
            answer = yield from self._insist(call)
            if answer.status is Status.PENDING:
                yield from self._pause(asked_at, hold_s)
        self._open = False
        self._verify_question(answer)
        if self._listeners is not None:
            yield self._listeners.decided(answer, pending)
        if answer.status is Status.APPROVED and answer.decision is not None:
            return self._approval(answer, answer.decision)
        return closed(answer)

    def _pause(self, asked_at: float, hold_s: float) -> Flow[None]:
        if self._timing.clock() - asked_at < hold_s * _EARLY:
            yield Sleep(_PAUSE_S / 2 + self._timing.jitter() * _PAUSE_S / 2)

    def _follow_deadline(self, answer: Answer) -> None:
        left_s = (answer.expires_at - answer.now).total_seconds()
        self._deadline = min(self._timing.clock() + left_s + GRACE_S, self._give_up_at)

    def _approval(self, answer: Answer, decision: Decision) -> ApprovalResponse:
        verify(self._request, decision)
        left_s = DEFAULT_VALID_S
        if decision.valid_until is not None:
            left_s = (decision.valid_until - answer.now).total_seconds()
        self._over_at = self._timing.clock() + left_s
        self._deadline = min(self._over_at, self._give_up_at)
        return unused(self._request, answer, decision)

    def _use(self, response: ApprovalResponse) -> Flow[ApprovalResponse]:
        return begin(response, self._timing, until=self._deadline, over_at=self._over_at)

    def _insist(self, call: Call) -> Flow[Answer]:
        def doubt(answer: Answer) -> str:
            return "it is about another request" if self._id not in {"", answer.id} else ""

        return insist(
            call,
            until=self._deadline,
            timing=self._timing,
            first_until=self._first_until,
            doubt=doubt,
        )

    def _verify_question(self, answer: Answer) -> None:
        if answer.digest == self._request.digest:
            return
        if not self._is_of_ours(answer):  # nor is it ours to withdraw
            self._id, self._open = "", self._open and self._sent
        raise mismatch(answer.digest, self._request.digest)

    def _is_of_ours(self, answer: Answer) -> bool:
        """Say whether it is about what was sent, whatever became of the request since."""
        if not self._sent:
            return False
        body = parse_json(self._body)
        return digest(body["kind"], body["content"]) == answer.digest


def start(response: ApprovalResponse, timing: Timing) -> Flow[ApprovalResponse]:
    """Use an approval that was handed out, if its content is still what was approved.

    Raises:
        DigestMismatch: It is not. Nothing was sent, so the approval can still be used.
    """
    check_type("response", response, (ApprovalResponse,), "Pass what decided() returned.")
    if response.content is not None and not _is_whole(response):
        raise DigestMismatch(
            "The content of the response was changed after it was decided. Nothing was started. "
            "Wait for the decision again, or ask for the content you want."
        )
    return begin(replace(response, id=canonical_id(response.id)), timing)


def _is_whole(response: ApprovalResponse) -> bool:
    try:  # the digest is of the kind too, which a response does not name
        return response.digest in {digest(kind, response.content) for kind in Kind}
    except (TypeError, JsonError, RecursionError):  # it is not JSON any more
        return False


def begin(
    response: ApprovalResponse,
    timing: Timing,
    *,
    until: float | None = None,
    over_at: float | None = None,
) -> Flow[ApprovalResponse]:
    """Use an approval. It counts only after the dashboard has recorded that it was used.

    Whoever calls it has made sure of the content.

    Args:
        response: The approval.
        timing: The clock that the other two are of.
        until: When to give up trying; after ten minutes if None.
        over_at: When the approval cannot be used any more; ``until`` if None.
    """
    if response.status is not Status.APPROVED:
        return response

    def doubt(answer: Answer) -> str:
        if answer.id != response.id:
            return "it is about another request"
        if answer.status is not Status.APPROVED or answer.started_at is None:
            return "it does not say that the start was recorded"
        if answer.finished_at is not None:
            return "it says that what is being started has ended"
        return ""

    call = outcome(response.id, OutcomeState.STARTED, response.digest, {})
    until = timing.clock() + DEFAULT_VALID_S if until is None else until
    over_at = until if over_at is None else over_at
    try:
        started = yield from insist(call, until=until, timing=timing, doubt=doubt)
    except RequestRefused as error:
        raise not_started(error) from error
    decision = started.decision
    if decision is None or (decision.digest, decision.edited) != (
        response.digest,
        response.edited,
    ):
        raise DigestMismatch(
            "The dashboard started something else than what it had approved. Nothing was run. "
            "Ask again."
        )
    # The answer was under way for that long, or an earlier try had recorded the start.
    is_over = decision.valid_until is not None and started.now >= decision.valid_until
    if is_over or timing.clock() >= over_at:
        raise TooLate(f"{_WHY_NOT[TooLate]} Nothing was run. Ask again if it is still wanted.")
    return replace(response, approved=True, **told(started, decision))


def get(approval_id: str, request: ApprovalRequest | Asked | None, timing: Timing) -> Flow[Answer]:
    """Ask where a request stands, and make sure that it is the right one."""
    check_text("approval_id", approval_id)
    if request is not None:
        check_type("request", request, (ApprovalRequest, Asked), "Pass what was asked.")
    call = Call(method="GET", path=path(approval_id))
    answer = yield from insist(call, until=timing.clock() + SHORT_S, timing=timing)
    make_sure(answer, request)
    return answer


def make_sure(answer: Answer, request: ApprovalRequest | Asked | None) -> None:
    """Make sure that an answer, and an approval in it, is about ``request`` where that is known.

    Raises:
        DigestMismatch: It is not.
    """
    if request is None:
        return
    if answer.digest != request.digest:
        raise mismatch(answer.digest, request.digest)
    if answer.status is Status.APPROVED and answer.decision is not None:
        verify(request, answer.decision)


def check(timing: Timing, within_s: float) -> Flow[Access]:
    """Ask who this is to the dashboard, and nobody to decide anything."""
    check_seconds("within_s", within_s)
    call = Call(method="GET", path=AGENT, timeout_s=min(within_s, SHORT_S))
    until = timing.clock() + within_s
    return insist_on(call, lambda reply: read_access(reply.body), until=until, timing=timing)


def cancel(approval_id: str, reason: str, timing: Timing) -> Flow[Answer]:
    """Withdraw a request."""
    check_text("approval_id", approval_id)
    check_text("reason", reason)
    call = cancellation(approval_id, reason, timeout_s=SHORT_S)
    return insist(call, until=timing.clock() + SHORT_S, timing=timing)


def report(
    response: ApprovalResponse, end: Finished, timing: Timing, within_s: float
) -> Flow[Answer]:
    """Tell the dashboard how something that was approved ended."""
    advice = "Pass the approval that was used."
    check_type("response", response, (ApprovalResponse,), advice, undone=UNREPORTED)
    check_seconds("within_s", within_s, undone=UNREPORTED)
    check_end(end.exit_code, end.error, end.duration_s, end.output_head)
    if response.approved is not True:
        raise ValueError("Only what was approved can be reported as finished.")
    fields = end.fields()
    timeout_s = min(within_s, SHORT_S)
    call = outcome(response.id, OutcomeState.FINISHED, response.digest, fields, timeout_s)
    return insist(call, until=timing.clock() + within_s, timing=timing)


# --- reading what was decided, page by page ----------------------------------------------------

DECISIONS = "/api/v1/decisions"
Since: TypeAlias = datetime | str | None
About: TypeAlias = Callable[[str], ApprovalRequest | Asked | None]


class Reading:
    """How far the decisions have been read.

    Attributes:
        over: Whether the last page was the end.
    """

    def __init__(self, since: Since, about: About | None) -> None:
        self.over = False
        self._since = _asked_for(since)
        self._about = about or (lambda _: None)

    def page(self, timing: Timing) -> Flow[tuple[Answer, ...]]:
        """Read the next page."""
        call = Call(method="GET", path=f"{DECISIONS}?{urlencode(self._since)}")
        until = timing.clock() + SHORT_S
        next_page = yield from insist_on(call, self._understand, until=until, timing=timing)
        self.over = not next_page.more
        self._since = {"after": next_page.last} if next_page.last else self._since
        return next_page.answers

    def checked(self, answer: Answer) -> Answer:
        """Return an answer after making sure that it is about the right content.

        Raises:
            DigestMismatch: It is not.
        """
        try:
            make_sure(answer, self._about(answer.id))
        except DigestMismatch as error:
            raise DigestMismatch(
                f"{error} This is about request {answer.id}. Pass since={answer.id!r} to go "
                "on after it."
            ) from error
        return answer

    def _understand(self, reply: Reply) -> Page:
        page = read_page(reply.body)
        if self._since.get("after") in {answer.id for answer in page.answers}:
            raise Malformed("it repeats an earlier page")
        return page


def _asked_for(since: Since) -> dict[str, str]:
    if since is None:
        return {}
    if isinstance(since, datetime):
        if since.utcoffset() is None:
            raise ValueError("since has no time zone. Nothing was read. Pass a datetime with one.")
        return {"since": since.astimezone(UTC).isoformat()}
    if not ID.fullmatch(since):
        raise ValueError("since must be a datetime or the id of an answer. Nothing was read.")
    return {"after": canonical_id(since)}
