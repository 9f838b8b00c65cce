"""The conversation with the dashboard, without I/O: submit, wait, verify, start.

``Client`` and ``AsyncClient`` drive it; nothing about the protocol is written twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from approval_client._answers import Answer, Decision
from approval_client._asked import Asked
from approval_client._calls import Call, Flow, Sleep, Timing, insist, logger, read
from approval_client._errors import (
    DashboardError,
    ProtocolMismatch,
    RequestRefused,
    TokenRefused,
)
from approval_client._models import ApprovalRequest, ApprovalResponse, Pending
from approval_client._notebooks import send_notebook
from approval_client._sent import APPROVALS, Finished, cancellation, outcome, path
from approval_client._told import closed, mismatch, not_started, opened, unanswered, verify
from approval_client.wire import MAX_BODY_BYTES, OutcomeState, Status

HOLD_S = 25  # what the server holds at most; below the idle limit of common proxies
GRACE_S = 10.0  # after expires_at, for the server to say that it expired
DEFAULT_TIME_LIMIT_S = 1800  # the server's default
DEFAULT_VALID_S = 600.0  # the server's default for using an approval
FAREWELL_S = 3.0  # for everything that a withdrawal takes
REPORT_WITHIN_S = 10.0
SHORT_S = 30.0  # for calls that nobody decides about
Heard: TypeAlias = Callable[[Answer], None]
_EARLY = 0.5  # a wait that ends before this share of its hold may be a server shutting down
_PAUSE_S = 1.0


class Conversation:
    """One question, from asking to starting. Knows whether there is something to withdraw."""

    def __init__(
        self,
        request: ApprovalRequest | Asked,
        *,
        key: str,
        timing: Timing,
        heard: Heard | None = None,
    ) -> None:
        self._request = request
        self._heard = heard or (lambda _: None)
        self._body = request.body()
        self._key = key
        self._timing = timing
        self._id = ""
        self._open = False
        max_wait_s, time_limit_s = request.max_wait_s, request.time_limit_s
        self._give_up_at = math.inf if max_wait_s is None else timing.clock() + max_wait_s
        self._deadline = self._give_up_at
        if max_wait_s is None:
            self._deadline = timing.clock() + (time_limit_s or DEFAULT_TIME_LIMIT_S)

    def ask(self) -> Flow[ApprovalResponse]:
        """Submit, wait for a decision and, if it approves, start."""
        return (yield from self._follow((yield from self._submit())))

    def submit(self) -> Flow[Pending]:
        """Submit and wait for nothing."""
        answer = yield from self._submit()
        return Pending(
            request=self._request,
            id=answer.id,
            idempotency_key=self._key,
            review_url=answer.review_url,
        )

    def resume(self, approval_id: str) -> Flow[ApprovalResponse]:
        """Wait for a decision about what was submitted earlier."""
        self._id, self._open = approval_id, True
        answer = yield from self._insist(Call(method="GET", path=path(approval_id)))
        return (yield from self._follow(answer))

    def withdraw(self, reason: str) -> Flow[None]:
        """Tell the dashboard that nobody waits any more: one short try, and only if it matters.

        A submission whose answer never came is sent again with its key, to learn its id.
        """
        if not self._open:
            return
        self._open = False
        try:
            if not self._id:
                call = self._submission(timeout_s=FAREWELL_S / 2)
                answer = read(call, (yield call))
                if not isinstance(answer, Answer):
                    return
                self._id = answer.id
            yield cancellation(self._id, reason, timeout_s=FAREWELL_S / 2)
        except DashboardError:
            return  # there is nothing to withdraw, or no way to

    def _submit(self) -> Flow[Answer]:
        size = len(self._body.encode())
        if size > MAX_BODY_BYTES:
            raise RequestRefused(
                f"The request has {size:,} bytes and the dashboard takes {MAX_BODY_BYTES:,}. It "
                "was not sent and nothing was approved. Ask for less at a time.",
                code="too_large",
            )
        if isinstance(notebook := self._request.notebook, bytes):
            yield from send_notebook(notebook, self._deadline, self._timing)
        self._open = True
        try:
            answer = yield from self._insist(self._submission())
        except (RequestRefused, TokenRefused):
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
                timeout_s=hold_s + 10.0,
            )
            answer = yield from self._insist(call)
            if answer.status is Status.PENDING:
                yield from self._pause(asked_at, hold_s)
        self._open = False
        self._verify_question(answer)
        if answer.status is Status.APPROVED and answer.decision is not None:
            return (yield from self._start(answer, answer.decision))
        return closed(answer)

    def _pause(self, asked_at: float, hold_s: float) -> Flow[None]:
        if self._timing.clock() - asked_at < hold_s * _EARLY:
            yield Sleep(_PAUSE_S / 2 + self._timing.jitter() * _PAUSE_S / 2)

    def _follow_deadline(self, answer: Answer) -> None:
        left_s = (answer.expires_at - answer.now).total_seconds()
        self._deadline = min(self._timing.clock() + left_s + GRACE_S, self._give_up_at)

    def _start(self, answer: Answer, decision: Decision) -> Flow[ApprovalResponse]:
        """Use the approval. It opens only after the dashboard has recorded that it was used."""
        verify(self._request, decision)
        left_s = DEFAULT_VALID_S
        if decision.valid_until is not None:
            left_s = (decision.valid_until - answer.now).total_seconds()
        self._deadline = min(self._timing.clock() + left_s, self._give_up_at)
        call = outcome(answer.id, OutcomeState.STARTED, decision.digest, {})
        try:
            started = yield from self._insist(call, _doubt_start)
        except RequestRefused as error:
            raise not_started(error) from error
        self._verify_question(started)
        if started.decision is None or started.decision.digest != decision.digest:
            raise mismatch(started.digest, decision.digest)
        verify(self._request, started.decision)
        return opened(self._request, started, started.decision)

    def _insist(self, call: Call, doubt: Callable[[Answer], str] = lambda _: "") -> Flow[Answer]:
        def doubts(answer: Answer) -> str:
            if self._id and answer.id != self._id:
                return "it is about another request"
            return doubt(answer)

        return insist(call, until=self._deadline, timing=self._timing, doubt=doubts)

    def _verify_question(self, answer: Answer) -> None:
        if answer.digest != self._request.digest:
            raise mismatch(answer.digest, self._request.digest)


def _doubt_start(answer: Answer) -> str:
    if answer.status is not Status.APPROVED or answer.started_at is None:
        return "it does not say that the start was recorded"
    return ""


def get(approval_id: str, request: ApprovalRequest | Asked | None, timing: Timing) -> Flow[Answer]:
    """Ask where a request stands, and make sure that it is the one that is meant."""
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


def cancel(approval_id: str, reason: str, timing: Timing) -> Flow[Answer]:
    """Withdraw a request."""
    call = cancellation(approval_id, reason, timeout_s=SHORT_S)
    return insist(call, until=timing.clock() + SHORT_S, timing=timing)


def report(
    response: ApprovalResponse, end: Finished, timing: Timing, within_s: float
) -> Flow[Answer]:
    """Tell the dashboard how something that was approved ended."""
    if response.approved is not True:
        raise ValueError("Only what was approved can be reported as finished.")
    fields = end.fields()
    call = outcome(response.id, OutcomeState.FINISHED, response.digest, fields, within_s)
    return insist(call, until=timing.clock() + within_s, timing=timing)
