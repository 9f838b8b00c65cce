"""What resuming a graph takes, without I/O, and the two that do it: blocking and awaiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias

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


def drive(graph: Any, config: Any, flow: Flow) -> Any:
    """Have a graph that blocks go through ``flow``."""
    no_loop("aresume_pending")
    send: Callable[[Any], Any] = flow.send
    value: Any = None
    while True:
        try:
            step = send(value)
        except StopIteration as stop:
            return stop.value
        try:
            value, send = _do(graph, config, step), flow.send
        except BaseException as error:  # noqa: BLE001 - the flow raises it again
            value, send = error, flow.throw


async def drive_async(graph: Any, config: Any, flow: Flow) -> Any:
    """Have an asynchronous graph go through ``flow``."""
    send: Callable[[Any], Any] = flow.send
    value: Any = None
    while True:
        try:
            step = send(value)
        except StopIteration as stop:
            return stop.value
        try:
            value, send = await _do_async(graph, config, step), flow.send
        except BaseException as error:  # noqa: BLE001 - the flow raises it again
            value, send = error, flow.throw


def _do(graph: Any, config: Any, step: Look | Go | Wait) -> Any:
    if isinstance(step, Wait):
        return asyncio.run(step.work)  # type: ignore[arg-type,unused-ignore]
    if isinstance(step, Look):
        return graph.get_state(config)
    if step.afresh:
        graph.update_state(config, None, as_node=_COPY)
    return graph.invoke(step.command, config)


async def _do_async(graph: Any, config: Any, step: Look | Go | Wait) -> Any:
    if isinstance(step, Wait):
        return await step.work
    if isinstance(step, Look):
        return await graph.aget_state(config)
    if step.afresh:
        await graph.aupdate_state(config, None, as_node=_COPY)
    return await graph.ainvoke(step.command, config)


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
