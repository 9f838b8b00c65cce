"""Gathers the rooms' tables for Django. Nobody imports this; import the room's own module."""

from dashboard.accounts.models import Agent, AgentToken, Group, SignInAttempts, SignInLink, User
from dashboard.approvals.models import (
    ApprovalRequest,
    Decision,
    Grant,
    Hold,
    Inspection,
    Judgement,
    Outcome,
    Poll,
    Reveal,
    ServedPart,
    View,
    Vote,
)
from dashboard.audit.models import AuditEntry, AuditHead
from dashboard.policies.models import PolicyDraft, PolicyProposal, PolicyRevision

__all__ = [
    "Agent",
    "AgentToken",
    "ApprovalRequest",
    "AuditEntry",
    "AuditHead",
    "Decision",
    "Grant",
    "Group",
    "Hold",
    "Inspection",
    "Judgement",
    "Outcome",
    "PolicyDraft",
    "PolicyProposal",
    "PolicyRevision",
    "Poll",
    "Reveal",
    "ServedPart",
    "SignInAttempts",
    "SignInLink",
    "User",
    "View",
    "Vote",
]
