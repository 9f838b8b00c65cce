"""What can be made of a request on its page: an edit, a replacement, an answer to each step."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest, Edit, Judgement
from dashboard.approvals.rules.grant import why_not_by, why_not_grantable
from dashboard.approvals.rules.judgement import demands_of, report_of
from dashboard.approvals.rules.step import exact_steps
from dashboard.inspection.findings import Report
from dashboard.policies.demands import Required
from dashboard.web.presenting import times
from dashboard.web.presenting.editing import why_no_editor
from dashboard.web.presenting.reading import fits
from dashboard.web.presenting.times import Moment
from dashboard.wire import Kind


@dataclass(frozen=True, slots=True)
class Proposed:
    """A change that somebody wrote and that waits for a yes."""

    id: int
    by: str
    at: Moment


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """What is offered beside Approve and Reject.

    Attributes:
        word: What the way to the editor is called; empty if there is none.
        proposed: What was written already, the newest first.
        has_steps: Whether each step can be answered on its own.
        accepts: Whether the agent takes a changed content.
        runs: Which steps may be allowed to run when they are asked exactly so, in words.
    """

    word: str
    proposed: list[Proposed]
    has_steps: bool
    accepts: bool
    runs: str


def changes(
    approval: ApprovalRequest, judgement: Judgement, person: User, at: datetime
) -> Changes:
    """Say what ``person``, who may decide about ``approval``, can make of it."""
    is_plan = approval.kind == Kind.PLAN
    report = report_of(judgement.inspection)
    return Changes(
        word="" if why_no_editor(approval) else _word(approval),
        proposed=[_proposed(edit, person, at) for edit in list(approval.edits.all())[::-1]],
        has_steps=is_plan and fits(approval),
        accepts=approval.accepts_edits,
        runs=runs(approval, approval.content, demands_of(judgement), report, person=person),
    )


def runs(
    approval: ApprovalRequest, content: str, required: Required, report: Report, *, person: User
) -> str:
    """Name the steps of a plan that may be allowed to run; empty if none may."""
    if approval.kind != Kind.PLAN or not approval.run_id:
        return ""
    if why_not_grantable(approval, required, report) or why_not_by(person, required):
        return ""
    numbers = [str(step.index + 1) for step in exact_steps(content)]
    *others, last = numbers or [""]
    return f"steps {', '.join(others)} and {last}" if others else last and f"step {last}"


def _word(approval: ApprovalRequest) -> str:
    return "Edit…" if approval.accepts_edits else "Write a replacement…"


def _proposed(edit: Edit, person: User, at: datetime) -> Proposed:
    by = "you" if edit.edited_by_id == person.pk else edit.edited_by.username
    return Proposed(edit.pk, by, times.moment(edit.edited_at, at))
