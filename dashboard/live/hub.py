"""Who waits for what in this process: agents for an answer, open pages for news.

One hub an event loop. Waiters only await futures: no thread, no database connection. What this
process closes answers its waiters from the committed decision itself. Of other processes the
database is read after a bell and every ``TICK_S`` seconds: whatever was closed since, which costs
the same however many wait. So losing every bell costs one tick and never an answer.

Reads for waits and pages have a thread of their own. What is written on a clock has another: it
may take seconds, or wait for the database's one writer.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Coroutine, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings

from dashboard.accounts.queries import tokens_that_work
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.queries import closing
from dashboard.approvals.queries.hold import doubt_until_looked_at, was_looked_at
from dashboard.approvals.services import note_waiting, watch_database
from dashboard.audit.queries import head as log_head
from dashboard.live.layer import Bell, Doorbell
from dashboard.live.pages import OpenPage
from dashboard.live.seen import seen
from dashboard.live.sessions import still_welcome
from dashboard.live.threads import DatabaseThread
from dashboard.logs import trouble

TICK_S = 2.0
FLUSH_EVERY_S = 6.0
WATCH_EVERY_S = 1.0
LOOKS_WITHIN_S = 2.0
WAITING_NOTED_EVERY_S = 15.0  # an agent is taken to be gone when it was not noted for 40
NEWS_A_SECOND = 33
"""How many messages all open pages together are sent in a second, and how many at once after a
quiet one. What is more waits and comes together: each page that is told asks what changed, and
what it takes is taken from agents."""
FAREWELL_S = 2.0  # a database that blocks does not keep a server from ending
GIVE_WAY_S = 0.001
"""How long a thread that decided lets the loop answer first, which takes half of that. It would
keep the interpreter for 5 ms otherwise: that is how often Python has threads take turns."""
GATE = "gate"
"""Rung instead of a request's id when the hold or the policy changed."""

log = logging.getLogger(__name__)
Work = Coroutine[Any, Any, None]
Answer = asyncio.Future[ApprovalRequest | None]


class HubWait(NamedTuple):
    """One agent that waits, and the token it came with."""

    closed: Answer
    token_id: int


class TooManyWaits(Exception):
    """The token, or the process, has as many waits open as it may."""


class Hub:
    """The waiting room of one event loop. Made by ``current_hub()``.

    Attributes:
        heard: How often this process heard of changes. What was read since then holds all of
            which its pages may know.
    """

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.closed = False
        self._stopped = False
        self.read = DatabaseThread("hub-reader")
        self.work = DatabaseThread("background")
        self._waits: dict[UUID, set[HubWait]] = defaultdict(set)
        self._read_to: int | None = None
        self._waits_of: dict[int, int] = defaultdict(int)
        self._pages: set[OpenPage] = set()
        self.heard = 0
        self._rung: dict[UUID, int] = {}
        self._woken = asyncio.Event()
        self._news: dict[str, Bell] = {}
        self._has_news = asyncio.Event()
        self._doorbell = Doorbell(self._hear)
        # How far the log was when pages were last told, while no bells come; else None.
        self._late_at: int | None = None
        self._has_looked = asyncio.Event()
        doubt_until_looked_at()
        self._tasks = {self.loop.create_task(work) for work in self._work()}

    # --- agents who wait ------------------------------------------------------------------------

    @contextmanager
    def waiting(self, approval_id: UUID, token_id: int) -> Iterator[Answer]:
        """Give a future that is done when the request is closed, or None when the wait must end.

        Enter first and read the request then, or a decision in between is missed for a tick.
        Only the request's own agent may enter: that it waits is shown to people.

        Raises:
            TooManyWaits: The token or this process has too many open.
        """
        self._admit(token_id)
        wait = HubWait(self.loop.create_future(), token_id)
        self._waits[approval_id].add(wait)
        self._waits_of[token_id] += 1
        seen.polled([approval_id])
        if self.closed:
            wait.closed.set_result(None)
        try:
            yield wait.closed
        finally:
            seen.polled([approval_id])
            self._forget(approval_id, wait)

    # --- open pages -----------------------------------------------------------------------------

    def open(self, page: OpenPage) -> None:
        """Tell ``page`` from now on which requests change."""
        self._pages.add(page)
        if self._late_at is not None:
            page.look_again(late=True)
        if self.closed:
            page.restart()

    def leave(self, page: OpenPage) -> None:
        """Stop telling ``page``."""
        self._pages.discard(page)

    # --- the database ---------------------------------------------------------------------------

    async def looked_at_database(self) -> None:
        """Return once this process has looked at its database, or could not for a while.

        It looks again every second, or as soon as the thread that does all such work is free.
        Until the first time it approves nothing.
        """
        if not self._has_looked.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._has_looked.wait(), LOOKS_WITHIN_S)

    # --- figures --------------------------------------------------------------------------------

    @property
    def waits(self) -> int:
        """How many waits of agents are open."""
        return sum(self._waits_of.values())

    @property
    def pages(self) -> int:
        """How many pages are open."""
        return len(self._pages)

    @property
    def is_deaf(self) -> bool:
        """Whether bells of other processes do not come."""
        return self._doorbell.is_deaf

    # --- bells ----------------------------------------------------------------------------------

    def ring(self, bell: Bell, closed: ApprovalRequest | None = None) -> None:
        """Take a bell from any thread of this process, and pass it on to the other processes.

        Agents are answered from ``closed``, the committed request with its decision, if it is
        given. The thread that decided goes on by drawing a page, so it gives way for a moment.
        """
        is_awaited = closed is not None and closed.pk in self._waits
        self.loop.call_soon_threadsafe(self._ring, bell, closed)
        if is_awaited:
            time.sleep(GIVE_WAY_S)

    def _ring(self, bell: Bell, closed: ApprovalRequest | None) -> None:
        if closed is not None:
            self._finish(self._waits.get(closed.pk, ()), closed)
        self._hear([bell])
        self._start(self._doorbell.ring([bell]))

    def _hear(self, bells: list[Bell]) -> None:
        if not bells:  # another process only makes sure that it is not deaf
            return
        self.heard += 1
        for bell in bells:
            earlier = self._news.get(bell.id, bell)
            self._news[bell.id] = bell._replace(in_queue=bell.in_queue or earlier.in_queue)
            if bell.id != GATE:
                self._rung[UUID(bell.id)] = bell.version
        self._woken.set()
        self._has_news.set()

    # --- the work -------------------------------------------------------------------------------

    def _work(self) -> list[Work]:
        return [
            self._answer_bells(),
            self._tell_pages(),
            self._tick_for_ever(),
            self._flush_for_ever(),
            self._note_waiting_for_ever(),
            self._watch_for_ever(),
            self._doorbell.listen(),
        ]

    async def _answer_bells(self) -> None:
        while True:
            await self._woken.wait()
            self._woken.clear()
            rung, self._rung = self._rung, {}
            await self._safely(self._answer(pk for pk in rung if self._is_awaited(pk)))

    async def _tell_pages(self) -> None:
        may_send, at = float(NEWS_A_SECOND), self.loop.time()
        while True:
            await self._has_news.wait()
            now = self.loop.time()
            may_send, at = min(may_send + (now - at) * NEWS_A_SECOND, NEWS_A_SECOND), now
            if may_send < 1:
                await asyncio.sleep((1 - may_send) / NEWS_A_SECOND + 0.001)
                continue
            self._has_news.clear()
            news, self._news = [*self._news.values()], {}
            may_send -= len(self._pages)
            await self._safely(self._tell(news))

    async def _tell(self, news: list[Bell]) -> None:
        for page in [*self._pages]:
            page.tell(news)

    def _is_awaited(self, approval_id: UUID) -> bool:
        return any(not wait.closed.done() for wait in self._waits.get(approval_id, ()))

    async def _tick_for_ever(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            await self._safely(self._tick())

    async def _tick(self) -> None:
        await self._answer_what_was_closed()
        await self._end_waits_of_revoked_tokens()
        await self._close_pages_of_the_gone()
        await self._tell_what_no_bell_told()

    async def _flush_for_ever(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_EVERY_S)
            await self._safely(self.work(seen.flush))

    async def _watch_for_ever(self) -> None:
        while True:
            await self._safely(self._watch())
            await asyncio.sleep(WATCH_EVERY_S)

    async def _watch(self) -> None:
        try:
            if not was_looked_at(within_s=WATCH_EVERY_S):
                await self.work(watch_database)
        finally:
            self._has_looked.set()

    async def _note_waiting_for_ever(self) -> None:
        while True:
            await asyncio.sleep(WAITING_NOTED_EVERY_S)
            if self._waits:
                await self._safely(self.work(note_waiting, list(self._waits)))

    async def _answer_what_was_closed(self) -> None:
        if self._read_to is None:
            read_to = await self.read(closing.last_closing)
            closed = list(self._waits)  # of the first ones nobody knows since when to read
        else:
            rows = await self.read(closing.closed_since, self._read_to)
            read_to = rows[-1][0] if rows else self._read_to
            closed = [pk for _, pk in rows if self._is_awaited(pk)]
        await self._answer(closed)
        self._read_to = read_to  # only now: what could not be answered is tried again

    async def _answer(self, ids: Iterable[UUID]) -> None:
        ids = list(ids)
        if not ids:
            return
        for pk, approval in (await self.read(closing.closed, ids)).items():
            self._finish(self._waits.get(pk, ()), approval)

    async def _end_waits_of_revoked_tokens(self) -> None:
        if not self._waits_of:
            return
        token_ids = set(self._waits_of)
        ended = token_ids - await self.read(tokens_that_work, token_ids)
        if not ended:
            return
        for waits in self._waits.values():  # with who came meanwhile, about whom nobody asked
            self._finish((wait for wait in waits if wait.token_id in ended), None)

    async def _close_pages_of_the_gone(self) -> None:
        if not self._pages:
            return
        visitors = {page.visitor for page in self._pages}
        unwelcome = visitors - await self.read(still_welcome, visitors)
        for page in [page for page in self._pages if page.visitor in unwelcome]:
            page.dismiss()

    async def _tell_what_no_bell_told(self) -> None:
        """While other processes cannot be heard, have pages look again after every change."""
        if self._doorbell.is_deaf:
            head = await self.read(log_head)
            now_at = head.seq if head else 0
        else:
            now_at = None
        if now_at == self._late_at:
            return
        self._late_at = now_at
        self.heard += 1
        for page in [*self._pages]:
            page.look_again(late=now_at is not None)

    # --- ends -----------------------------------------------------------------------------------

    def dismiss(self) -> None:
        """End every wait and page, politely, and whichever still comes; reads and bells go on."""
        self.closed = True
        for waits in self._waits.values():
            self._finish(waits, None)
        for page in self._pages:
            page.restart()

    async def close(self) -> None:
        """Dismiss everybody and stop working. Closing twice is closing once."""
        if self._stopped:
            return
        self._stopped = True
        self.dismiss()
        # By the reader, which has nothing else to do any more: a batch of work may still go on.
        await self._safely(asyncio.wait_for(self.read(seen.flush), FAREWELL_S))
        await self._stop_working()
        await self._doorbell.leave()
        self.end_threads()

    def end_threads(self) -> None:
        """Let its threads end, and close what they have open. For a loop that ended before."""
        self.read.close()
        self.work.close()

    async def _stop_working(self) -> None:
        # More than once: redis-py swallows a cancellation that arrives while it connects.
        for _ in range(20):
            pending = {task for task in self._tasks if not task.done()}
            for task in pending:
                task.cancel()
            if pending:
                await asyncio.wait(pending, timeout=0.1)

    def _admit(self, token_id: int) -> None:
        full = self.waits >= settings.WAITS_PER_PROCESS
        if full or self._waits_of.get(token_id, 0) >= settings.WAITS_PER_TOKEN:
            raise TooManyWaits

    def _forget(self, approval_id: UUID, wait: HubWait) -> None:
        wait.closed.cancel()
        self._waits[approval_id].discard(wait)
        if not self._waits[approval_id]:
            del self._waits[approval_id]
        self._waits_of[wait.token_id] -= 1
        if not self._waits_of[wait.token_id]:
            del self._waits_of[wait.token_id]

    def _finish(self, waits: Iterable[HubWait], approval: ApprovalRequest | None) -> None:
        for wait in waits:
            if not wait.closed.done():
                wait.closed.set_result(approval)

    def _start(self, work: Work) -> None:
        task = self.loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _safely(self, work: Awaitable[Any]) -> None:
        # A database that is away for a moment must not end the hub: the next tick reads again.
        try:
            await work
        except Exception as error:  # noqa: BLE001 - whatever it is, the next tick comes
            trouble(log, "The hub failed at one thing. It goes on, and tries again later", error)
