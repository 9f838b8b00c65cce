"""What a reviewer says of each step of a plan."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.approvals.editing import LONGEST_NOTE, StepSaid
from dashboard.wire import StepAnswer

NOTHING_CHOSEN = "Nothing was chosen for any step, so nothing was recorded. Choose for some."
NOTE_TOO_LONG = (
    f"What is said about a step is longer than {LONGEST_NOTE} characters. Nothing was recorded; "
    "say it in fewer words."
)


class Incomplete(ValueError):
    """The form cannot be taken as it is; the message says what to do."""


def steps_said(sent: Mapping[str, str], count: int) -> list[StepSaid]:
    """Read the answers to ``count`` steps. A step without one is held.

    Raises:
        Incomplete: Nothing was chosen, or a note is too long.
    """
    chosen = [sent.get(f"step-{index}", "") for index in range(count)]
    if not set(chosen) & set(StepAnswer):
        raise Incomplete(NOTHING_CHOSEN)
    notes = [sent.get(f"note-{index}", "").strip() for index in range(count)]
    if any(len(note) > LONGEST_NOTE for note in notes):
        raise Incomplete(NOTE_TOO_LONG)
    return [
        StepSaid(index, _answer(word), note)
        for index, (word, note) in enumerate(zip(chosen, notes, strict=True))
    ]


def _answer(word: str) -> StepAnswer:
    return StepAnswer(word) if word in set(StepAnswer) else StepAnswer.HELD
