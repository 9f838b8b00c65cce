"""What an open page is connected to: hears and tells, decides nothing."""

from __future__ import annotations

import asyncio
from typing import Any

from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.contrib.auth import HASH_SESSION_KEY

from dashboard.accounts import roles
from dashboard.live.pages import CLOSE_NOT_PERMITTED, CLOSE_NOT_SIGNED_IN, OpenPage
from dashboard.live.push import current_hub
from dashboard.live.sessions import Visitor


class QueueConsumer(AsyncJsonWebsocketConsumer):  # type: ignore[misc]
    """Tells a page which requests changed: ``{"id", "version"}``. Takes nothing in return.

    What else changed meanwhile stands in ``also``, a list of the same. ``"in_queue": false`` says
    that no list of requests shows the change. The id ``"all"`` says that anything may have
    changed, and ``late`` with it whether news come a few seconds late from now on. Deciding goes
    through an ordinary POST, so there is one place that checks permissions.
    """

    # None of the layer's: the hub hears for all pages, so a page needs no channel of its own,
    # and opens while Redis is away.
    channel_layer_alias = "none"
    page: OpenPage | None = None
    pump: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Let in who may look; the others learn from the code why not."""
        await self.accept()  # first, or the page never learns the code below
        person = self.scope["user"]
        if not person.is_authenticated:
            await self.close(CLOSE_NOT_SIGNED_IN)
        elif not roles.may_look(person):
            await self.close(CLOSE_NOT_PERMITTED)
        else:
            session = self.scope["session"]
            visitor = Visitor(person.pk, session.session_key, session[HASH_SESSION_KEY])
            self.page = OpenPage(visitor)
            current_hub().open(self.page)
            self.pump = asyncio.create_task(self._pump(self.page))

    async def disconnect(self, code: int) -> None:
        """Stop listening for this page."""
        del code
        if self.page:
            current_hub().leave(self.page)
        if self.pump:
            self.pump.cancel()

    async def receive(self, **_: Any) -> None:
        """Ignore what the page sends."""

    async def _pump(self, page: OpenPage) -> None:
        while True:
            news = await page.next()
            if isinstance(news, int):
                await self.close(news)
                return
            await self.send_json(news)
