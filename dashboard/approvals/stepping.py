"""Which steps of a plan say exactly what would be asked later. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from approval_client.wire import Kind, digest, parse_json
from dashboard.approvals.contents import problems_with
from dashboard.inspection.findings import Report, Severity

_CALL, _CODE = ("tool", "arguments"), ("code", "language")
MOST_STEPS = 50
"""Steps that are looked at; each is inspected on its own."""


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
        """Whether nothing worse than a note was found, and nothing was in doubt."""
        highest = self.report.highest
        return not self.report.has_doubts and highest in (None, Severity.INFO)


def exact_steps(content: str) -> list[ExactStep]:
    """Return the steps of a plan, from its canonical content, that leave nothing open."""
    steps = parse_json(content)["steps"][:MOST_STEPS]
    return list(_exact(steps))


def _exact(steps: list[dict[str, Any]]) -> Iterator[ExactStep]:
    for index, step in enumerate(steps):
        is_call, is_code = "tool" in step or "arguments" in step, "code" in step
        if is_call is is_code:
            continue  # it says neither, or both
        kind, names = (Kind.TOOL_CALL, _CALL) if is_call else (Kind.CODE, _CODE)
        asked = {name: step[name] for name in names if name in step}
        if not problems_with(kind, asked):
            yield ExactStep(index, kind, asked)
