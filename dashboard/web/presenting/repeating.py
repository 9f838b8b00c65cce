"""An earlier answer that can be given again by one press."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest, Judgement
from dashboard.approvals.rules.likeness import earlier_answer, saw_the_end
from dashboard.web.presenting import times
from dashboard.web.presenting.times import Moment
from dashboard.wire import Status


@dataclass(frozen=True, kw_only=True, slots=True)
class Same:
    """What a person answered to exactly this, earlier in the run.

    Attributes:
        decision_id: Which answer, for the form.
        by: ``"you"``, or a name.
        reason: The words that are given again with it.
        end_seen: Whether the reader had the end of it in sight then.
    """

    decision_id: int
    approval_id: UUID
    verb: str
    status: str
    by: str
    at: Moment
    reason: str
    end_seen: bool

    @property
    def is_yes(self) -> bool:
        """Whether it approved."""
        return self.status == Status.APPROVED


def same(
    approval: ApprovalRequest, judgement: Judgement, person: User, now: datetime
) -> Same | None:
    """Return the answer that can be given again, or None."""
    earlier = earlier_answer(approval, judgement)
    if earlier is None or earlier.decided_by is None:
        return None
    return Same(
        decision_id=earlier.pk,
        approval_id=earlier.approval_id,
        verb="approve" if earlier.status == Status.APPROVED else "reject",
        status=earlier.status,
        by="you" if earlier.decided_by == person else earlier.decided_by.username,
        at=times.moment(earlier.decided_at, now),
        reason=earlier.reason,
        end_seen=saw_the_end(earlier, person),
    )
