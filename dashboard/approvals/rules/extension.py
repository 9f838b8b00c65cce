"""How much time can be added to a request near its end. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from dashboard.approvals.models import ApprovalRequest
from dashboard.policies.rules.demands import Required

LIMIT_OVER = "Nobody decided within the time limit."
"""The reason of what ended so, but where a new policy shortened it."""
STEP = timedelta(minutes=5)
"""What one press adds, unless the agent or the policy allows less."""

MOST_TIMES = 3
_LAST = timedelta(minutes=1)
_LEAST = timedelta(seconds=1)


class Extension(NamedTuple):
    """Time that can be added.

    Attributes:
        opens_at: From when on; before that, nobody needs it.
        until: When the request would expire then.
    """

    opens_at: datetime
    until: datetime


def extension(approval: ApprovalRequest, required: Required) -> Extension | None:
    """Return what can be added to a pending request, or None if nothing ever can.

    Neither the policy's time limit nor how long the agent says it waits is passed. It is offered
    in the last quarter of the time limit, five minutes before its end at the earliest, and in its
    last minute always.
    """
    ends, begins = approval.expires_at, approval.submitted_at
    limits = [limit for limit in (required.time_limit_s, approval.max_wait_s) if limit is not None]
    until = min([ends + STEP, *(begins + timedelta(seconds=limit) for limit in limits)])
    if approval.extensions >= MOST_TIMES or until - ends < _LEAST:
        return None
    return Extension(ends - max(_LAST, min((ends - begins) / 4, STEP)), until)
