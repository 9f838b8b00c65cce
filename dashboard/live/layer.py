"""The doorbell between processes, over the channel layer. A ring may be lost; none is needed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import NamedTuple
from uuid import uuid4

from channels import DEFAULT_CHANNEL_LAYER
from channels.layers import InMemoryChannelLayer, channel_layers

GROUP = "approvals"
SEND_TIMEOUT_S = 0.5
JOIN_TIMEOUT_S = 3.0
LEAVE_TIMEOUT_S = 1.0
CHECK_S = 10.0  # how often a process rings itself, to know that it is not deaf
ECHO_S = 1.0
REJOIN_S = 1.0

log = logging.getLogger(__name__)


class Bell(NamedTuple):
    """What changed. The layer carries it as a list.

    Attributes:
        id: The request, or ``GATE`` of the hub.
        version: Its version then.
        in_queue: Whether a list of requests may show the change.
    """

    id: str
    version: int
    in_queue: bool = True


class Deaf(Exception):
    """What this process rang did not come back to it."""


class Doorbell:
    """One process's place on the channel layer: rings the others, and hears them.

    A connection that froze, or a subscription that a restarted Redis forgot, says nothing. So
    every process listens for its own ring too, and joins anew when that does not come.
    """

    def __init__(self, hear: Callable[[list[Bell]], None]) -> None:
        self._hear = hear
        self._origin = uuid4().hex
        self._layer = channel_layers.make_backend(DEFAULT_CHANNEL_LAYER)
        self._is_alone = isinstance(self._layer, InMemoryChannelLayer)
        self._echo = asyncio.Event()
        self._doubt = asyncio.Event()
        self.is_deaf = False
        """Whether bells of other processes do not come, as far as this one knows."""

    async def ring(self, bells: list[Bell]) -> None:
        """Tell the other processes; a layer that is down or frozen is given up after 0.5 s."""
        if bells and self._is_alone:
            return  # a layer in memory reaches nobody else
        message = {"type": "bell", "origin": self._origin, "bells": [[*bell] for bell in bells]}
        try:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                await self._layer.group_send(GROUP, message)
        except Exception as error:  # noqa: BLE001 - whatever Redis throws: a bell may be lost
            self._doubt.set()
            _trouble("a bell was lost", error)

    async def listen(self) -> None:
        """Hear the other processes until cancelled, joining anew whenever nothing gets through."""
        while True:
            try:
                await self._hear_until_deaf()
            except Exception as error:  # noqa: BLE001 - whatever Redis throws: try again
                _end_if_cancelled()
                self.is_deaf = True
                _trouble("it is tried again", error)
            await asyncio.sleep(REJOIN_S)

    async def leave(self) -> None:
        """Take this process off the layer and close its connections."""
        try:
            async with asyncio.timeout(LEAVE_TIMEOUT_S):
                await self._layer.flush()
        except Exception as error:  # noqa: BLE001 - whatever Redis throws: take another layer
            _trouble("leaving it failed", error)
            self._layer = channel_layers.make_backend(DEFAULT_CHANNEL_LAYER)

    async def _hear_until_deaf(self) -> None:
        receiving = None
        try:
            async with asyncio.timeout(JOIN_TIMEOUT_S):
                channel = await self._layer.new_channel()
                await self._layer.group_add(GROUP, channel)
            receiving = asyncio.create_task(self._receive(channel))
            while True:
                await self._check()
        finally:
            await self.leave()
            if receiving:
                receiving.cancel()

    async def _check(self) -> None:
        _end_if_cancelled()
        self._echo.clear()
        self._doubt.clear()
        await self.ring([])
        if not await _within(ECHO_S, self._echo):
            raise Deaf("its own ring did not come back")
        self.is_deaf = False
        await _within(CHECK_S, self._doubt)

    async def _receive(self, channel: str) -> None:
        while True:
            message = await self._layer.receive(channel)
            if message["origin"] == self._origin:
                self._echo.set()
            else:
                self._hear([Bell(*bell) for bell in message["bells"]])


def _end_if_cancelled() -> None:
    """End this task if it was cancelled: redis-py swallows that while it connects."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def _within(limit_s: float, event: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(limit_s):
            return await event.wait()
    except TimeoutError:
        return False


def _trouble(what: str, error: Exception) -> None:
    # One sentence for all: it is one trouble, of which the log has one line a minute.
    reason = str(error) or type(error).__name__
    log.warning(
        "Redis does not answer, so pages of other processes are late: %s (%s).", what, reason
    )
