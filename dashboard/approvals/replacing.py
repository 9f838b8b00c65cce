"""The words of a no: with a replacement, or with what becomes of each step. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from approval_client.wire import EDITABLE, Kind, StepAnswer, canonical_json, parse_json
from dashboard.approvals.models import Edit
from dashboard.approvals.partial import StepSaid

ALLOWED_FOR = timedelta(minutes=30)
"""How long the agent has to come back with exactly the replacement."""

LONGEST = 20_000
"""Characters of a replacement that an agent is told as a reason."""

_ONCE = (
    "Ask for exactly this, in the same run and before {until}, and it is approved once without "
    "anybody being asked again."
)
_ASKED = "A person is asked about it as about anything else."
_STEPS = {
    StepAnswer.ALLOWED: "may stay as it is",
    StepAnswer.HELD: "is held back",
    StepAnswer.REFUSED: "is refused",
}


def text_of(edit: Edit) -> str:
    """Return what was changed as a text: as it is, or as JSON where it is no text."""
    value = parse_json(edit.content)[EDITABLE[Kind(edit.approval.kind)]]
    return value if isinstance(value, str) else canonical_json(value)


def reason_with(edit: Edit, reason: str, allowed_until: datetime | None) -> str:
    """Return the reason that an agent is told: a reviewer's words and their replacement.

    Args:
        allowed_until: Until when it is allowed once; None if it is only words.
    """
    mark = f"replacement {edit.digest[:12]}"
    until = allowed_until.astimezone(UTC).strftime("%H:%M:%S UTC") if allowed_until else ""
    what = "A reviewer would rather see this:"
    told = _ONCE.format(until=until) if until else _ASKED
    parts = [reason.strip(), what, f"--- begin {mark} ---\n{text_of(edit)}\n--- end {mark} ---"]
    return "\n\n".join([part for part in parts if part] + [told])


def reason_with_steps(reason: str, steps: Sequence[StepSaid]) -> str:
    """Return the reason that an agent is told: a reviewer's words, and those about each step."""
    lines = [
        f"Step {step.index + 1} {_STEPS[step.answer]}{f': {step.note}' if step.note else '.'}"
        for step in steps
    ]
    return "\n\n".join(part for part in (reason.strip(), "\n".join(lines)) if part)
