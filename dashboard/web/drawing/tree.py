"""JSON as nested lists: names, types and values. A list never folds over what must be seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from approval_client.wire import canonical_json
from dashboard.inspection.hidden import GlyphKind, hidden_characters
from dashboard.inspection.parts import Part, Place
from dashboard.web import words
from dashboard.web.drawing.blocks import ContentBlock
from dashboard.web.drawing.lines import draw_text, icon
from dashboard.web.drawing.markup import EMPTY, size_drawn, trusted, untrusted
from dashboard.web.drawing.windows import is_small

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
        name = untrusted(str(key + 1) if isinstance(key, int) else key)
        warnings = [] if isinstance(key, int) else _hidden(key)
        part = self._parts.get((*place, key))
        number = part.number if part else 0
        if isinstance(value, Mapping | list) and value and not _is_plain(value):
            inside = self.of(value, (*place, key))
            rows = 1 + sum(member.rows for member in inside)
            kind = _size_of(value)
            return Member(name, kind, EMPTY, number, inside, rows, is_item, warnings)
        if number:
            return Member(name, "text", block=number, is_item=is_item, warnings=warnings)
        if isinstance(value, str):
            warnings = [*warnings, *_hidden(value)]
        drawn = untrusted(_written(value))
        return Member(name, _type_of(value), drawn, is_item=is_item, warnings=warnings)


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


def _type_of(value: Any) -> str:
    if isinstance(value, Mapping | list):
        return _size_of(value)
    return "text" if isinstance(value, str) else _TYPES.get(type(value), "number")


def _size_of(value: Mapping[str, Any] | list[Any]) -> str:
    one, several = ("member", "members") if isinstance(value, Mapping) else ("item", "items")
    what = "object" if isinstance(value, Mapping) else "list"
    return f"{what}, {len(value)} {one if len(value) == 1 else several}" if value else what


def _hidden(text: str) -> list[str]:
    counts = hidden_characters(text)
    return [f"{c.name}: {c.count}" for c in counts if c.kind is not GlyphKind.LINE_END]


ROWS_OPEN = 24
"""What holds more rows than this is folded at first, unless something in it has to be seen."""

DEEPEST_INDENT = 5  # levels; deeper ones would leave no room on a phone


class DrawnTexts(NamedTuple):
    """What members are drawn with: the texts by number, and whether nothing may be folded."""

    blocks: Sequence[ContentBlock]
    all_open: bool


def draw_members(members: Sequence[Member], drawn: DrawnTexts, level: int = 0) -> SafeString:
    """Set members as a list, and what they hold as lists within it."""
    css = "members members--deep" if level > DEEPEST_INDENT else "members"
    rows = ((_member(member, drawn, level),) for member in members)
    return format_html('<ul class="{}">{}</ul>', css, format_html_join("", "{}", rows))


def _member(member: Member, drawn: DrawnTexts, level: int) -> SafeString:
    if member.members:
        return _nested(member, drawn, level)
    block = drawn.blocks[member.block] if member.block else None
    tall = " member--tall" if block and _is_tall(block) else ""
    return format_html(
        '<li class="member{}">{}{}<div class="member-value">{}</div>{}</li>',
        tall,
        _name(member),
        _type(member, block),
        draw_text(block) if block else _value(member.value),
        _warnings([*member.warnings, *(block.code.warnings if block else [])]),
    )


def _nested(member: Member, drawn: DrawnTexts, level: int) -> SafeString:
    block = drawn.blocks[member.block] if member.block else None
    is_open = member.rows <= ROWS_OPEN or _must_be_seen(member, drawn)
    command = (
        format_html('<p class="member-read">Read as one command</p>{}', draw_text(block))
        if block
        else ""
    )
    return format_html(
        '<li class="member member--nested"><details{}><summary>{}{}</summary>'
        "{}{}{}</details></li>",
        trusted(" open") if is_open else EMPTY,
        _name(member),
        _type(member, block),
        _warnings(member.warnings),
        command,
        draw_members(member.members, drawn, level + 1),
    )


def _must_be_seen(member: Member, drawn: DrawnTexts) -> bool:
    if drawn.all_open or member.warnings:
        return True
    if member.block and drawn.blocks[member.block].must_be_seen:
        return True
    return any(_must_be_seen(inside, drawn) for inside in member.members)


def _is_tall(block: ContentBlock) -> bool:
    return block.code.line_count > 1 or bool(block.marks)


def _name(member: Member) -> SafeString:
    if member.is_item:
        return format_html('<span class="member-position">{}</span>', member.name)
    return format_html('<span class="member-name" translate="no">{}</span>', member.name)


def _type(member: Member, block: ContentBlock | None) -> SafeString:
    said = member.type
    if block and not member.members and block.code.line_count > 1:
        said = f"{said}, {block.code.line_count} lines"
    language = block.language if block and block.language != "text" else ""
    read = format_html(' <span class="badge">{}</span>', words.language(language))
    return format_html('<span class="member-type">{}{}</span>', said, read if language else "")


def _value(value: SafeString) -> SafeString:
    if not value:
        return trusted('<span class="member-empty">empty</span>')
    return format_html('<code class="member-plain" translate="no">{}</code>', value)


def _warnings(warnings: Sequence[str]) -> SafeString:
    if not warnings:
        return EMPTY
    return format_html(
        '<p class="member-warning">{}Hidden characters: {}</p>',
        icon("warning"),
        " · ".join(warnings),
    )
