"""Sending on a clock: a task for each receiver that something waits for."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from dashboard.notifications.sending import Sent, send
from dashboard.notifications.services import outbox, reading, telling

MOST_AT_ONCE = 20

log = logging.getLogger(__name__)
Read = Callable[..., Awaitable[Any]]


class DeliverySource(NamedTuple):
    """Where messages come from. All but ``send`` read and write the database.

    Attributes:
        look: Makes messages of what happened.
        with_due: Returns the receivers that something is due for, besides some, and at most some.
        begin: Takes a receiver's message and returns an attempt at it, or None.
        send: Makes the attempt.
        settle: Writes down what came of it.
    """

    look: Callable[[], object]
    with_due: Callable[[Iterable[int], int], Sequence[int]]
    begin: Callable[[int], Any]
    send: Callable[[Any], Awaitable[Sent]]
    settle: Callable[[Any, Sent], object]


def _note_decided() -> None:
    outbox.queue_decided()
    outbox.drop_switched_off()


def _note_told() -> None:
    reading.queue_notices()
    telling.drop_what_is_over()


async def _call_back(attempt: outbox.Attempt) -> Sent:
    return await send(attempt.url, attempt.headers, attempt.body)


AGENTS = DeliverySource(
    _note_decided, outbox.webhooks_with_due, outbox.begin, _call_back, outbox.settle
)
PEOPLE = DeliverySource(
    _note_told,
    telling.channels_with_due,
    telling.Turns().begin,
    telling.send_telling,
    telling.settle_telling,
)


class Deliverer:
    """Sends what is due, each receiver's messages one by one, so that a slow one delays its own.

    Args:
        read: Runs database work off the event loop.
    """

    def __init__(self, reader: Read, source: DeliverySource) -> None:
        self._read = reader
        self._source = source
        self._busy: dict[int, asyncio.Task[None]] = {}

    async def tick(self) -> None:
        """Note what happened, and begin to send wherever nobody is sending."""
        await self._read(self._source.look)
        free = MOST_AT_ONCE - len(self._busy)
        if free <= 0:
            return
        for receiver in await self._read(self._source.with_due, list(self._busy), free):
            task = asyncio.create_task(self._send_due(receiver))
            self._busy[receiver] = task
            task.add_done_callback(partial(self._over, receiver))

    def stop(self) -> None:
        """Break off; what is under way is begun again after a minute, by whoever runs then."""
        for task in list(self._busy.values()):
            task.cancel()

    async def idle(self) -> None:
        """Wait until nothing is under way."""
        await asyncio.gather(*self._busy.values(), return_exceptions=True)

    def _over(self, receiver: int, _: asyncio.Task[None]) -> None:
        del self._busy[receiver]

    async def _send_due(self, receiver: int) -> None:
        try:
            while attempt := await self._read(self._source.begin, receiver):
                outcome = await self._source.send(attempt)
                await self._read(self._source.settle, attempt, outcome)
                if not outcome.taken:
                    return  # whoever is away now is left alone until the next second
        except Exception:
            log.exception("A message broke off. It is tried again in a minute.")
