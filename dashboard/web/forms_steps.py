"""What a reviewer says of each step of a plan."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.approvals.rules.step import StepSaid
from dashboard.wire import StepAnswer

NOTHING_CHOSEN = "Nothing was chosen for any step, so nothing was recorded. Choose for some."


class Incomplete(ValueError):
    """The form cannot be taken as it is; the message says what to do."""


def steps_said(sent: Mapping[str, str], count: int) -> list[StepSaid]:
    """Read the answers to ``count`` steps. A step without one is held.

    Raises:
        Incomplete: Nothing was chosen.
    """
    chosen = [sent.get(f"step-{index}", "") for index in range(count)]
    if not set(chosen) & set(StepAnswer):
        raise Incomplete(NOTHING_CHOSEN)
    return [
        StepSaid(index, _answer(word), sent.get(f"note-{index}", "").strip())
        for index, word in enumerate(chosen)
    ]


def _answer(word: str) -> StepAnswer:
    return StepAnswer(word) if word in set(StepAnswer) else StepAnswer.HELD
