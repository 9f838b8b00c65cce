"""``approval-dashboard run_worker``: work on a clock, beside other servers than ``start``."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

from django.core.management.base import BaseCommand

from dashboard.live.push import current_hub
from dashboard.management.background import EVERYTHING


class Command(BaseCommand):
    """Close overdue requests every second, and tell the web processes, until stopped."""

    help = __doc__

    def handle(self, *_: Any, **__: Any) -> None:
        """Run until SIGTERM or SIGINT."""
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
