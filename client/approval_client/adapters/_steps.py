"""What resuming a graph takes, without I/O, and the two that do it: blocking and awaiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from typing import Self

_COPY = "__copy__"  # the name under which LangGraph copies a checkpoint without what is pending


@dataclass(frozen=True)
class Look:
    """Read the state of the graph."""


@dataclass(frozen=True)
class Go:
    """Have the graph go on with this command.

    ``afresh`` is for a graph that still holds an earlier answer which its node did not take:
    LangGraph would add the new one to it. A copy of the checkpoint holds none.
    """

    command: Any
    afresh: bool = False


@dataclass(frozen=True)
class Wait:
    """Await this."""

    work: Coroutine[Any, Any, Any]


Flow: TypeAlias = Generator[Look | Go | Wait, Any, Any]
Options: TypeAlias = Mapping[str, Any]
_NONE: Options = {}


def drive(graph: Any, config: Any, flow: Flow, options: Options = _NONE) -> Any:
    """Have a graph that blocks go through ``flow``, with these options of its ``invoke``."""
    no_loop("aresume_pending")
    send: Callable[[Any], Any] = flow.send
    value: Any = None
    while True:
        try:
            step = send(value)
        except StopIteration as stop:
            return stop.value
        try:
            value, send = _do(graph, config, step, options), flow.send
        except BaseException as error:  # noqa: BLE001 - the flow raises it again
            value, send = error, flow.throw


async def drive_async(graph: Any, config: Any, flow: Flow, options: Options = _NONE) -> Any:
    """Have an asynchronous graph go through ``flow``, with these options of its ``ainvoke``."""
    send: Callable[[Any], Any] = flow.send
    value: Any = None
    while True:
        try:
            step = send(value)
        except StopIteration as stop:
            return stop.value
        try:
            value, send = await _do_async(graph, config, step, options), flow.send
        except BaseException as error:  # noqa: BLE001 - the flow raises it again
            value, send = error, flow.throw


class Approvals:
    """The approvals of a graph that the host runs itself: streamed, for example.

    Enter it with ``async with`` around the whole run. How everything ended that was approved is
    told with the next call of ``ask_pending``, or when an exception leaves this.

    Args:
        around: Entered and left with this.
    """

    def __init__(
        self, graph: Any, config: Any, flow: Flow, around: AbstractContextManager[None]
    ) -> None:
        self._graph = graph
        self._config = config
        self._flow = flow
        self._around = around

    async def __aenter__(self) -> Self:
        self._around.__enter__()
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None
    ) -> None:
        try:
            if error is not None:
                await self._on(self._flow.throw, error)
            self._flow.close()
        finally:
            self._around.__exit__(None, None, None)

    async def ask_pending(self) -> Any:
        """Ask about everything that is pending in the graph, and wait for the answers.

        Returns:
            The command to go on with, for ``astream`` or ``ainvoke``; None if the graph has ended.

        Raises:
            Undecided: Nobody decided within ``max_wait_s``. The questions stay on the desk.
            Unfinished: Nothing is pending, and the graph has not ended.
            DashboardError: It was neither approved nor rejected. The graph stays interrupted.
        """
        return await self._on(self._flow.send, None)

    async def _on(self, send: Callable[[Any], Any], value: Any) -> Any:
        """Go through the flow up to where the graph goes on."""
        while True:
            try:
                step = send(value)
            except StopIteration:
                return None
            if isinstance(step, Go):
                if step.afresh:
                    await self._graph.aupdate_state(self._config, None, as_node=_COPY)
                return step.command
            try:
                value, send = await _do_async(self._graph, self._config, step), self._flow.send
            except BaseException as error:  # noqa: BLE001 - the flow raises it again
                value, send = error, self._flow.throw


def _do(graph: Any, config: Any, step: Look | Go | Wait, options: Options) -> Any:
    if isinstance(step, Wait):
        return asyncio.run(step.work)  # type: ignore[arg-type,unused-ignore]
    if isinstance(step, Look):
        return graph.get_state(config, subgraphs=True)
    if step.afresh:
        graph.update_state(config, None, as_node=_COPY)
    return graph.invoke(step.command, config, **options)


async def _do_async(
    graph: Any, config: Any, step: Look | Go | Wait, options: Options = _NONE
) -> Any:
    if isinstance(step, Wait):
        return await step.work
    if isinstance(step, Look):
        return await graph.aget_state(config, subgraphs=True)
    if step.afresh:
        await graph.aupdate_state(config, None, as_node=_COPY)
    return await graph.ainvoke(step.command, config, **options)


def no_loop(instead: str) -> None:
    """Refuse to block an event loop that is running.

    Raises:
        RuntimeError: One is; its message names what to call ``instead``.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError(f"This blocks, and an event loop is running. Use {instead}.")
