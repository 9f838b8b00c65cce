"""Django for an ASGI server whose views are all synchronous: a fixed number of threads.

Django's own handler starts a thread for every request, without limit, and opens a database
connection in each. Here requests share three pools: what comes in while all threads of its pool
work waits, and is served in the order in which it came.

Agents, people's answers and pages that are only looked at have a pool each: no number of pages or
of agents who ask stands before a decision, and no number of those who ask before an agent that
reports. Signing in is among the pages, for it costs the most and anybody may try it. A page is
begun in a moment when nobody's answer is being taken, for all threads share one interpreter;
where there is no such moment, after a while.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, nullcontext, suppress
from contextvars import copy_context
from os import SEEK_END
from typing import IO, Any, TypeVar

from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from dashboard import metrics
from dashboard.paths import is_machine, is_submission

POOLS = {"agents": 5, "people": 3, "pages": 2}
"""Threads of each pool. Two draw pages: each takes its share of the one interpreter from those who
answer, and drawing hostile content may keep one busy for a second. With the hub's two threads they
need twelve database connections at once, of the twenty that PostgreSQL's pool lends.
"""
SUBMITTING, LONG = 4, 2
"""Agents' threads that take submissions, and those that take long ones, which may be inspected for
seconds: so one is left for what agents report, and two for what is short.
"""
LONG_BYTES = 1 << 13
PATIENCE_S = 0.5
"""How long a page lets others go first."""

_SAFE = {"GET", "HEAD"}
T = TypeVar("T")


class PooledHandler(ASGIHandler):
    """Answers each request, middleware and view, in one thread of its pool."""

    def __init__(self) -> None:
        super().__init__()
        self.pools = {
            name: ThreadPoolExecutor(threads, thread_name_prefix=name)
            for name, threads in POOLS.items()
        }
        self._submitting, self._long = asyncio.Semaphore(SUBMITTING), asyncio.Semaphore(LONG)
        self._drawing = asyncio.Semaphore(POOLS["pages"])
        self._answers, self._no_answer = 0, asyncio.Event()
        self._no_answer.set()

    def load_middleware(self, is_async: bool = False) -> None:  # noqa: FBT001, FBT002 - Django's
        """Build the synchronous chain."""
        del is_async
        super().load_middleware(is_async=False)

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request; a client that hangs up meanwhile does not stop what it began."""
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        with body:
            request, refusal = self.create_request(scope, body)
            is_long = _size(body) > LONG_BYTES
            response = refusal or await self._answer(scope, request, is_long=is_long)
            await self.send_response(response, send)
            if not response.closed:
                await self._in_pool(scope, response.close)

    async def _answer(self, scope: Any, request: Any, *, is_long: bool) -> HttpResponseBase:
        def respond() -> HttpResponseBase:
            return self._respond(scope, request)

        in_hand = metrics.IN_HAND.labels(metrics.PROCESS, _pool_of(scope))
        with in_hand.track_inprogress():
            async with self._turn(scope, is_long=is_long):
                return await self._in_pool(scope, respond)

    @asynccontextmanager
    async def _turn(self, scope: Any, *, is_long: bool) -> AsyncIterator[None]:
        """Wait until a request may be begun."""
        if is_submission(scope["method"], scope["path"]):
            async with self._long if is_long else nullcontext(), self._submitting:
                yield
        elif _pool_of(scope) == "people":
            self._answers += 1
            self._no_answer.clear()
            try:
                yield
            finally:
                self._answers -= 1
                if not self._answers:
                    self._no_answer.set()
        elif _pool_of(scope) == "pages":
            async with self._drawing:
                with suppress(TimeoutError):
                    async with asyncio.timeout(PATIENCE_S):
                        await self._no_answer.wait()
                yield
        else:
            yield

    async def _in_pool(self, scope: Any, work: Callable[[], T]) -> T:
        loop, context = asyncio.get_running_loop(), copy_context()  # with the id of the request
        return await loop.run_in_executor(self.pools[_pool_of(scope)], context.run, work)

    def _respond(self, scope: Any, request: HttpRequest) -> HttpResponseBase:
        signals.request_started.send(sender=type(self), scope=scope)
        response = self.get_response(request)
        vars(response)["_handler_class"] = type(self)  # as Django's own handlers note
        if not response.streaming:
            # Ends the request for Django, which gives the connection of this thread back.
            response.close()
        return response


def _size(body: IO[bytes]) -> int:
    size = body.seek(0, SEEK_END)
    body.seek(0)
    return size


def _pool_of(scope: Any) -> str:
    if is_machine(scope["path"]):
        return "agents"
    is_looked_at = scope["method"] in _SAFE or scope["path"].startswith("/sign-in")
    return "pages" if is_looked_at else "people"
