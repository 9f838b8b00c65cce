"""Answers to single steps of a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from approval_client.wire import EDITABLE, Kind, StepAnswer, parse_json
from dashboard.approvals import services
from dashboard.approvals.errors import NotFound, Refused
from dashboard.approvals.models import ApprovalRequest, Edit
from dashboard.approvals.rules.step import StepSaid, steps_of
from dashboard.web import errors
from dashboard.web.access import auth, for_reviewers
from dashboard.web.content import step_in_words
from dashboard.web.desk.answer import AnswerForm, record, status_of_refusal
from dashboard.web.desk.request import request_page
from dashboard.web.drawing.markup import untrusted
from dashboard.web.drawing.redaction import redacted
from dashboard.web.forms import Incomplete
from dashboard.web.http import PersonRequest, SeeOther

NOTHING_CHOSEN = "Nothing was chosen for any step, so nothing was recorded. Choose for some."


def steps_said(sent: Mapping[str, str], count: int) -> list[StepSaid]:
    """Read the answers to ``count`` steps. A step without one is held.

    Raises:
        Incomplete: Nothing was chosen.
    """
    chosen = [sent.get(f"step-{index}", "") for index in range(count)]
    if not set(chosen) & set(StepAnswer):
        raise Incomplete(NOTHING_CHOSEN)
    return [
        StepSaid(index, _step_answer(word), sent.get(f"note-{index}", "").strip())
        for index, word in enumerate(chosen)
    ]


def _step_answer(word: str) -> StepAnswer:
    return StepAnswer(word) if word in set(StepAnswer) else StepAnswer.HELD


_ANSWERS = {
    StepAnswer.ALLOWED: ("approved", "Allowed"),
    StepAnswer.HELD: ("pending", "Held"),
    StepAnswer.REFUSED: ("rejected", "Refused"),
}


@dataclass(frozen=True, slots=True)
class StepRow:
    """What becomes of one step. ``summary`` is the agent's, ``note`` a reviewer's."""

    number: int
    answer: str
    word: str
    summary: SafeString
    note: str


def step_rows(approval: ApprovalRequest, edit: Edit, *, redacts: bool) -> Iterator[StepRow]:
    """List the answers to the steps of a plan; of another kind there are none."""
    if approval.kind != Kind.PLAN:
        return
    steps = parse_json(approval.content)[EDITABLE[Kind.PLAN]]
    for said in steps_of(edit.steps):
        icon, word = _ANSWERS[said.answer]
        summary = (redacted if redacts else untrusted)(step_in_words(steps[said.index]))
        yield StepRow(said.index + 1, icon, word, summary, said.note)


@require_POST
@for_reviewers
def steps(request: PersonRequest, approval_id: UUID) -> HttpResponse:
    """Take the answers to the steps of a plan: show what is left of it, or reject with them."""
    try:
        approval = services.current(approval_id)
        if approval.kind != Kind.PLAN:
            return errors.not_found(request)
        return _steps(request, approval)
    except NotFound:
        return errors.not_found(request)
    except Refused as refusal:
        status = status_of_refusal(refusal)
        return request_page(request, services.current(approval_id), status, refusal)


def _steps(request: PersonRequest, approval: ApprovalRequest) -> HttpResponse:
    said = steps_said(request.POST, len(parse_json(approval.content)["steps"]))
    if request.POST.get("verdict") == "reject":
        record(request, approval.pk, AnswerForm(request.POST), steps=said)
        return SeeOther(reverse("web:request", args=[approval.pk]))
    kept = services.propose_part(
        approval_id=approval.pk, editor=request.user, auth=auth(request), steps=said
    )
    return SeeOther(reverse("web:edit_shown", args=[approval.pk, kept.pk]))
