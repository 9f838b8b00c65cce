"""How the demo agent behaves: it asks, waits, and heeds the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from itertools import chain, cycle
from secrets import token_hex

from approval_client import (
    ApprovalRequest,
    ApprovalResponse,
    AsyncClient,
    DashboardError,
    NotApproved,
    Pending,
    TokenRefused,
)
from approval_client.wire import Status
from dashboard.management.demo.questions import QUESTIONS, DemoQuestion

AT_ONCE = 6
MOST_PENDING = 10
GREETING_PAUSE_S = 0.2
PAUSES_S = (11.0, 17.0, 13.0, 19.0, 12.0, 15.0)
LOOK_AGAIN_S = 1.0
TITLE_LENGTH = 60


def say(text: str) -> None:
    """Write one line to whoever started the demo."""
    print(f"demo agent: {text}", flush=True)  # noqa: T201 - a program that people watch


class DemoAgent:
    """Asks a few things at once, then one after the other, for ever.

    Args:
        client: Asks.
        tell: Takes one line for each answer.
        sleep: Waits that many seconds; given in tests.
    """

    def __init__(
        self,
        client: AsyncClient,
        *,
        tell: Callable[[str], None] = say,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.pending = 0
        self._client = client
        self._tell = tell
        self._sleep = sleep

    async def work(self) -> None:
        """Ask until cancelled; what is pending then is withdrawn.

        Raises:
            ExceptionGroup: Of a TokenRefused: nobody listens to this agent any more.
        """
        pauses = chain([GREETING_PAUSE_S] * (AT_ONCE - 1), cycle(PAUSES_S))
        async with asyncio.TaskGroup() as group:
            for question, pause_s in zip(cycle(QUESTIONS), pauses, strict=False):
                group.create_task(self.pursue(question))
                await self._sleep(pause_s)
                while self.pending >= MOST_PENDING:
                    await self._sleep(LOOK_AGAIN_S)

    async def pursue(self, question: DemoQuestion) -> None:
        """Ask; run what is approved; after a rejection ask for less, once, in the same run."""
        run_id = f"{question.run}-{token_hex(2)}"
        for request in (question.request, question.instead):
            if request is None:
                return
            response = await self._answered(question, replace(request, run_id=run_id))
            if response is None or response.status is not Status.REJECTED:
                return

    async def _answered(
        self, question: DemoQuestion, request: ApprovalRequest
    ) -> ApprovalResponse | None:
        self.pending += 1
        try:
            response = await self._ask(question, request)
        except TokenRefused:
            raise
        except DashboardError as error:
            reason = type(error).__name__ if isinstance(error, NotApproved) else "no answer"
            self._tell(f"{reason} · {_title(request)}")
            return None
        finally:
            self.pending -= 1
        by = f" by {response.decided_by}" if response.decided_by else ""
        self._tell(f"{response.status}{by} · {_title(request)}")
        if response.approved is True:
            await self._pretend_to_run(question, response)
        return response

    async def _ask(self, question: DemoQuestion, request: ApprovalRequest) -> ApprovalResponse:
        if question.patience_s is None:
            return await self._client.request_approval(request)
        pending = await self._client.submit(request)
        impatience = asyncio.create_task(self._lose_patience(question.patience_s, pending))
        try:
            return await self._client.wait(pending)
        finally:
            impatience.cancel()

    async def _lose_patience(self, patience_s: float, pending: Pending) -> None:
        await self._sleep(patience_s)
        with suppress(DashboardError):  # somebody was quicker
            await self._client.cancel(pending.id, "The shift is over; this can wait.")

    async def _pretend_to_run(self, question: DemoQuestion, response: ApprovalResponse) -> None:
        await self._sleep(question.takes_s)
        with suppress(DashboardError):
            await self._client.report_finished(
                response,
                exit_code=question.exit_code,
                error=question.error,
                output_head=question.output,
                duration_s=question.takes_s,
            )


def _title(request: ApprovalRequest) -> str:
    objective = request.objective
    return objective if len(objective) <= TITLE_LENGTH else f"{objective[: TITLE_LENGTH - 1]}…"
