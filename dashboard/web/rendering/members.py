"""What JSON holds, member by member: names, types and values for a page that is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.safestring import SafeString

from approval_client.wire import canonical_json
from dashboard.inspection.hidden import GlyphKind, hidden_characters
from dashboard.inspection.parts import Part, Place
from dashboard.web.rendering.markup import EMPTY, size_drawn, theirs
from dashboard.web.rendering.windows import is_small

MOST_MEMBERS = 2_000
"""Drawn one by one; what has more is shown as JSON alone."""

MOST_DRAWN = 1_500_000
"""Characters of HTML that all names and short values take together; of more the same holds."""

_TYPES = {bool: "true or false", type(None): "nothing"}


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object, or one item of a list.

    Attributes:
        name: Its name as the agent spelled it, or the position of an item, from 1.
        type: What it is, in our words.
        value: All of it, where no block and no members show it.
        block: The number of the block that holds its text, 0 if it has none.
        members: What it holds.
        rows: How many rows it takes, with all that it holds.
        is_item: Whether the name is a position, and so ours.
        warnings: What is hidden in its name or its value.
    """

    name: SafeString
    type: str
    value: SafeString = EMPTY
    block: int = 0
    members: list[Member] = field(default_factory=list)
    rows: int = 1
    is_item: bool = False
    warnings: list[str] = field(default_factory=list)

    def all_warnings(self) -> list[str]:
        """Return what is hidden in names and values here and below, but for texts in blocks."""
        return [*self.warnings, *(w for member in self.members for w in member.all_warnings())]


class Members:
    """Lays out JSON of which the texts are known as parts."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts = {part.place: part for part in parts}

    def of(self, value: Mapping[str, Any] | Sequence[Any], place: Place = ()) -> list[Member]:
        """Return the members of an object or the items of a list that stands at ``place``."""
        if isinstance(value, Mapping):
            return [self._member(key, value[key], place) for key in sorted(value)]
        return [self._member(index, item, place) for index, item in enumerate(value)]

    def block_at(self, *place: str | int) -> int:
        """Return the number of the block of a text, 0 if there is no text."""
        return self._parts[place].number if place in self._parts else 0

    def _member(self, key: str | int, value: Any, place: Place) -> Member:
        is_item = isinstance(key, int)
        name = theirs(str(key + 1) if isinstance(key, int) else key)
        warnings = [] if isinstance(key, int) else _hidden(key)
        part = self._parts.get((*place, key))
        number = part.number if part else 0
        if isinstance(value, Mapping | list) and value and not _is_plain(value):
            inside = self.of(value, (*place, key))
            rows = 1 + sum(member.rows for member in inside)
            kind = _size(value)
            return Member(name, kind, EMPTY, number, inside, rows, is_item, warnings)
        if number:
            return Member(name, "text", block=number, is_item=is_item, warnings=warnings)
        if isinstance(value, str):
            warnings = [*warnings, *_hidden(value)]
        drawn = theirs(_written(value))
        return Member(name, _type(value), drawn, is_item=is_item, warnings=warnings)


def fit_on_a_page(value: Any) -> bool:
    """Say whether the members of ``value`` are drawn one by one."""
    if _count(value) > MOST_MEMBERS:
        return False
    return size_drawn("\n".join(_short(value))) <= MOST_DRAWN


def _count(value: Any) -> int:
    if isinstance(value, Mapping):
        return len(value) + sum(map(_count, value.values()))
    if isinstance(value, list):
        return 0 if _is_plain(value) else len(value) + sum(map(_count, value))
    return 0


def _short(value: Any) -> Iterator[str]:
    """Give what is drawn in any case: names, and values but for texts that are served in parts."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield key
            yield from _short(inner)
    elif isinstance(value, list) and not _is_plain(value):
        for item in value:
            yield from _short(item)
    elif not isinstance(value, str):
        yield canonical_json(value)
    elif is_small(value):
        yield value


def _is_plain(value: Any) -> bool:
    """Say whether it is a list that is read best in one row: numbers and the like."""
    return isinstance(value, list) and not any(isinstance(i, str | list | dict) for i in value)


def _written(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value:
        return ", ".join(map(canonical_json, value))
    return canonical_json(value)


def _type(value: Any) -> str:
    if isinstance(value, Mapping | list):
        return _size(value)
    return "text" if isinstance(value, str) else _TYPES.get(type(value), "number")


def _size(value: Mapping[str, Any] | list[Any]) -> str:
    one, several = ("member", "members") if isinstance(value, Mapping) else ("item", "items")
    what = "object" if isinstance(value, Mapping) else "list"
    return f"{what}, {len(value)} {one if len(value) == 1 else several}" if value else what


def _hidden(text: str) -> list[str]:
    counts = hidden_characters(text)
    return [f"{c.name}: {c.count}" for c in counts if c.kind is not GlyphKind.LINE_END]
