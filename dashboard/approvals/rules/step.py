"""The steps of a plan: answers to each, and those that say exactly what runs. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from approval_client.wire import Kind, StepAnswer, canonical_json, digest, parse_json
from dashboard.approvals.rules.content import problems_with
from dashboard.inspection.findings import Report, Severity

LONGEST_NOTE = 500

_NO_PLAN = "Only a plan has steps."
_NOT_ITS_STEPS = "Answer each step of the plan once, in order."
_NOTE_TOO_LONG = f"The note on a step is longer than {LONGEST_NOTE} characters."
_ALL_ALLOWED = "Every step is allowed, so nothing changes. Approve the plan as it is."
_NONE_ALLOWED = "No step is allowed, so nothing is left of the plan. Reject it instead."
_OBJECTIVE = "objective"
"""What a step is for. Like that of a request it binds nobody; any other member might."""

MOST_STEPS = 50
"""Steps that are looked at; each is inspected on its own."""

_STEPS = {
    StepAnswer.ALLOWED: "may stay as it is",
    StepAnswer.HELD: "is held back",
    StepAnswer.REFUSED: "is refused",
}


@dataclass(frozen=True, slots=True)
class StepSaid:
    """What becomes of one step of a plan. ``index`` counts from 0; ``note`` is a reviewer's."""

    index: int
    answer: StepAnswer
    note: str = ""

    def told(self) -> dict[str, Any]:
        """Return it as it is stored, and as agents are told."""
        note = {"note": self.note} if self.note else {}
        return {"index": self.index, "answer": str(self.answer), **note}


def steps_json(steps: Sequence[StepSaid]) -> str:
    """Write what becomes of the steps as the text that is stored."""
    return canonical_json([step.told() for step in steps])


def answers_of(text: str) -> list[dict[str, Any]]:
    """Read what ``steps_json`` wrote, without the notes: what the log keeps of it."""
    return [{"index": step.index, "answer": str(step.answer)} for step in steps_of(text)]


def steps_of(text: str) -> list[StepSaid]:
    """Read what ``steps_json`` wrote."""
    return [
        StepSaid(row["index"], StepAnswer(row["answer"]), row.get("note", ""))
        for row in json.loads(text)
    ]


def count_of_steps(content: str) -> int:
    """Return how many steps a plan has, given its canonical content."""
    return len(parse_json(content)["steps"])


def only_allowed(content: Mapping[str, Any], steps: Sequence[StepSaid]) -> dict[str, Any]:
    """Return a plan without the steps that are held or refused."""
    allowed_indexes = {step.index for step in steps if step.answer is StepAnswer.ALLOWED}
    steps_allowed = [
        step for index, step in enumerate(content["steps"]) if index in allowed_indexes
    ]
    return {**content, "steps": steps_allowed}


def why_not_said(kind: str, content: str, steps: Sequence[StepSaid]) -> str:
    """Say why these do not answer the steps of the plan; empty if they do.

    Args:
        content: What is asked, as canonical JSON.
    """
    if kind != Kind.PLAN:
        return _NO_PLAN
    if [step.index for step in steps] != list(range(count_of_steps(content))):
        return _NOT_ITS_STEPS
    return _NOTE_TOO_LONG if any(len(step.note) > LONGEST_NOTE for step in steps) else ""


def why_no_part(steps: Sequence[StepSaid]) -> str:
    """Say why the allowed steps cannot be approved as a part; empty if they can."""
    answers = {step.answer for step in steps}
    if StepAnswer.ALLOWED not in answers:
        return _NONE_ALLOWED
    return "" if len(answers) > 1 else _ALL_ALLOWED


@dataclass(frozen=True, slots=True)
class ExactStep:
    """A step that says what runs: ``content`` is what an agent would ask for it."""

    index: int
    kind: Kind
    content: dict[str, Any]

    @property
    def digest(self) -> str:
        """The name of what would be asked."""
        return digest(self.kind, self.content)


@dataclass(frozen=True, slots=True)
class Inspected:
    """An exact step with what was found in it."""

    step: ExactStep
    report: Report

    @property
    def is_clean(self) -> bool:
        """Whether only notes were found, and nothing was in doubt."""
        highest = self.report.highest
        return not self.report.has_doubts and highest in (None, Severity.INFO)


def exact_steps(content: str) -> list[ExactStep]:
    """Return the steps of a plan, from its canonical content, that leave nothing open.

    A step with a member that its request would not have leaves something open, such as a
    condition or a folder: whoever reads it approves no call without that.
    """
    steps = parse_json(content)["steps"][:MOST_STEPS]
    return list(_exact(steps))


def _exact(steps: list[dict[str, Any]]) -> Iterator[ExactStep]:
    for index, step in enumerate(steps):
        content = {name: value for name, value in step.items() if name != _OBJECTIVE}
        kind = Kind.TOOL_CALL if "tool" in content else Kind.CODE
        if isinstance(step.get(_OBJECTIVE, ""), str) and not problems_with(kind, content):
            yield ExactStep(index, kind, content)


def reason_with_steps(reason: str, steps: Sequence[StepSaid]) -> str:
    """Return the reason for the agent: the reviewer's words, then those about each step."""
    lines = [
        f"Step {step.index + 1} {_STEPS[step.answer]}{f': {step.note}' if step.note else '.'}"
        for step in steps
    ]
    return "\n\n".join(part for part in (reason.strip(), "\n".join(lines)) if part)
