"""What becomes of each step of a plan that is not simply approved. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from approval_client.wire import Kind, StepAnswer, canonical_json, parse_json

LONGEST_NOTE = 500

_NO_PLAN = "Only a plan has steps."
_NOT_ITS_STEPS = "Each step of the plan is answered once, in their order."
_NOTE_TOO_LONG = f"What is said about a step is longer than {LONGEST_NOTE} characters."
_ALL_ALLOWED = "Every step is allowed, so nothing is to be changed: approve the plan as it is."
_NONE_ALLOWED = "No step is allowed, so nothing is left of the plan. Reject it instead."


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


def steps_of(text: str) -> list[StepSaid]:
    """Read what ``steps_json`` wrote."""
    return [
        StepSaid(said["index"], StepAnswer(said["answer"]), said.get("note", ""))
        for said in json.loads(text)
    ]


def only_allowed(content: Mapping[str, Any], steps: Sequence[StepSaid]) -> dict[str, Any]:
    """Return a plan without the steps that are held or refused."""
    allowed = {step.index for step in steps if step.answer is StepAnswer.ALLOWED}
    kept = [step for index, step in enumerate(content["steps"]) if index in allowed]
    return {**content, "steps": kept}


def why_not_said(kind: str, content: str, steps: Sequence[StepSaid]) -> str:
    """Say why these are no answers to the steps of what is asked; empty if they are.

    Args:
        content: What is asked, as canonical JSON.
    """
    if kind != Kind.PLAN:
        return _NO_PLAN
    if [step.index for step in steps] != list(range(len(parse_json(content)["steps"]))):
        return _NOT_ITS_STEPS
    return _NOTE_TOO_LONG if any(len(step.note) > LONGEST_NOTE for step in steps) else ""


def why_no_part(steps: Sequence[StepSaid]) -> str:
    """Say why the allowed steps are no part of the plan; empty if they are."""
    answers = {step.answer for step in steps}
    if StepAnswer.ALLOWED not in answers:
        return _NONE_ALLOWED
    return "" if len(answers) > 1 else _ALL_ALLOWED
