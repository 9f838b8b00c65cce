"""Gathers the rooms' tables for Django. Nobody imports this; import the room's own module."""

from dashboard.accounts.models import Agent, AgentToken, Group, SignInAttempts, SignInLink, User
from dashboard.approvals.models import (
    ApprovalRequest,
    Claim,
    Decision,
    Grant,
    Hold,
    Inspection,
    Judgement,
    Looking,
    Notebook,
    NotebookPin,
    Outcome,
    Poll,
    PutOff,
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
    "Claim",
    "Decision",
    "Grant",
    "Group",
    "Hold",
    "Inspection",
    "Judgement",
    "Looking",
    "Notebook",
    "NotebookPin",
    "Outcome",
    "PolicyDraft",
    "PolicyProposal",
    "PolicyRevision",
    "Poll",
    "PutOff",
    "SignInAttempts",
    "SignInLink",
    "User",
    "View",
    "Vote",
]
