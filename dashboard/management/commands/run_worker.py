"""``approval-dashboard run_worker``: work on a clock, beside other servers than ``start``."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dashboard.live.push import current_hub
from dashboard.management.background import EVERYTHING
from dashboard.management.preflight import CannotStart, check_worker, misspelled


class Command(BaseCommand):
    """Close overdue requests every second, and tell the web processes, until stopped."""

    help = __doc__

    def handle(self, *_: Any, **__: Any) -> None:
        """Run until SIGTERM or SIGINT."""
        for doubt in misspelled(os.environ):
            self.stderr.write(doubt)
        try:
            check_worker()
        except CannotStart as error:
            raise CommandError(str(error)) from None
        self.stdout.write("The worker runs. Stop it with Ctrl-C.")
        asyncio.run(_work())


async def _work() -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    tasks = [loop.create_task(work()) for work in EVERYTHING]
    await stop.wait()
    for task in tasks:
        task.cancel()
    await current_hub().close()
