"""A no that says what would do instead, and allows exactly that once where one yes is enough."""

from __future__ import annotations

from datetime import datetime

from approval_client.wire import parse_json
from dashboard.accounts.models import User
from dashboard.approvals.editing import judged_now, report_of_edit, why_not_once
from dashboard.approvals.errors import EditRefused
from dashboard.approvals.granting import Scope
from dashboard.approvals.models import Edit, Grant, Judgement
from dashboard.approvals.permission import why_not_count
from dashboard.approvals.replacing import ALLOWED_FOR, LONGEST, reason_with, text_of
from dashboard.approvals.services._answers import Answer
from dashboard.approvals.services._remembering import keep
from dashboard.approvals.services.hold import is_held
from dashboard.audit.services import Event
from dashboard.policies.services import current_revision

_TOO_LONG = f"A replacement of more than {LONGEST:,} characters cannot be sent as a reason."
_UNSEEN = "The end of it was not in sight."
_NO_WORDS = "The policy asks for a reason, and none was given."


def replace_with(
    edit: Edit, judgement: Judgement, given: Answer, now: datetime
) -> tuple[str, tuple[Event, ...]]:
    """Return the reason that holds a replacement, and what there is to record about it.

    Within the caller's transaction. Where the yes of its writer, who sends it, alone is enough,
    exactly the replacement is allowed once, in the run of the request.

    Raises:
        EditRefused: It is too long to be told.
    """
    if len(text_of(edit)) > LONGEST:
        raise EditRefused(_TOO_LONG)
    reason = given.reason
    why_not = why_not_allowed(edit, judgement, given.reviewer, now)
    demands = judged_now(edit, edit.approval, judgement).demands
    if demands.whole_content and not given.end_seen:
        why_not = why_not or _UNSEEN
    if demands.reason_required and not reason.strip():
        why_not = why_not or _NO_WORDS
    if why_not:
        return reason_with(edit, reason, None), ()
    grant = _allowed_once(edit, now + ALLOWED_FOR)
    report = report_of_edit(edit)
    event = keep(grant, of=edit.approval, by=edit.edited_by, now=now, report=report)
    return reason_with(edit, reason, grant.expires_at), (event,)


def why_not_allowed(edit: Edit, judgement: Judgement, person: User, now: datetime) -> str:
    """Say why this person does not allow a replacement by sending it; empty if they do."""
    approval, report = edit.approval, report_of_edit(edit)
    if not approval.run_id:
        return "The agent names no run, so nothing can be allowed for it alone."
    if edit.edited_by_id != person.pk:
        return "Somebody else wrote it."
    if is_held():
        return "Everything is on hold."
    evaluation = judged_now(edit, approval, judgement)
    required = evaluation.demands
    why_not = why_not_once(edit, required, report, current_revision())
    return why_not or why_not_count(approval, required, person, now, edit=edit)


def _allowed_once(edit: Edit, expires_at: datetime) -> Grant:
    return Grant(
        run_id=edit.approval.run_id,
        scope=Scope.CONTENT,
        kind=edit.approval.kind,
        digest=edit.digest,
        tool=parse_json(edit.content).get("tool", ""),
        content=edit.content,
        edit=edit,
        expires_at=expires_at,
        most_uses=1,
    )
