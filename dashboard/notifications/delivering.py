"""Calling hosts back: a task for each webhook that has something to send."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from dashboard.notifications.sending import send
from dashboard.notifications.services.outbox import (
    begin,
    queue_decided,
    settle,
    webhooks_with_due,
)

MOST_AT_ONCE = 20

log = logging.getLogger(__name__)
Read = Callable[..., Awaitable[Any]]


class Deliverer:
    """Sends what is due, each webhook's messages one by one, so that a slow host delays its own.

    Args:
        read: Runs database work off the event loop.
    """

    def __init__(self, read: Read) -> None:
        self._read = read
        self._busy: dict[int, asyncio.Task[None]] = {}

    async def tick(self) -> None:
        """Note what was decided, and begin to send wherever nobody is sending."""
        await self._read(queue_decided)
        free = MOST_AT_ONCE - len(self._busy)
        if free <= 0:
            return
        for webhook_id in await self._read(webhooks_with_due, list(self._busy), free):
            task = asyncio.create_task(self._send_due(webhook_id))
            self._busy[webhook_id] = task
            task.add_done_callback(partial(self._over, webhook_id))

    def stop(self) -> None:
        """Break off; what is under way is begun again after a minute, by whoever runs then."""
        for task in list(self._busy.values()):
            task.cancel()

    async def idle(self) -> None:
        """Wait until nothing is under way."""
        await asyncio.gather(*self._busy.values(), return_exceptions=True)

    def _over(self, webhook_id: int, _: asyncio.Task[None]) -> None:
        del self._busy[webhook_id]

    async def _send_due(self, webhook_id: int) -> None:
        try:
            while attempt := await self._read(begin, webhook_id):
                sent = await send(attempt.url, attempt.headers, attempt.body)
                await self._read(settle, attempt, sent)
                if not sent.taken:
                    return  # whoever is away now is left alone until the next second
        except Exception:
            log.exception("A delivery broke off. It is tried again in a minute.")
