"""Django for an ASGI server whose views are all synchronous: a fixed number of threads.

Django's own handler starts a thread for every request, without limit, and opens a database
connection in each. Here requests share a pool: what comes in while all threads work waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase

THREADS = 6
"""Drawing hostile content may keep one busy for two seconds; below the database pool's size."""

T = TypeVar("T")


class PooledHandler(ASGIHandler):
    """Answers each request, middleware and view, in one thread of a pool."""

    def __init__(self) -> None:
        super().__init__()
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="request")

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
            # Ends the request for Django, which gives its thread's connection back.
            await self._in_pool(response.close)

    async def _answer(self, scope: Any, request: Any) -> HttpResponseBase:
        return await self._in_pool(lambda: self._respond(scope, request))

    def _respond(self, scope: Any, request: HttpRequest) -> HttpResponseBase:
        signals.request_started.send(sender=type(self), scope=scope)
        response = self.get_response(request)
        vars(response)["_handler_class"] = type(self)  # as Django's own handlers note
        return response

    async def _in_pool(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)
