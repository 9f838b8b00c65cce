"""Which columns of a row the log keeps the fingerprint of.

They never change after the row is inserted, but for an assignment: its entry is about the row as
it was then. A column that is added later must not be added here:
rows that were recorded before would no longer fit what the log says. It needs a name of its own
in the entry.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from django.db.models import Model

from dashboard.approvals.models import (
    ApprovalRequest,
    Assignment,
    Decision,
    Edit,
    Grant,
    Inspection,
    Judgement,
    JudgementGrounds,
    Outcome,
    Recall,
    RequestHeadline,
    Signature,
    Tool,
    Vote,
)
from dashboard.audit.fingerprint import fingerprint

COLUMNS: dict[type[Model], tuple[str, ...]] = {
    ApprovalRequest: (
        "agent_id",
        "token_id",
        "idempotency_key",
        "submission_hash",
        "kind",
        "capability",
        "digest",
        "objective",
        "evidence",
        "run_id",
        "max_wait_s",
        "accepts_edits",
        "accepts_grants",
        "submitted_at",
    ),
    Inspection: ("digest", "report", "repeated", "inspected_at"),
    JudgementGrounds: ("facts",),
    RequestHeadline: ("severity", "has_doubts", "finding", "facts"),
    Judgement: ("inspection_id", "revision_id", "effect", "demands", "trace", "judged_at"),
    Edit: (
        "content",
        "digest",
        "report",
        "revision_id",
        "effect",
        "demands",
        "trace",
        "steps",
        "edited_by_id",
        "edited_at",
    ),
    Vote: (
        "person_id",
        "judgement_id",
        "edit_id",
        "digest",
        "reason",
        "end_seen",
        "shown",
        "voted_at",
    ),
    Signature: ("vote_id", "passkey_id", "nonce", "authenticator_data", "client_data", "value"),
    Decision: (
        "status",
        "source",
        "reason",
        "decided_by_id",
        "decided_at",
        "digest",
        "valid_until",
        "judgement_id",
        "grant_id",
        "edit_id",
        "steps",
        "shown",
        "counted",
        "repeats_id",
    ),
    Outcome: (
        "state",
        "idempotency_key",
        "report_hash",
        "digest",
        "exit_code",
        "error",
        "duration_s",
        "output_head",
        "reported_at",
    ),
    Assignment: ("person_id", "assigned_at", "after_id", "is_handed", "note"),
    Recall: ("person_id", "source", "reason", "taken_back_at"),
    Grant: (
        "agent_id",
        "run_id",
        "scope",
        "kind",
        "digest",
        "tool",
        "arguments",
        "findings",
        "content",
        "edit_id",
        "made_from_id",
        "made_by_id",
        "made_at",
        "expires_at",
        "most_uses",
    ),
}


def fingerprint_of(row: Model) -> str:
    """Return the fingerprint of a row, the same before it is inserted and after it is read.

    It is made with the key of the request, which stands beside the content and goes with it:
    rows hold what agents wrote and reviewers quote, and the log must not give that away later.
    Requests that are older than the keys have none.
    """
    values = {name: field.to_python(getattr(row, name)) for name, field in _of(type(row))}
    return fingerprint(values, _request_of(row).log_key or "")


def fits(row: Model, said: object) -> bool:
    """Whether a row is the one whose fingerprint an entry of the log has.

    While servers are upgraded one after the other, an older one writes fingerprints without the
    key. They name the row as well: only what they would give away is another matter.
    """
    if said == fingerprint_of(row):
        return True
    values = {name: field.to_python(getattr(row, name)) for name, field in _of(type(row))}
    return said == fingerprint(values)


def _request_of(row: Any) -> ApprovalRequest:
    if isinstance(row, ApprovalRequest):
        return row
    if isinstance(row, RequestHeadline) and row.edit:
        row = row.edit
    if isinstance(row, Signature):
        row = row.vote
    if isinstance(row, JudgementGrounds):
        row = row.edit or row.judgement
    request: ApprovalRequest = row.made_from if isinstance(row, Grant) else row.approval
    return request


@cache
def _of(model: type[Model]) -> list[tuple[str, Any]]:
    fields = {field.attname: field for field in model._meta.fields}  # noqa: SLF001 - public by custom
    return [(name, fields[name]) for name in COLUMNS[model]]


def tool_fingerprint(tool: Tool) -> str:
    """Return what stands in the log for the names of a tool, which are an agent's word."""
    columns = ("agent_id", "name", "spelling", "schema_digest")
    key = str(fingerprint({"first_asked_at": tool.first_asked_at}))
    return fingerprint({column: getattr(tool, column) for column in columns}, key)
