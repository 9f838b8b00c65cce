"""Answers to single steps of a plan, and how many of them an approval names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString

from approval_client.wire import EDITABLE, Kind, StepAnswer, canonical_json, parse_json
from dashboard.approvals.errors import StepsRefused, StepsUncounted
from dashboard.approvals.models import ApprovalRequest, Edit
from dashboard.approvals.rules.step import StepSaid, count_of_steps, steps_of
from dashboard.inspection.redaction import candidates
from dashboard.web.content import Content, PlanStep, fits, render_content
from dashboard.web.desk.judgement import last_judgement
from dashboard.web.desk.view import drawn_for
from dashboard.web.drawing.direction import TextReading
from dashboard.web.drawing.markup import EMPTY, untrusted_code
from dashboard.web.drawing.redaction import draw_masked
from dashboard.web.drawing.tree import Member
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


_LONGEST_JSON = 2_000
"""Characters of a step of a plan that is not drawn member by member."""


@dataclass(frozen=True, slots=True)
class StepRow:
    """What becomes of one step, and all that the step says. ``note`` is a reviewer's.

    Attributes:
        step: The step as the page of the plan draws it; None where it is too much for that.
        json: The step as JSON then, and ``left_out`` how many characters of that are cut.
    """

    number: int
    answer: str
    word: str
    note: str
    step: PlanStep | None
    json: SafeString = EMPTY
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class AnsweredSteps:
    """The steps of a plan with the answer to each, and the content that holds their texts."""

    rows: list[StepRow]
    content: Content

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def is_cut(self) -> bool:
        """Whether some of what a step says is read elsewhere."""
        blocks = self.content.blocks[1:]  # the first is all of it once more, as JSON
        is_begun = any(b.href and b.drawn < len(b.code.windows) for b in blocks)
        return is_begun or any(row.left_out for row in self.rows)


def answered_steps(approval: ApprovalRequest, edit: Edit, *, redacts: bool) -> AnsweredSteps:
    """Draw the steps of a plan with the answers to them; of another kind there are none.

    They have no marks, for those are beside the content below. A step with a text of several
    windows is cut: what is left of the plan stands below in full.
    """
    answers = steps_of(edit.steps) if approval.kind == Kind.PLAN else []
    if not answers:
        return AnsweredSteps([], Content([]))
    content = Content([])
    if fits(approval):
        content = render_content(approval.kind, approval.content, redacts=redacts)
    return _answered(approval, answers, content, redacts=redacts)


def _answered(
    approval: ApprovalRequest, answers: Sequence[StepSaid], content: Content, *, redacts: bool
) -> AnsweredSteps:
    steps = parse_json(approval.content)[EDITABLE[Kind.PLAN]]
    plan_steps = content.plan.steps if content.plan else []
    rows = []
    for reply in answers:
        icon, word = _ANSWERS[reply.answer]
        row = StepRow(reply.index + 1, icon, word, reply.note, None)
        step = plan_steps[reply.index] if plan_steps else None
        if step and not _is_too_long(step.members, content):
            rows.append(replace(row, step=step))
        else:
            html, left_out = _as_json(steps[reply.index], redacts=redacts)
            rows.append(replace(row, json=html, left_out=left_out))
    return AnsweredSteps(rows, content)


def _is_too_long(members: Iterable[Member], content: Content) -> bool:
    """Whether a text takes several windows, and no window of it is read elsewhere."""
    for member in members:
        block = content.blocks[member.block]
        is_long = member.block and block.code.is_long and not block.href
        if is_long or _is_too_long(member.members, content):
            return True
    return False


def _as_json(step: Mapping[str, Any], *, redacts: bool) -> tuple[SafeString, int]:
    text = canonical_json(step)
    beginning = text[:_LONGEST_JSON]
    if redacts:
        html = draw_masked(beginning, _within(candidates(text)), TextReading.CODE)
    else:
        html = untrusted_code(beginning, TextReading.CODE)
    return html, len(text) - len(beginning)


def _within(runs: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    return ((start, min(end, _LONGEST_JSON)) for start, end in runs if start < _LONGEST_JSON)


def confirm_page(request: PersonRequest, approval: ApprovalRequest) -> HttpResponse:
    """Show each step, its answer, and a form that names how many of them it approves.

    For forms that name no number, as those of browsers without script. Each step is drawn as on
    the page of the request, for this is what is read last before the plan is approved.
    """
    answers = plan_answers(approval, request.POST)
    redacts, (_, content) = drawn_for(
        approval, last_judgement(approval), request.user, None, is_whole=False
    )
    page = reverse("web:request", args=[approval.pk])
    blocks = [replace(block, finding_page=page) for block in content.blocks]
    content, steps = replace(content, blocks=blocks), answers.steps(StepAnswer.ALLOWED)
    carried = [
        (name, value)
        for name, values in request.POST.lists()
        for value in values
        if name not in ("csrfmiddlewaretoken", "verdict", "approves")
    ]
    context = {
        "approval": approval,
        "answers": answers,
        "steps": _answered(approval, steps, content, redacts=redacts),
        "verdict": request.POST.get("verdict", ""),
        "carried": carried,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    return render(request, "desk/steps.html", context, status=status)
