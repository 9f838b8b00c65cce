"""Our own words for kinds, statuses, languages and who decided. None of them is an agent's."""

from __future__ import annotations

from approval_client.wire import Kind, Source, Status
from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest, Decision
from dashboard.approvals.rules.recall import recall_of
from dashboard.inspection.memories import MemoryEffect

KINDS = {
    Kind.CODE: "Code",
    Kind.TOOL_CALL: "Tool call",
    Kind.PLAN: "Plan",
    Kind.MEMORY: "Memory",
}

STATUSES = {
    Status.PENDING: "Waiting",
    Status.APPROVED: "Approved",
    Status.REJECTED: "Rejected",
    Status.EXPIRED: "Expired",
    Status.CANCELLED: "Withdrawn",
}

TAKEN_BACK = "Taken back"

HEADINGS = {
    Kind.CODE: "What would run",
    Kind.TOOL_CALL: "What would be called",
    Kind.PLAN: "What would be followed",
    Kind.MEMORY: "What would be remembered",
}

MEMORY_HEADINGS = {
    MemoryEffect.DELETES: "What would be forgotten",
    MemoryEffect.UNKNOWN: "What would be done to the memory",
}

_LANGUAGES = {
    "cpp": "C++",
    "css": "CSS",
    "html": "HTML",
    "ini": "INI",
    "javascript": "JavaScript",
    "json": "JSON",
    "matlab": "MATLAB",
    "php": "PHP",
    "powershell": "PowerShell",
    "sql": "SQL",
    "toml": "TOML",
    "typescript": "TypeScript",
    "xml": "XML",
    "yaml": "YAML",
}

_UNCOLOURED = "text"


def language(alias: str) -> str:
    """Return how a language is written, from the name that our renderer gives it."""
    return "plain text" if alias == _UNCOLOURED else _LANGUAGES.get(alias, alias.capitalize())


def standing(approval: ApprovalRequest) -> tuple[str, str]:
    """Return how a request stands: the status that it is drawn as, and our word for it."""
    if recall_of(approval):
        return Status.CANCELLED, TAKEN_BACK
    return approval.status, STATUSES[Status(approval.status)]


_CLOSERS = {
    Source.POLICY: "by the policy",
    Source.GRANT: "by a remembered approval",
    Source.ADMIN: "by an admin",
}


def decided_by(decision: Decision, person: User) -> str:
    """Say how and by whom something was answered, where the status does not say it already."""
    by = _CLOSERS.get(Source(decision.source), "")
    if decision.decided_by:
        same = decision.decided_by_id == person.pk
        by = "by you" if same else f"by {decision.decided_by.username}"
    return f"with a change {by}".strip() if decision.edit_id else by
