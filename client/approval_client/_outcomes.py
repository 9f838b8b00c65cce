"""Report how something that was approved ended. This never changes what ran."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import logging
import time
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass, field
from typing import Any

from approval_client._async_client import AsyncClient
from approval_client._models import ApprovalResponse
from approval_client._sync_client import Client

logger = logging.getLogger("approval_client")
REPORT_WITHIN_S = 30.0  # a server that restarts hears of it, and the caller has its result soon
STOPPED_WITHIN_S = 3.0  # somebody stops the program, and waits for that
_reports: set[asyncio.Task[None]] = set()  # asyncio itself forgets a task that nobody holds

_LAZY: tuple[type, ...] = (
    *(map, filter, zip, enumerate, type(iter(int, 1))),
    *(kind for kind in vars(itertools).values() if isinstance(kind, type)),
)
_BEGUN_LATER: dict[str, Callable[[Any], bool]] = {
    "a coroutine": inspect.iscoroutine,
    "a generator": inspect.isgenerator,
    "an asynchronous generator": inspect.isasyncgen,
    "an awaitable": lambda result: inspect.isawaitable(result) and not asyncio.isfuture(result),
    "a lazy iterator": lambda result: isinstance(result, _LAZY),
}


@dataclass(frozen=True)
class Run:
    """One run of something approved, and what is told about its end."""

    began_at: float = field(default_factory=time.monotonic)

    def returned(self, result: Any) -> dict[str, Any]:
        """Say that it returned ``result``."""
        try:
            text = result if isinstance(result, str) else repr(result)
        except Exception:  # noqa: BLE001 - repr is the caller's code
            text = f"<{type(result).__name__}>"
        return self.told(exit_code=0, output_head="" if result is None else text)

    def raised(self, error: BaseException) -> dict[str, Any]:
        """Say that it ended with ``error``."""
        try:
            message = str(error)
        except Exception:  # noqa: BLE001 - str is the caller's code
            message = ""
        stops = {} if isinstance(error, Exception) else {"within_s": STOPPED_WITHIN_S}
        return self.told(exit_code=1, error=f"{type(error).__name__}: {message}", **stops)

    def told(self, **fields: Any) -> dict[str, Any]:
        """Say how it ended, with how long it took."""
        duration_s = time.monotonic() - self.began_at
        return {"duration_s": duration_s, "within_s": REPORT_WITHIN_S, **fields}


def whole_result(name: str, result: Any) -> Any:
    """Return what a function returned, unless that would only begin to run what was approved.

    Args:
        name: What the function is called.

    Raises:
        TypeError: It would. It is not handed on, and was closed where that can be.
    """
    kind = next((name for name, is_one in _BEGUN_LATER.items() if is_one(result)), None)
    if kind is None:
        return result
    if isinstance(result, Coroutine | Generator):  # others have begun nothing
        result.close()
    raise TypeError(
        f"{name} returned {kind}, which would run when the approval is over, with what stands "
        "there then. It was not handed on. Gate the function that consumes it, or one that is "
        "async itself."
    )


def report(client: Client, response: ApprovalResponse, told: dict[str, Any]) -> None:
    """Report the end, if the dashboard can be reached."""
    try:
        client.report_finished(response, **told)
    except Exception as error:  # noqa: BLE001 - bookkeeping never changes what was returned
        _unreported(response, error)


async def report_async(
    client: AsyncClient, response: ApprovalResponse, told: dict[str, Any]
) -> None:
    """Report the end, if the dashboard can be reached.

    It is a task of its own, so that it is told also where whoever waits for it is cancelled. The
    cancellation goes on when it is told, or after ``STOPPED_WITHIN_S``.
    """
    task = asyncio.create_task(_report_async(client, response, told))
    _reports.add(task)
    task.add_done_callback(_reports.discard)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task}, timeout=STOPPED_WITHIN_S)
        raise


async def _report_async(
    client: AsyncClient, response: ApprovalResponse, told: dict[str, Any]
) -> None:
    try:
        await client.report_finished(response, **told)
    except Exception as error:  # noqa: BLE001 - bookkeeping never changes what was returned
        _unreported(response, error)


def _unreported(response: ApprovalResponse, error: Exception) -> None:
    logger.warning(
        "%s ran, but its end could not be reported (%s).", response.id, type(error).__name__
    )
