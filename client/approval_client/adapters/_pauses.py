"""Questions of runs that stop instead of blocking. Their names let another process find them."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from approval_client._answers import Answer
from approval_client._arguments import check_seconds
from approval_client._async_client import AsyncClient
from approval_client._errors import DashboardError, RequestRefused, TooLate, not_approved
from approval_client._models import ApprovalRequest, ApprovalResponse, Pending
from approval_client._outcomes import Run, report_async
from approval_client._refusals import is_of_the_request, refusal
from approval_client.wire import OF_TOOL, Status, canonical_json

MOST_ATTEMPTS = 100


class Undecided(DashboardError):
    """Nobody has decided yet. The run stays paused and the question on the desk."""


class Unfinished(DashboardError):
    """The run stopped before its end, and nothing is pending there that people could answer."""


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Asks each question under a name, and again if its answer cannot be used any more.

    Attributes:
        names: Those of the run, the same in every process. Empty if no other process can go on
            with it: then a question is withdrawn when nobody waits for it any more.
        max_wait_s: How long to wait for people, in seconds; as long as they have if None.
        used: The keys of the answers that were given out here.
    """

    client: AsyncClient
    names: Sequence[str]
    max_wait_s: float | None = None
    used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        check_seconds("max_wait_s", self.max_wait_s)

    @cached_property
    def run_id(self) -> str:
        """What the questions of this run are shown together by."""
        return self.names[0] if self.names else uuid.uuid4().hex

    async def ask(self, name: str, request: ApprovalRequest) -> ApprovalResponse:
        """Return an approval that is not used yet, or a rejection.

        What the dashboard cannot be asked is one too.

        Raises:
            DashboardError: There is no answer, or one that must not be used.
        """
        try:
            return await self._ask(name, request)
        except RequestRefused as error:
            if not is_of_the_request(error):
                raise
            return refusal(error)

    async def _ask(self, name: str, request: ApprovalRequest) -> ApprovalResponse:
        if not self.names:
            pending = await self.client.submit(request)
            return _decided(await self.client.decided(pending))
        stem = _hashed([*self.names, name, _lasting(request).body()])
        for attempt in range(MOST_ATTEMPTS):
            key = f"{stem}-{attempt}"
            pending = await self.client.submit(request, idempotency_key=key)
            answer = await self.client.get(pending.id)
            if key not in self.used and not _over(answer):
                response = _decided(await self._wait(pending, answer))
                self.used.add(key)
                return response
            again = f"Asked again: {pending.id} {_why_over(answer)}"
            request = replace(request, evidence={**request.evidence, "asked_again": again})
        raise Undecided("This was asked too often. Nothing was approved. Start a new run.")

    async def _wait(self, pending: Pending, answer: Answer) -> ApprovalResponse:
        # What waits here may be gone tomorrow, but the question stays for whoever comes then.
        limit_s = self.max_wait_s if answer.status is Status.PENDING else None
        if limit_s is not None and limit_s <= 0:
            raise _undecided(pending)
        try:
            async with asyncio.timeout(limit_s):
                return await self.client.decided(pending, withdraw=False)
        except TimeoutError:
            raise _undecided(pending) from None


async def saved(save: Callable[[Any], Any] | None, state: Any) -> None:
    """Hand a pause to the host, before anybody is asked."""
    if save is not None and inspect.isawaitable(awaitable := save(state)):
        await awaitable


def kept(run_id: str, *, save: object, max_wait_s: object) -> list[str]:
    """Return the names by which other processes find a run; none if only this one needs it.

    Raises:
        ValueError: Another process should find its questions, but it has no name.
    """
    if not run_id and not (save is None and max_wait_s is None):
        raise ValueError(
            "save and max_wait_s leave questions for a later call, which finds them by run_id. "
            "Nobody was asked and nothing was run. Pass a run_id that no other run has."
        )
    return [run_id] if run_id else []


def check_watched(passed: str, *, is_watched: bool) -> None:
    """Refuse to ask for a run of the host's own that would not use its approvals.

    Args:
        passed: What has to be passed to the run.

    Raises:
        ValueError: It was never made.
    """
    if not is_watched:
        raise ValueError(
            f"Pass {passed} to every run, also before you ask about what is pending: it uses each "
            "approval right before its call. Nobody was asked and nothing was approved."
        )


async def every(
    client: AsyncClient, asked: Mapping[str, Awaitable[ApprovalResponse]]
) -> dict[str, ApprovalResponse]:
    """Wait for all the answers; each is a rejection, or an approval that is not used yet.

    Raises:
        TooLate: An earlier approval could not be used any more when the last answer came.
        DashboardError: One of them is missing.
    """
    outcomes = await asyncio.gather(*asked.values(), return_exceptions=True)
    answers: dict[str, ApprovalResponse] = {}
    for name, outcome in zip(asked, outcomes, strict=True):
        if isinstance(outcome, BaseException):
            raise outcome
        answers[name] = outcome
    if len(answers) > 1:
        await in_time(client, answers.values())
    return answers


async def in_time(client: AsyncClient, answers: Iterable[ApprovalResponse]) -> None:
    """Make sure that each approval can still be used, when people took long over something else.

    Raises:
        TooLate: One of them cannot.
        DashboardError: That cannot be known.
    """
    current_answers = await asyncio.gather(
        *(client.get(answer.id) for answer in answers if is_approval(answer))
    )
    if not all(map(_in_time, current_answers)):
        raise TooLate(
            "When the last answer came, an earlier approval could no longer be used. What "
            "it approved was not run. Call this again to ask again."
        )


def is_approval(response: ApprovalResponse) -> bool:
    """Say whether something was approved, whether or not the approval was started."""
    return response.status is Status.APPROVED


async def started(client: AsyncClient, response: ApprovalResponse) -> ApprovalResponse:
    """Use an approval, if that was not done.

    Raises:
        DashboardError: It cannot be used, so nothing may run.
    """
    return response if response.approved is True else await use(client, response)


async def use(client: AsyncClient, response: ApprovalResponse) -> ApprovalResponse:
    """Use an approval right before the call that it is of.

    What a person changed has become the arguments that the framework passes, of which the digest
    is not.
    """
    if response.edited:
        return await client._begin(response)  # noqa: SLF001 - one package
    return await client.start(response)


async def start(
    client: AsyncClient, answers: Mapping[str, ApprovalResponse]
) -> dict[str, ApprovalResponse]:
    """Use all approvals at once, where a framework has no place to use each right before its run.

    Raises:
        DashboardError: One cannot be used. The others are reported as not run.
    """
    tasks = [asyncio.ensure_future(started(client, answer)) for answer in answers.values()]
    try:
        await asyncio.gather(*tasks, return_exceptions=True)
        return {name: task.result() for name, task in zip(answers, tasks, strict=True)}
    except GeneratorExit:  # nothing can be awaited any more
        raise
    except BaseException:
        begun = [task.result() for task in tasks if _succeeded(task)]
        end_report = not_run("another call of its batch could not be started")
        await asyncio.shield(asyncio.create_task(tell(client, begun, end_report)))
        raise


async def give_up(client: AsyncClient, answers: Iterable[ApprovalResponse], reason: str) -> None:
    """Tell why nothing will run any more what was approved, and use the approvals up."""
    for answer in filter(is_approval, answers):
        with suppress(DashboardError):
            await tell(client, [await started(client, answer)], not_run(reason))


async def tell(
    client: AsyncClient, answers: Iterable[ApprovalResponse], reports: Mapping[str, Any]
) -> None:
    """Report how everything that was started ended."""
    begun = [answer for answer in answers if answer.approved is True]
    await asyncio.gather(*(report_async(client, answer, dict(reports)) for answer in begun))


def ours(error: BaseException) -> DashboardError | None:
    """Return the error of ours that a framework has put into one of its own, if there is one."""
    cause = None if isinstance(error, DashboardError) else error.__cause__
    while cause is not None and not isinstance(cause, DashboardError):
        cause = cause.__cause__
    return cause


def called_again(tool: str) -> str:
    """Say why a framework may not make a call of ``tool`` once more."""
    return (
        f"{tool!r:.80} was called with this approval before, and an approval works once. It was "
        "not called again."
    )


def not_run(reason: str) -> dict[str, Any]:
    """Say that something was approved and started, and then was not run."""
    return Run().told(exit_code=1, error=f"It was not run: {reason}.")


def _hashed(names: Sequence[str]) -> str:
    return hashlib.sha256(canonical_json([*names]).encode()).hexdigest()


def _lasting(request: ApprovalRequest) -> ApprovalRequest:
    """Return a question without what describes its tool, which may change while people think."""
    evidence = {name: value for name, value in request.evidence.items() if name not in OF_TOOL}
    return replace(request, evidence=evidence)


def _succeeded(task: asyncio.Future[ApprovalResponse]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None


def _decided(response: ApprovalResponse) -> ApprovalResponse:
    if response.status not in {Status.APPROVED, Status.REJECTED}:
        raise not_approved(response)
    return response


def _over(answer: Answer) -> bool:
    """Say whether an earlier answer can no longer be used, and is not a rejection."""
    if answer.status in {Status.EXPIRED, Status.CANCELLED}:
        return True
    if answer.status is not Status.APPROVED or answer.decision is None:
        return False
    return answer.started_at is not None or not _in_time(answer)


def _why_over(answer: Answer) -> str:
    if answer.started_at is None:
        return "was asked before, and its answer can no longer be used."
    if answer.finished_at is None:
        return "was approved and used, and how that ended was not told. It may have run already."
    return "was approved and used already."


def _in_time(answer: Answer) -> bool:
    if answer.status is not Status.APPROVED or answer.decision is None:
        return False
    until = answer.decision.valid_until
    return until is None or answer.now < until


def _undecided(pending: Pending) -> Undecided:
    return Undecided(
        f"Nobody has decided {pending.id} yet. Nothing was approved and the run stays paused. "
        "Call this again to go on waiting."
    )
