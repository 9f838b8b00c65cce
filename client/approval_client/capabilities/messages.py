"""What an interrupt says to people, in Markdown.

It leaves out code, the safety concerns of code and what is remembered so far: those are to be
read in the payload. What the agent says is quoted, so that no objective can forge a line of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any

from approval_client.capabilities.quoting import block, is_web_address, quoted

HEADING = "⚠️ **HUMAN APPROVAL REQUIRED** ⚠️"
_NO_LINK = "**Code is available for review in the execution environment.**"
_NO_STEPS = "**The steps of this plan cannot be listed.** Read the plan in the request."


def message(*parts: str, yes: str, no: str) -> str:
    """Join ``parts`` under the heading and close with the two answers."""
    answers = f"**Answer with one word:**\n- **`yes`** to {yes}\n- **`no`** to {no}"
    return "\n\n".join([HEADING, *parts, answers])


def about_code(
    objective: object, mode: object, analysis_details: object, notebook_link: object
) -> Iterator[str]:
    """Say what code is for, why it is asked about, and where it can be read."""
    yield _task(objective)
    yield f"Python code wants to run in mode {said(mode)}."
    if grounds := field(analysis_details, "approval_reasoning"):
        yield f"**Why it is asked, says the agent:** {said(grounds)}"
    yield _notebook(notebook_link)


def about_plan(plan: object, files: Mapping[str, str]) -> Iterator[str]:
    """List the steps of a plan, and where it was saved."""
    steps = field(plan, "steps")
    if isinstance(steps, list | tuple):
        yield _listed("Planned steps", map(_step, range(1, len(steps) + 1), steps))
    else:
        yield _NO_STEPS
    for title, path in files.items():
        yield f"**{title}:** {quoted(path)}"


def about_step(number: int, step: object) -> Iterator[str]:
    """Show the one step that would be taken."""
    yield _listed("Next step", [_step(number, step)])


def about_memory(
    objective: object, operation: object, user_id: object, content: object, existing: object
) -> Iterator[str]:
    """Show what would be remembered, and that something is remembered already."""
    yield _task(objective)
    yield f"The memory of user {said(user_id)} would change by the operation {said(operation)}."
    yield f"**Content:**\n{block(content)}"
    if existing:
        yield f"**Remembered so far:** {len(str(existing)):,} characters, in the request."


def about_writes(
    objective: object, operations: Iterable[Mapping[str, Any]], concerns: Iterable[object]
) -> Iterator[str]:
    """List every value that would be written, and what the agent is concerned about."""
    yield _task(objective)
    yield _listed("Channels to write", map(_write, operations))
    lines = [f"- {said(concern)}" for concern in concerns]
    if lines:
        yield _listed("Safety concerns, says the agent", lines)


def said(value: object) -> str:
    """Quote ``value``; of a member of an Enum the value that it stands for."""
    return quoted(value.value if isinstance(value, Enum) else value)


def field(thing: object, name: str) -> Any:
    """Read ``name`` from a mapping or an object; None if it is not there."""
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)


def _task(objective: object) -> str:
    return f"**Task:** {said(objective)}"


def _notebook(link: object) -> str:
    if not link:
        return _NO_LINK
    if is_web_address(link):
        return f"**📓 Review Code:** [Open Jupyter Notebook]({link})"
    return f"**📓 Review Code:** {said(link)} (no plain http or https address, so no link)"


def _listed(title: str, lines: Iterable[str]) -> str:
    return "\n".join([f"**{title}:**", *lines])


def _step(number: int, step: object) -> str:
    objective, capability = field(step, "task_objective"), field(step, "capability")
    by = f" by {said(capability)}" if capability else ""
    place = number if isinstance(number, int) else said(number)
    return f"{place}. {said(objective or step)}{by}"


def _write(operation: Mapping[str, Any]) -> str:
    units = f" {said(operation['units'])}" if operation["units"] else ""
    notes = f" (the agent notes: {said(operation['notes'])})" if operation["notes"] else ""
    return f"- {said(operation['channel_address'])} = {said(operation['value'])}{units}{notes}"
