"""Work on a clock, as tasks of the server's loop or of ``run_worker``.

It shares one thread, which is not the one that answers agents who wait. It reads and writes in
batches: on SQLite nobody can commit while somebody else's transaction writes or their query reads.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial

from django.conf import settings
from django.db import connections

from approval_client.wire import Kind
from dashboard.accounts.services.browsers import check_due, forget_gone
from dashboard.accounts.services.sessions import forget_expired
from dashboard.approvals.services import (
    Backfill,
    end_forbidden_grants,
    expire_overdue,
    forget_notebooks,
    forget_viewings,
    judge_pending_again,
    release_lost_assignments,
    sum_up,
    verify_on,
    watch_database,
)
from dashboard.approvals.services.insight import BATCH
from dashboard.audit.heads import (
    Head,
    as_json,
    heads_file,
    keep_beside,
    keep_in_file,
    note_keeping,
)
from dashboard.audit.queries import head as audit_head
from dashboard.clock import database_now
from dashboard.live.push import current_hub
from dashboard.logs import trouble
from dashboard.notifications.delivering import AGENTS, PEOPLE, Deliverer, DeliverySource
from dashboard.notifications.sending import send
from dashboard.notifications.services import forget_deliveries, forget_messages
from dashboard.policies.inspections import inspect
from dashboard.policies.services import current_revision

SWEEP_EVERY_S = 1.0
SUM_EVERY_S = 30.0
BACKFILL_EVERY_S = 30.0
TIDY_EVERY_S = 3600.0
ASK_EVERY_S = 5.0

log = logging.getLogger(__name__)


async def sweep_for_ever() -> None:
    """Close what nobody answered in time, every second.

    It only writes down what is already so: every reader judges deadlines by itself.
    """
    await _repeat(expire_overdue, SWEEP_EVERY_S)


async def release_for_ever() -> None:
    """Release the assignments of people who are no longer reviewers. They are ignored already."""
    await _repeat(release_lost_assignments, SWEEP_EVERY_S)


async def follow_the_policy() -> None:
    """Judge what is pending by a new policy, and end the grants that it forbids, within seconds.

    Nothing depends on it: ``decide`` and every use of a grant are judged by it anyway.
    """
    followed = 0

    def follow() -> None:
        nonlocal followed
        judge_pending_again()
        present = current_revision().number
        if present != followed:
            end_forbidden_grants()
            followed = present

    await _repeat(follow, SWEEP_EVERY_S)


async def load_the_inspectors() -> None:
    """Inspect nothing, once: on a busy machine the parsers take seconds to load."""
    await asyncio.to_thread(inspect, Kind.CODE, {"code": "", "language": "python"})


async def ask_the_provider() -> None:
    """Ask the provider of single sign-on about those who are signed in, each in its turn.

    Whoever it no longer knows is signed out, and what its groups no longer give is taken.
    """
    if settings.OIDC_ISSUER:  # in a thread of its own: the provider may be slow
        await _keep_at(partial(asyncio.to_thread, _check_due), ASK_EVERY_S)


def _check_due() -> None:
    try:
        check_due()
    finally:
        connections.close_all()  # the thread may never come back


async def tidy_for_ever() -> None:
    """Delete what is over every hour: sessions, links, viewings, unnamed notebooks, messages."""
    looked_at: datetime | None = None

    def tidy() -> None:
        nonlocal looked_at
        began_at = database_now()
        forget_expired()
        forget_gone(began_at)
        forget_deliveries()
        forget_messages()
        forget_viewings()
        forget_notebooks(looked_at)
        looked_at = began_at

    await _repeat(tidy, TIDY_EVERY_S)


async def sum_up_for_ever() -> None:
    """Add what was closed to the sums of the insight page, which counts the rest by itself.

    After an upgrade, all that was ever closed is added, a small step each second.
    """
    rests_until = 0.0

    def add() -> None:
        nonlocal rests_until
        if time.monotonic() >= rests_until and sum_up() < BATCH:
            rests_until = time.monotonic() + SUM_EVERY_S

    await _repeat(add, SWEEP_EVERY_S)


async def backfill_for_ever() -> None:
    """Make what an older version did not keep of its requests, a few rows each second.

    Once all are there, it looks for pending requests of older servers that still run beside.
    """
    backfill, rests_until = Backfill(), 0.0

    def make() -> None:
        nonlocal rests_until
        if time.monotonic() >= rests_until and not backfill.step():
            rests_until = time.monotonic() + BACKFILL_EVERY_S

    await _repeat(make, SWEEP_EVERY_S)


async def verify_the_log() -> None:
    """Verify the log and the tables when a page asked for it, a small part at a time."""
    await _repeat(verify_on, SWEEP_EVERY_S)


async def keep_heads() -> None:
    """Keep the head of the log where ``AUDIT_HEADS`` says, whenever it has moved on."""
    kept_head = None

    async def keep() -> None:
        nonlocal kept_head
        head = await current_hub().work(_head)
        if head and head != kept_head:
            try:
                await _keep_head(head)
            except Exception as error:
                note_keeping(str(error) or type(error).__name__)
                raise
            note_keeping("")
            kept_head = head

    if settings.AUDIT_HEADS:
        await _keep_at(keep, settings.AUDIT_HEADS_EVERY_S)


def _head() -> Head | None:
    head = audit_head()
    return Head(head.seq, head.hash) if head else None


async def keep_the_last_head() -> None:
    """Keep the head of the log in the data folder, so that an older database is found.

    While the log lacks what was kept before, or guards are missing, that stays, and nothing is
    approved or started from here.
    """
    kept_head = None

    def keep() -> None:
        nonlocal kept_head
        doubt, head = watch_database(), _head()
        if not doubt and head and head != kept_head:
            keep_beside(head)
            kept_head = head

    await _repeat(keep, SWEEP_EVERY_S)


async def _keep_head(head: Head) -> None:
    if path := heads_file():
        await current_hub().work(partial(keep_in_file, path, head))
        return
    reply = await send(settings.AUDIT_HEADS, {"Content-Type": "application/json"}, as_json(head))
    if not reply.taken:
        raise ConnectionError(f"The head of the log was not kept at AUDIT_HEADS. {reply.said}")


async def deliver_for_ever() -> None:
    """Call back the hosts of agents that have to be told what was decided, within two seconds."""
    await _send_for_ever(AGENTS)


async def tell_for_ever() -> None:
    """Tell people, by their channels, what waits for them, within two seconds."""
    await _send_for_ever(PEOPLE)


async def _send_for_ever(source: DeliverySource) -> None:
    deliverer = Deliverer(current_hub().work, source)
    try:
        await _keep_at(deliverer.tick, SWEEP_EVERY_S)
    finally:
        deliverer.stop()


EVERYTHING = (
    sweep_for_ever,
    ask_the_provider,
    release_for_ever,
    follow_the_policy,
    tidy_for_ever,
    deliver_for_ever,
    tell_for_ever,
    verify_the_log,
    keep_heads,
    keep_the_last_head,
    sum_up_for_ever,
    backfill_for_ever,
)
"""What ``start`` and ``run_worker`` do beside."""


async def _repeat(work: Callable[[], object], every_s: float) -> None:
    await _keep_at(partial(current_hub().work, work), every_s)


async def _keep_at(work: Callable[[], Awaitable[object]], every_s: float) -> None:
    while True:
        try:
            await work()
        except Exception as error:  # noqa: BLE001 - whatever it is, the next time comes
            trouble(log, f"Background work failed and is tried again in {every_s} s", error)
        await asyncio.sleep(every_s)
