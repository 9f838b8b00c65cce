"""Gathers the rooms' tables for Django. Nobody imports this; import the room's own module."""

from dashboard.accounts.models import Agent, AgentToken, Group, SignInAttempts, SignInLink, User
from dashboard.approvals.models import (
    ApprovalRequest,
    Decision,
    Edit,
    Grant,
    Hold,
    Inspection,
    Judgement,
    Outcome,
    Poll,
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
    "Edit",
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
    "SignInAttempts",
    "SignInLink",
    "User",
    "View",
    "Vote",
]
