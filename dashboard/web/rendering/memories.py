"""A change of memory, to be read: what would be stored, against what the agent says is stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from dashboard.inspection.parts import Part, parts_of_texts
from dashboard.web.rendering.blocks import ContentBlock, Draft, raw, rendered
from dashboard.web.rendering.diff import Change, Changed, changes

STORED = "The agent says this is stored now"
NEW = "This would be stored"
GONE = "This would be deleted"
APPROVED = "This was approved here last"
NO_CLAIM = "The agent does not say what is stored now, so every line is shown as new."
SAME = "Both texts are the same, so nothing would change."
NOT_COMPARED = (
    "These texts are too long, or too much unlike, to be compared line by line. Both are complete."
)
MAY_ADD = (
    "By its name, the operation adds this to what is stored: lines that are marked as removed "
    "may stay."
)
NOTHING_STORED = "The agent says that nothing is stored now."
UNSAID = "The agent sent no text, so nobody can see here what would be deleted."
DIFFERS = "The agent says that something else is stored now than what was approved here last."
SILENT = "A value was approved here before, and the agent does not say that it is stored now."
AGREES = "What the agent says is stored now is what was approved here last."
NEVER = "No memory of this user was approved here for this agent before."

_MEMBERS = {"operation", "user_id", "content", "existing"}
_ADDS = {"add", "append", "create", "save"}
_DELETES = {"delete", "forget", "remove", "clear"}


class Approved(NamedTuple):
    """What was said yes to before this: the operation and its text, None if nothing was."""

    operation: str = ""
    content: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryView:
    """How a change of memory is shown. Numbers are those of blocks, 0 where there is none.

    Attributes:
        compared: Every line and what becomes of it; None if both texts stand side by side.
        note: What there is to know about the comparison, in a sentence of ours; perhaps empty.
        approved: The text that was approved last, where it is not on the page already.
        standing: What was approved here last, against what the agent says; empty if not asked.
        is_warning: Whether ``standing`` is a reason to be careful.
    """

    operation: int
    user: int
    content: int
    existing: int
    compared: list[Changed] | None
    note: str
    is_deletion: bool
    approved: int
    standing: str
    is_warning: bool

    @property
    def counts(self) -> list[tuple[int, str]]:
        """How many lines are added and removed, where there are any."""
        found = [changed.change for changed in self.compared or []]
        both = ((found.count(change), str(change)) for change in (Change.ADDED, Change.REMOVED))
        return [(count, word) for count, word in both if count]


def is_memory(content: Any) -> bool:
    """Say whether ``content`` is a change of memory of the shape that the door lets in."""
    return (
        isinstance(content, dict)
        and content.keys() | {"existing"} == _MEMBERS
        and isinstance(content.get("existing"), str | None)
        and all(isinstance(content[name], str) for name in _MEMBERS - {"existing"})
    )


def render_memory(
    content: Mapping[str, Any], approved: Approved | None = None, *, masks: bool = False
) -> tuple[MemoryView, list[ContentBlock]]:
    """Draw a change of memory: all of it as JSON first, then each text.

    Args:
        approved: What was approved last for the same memory, None if nobody looked.
        masks: Whether secrets are masked.
    """
    parts = parts_of_texts(content)
    numbers = {part.place[0]: part.number for part in parts}
    drafts = [raw(content), *_drafts(parts, content["operation"])]
    standing, is_warning = _standing(content.get("existing"), approved)
    known = (content["content"], content.get("existing"))
    if approved and approved.content is not None and approved.content not in known:
        drafts.append(Draft(APPROVED, approved.content, named_value=""))
    compared, note = _compared(content)
    view = MemoryView(
        operation=numbers["operation"],
        user=numbers["user_id"],
        content=numbers["content"],
        existing=numbers.get("existing", 0),
        compared=compared,
        note=note,
        is_deletion=_is(content["operation"], _DELETES),
        approved=len(drafts) - 1 if len(drafts) > len(parts) + 1 else 0,
        standing=standing,
        is_warning=is_warning,
    )
    return view, rendered(drafts, masks=masks)


def _drafts(parts: list[Part], operation: str) -> Iterator[Draft]:
    titles = {"content": GONE if _is(operation, _DELETES) else NEW, "existing": STORED}
    titles |= {"operation": "Operation", "user_id": "Whose memory"}
    for part in parts:
        name = str(part.place[0])
        yield Draft(titles[name], part.text, is_inspected=True, place=name, named_value=name)


def _compared(content: Mapping[str, Any]) -> tuple[list[Changed] | None, str]:
    """Say what becomes of every line, and what there is to know about that."""
    new, existing, operation = content["content"], content.get("existing"), content["operation"]
    if _is(operation, _DELETES):
        return _deleted(new, existing)
    if not existing:
        return _all(Change.ADDED, new), NO_CLAIM if existing is None else NOTHING_STORED
    if existing == new:
        return _all(Change.SAME, new), SAME
    found = changes(existing, new)
    if found is None:
        return None, NOT_COMPARED
    removes = any(changed.change is Change.REMOVED for changed in found)
    return found, MAY_ADD if removes and _is(operation, _ADDS) else ""


def _deleted(named: str, existing: str | None) -> tuple[list[Changed] | None, str]:
    if existing and named:
        return None, ""
    gone = named or existing
    return (_all(Change.REMOVED, gone), "") if gone else ([], UNSAID)


def _all(change: Change, text: str) -> list[Changed]:
    return [Changed(change, number) for number in range(1, text.count("\n") + 2)]


def _standing(existing: str | None, approved: Approved | None) -> tuple[str, bool]:
    """Compare what the agent says is stored with what was approved, and say whether to worry."""
    if approved is None:
        return "", False
    if approved.content is None:
        return NEVER if existing else "", False
    if _is(approved.operation, _DELETES):
        return (DIFFERS, True) if existing else ("", False)
    if not existing:
        return SILENT, False
    # What only adds was approved without what it was added to.
    adds = _is(approved.operation, _ADDS) and approved.content in existing
    return (AGREES, False) if adds or approved.content == existing else (DIFFERS, True)


def _is(operation: str, words: set[str]) -> bool:
    return operation.strip().lower() in words
