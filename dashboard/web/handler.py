"""Django for an ASGI server whose views are all synchronous: a fixed number of threads.

Django's own handler starts a thread for every request, without limit, and opens a database
connection in each. Here requests share pools: what comes in while all threads of its pool work
waits, and is served in the order in which it came.

Each kind of callers has a pool: agents; what people answer; pages that they only look at; and
whoever is not known to be signed in, which anybody may be. So no number of pages, of agents who
ask or of strangers stands before a decision, and no number of those who ask before an agent that
reports. Of one caller few are taken at once. A page is begun in a moment when nobody's answer is
being taken, for all threads share one interpreter; where there is no such moment, after a while.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from contextvars import copy_context
from functools import partial
from os import SEEK_END
from typing import IO, Any, TypeVar
from weakref import WeakValueDictionary

from django.conf import settings
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from dashboard import metrics
from dashboard.paths import is_machine, is_submission, token_of

POOLS = {"agents": 5, "people": 3, "pages": 2, "strangers": 2}
"""Threads of each pool. Two draw pages: each takes its share of the one interpreter from those who
answer, and drawing hostile content may keep one busy for a second. With the hub's two threads they
need fourteen database connections at once, of the twenty that PostgreSQL's pool lends.
"""
SUBMITTING, LONG = 4, 2
"""Agents' threads that take submissions, and those that take long ones, which may be inspected for
seconds: so one is left for what agents report, and two for what is short.
"""
LONG_BYTES = 1 << 13
AT_ONCE = 2
"""Submissions of one token, its other calls, and answers of one session, that are taken at the
same time.
"""
PATIENCE_S = 0.5
"""How long a page lets others go first."""

_SAFE = {"GET", "HEAD"}
_MOST_KNOWN = 10_000
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
        # Each is there as long as somebody has it or waits for it.
        self._of_caller: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._known: OrderedDict[str, None] = OrderedDict()
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
            response = refusal or await self._answer(scope, request, _size(body))
            await self.send_response(response, send)
            if not response.closed:
                await self._in_pool(self._pool_of(request), response.close)

    async def _answer(self, scope: Any, request: Any, size: int) -> HttpResponseBase:
        pool = self._pool_of(request)
        with await self._turn(request, pool, size) as turn:
            work = self._in_pool(pool, partial(self._respond, scope, request))
            # Not when the client has hung up: the thread works on, and so the turn is not over.
            work.add_done_callback(partial(_end, turn.pop_all()))
        response, is_signed_in = await asyncio.shield(work)
        if is_signed_in:
            self.remember(_session(request))
        return response

    def remember(self, session: str) -> None:
        """Note that whoever sends this cookie was signed in: they have the pools of people."""
        self._known[session] = None
        self._known.move_to_end(session)
        if len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)

    def _pool_of(self, request: Any) -> str:
        if is_machine(request.path):
            return "agents"
        if _session(request) not in self._known:
            return "strangers"
        return "pages" if request.method in _SAFE else "people"

    async def _turn(self, request: Any, pool: str, size: int) -> ExitStack:
        """Wait until a request may be begun; whoever closes what is returned ends its turn."""
        with ExitStack() as turn:
            in_hand = metrics.IN_HAND.labels(metrics.PROCESS, pool)
            turn.enter_context(in_hand.track_inprogress())
            if pool == "pages":
                with suppress(TimeoutError):
                    async with asyncio.timeout(PATIENCE_S):
                        await self._no_answer.wait()
            for limit in self._limits(request, pool, size):
                await limit.acquire()
                turn.callback(limit.release)
            if pool == "people":
                self._answers += 1
                self._no_answer.clear()
                turn.callback(self._answered)
            return turn.pop_all()

    def _limits(self, request: Any, pool: str, size: int) -> Iterator[asyncio.Semaphore]:
        if pool == "pages":
            yield self._drawing
        elif pool == "people":
            yield self._of(_session(request))
        elif pool == "agents":
            token = token_of(request.META.get("HTTP_AUTHORIZATION", ""))
            if not is_submission(request.method, request.path):
                yield self._of(f"calls {token}")  # which wait for none of its submissions
                return
            yield self._of(f"asks {token}")
            if size > LONG_BYTES:
                yield self._long
            yield self._submitting

    def _of(self, caller: str) -> asyncio.Semaphore:
        return self._of_caller.setdefault(caller, asyncio.Semaphore(AT_ONCE))

    def _answered(self) -> None:
        self._answers -= 1
        if not self._answers:
            self._no_answer.set()

    def _in_pool(self, pool: str, work: Callable[[], T]) -> asyncio.Future[T]:
        loop, context = asyncio.get_running_loop(), copy_context()  # with the id of the request
        return loop.run_in_executor(self.pools[pool], context.run, work)

    def _respond(self, scope: Any, request: HttpRequest) -> tuple[HttpResponseBase, bool]:
        """Return the response, and whether it was made for somebody who is signed in."""
        signals.request_started.send(sender=type(self), scope=scope)
        response = self.get_response(request)
        # Absent where nobody asked for it, as while the database is away.
        person = getattr(request, "_cached_user", None)
        is_signed_in = bool(person and person.is_authenticated)
        vars(response)["_handler_class"] = type(self)  # as Django's own handlers note
        if not response.streaming:
            # Ends the request for Django, which gives the connection of this thread back.
            response.close()
        return response, is_signed_in


def _end(turn: ExitStack, _: object) -> None:
    turn.close()


def _session(request: Any) -> str:
    return str(request.COOKIES.get(settings.SESSION_COOKIE_NAME, ""))


def _size(body: IO[bytes]) -> int:
    size = body.seek(0, SEEK_END)
    body.seek(0)
    return size
