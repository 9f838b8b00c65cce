"""The order of decisions, in memory: what ``FakeDashboard`` tells who reads on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import httpx2

from approval_client._decided import DECISIONS
from approval_client._fake import FakeApproval, Refused
from approval_client._fake_replies import as_json

__all__ = ["DECISIONS", "decisions"]
_LIMIT = 50


def decisions(
    request: httpx2.Request, approvals: Sequence[FakeApproval], now: datetime, base_url: str
) -> httpx2.Response:
    """Answer one call; whoever looks has heard, so whatever will be decided is decided."""
    for approval in approvals:
        approval.tick(now, heard=True)
    closed = sorted((one for one in approvals if one.place), key=lambda one: one.place)
    found = _from(closed, request.url.params.get("after"), request.url.params.get("since"))
    page = found[: int(request.url.params.get("limit", _LIMIT))]
    last = page[-1] if page else closed[-1] if closed else None
    told = {
        "decisions": [approval.answer(now, base_url) for approval in page],
        "next": last and last.id,
        "more": len(found) > len(page),
    }
    return as_json(200, told)


def _from(closed: list[FakeApproval], after: str | None, since: str | None) -> list[FakeApproval]:
    if after:
        ids = [approval.id for approval in closed]
        if after not in ids:
            raise Refused(404, "not_found", "There is no such request.")
        return closed[ids.index(after) + 1 :]
    if since:
        moment = datetime.fromisoformat(since)
        late = [_decided_at(approval) >= moment for approval in closed]
        return closed[late.index(True) :] if any(late) else []
    return closed


def _decided_at(approval: FakeApproval) -> datetime:
    return datetime.fromisoformat((approval.decision or {})["decided_at"])
