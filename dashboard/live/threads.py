"""Database work off the event loop: one piece after the other, nothing held while idle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import ParamSpec, TypeVar

from django.db import close_old_connections, connections

P = ParamSpec("P")
T = TypeVar("T")


class DatabaseThread:
    """Runs synchronous database work off the event loop, in a thread of its own."""

    def __init__(self, thread_name: str) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix=thread_name)

    async def __call__(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return ``work(*args, **kwargs)`` from the thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, lambda: _tidily(work, *args, **kwargs))

    def close(self) -> None:
        """Let the thread end; what it is doing it finishes. Closing twice is closing once."""
        with suppress(RuntimeError):  # it takes no more work
            self._executor.submit(connections.close_all)
        self._executor.shutdown(wait=False)


def _tidily(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return work(*args, **kwargs)
    finally:
        close_old_connections()  # a PostgreSQL connection goes back to the pool
