"""Ring the hubs of this process. The database is the truth; this only saves time."""

from __future__ import annotations

import asyncio
from threading import Lock

from dashboard.approvals.models import ApprovalRequest
from dashboard.live.hub import Hub
from dashboard.live.layer import Bell

_hubs: dict[asyncio.AbstractEventLoop, Hub] = {}
_lock = Lock()


def current_hub() -> Hub:
    """Return the hub of the running event loop, made on first use."""
    loop = asyncio.get_running_loop()
    with _lock:
        _drop_the_ended()
        if loop not in _hubs:
            _hubs[loop] = Hub()
        return _hubs[loop]


def ring(bell: Bell, closed: ApprovalRequest | None = None) -> None:
    """Tell every hub of this process that something changed; they tell the other processes.

    Args:
        bell: What changed.
        closed: The request with its decision, if it was closed and this is committed. Who waits
            for it in this process is answered by it.
    """
    for hub in _working():
        hub.ring(bell, closed)


def company() -> tuple[int, int, bool]:
    """Count who waits in this process: agents, open pages; and whether no bells come to it."""
    hubs = _working()
    waits, pages = sum(hub.waits for hub in hubs), sum(hub.pages for hub in hubs)
    return waits, pages, any(hub.is_deaf for hub in hubs)


def heard() -> int | None:
    """How often this process heard of changes; None if it does not listen.

    Pages that ask after the same news may share an answer that was read since then.
    """
    hubs = _working()
    return sum(hub.heard for hub in hubs) if hubs else None


def _working() -> list[Hub]:
    with _lock:
        _drop_the_ended()
        return list(_hubs.values())


def _drop_the_ended() -> None:
    for loop in [loop for loop in _hubs if loop.is_closed()]:
        _hubs.pop(loop).end_threads()
