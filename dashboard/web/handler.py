"""Django for an ASGI server whose views are all synchronous: a fixed number of threads.

Django's own handler starts a thread for every request, without limit, and opens a database
connection in each. Here requests share two pools: what comes in while all threads of its pool work
waits, and is served in the order in which it came.

Agents' calls and people's answers have one pool, pages that are only looked at the other, so that
no number of open pages stands before a decision. A page is begun in a moment when nobody is being
answered, for all threads share one interpreter; where there is no such moment, after a while.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from typing import Any, TypeVar

from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from dashboard import metrics
from dashboard.web.middleware import is_machine

ANSWERING = 6
VIEWING = 2
"""Threads of each pool. Two draw pages: each takes its share of the one interpreter from those who
answer, and drawing hostile content may keep one busy for a second. With the hub's two threads they
need ten database connections at once, of the twenty that PostgreSQL's pool lends.
"""
PATIENCE_S = 0.5
"""How long a page lets others go first."""

_SAFE = {"GET", "HEAD"}
_ANSWERING = metrics.IN_HAND.labels(metrics.PROCESS, "answering")
_VIEWING = metrics.IN_HAND.labels(metrics.PROCESS, "viewing")

T = TypeVar("T")


class PooledHandler(ASGIHandler):
    """Answers each request, middleware and view, in one thread of its pool."""

    def __init__(self) -> None:
        super().__init__()
        self._answering = ThreadPoolExecutor(ANSWERING, thread_name_prefix="answering")
        self._viewing = ThreadPoolExecutor(VIEWING, thread_name_prefix="viewing")
        self._being_answered, self._nobody = 0, asyncio.Event()
        self._nobody.set()
        self._drawing = asyncio.Semaphore(VIEWING)

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
            response = refusal or await self._answer(scope, request)
            await self.send_response(response, send)
            if not response.closed:
                await self._in_pool(scope, response.close)

    async def _answer(self, scope: Any, request: Any) -> HttpResponseBase:
        def respond() -> HttpResponseBase:
            return self._respond(scope, request)

        if not _is_page(scope):
            return await self._in_pool(scope, respond)
        async with self._drawing:
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE_S):
                    await self._nobody.wait()
            return await self._in_pool(scope, respond)

    async def _in_pool(self, scope: Any, work: Callable[[], T]) -> T:
        loop, context = asyncio.get_running_loop(), copy_context()  # with the id of the request
        if _is_page(scope):
            with _VIEWING.track_inprogress():
                return await loop.run_in_executor(self._viewing, context.run, work)
        self._being_answered += 1
        self._nobody.clear()
        try:
            with _ANSWERING.track_inprogress():
                return await loop.run_in_executor(self._answering, context.run, work)
        finally:
            self._being_answered -= 1
            if not self._being_answered:
                self._nobody.set()

    def _respond(self, scope: Any, request: HttpRequest) -> HttpResponseBase:
        signals.request_started.send(sender=type(self), scope=scope)
        response = self.get_response(request)
        vars(response)["_handler_class"] = type(self)  # as Django's own handlers note
        if not response.streaming:
            # Ends the request for Django, which gives the connection of this thread back.
            response.close()
        return response


def _is_page(scope: Any) -> bool:
    """Say whether it is only looked at."""
    return scope["method"] in _SAFE and not is_machine(scope["path"])
