"""What a reviewer made of a content, beside what was asked: to be read before it is sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.utils.safestring import SafeString

from dashboard.accounts.models import User
from dashboard.approvals import queries
from dashboard.approvals.models import ApprovalRequest, Edit, Inspection, Judgement
from dashboard.approvals.rules import edit as edit_rules
from dashboard.approvals.rules.answer import why_not_count
from dashboard.approvals.rules.edit import ALLOWED_FOR, edited, judged_now, report_of_edit
from dashboard.approvals.rules.step import steps_of
from dashboard.policies.demands import Required
from dashboard.policies.evaluate import Effect
from dashboard.web.presenting import asking, changes, times, voting
from dashboard.web.presenting.chain import Section, sections
from dashboard.web.presenting.reading import TOO_LONG, Reading, read, too_long
from dashboard.web.presenting.times import Moment
from dashboard.web.presenting.voting import Progress
from dashboard.web.rendering.markup import theirs
from dashboard.web.rendering.masking import by_looks
from dashboard.web.rendering.plans import lead
from dashboard.wire import EDITABLE, Kind, StepAnswer, parse_json

_HELD = "Everything is on hold: nothing can be approved until an admin lifts it."
_ONCE = (
    f"The agent may come back with exactly this, once, in this run and within "
    f"{times.length(ALLOWED_FOR.total_seconds())}, and nobody is asked again."
)
_WORDS = "The agent gets it as words, and a person is asked again when it comes back with it. {}"
_ANSWERS = {
    StepAnswer.ALLOWED: ("approved", "Allowed"),
    StepAnswer.HELD: ("pending", "Held"),
    StepAnswer.REFUSED: ("rejected", "Refused"),
}


@dataclass(frozen=True, slots=True)
class StepRow:
    """What becomes of one step. ``gist`` is the agent's, ``note`` a reviewer's."""

    number: int
    answer: str
    word: str
    gist: SafeString
    note: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """A change, ready for the page.

    Attributes:
        sentences: What the policy says of it, and ``demands`` what a yes to it takes.
        is_replacement: Whether it can only be sent along with a no.
        once: What happens when it is sent along with a no.
        why_not: Why it cannot be approved by this person; empty if it can.
        runs: Which steps may be allowed to run, in words.
    """

    id: int
    by: str
    is_mine: bool
    at: Moment
    digest: str
    sections: list[Section]
    steps: list[StepRow]
    reading: Reading
    sentences: list[str]
    demands: list[str]
    required: Required
    is_replacement: bool
    once: str
    why_not: str
    progress: Progress | None
    runs: str


def change(
    approval: ApprovalRequest,
    edit: Edit,
    judgement: Judgement,
    person: User,
    *,
    now: datetime,
    host: str,
) -> Change:
    """Show ``edit`` to ``person``, on a page that ``host`` serves."""
    evaluation = judged_now(edit, approval, judgement)
    required, is_mine = evaluation.demands, edit.edited_by_id == person.pk
    why_not = _why_not(approval, edit, required, person, now)
    rejected = f"The policy rejects this now. {evaluation.reason}"
    reading = _reading(approval, edit, person, host)
    edit.approval = approval
    return Change(
        id=edit.pk,
        by="you" if is_mine else edit.edited_by.username,
        is_mine=is_mine,
        at=times.moment(edit.edited_at, now),
        digest=edit.digest,
        sections=_sections(approval, edit, masks=reading.masks),
        steps=list(_steps(approval, edit, masks=reading.masks)),
        reading=reading,
        sentences=list(evaluation.trace),
        demands=asking.in_words(required, approval),
        required=required,
        is_replacement=not approval.accepts_edits,
        once=_once(edit, judgement, person, now),
        why_not=rejected if evaluation.effect is Effect.REJECT else why_not,
        progress=voting.progress(approval, required, person, now, edit=edit),
        runs=changes.runs(approval, edit.content, required, report_of_edit(edit), person=person),
    )


def name_of(approval: ApprovalRequest, edit: Edit) -> str:
    """Name what the page of an edit shows, for its signature: not what the request's page does."""
    return f"{approval.pk}/edits/{edit.pk}"


def _why_not(
    approval: ApprovalRequest, edit: Edit, required: Required, person: User, now: datetime
) -> str:
    if why_not := why_not_count(approval, required, person, now, edit=edit):
        return why_not
    if too_long(Kind(approval.kind), edit.content):
        return TOO_LONG
    return _HELD if queries.active_hold() else ""


def _once(edit: Edit, judgement: Judgement, person: User, now: datetime) -> str:
    why_not = edit_rules.why_not_allowed(edit, judgement, person, now)
    return _WORDS.format(why_not) if why_not else _ONCE


def _reading(approval: ApprovalRequest, edit: Edit, person: User, host: str) -> Reading:
    """Draw the edited content as if it had been asked."""
    seen = Judgement(inspection=Inspection(report=edit.report))
    name = name_of(approval, edit)
    return read(edited(approval, edit.content), seen, host, person, name=name)


def _sections(approval: ApprovalRequest, edit: Edit, *, masks: bool) -> list[Section]:
    is_plan = approval.kind == Kind.PLAN
    return [] if is_plan else list(sections(approval.content, edit.content, masks=masks))


def _steps(approval: ApprovalRequest, edit: Edit, *, masks: bool) -> Iterator[StepRow]:
    if approval.kind != Kind.PLAN:
        return
    steps = parse_json(approval.content)[EDITABLE[Kind.PLAN]]
    for said in steps_of(edit.steps):
        icon, word = _ANSWERS[said.answer]
        gist = (by_looks if masks else theirs)(lead(steps[said.index]))
        yield StepRow(said.index + 1, icon, word, gist, said.note)
