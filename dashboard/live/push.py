"""Ring the hubs of this process. The database is the truth; this only saves time."""

from __future__ import annotations

import asyncio
from threading import Lock
from uuid import UUID

from dashboard.approvals.models import ApprovalRequest
from dashboard.live.hub import Hub

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


def ring(approval_id: UUID | str, version: int, closed: ApprovalRequest | None = None) -> None:
    """Tell every hub of this process that something changed; they tell the other processes.

    Args:
        approval_id: What changed: a request, or ``GATE``.
        version: Its version.
        closed: The request with its decision, if it was closed and this is committed. Who waits
            for it in this process is answered by it.
    """
    with _lock:
        _drop_the_ended()
        hubs = list(_hubs.values())
    for hub in hubs:
        hub.ring(approval_id, version, closed)


def _drop_the_ended() -> None:
    for loop in [loop for loop in _hubs if loop.is_closed()]:
        del _hubs[loop]
