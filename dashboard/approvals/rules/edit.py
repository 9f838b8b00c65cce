"""Edits: which are allowed, what approving one takes, and replacements with a rejection."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from approval_client.wire import (
    EDITABLE,
    MAX_BODY_BYTES,
    JsonError,
    Kind,
    canonical_json,
    digest,
    parse_json,
)
from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest, Edit, Judgement
from dashboard.approvals.queries.hold import present_stop
from dashboard.approvals.rules.answer import why_not_count
from dashboard.approvals.rules.content import problems_with
from dashboard.approvals.rules.judgement import explained, judged_by, question_of, standing_of
from dashboard.inspection.findings import Report
from dashboard.policies.evaluate import Evaluation, stricter
from dashboard.policies.models import PolicyRevision
from dashboard.policies.rules.demands import Required
from dashboard.policies.services import current_revision

MOST_EDITS = 50
UNCHANGED = "This is what the agent asked, to the last character."
ALLOWED_FOR = timedelta(minutes=30)
"""How long the agent has to come back with exactly the replacement."""

LONGEST_REPLACEMENT = 20_000
"""Characters of a replacement that an agent is told as a reason."""

_ONCE = (
    "Ask for exactly this, in the same run and before {until}, and it is approved once without "
    "asking a person again."
)
_ASKED_AGAIN = "If you ask for this, a person decides as usual."


def why_not(approval: ApprovalRequest, after: Any) -> str:
    """Say why a request's content cannot be edited into ``after``; empty if it can."""
    return taken_whole(approval) or next(
        _problems(Kind(approval.kind), parse_json(approval.content), after), ""
    )


def taken_whole(approval: ApprovalRequest) -> str:
    """Say why a plan cannot be edited, where its agent accepts no edits; empty if it can."""
    if approval.kind == Kind.PLAN and not approval.accepts_edits:
        return "The agent accepts a plan only as a whole."
    return ""


def _problems(kind: Kind, before: dict[str, Any], after: Any) -> Iterator[str]:
    yield from problems_with(kind, after)
    try:
        # As deep as it stands in an answer, which is no deeper than its reader takes.
        answer = canonical_json({"decision": {"content": after}})
    except JsonError as error:
        yield str(error)
        return
    if len(answer.encode()) > MAX_BODY_BYTES:
        yield f"This is larger than {MAX_BODY_BYTES:,} bytes."
    if canonical_json(before) == canonical_json(after):
        yield UNCHANGED
    if _frame(kind, before) != _frame(kind, after):
        yield f"Only the {EDITABLE[kind]} may change."
    if kind is Kind.PLAN and not _is_within(after["steps"], before["steps"]):
        yield "Steps of a plan can be removed, and nothing else of it can change."


def _frame(kind: Kind, content: dict[str, Any]) -> str:
    return canonical_json({k: v for k, v in content.items() if k != EDITABLE[kind]})


def _is_within(some: Sequence[Any], steps: Sequence[Any]) -> bool:
    remaining = iter(map(canonical_json, steps))
    return all(canonical_json(step) in remaining for step in some)


def edited(approval: ApprovalRequest, content: str) -> ApprovalRequest:
    """Return a copy of a request as if ``content`` had been asked, never saved."""
    as_if = copy.copy(approval)
    as_if.content = content
    as_if.digest = digest(approval.kind, parse_json(content))
    return as_if


def judged(
    approval: ApprovalRequest, content: str, report: Report, judgement: Judgement
) -> Evaluation:
    """Judge an edit: never more leniently than what was asked."""
    question = question_of(edited(approval, content), report, judgement.inspection.repeated)
    return stricter(explained(judgement), judged_by(judgement.revision, question))


def judged_now(edit: Edit, approval: ApprovalRequest, judgement: Judgement) -> Evaluation:
    """Say what holds for an edit beside ``judgement``, which is what holds for the request.

    That is the strictest of what was said of the edit then, what the policy of the judgement says
    of it, and what holds for the request.
    """
    anew = judged(approval, edit.content, report_of_edit(edit), judgement)
    return stricter(explained(edit), anew)


def report_of_edit(edit: Edit) -> Report:
    """Return what was found in an edit."""
    return Report.from_json(edit.report)


def why_not_once(edit: Edit, required: Required, report: Report, present: PolicyRevision) -> str:
    """Say why sending a replacement does not pre-approve it once; empty if it does.

    It does not matter whether the agent accepts remembered approvals or the policy allows them:
    this approves this very content, now.
    """
    if edit.revision_id != present.number:
        return "The policy has changed since this was written."
    if not required.editor_may_approve:
        return "The policy requires somebody else to approve what a reviewer has changed."
    if required.approvals > 1:
        return "Several people must approve this."
    if required.proof:
        return "Whoever approves this has to sign it with their passkey."
    if report.has_doubts:
        return "This is not fully inspected."
    return ""


def text_of(edit: Edit) -> str:
    """Return the edited part as text, as JSON where it is not a text."""
    value = parse_json(edit.content)[EDITABLE[Kind(edit.approval.kind)]]
    return value if isinstance(value, str) else canonical_json(value)


def reason_with(edit: Edit, reason: str, allowed_until: datetime | None) -> str:
    """Return the reason for the agent: the reviewer's words and their replacement.

    Args:
        allowed_until: Until when it is allowed once; None if it is only words.
    """
    mark = f"replacement {edit.digest[:12]}"
    until = allowed_until.astimezone(UTC).strftime("%H:%M:%S UTC") if allowed_until else ""
    introduction = "A reviewer suggests this instead:"
    ending = _ONCE.format(until=until) if until else _ASKED_AGAIN
    parts = [
        reason.strip(),
        introduction,
        f"--- begin {mark} ---\n{text_of(edit)}\n--- end {mark} ---",
    ]
    return "\n\n".join([part for part in parts if part] + [ending])


def why_not_allowed(edit: Edit, judgement: Judgement, person: User, now: datetime) -> str:
    """Say why this person does not pre-approve a replacement by sending it; empty if they do."""
    approval, report = edit.approval, report_of_edit(edit)
    if not approval.run_id:
        return "The agent names no run, so nothing can be allowed for it alone."
    if edit.edited_by_id != person.pk:
        return "Somebody else wrote it."
    if standing_of(approval).takes_a_person:
        return "A call of this tool is for a person each time."
    if stop := present_stop():
        return stop.why
    evaluation = judged_now(edit, approval, judgement)
    required = evaluation.demands
    why_not = why_not_once(edit, required, report, current_revision())
    return why_not or why_not_count(approval, required, person, now, edit=edit)
