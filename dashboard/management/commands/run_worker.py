"""``approval-dashboard run_worker``: work on a clock, beside other servers than ``start``."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dashboard.approvals.rules.readiness import obstacles
from dashboard.live.push import current_hub
from dashboard.live.threads import DatabaseThread
from dashboard.management.background import EVERYTHING
from dashboard.management.preflight import CannotStart, check_worker, misspelled
from dashboard.management.serving_here import in_use

TRIES_AGAIN_S, TRIES_AGAIN_AT_MOST_S = 1.0, 30.0


class Command(BaseCommand):
    """Do on a clock what a server does beside answering, such as to close overdue requests.

    Without its database, or before a server has prepared it, the worker waits for it.
    """

    help = __doc__
    # They connect to the database from Django 6.1 on, and it may be away.
    requires_system_checks: list[str] = []

    def handle(self, *_: Any, **__: Any) -> None:
        """Run until SIGTERM or SIGINT."""
        for doubt in misspelled(os.environ):
            self.stderr.write(doubt)
        try:
            check_worker()
            with in_use():
                asyncio.run(self._work())
        except CannotStart as error:
            raise CommandError(str(error)) from None

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        await self._until_it_can(stop)
        tasks = []
        if not stop.is_set():
            self.stdout.write("The worker runs. Stop it with Ctrl-C.")
            tasks = [loop.create_task(work()) for work in EVERYTHING]
        await stop.wait()
        for task in tasks:
            task.cancel()
        await current_hub().close()

    async def _until_it_can(self, stop: asyncio.Event) -> None:
        """Say once what stands in the way, and look again with growing pauses."""
        earlier_reasons, pause_s, look = None, TRIES_AGAIN_S, DatabaseThread("looking")
        while not stop.is_set():
            reasons = await look(obstacles, draws_pages=False)
            if not reasons:
                break
            if reasons != earlier_reasons:
                earlier_reasons = reasons
                self.stderr.write("\n".join([*reasons, "The worker waits and tries again."]))
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), pause_s)
            pause_s = min(2 * pause_s, TRIES_AGAIN_AT_MOST_S)
        look.close()
