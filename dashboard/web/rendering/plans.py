"""A plan, to be read: numbered steps, each led by who does what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from approval_client.wire import canonical_json
from dashboard.inspection.parts import parts_of_texts
from dashboard.web.rendering.blocks import ContentBlock, of_part, raw, rendered
from dashboard.web.rendering.members import Member, Members, fit_on_a_page

_CAPABILITY = ("capability", "tool", "agent")
_OBJECTIVE = ("task_objective", "objective", "task", "goal", "description", "title")
_LONGEST_LEAD = 500  # characters; what is longer is a row like others


@dataclass(frozen=True, slots=True)
class Step:
    """One step.

    Attributes:
        capability: The number of the block that says who does it, 0 if nothing says so.
        objective: The number of the block that says what is done, 0 if nothing says so.
        members: Everything else.
    """

    number: int
    capability: int
    objective: int
    members: list[Member]


@dataclass(frozen=True, slots=True)
class PlanView:
    """How a plan is shown. If it is not ``is_whole``, JSON stands for all steps."""

    steps: list[Step]
    is_whole: bool = True


def is_plan(content: Any) -> bool:
    """Say whether ``content`` is a plan of the shape that the door lets in."""
    return (
        isinstance(content, dict)
        and content.keys() == {"steps"}
        and isinstance(content["steps"], list)
        and all(isinstance(step, dict) for step in content["steps"])
    )


def render_plan(
    content: Mapping[str, Any], *, masks: bool = False
) -> tuple[PlanView, list[ContentBlock]]:
    """Draw a plan: all of it as JSON first, then each text."""
    steps = content["steps"]
    if not fit_on_a_page(steps):
        return PlanView([], is_whole=False), rendered([raw(content)])
    parts = parts_of_texts(content)
    members = Members(parts)
    view = PlanView([_step(number, step, members) for number, step in enumerate(steps, 1)])
    return view, rendered([raw(content), *map(of_part, parts)], masks=masks)


def lead(step: Mapping[str, Any]) -> str:
    """Return a step on one line: who does what, or its JSON where it does not say so."""
    names = (_lead(step, _CAPABILITY), _lead(step, _OBJECTIVE))
    said = " · ".join(str(step[name]) for name in names if name)
    return said or canonical_json(step)[:_LONGEST_LEAD]


def _step(number: int, step: dict[str, Any], members: Members) -> Step:
    capability, objective = _lead(step, _CAPABILITY), _lead(step, _OBJECTIVE)
    rest = {key: value for key, value in step.items() if key not in (capability, objective)}
    place = ("steps", number - 1)
    return Step(
        number,
        members.block_at(*place, capability) if capability else 0,
        members.block_at(*place, objective) if objective else 0,
        members.of(rest, place),
    )


def _lead(step: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Return the first of these members that is a line of text, ``""`` if none is."""
    return next((name for name in names if _is_line(step.get(name))), "")


def _is_line(value: Any) -> bool:
    return (
        isinstance(value, str)
        and bool(value.strip())
        and "\n" not in value
        and len(value) <= _LONGEST_LEAD
    )
