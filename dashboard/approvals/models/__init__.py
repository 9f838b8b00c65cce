"""Tables of what agents ask and what became of it."""

from dashboard.approvals.models.answers import (
    FINAL,
    Decision,
    Grant,
    GrantQuerySet,
    Outcome,
    Vote,
)
from dashboard.approvals.models.edits import Edit
from dashboard.approvals.models.presence import Hold, Poll, View
from dashboard.approvals.models.requests import (
    ApprovalQuerySet,
    ApprovalRequest,
    Inspection,
    Judgement,
)

__all__ = [
    "FINAL",
    "ApprovalQuerySet",
    "ApprovalRequest",
    "Decision",
    "Edit",
    "Grant",
    "GrantQuerySet",
    "Hold",
    "Inspection",
    "Judgement",
    "Outcome",
    "Poll",
    "View",
    "Vote",
]
