"""Tables of what agents ask and what became of it."""

from dashboard.approvals.models.answers import (
    FINAL,
    Decision,
    Grant,
    GrantQuerySet,
    Outcome,
    Vote,
)
from dashboard.approvals.models.attention import Claim, Looking, PutOff
from dashboard.approvals.models.closings import Closing
from dashboard.approvals.models.edits import Edit
from dashboard.approvals.models.notebooks import Notebook, NotebookPin
from dashboard.approvals.models.presence import Hold, Poll, View
from dashboard.approvals.models.reading import Reveal, ServedPart
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
    "Claim",
    "Closing",
    "Decision",
    "Edit",
    "Grant",
    "GrantQuerySet",
    "Hold",
    "Inspection",
    "Judgement",
    "Looking",
    "Notebook",
    "NotebookPin",
    "Outcome",
    "Poll",
    "PutOff",
    "Reveal",
    "ServedPart",
    "View",
    "Vote",
]
