"""Agents that ask through the client library, as those of users do."""

import asyncio

from approval_client import AsyncClient

ANSWERED_WITHIN_S = 20


class Agent:
    """Asks several things at once. What nobody answered is withdrawn when its journey ends."""

    def __init__(self, settings):
        self._client = AsyncClient(settings["DASHBOARD_URL"], settings["DASHBOARD_TOKEN"])
        self._asked = []

    def ask(self, request):
        """Ask and wait in a task; ``answer_to`` it is what the agent was told."""
        asked = asyncio.create_task(self._client.request_approval(request))
        self._asked.append(asked)
        return asked

    async def asks_and_withdraws(self, request, after_s):
        """Ask, and withdraw it: a task that is cancelled does that too, and tries only briefly."""
        pending = await self._client.submit(request)
        await asyncio.sleep(after_s)
        await self._client.cancel(pending.id)

    async def answer_to(self, asked):
        async with asyncio.timeout(ANSWERED_WITHIN_S):
            return await asyncio.shield(asked)

    async def go(self):
        for asked in self._asked:
            asked.cancel()
        await asyncio.gather(*self._asked, return_exceptions=True)
