"""Work on a clock, as tasks of the server's loop or of ``run_worker``.

It shares one thread, which is not the one that answers agents who wait. It reads and writes in
batches: on SQLite nobody can commit while somebody else's transaction writes or their query reads.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial

from approval_client.wire import Kind
from dashboard.accounts.services.sessions import forget_expired
from dashboard.approvals.clock import database_now
from dashboard.approvals.services import (
    end_forbidden_grants,
    expire_overdue,
    forget_notebooks,
    forget_viewings,
    judge_pending_again,
    release_lost_assignments,
)
from dashboard.audit.services import verify_on
from dashboard.live.push import current_hub
from dashboard.notifications.delivering import Deliverer
from dashboard.notifications.services import forget_deliveries
from dashboard.policies.inspecting import inspect
from dashboard.policies.services import current_revision

SWEEP_EVERY_S = 1.0
TIDY_EVERY_S = 3600.0

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


async def tidy_for_ever() -> None:
    """Delete what is over every hour: sessions, links, viewings, unnamed notebooks, deliveries."""
    looked_at: datetime | None = None

    def tidy() -> None:
        nonlocal looked_at
        began_at = database_now()
        forget_expired()
        forget_deliveries()
        forget_viewings()
        forget_notebooks(looked_at)
        looked_at = began_at

    await _repeat(tidy, TIDY_EVERY_S)


async def verify_the_log() -> None:
    """Walk the audit log when somebody asks for it on the page, a small part at a time."""
    await _repeat(verify_on, SWEEP_EVERY_S)


async def deliver_for_ever() -> None:
    """Call back who has to be told what was decided, within two seconds."""
    deliverer = Deliverer(current_hub().work)
    try:
        await _keep_at(deliverer.tick, SWEEP_EVERY_S)
    finally:
        deliverer.stop()


EVERYTHING = (
    sweep_for_ever,
    release_for_ever,
    follow_the_policy,
    tidy_for_ever,
    deliver_for_ever,
    verify_the_log,
)
"""What ``start`` and ``run_worker`` do beside."""


async def _repeat(work: Callable[[], object], every_s: float) -> None:
    await _keep_at(partial(current_hub().work, work), every_s)


async def _keep_at(work: Callable[[], Awaitable[object]], every_s: float) -> None:
    while True:
        try:
            await work()
        except Exception:
            log.exception("Background work failed; it is tried again in %s s.", every_s)
        await asyncio.sleep(every_s)
