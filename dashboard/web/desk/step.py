"""Answers to single steps of a plan, and how many of them an approval names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.safestring import SafeString

from approval_client.wire import EDITABLE, Kind, StepAnswer, parse_json
from dashboard.approvals.errors import StepsRefused, StepsUncounted
from dashboard.approvals.models import ApprovalRequest, Edit
from dashboard.approvals.rules.step import StepSaid, count_of_steps, steps_of
from dashboard.web.content import step_in_words
from dashboard.web.drawing.markup import untrusted
from dashboard.web.drawing.redaction import redacted
from dashboard.web.http import PersonRequest

_NAMED = re.compile(r"(?:step|note)-([0-9]{1,6})")

_NOT_ITS_STEPS = "These answers name steps that the plan does not have."

_WHOLE_ONLY = "This agent takes whole plans only, and you hold or refuse steps of it."

_AS_BEFORE = (
    "“Same as before” and remembered approvals are about the whole plan, and you hold or refuse "
    "steps of it."
)


@dataclass(frozen=True, slots=True)
class PlanAnswers:
    """What a form says of each step of a plan: None for a step without an answer.

    Approving approves the steps without an answer; rejecting holds them.
    """

    words: tuple[StepAnswer | None, ...]
    notes: tuple[str, ...]

    @property
    def total(self) -> int:
        """How many steps the plan has."""
        return len(self.words)

    @property
    def approves(self) -> int:
        """How many steps an approval approves."""
        return sum(word in (None, StepAnswer.ALLOWED) for word in self.words)

    @property
    def is_whole(self) -> bool:
        """Whether no step is held or refused."""
        return self.approves == self.total

    @property
    def is_given(self) -> bool:
        """Whether any step is answered."""
        return any(self.words)

    def steps(self, unanswered: StepAnswer) -> list[StepSaid]:
        """Return the answer to each step; ``unanswered`` is that to the others."""
        answers = zip(self.words, self.notes, strict=True)
        return [StepSaid(index, word or unanswered, n) for index, (word, n) in enumerate(answers)]


def names_steps(form: QueryDict) -> bool:
    """Whether a form says anything of single steps."""
    return any(_NAMED.fullmatch(name) for name in form)


def plan_answers(approval: ApprovalRequest, form: QueryDict) -> PlanAnswers:
    """Read the answers to the steps of a plan.

    A word that is no answer holds the step. Of several answers to one step the strictest counts.

    Raises:
        StepsRefused: This is no plan, or they name steps that it does not have.
    """
    count = count_of_steps(approval.content) if approval.kind == Kind.PLAN else 0
    indexes = [match[1] for match in map(_NAMED.fullmatch, form) if match]
    if any(int(index) >= count or str(int(index)) != index for index in indexes):
        raise StepsRefused(_NOT_ITS_STEPS)
    return PlanAnswers(
        tuple(_strictest(form.getlist(f"step-{index}")) for index in range(count)),
        tuple(form.get(f"note-{index}", "").strip() for index in range(count)),
    )


def _strictest(words: Sequence[str]) -> StepAnswer | None:
    if StepAnswer.REFUSED in words:
        return StepAnswer.REFUSED
    if any(word not in ("", StepAnswer.ALLOWED) for word in words):
        return StepAnswer.HELD
    return StepAnswer.ALLOWED if any(words) else None


def check_part(approval: ApprovalRequest, answers: PlanAnswers, named: int | None) -> None:
    """Compare what is left of a plan with the number of steps that the button named.

    Raises:
        StepsRefused: The agent takes no part of a plan.
        StepsUncounted: The number is missing, or another one.
    """
    if not approval.accepts_edits:
        raise StepsRefused(_WHOLE_ONLY)
    if named != answers.approves:
        raise StepsUncounted(answers.approves, answers.total)


def check_whole(answers: PlanAnswers) -> None:
    """Refuse what answers a plan as a whole beside answers to its steps.

    Raises:
        StepsRefused: Some step is held or refused.
    """
    if not answers.is_whole:
        raise StepsRefused(_AS_BEFORE)


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
    if approval.kind == Kind.PLAN:
        yield from _rows(approval, steps_of(edit.steps), redacts=redacts)


def _rows(
    approval: ApprovalRequest, answers: Sequence[StepSaid], *, redacts: bool
) -> Iterator[StepRow]:
    steps = parse_json(approval.content)[EDITABLE[Kind.PLAN]]
    for reply in answers:
        icon, word = _ANSWERS[reply.answer]
        summary = (redacted if redacts else untrusted)(step_in_words(steps[reply.index]))
        yield StepRow(reply.index + 1, icon, word, summary, reply.note)


def confirm_page(request: PersonRequest, approval: ApprovalRequest) -> HttpResponse:
    """List what the answers that were sent would approve, with a form that names their number.

    For forms that name none, as those of browsers without script.
    """
    answers = plan_answers(approval, request.POST)
    carried = [
        (name, value)
        for name, values in request.POST.lists()
        for value in values
        if name not in ("csrfmiddlewaretoken", "verdict", "approves")
    ]
    context = {
        "approval": approval,
        "answers": answers,
        "steps": list(_rows(approval, answers.steps(StepAnswer.ALLOWED), redacts=True)),
        "verdict": request.POST.get("verdict", ""),
        "carried": carried,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    return render(request, "desk/steps.html", context, status=status)
