"""JSON as nested lists: names and values. Nothing is folded before a person folds it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object, or one item of a list.

    Attributes:
        name: Its name as the agent spelled it, or the position of an item, from 1.
        type: What it is, in our words, where its value does not say so.
        value: All of it, where no block and no members show it.
        block: The number of the block that holds its text, 0 if it has none.
        members: What it holds.
        is_item: Whether the name is a position, and so ours.
        warnings: What is hidden in its name or its value.
    """

    name: SafeString
    type: str
    value: SafeString = EMPTY
    block: int = 0
    members: list[Member] = field(default_factory=list)
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
            keys = sorted(value, key=lambda key: _holds_more(value[key]))  # else in their order
            return [self._member(key, value[key], place) for key in keys]
        return [self._member(index, item, place) for index, item in enumerate(value)]

    def block_at(self, *place: str | int) -> int:
        """Return the number of the block of a text, 0 if there is no text."""
        return self._parts[place].number if place in self._parts else 0

    def _member(self, key: str | int, value: Any, place: Place) -> Member:
        is_item = isinstance(key, int)
        name = untrusted(str(key + 1) if isinstance(key, int) else _spelled(key))
        warnings = [] if isinstance(key, int) else [*_hidden(key), *_blanks(key)]
        part = self._parts.get((*place, key))
        number = part.number if part else 0
        if isinstance(value, Mapping | list) and value and not _is_plain(value):
            inside = self.of(value, (*place, key))
            kind = _size_of(value)
            return Member(name, kind, EMPTY, number, inside, is_item, warnings)
        kind = "text" if isinstance(value, str) and _looks_otherwise(value) else ""
        if number:
            return Member(name, kind, block=number, is_item=is_item, warnings=warnings)
        if isinstance(value, str):
            warnings = [*warnings, *_hidden(value)]
        text = untrusted(_written(value))
        return Member(name, kind, text, is_item=is_item, warnings=warnings)


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
    if isinstance(value, list):
        return f"[{', '.join(map(canonical_json, value))}]"
    return canonical_json(value)


def _holds_more(value: Any) -> bool:
    """Say whether a value is an object or a list that takes rows of its own: those come last."""
    return isinstance(value, Mapping | list) and bool(value) and not _is_plain(value)


def _looks_otherwise(text: str) -> bool:
    """Say whether a text reads like a number, another value or our word for none.

    Then its type matters.
    """
    if text.strip().casefold() == "empty":
        return True
    try:
        return not isinstance(json.loads(text), str)
    except (ValueError, RecursionError):
        return False


def _size_of(value: Mapping[str, Any] | list[Any]) -> str:
    singular, several = ("member", "members") if isinstance(value, Mapping) else ("item", "items")
    return f"{len(value)} {singular if len(value) == 1 else several}"


def _spelled(name: str) -> str:
    """Return a name; one of which blanks or breaks could go unseen, as JSON."""
    is_plain = name and not (_blanks(name) or name.startswith('"'))
    return name if is_plain else json.dumps(name, ensure_ascii=False)


def _blanks(name: str) -> list[str]:
    has_some = name != name.strip() or len(name.splitlines()) > 1 or "\t" in name
    return ["blanks in a name"] if has_some else []


def _hidden(text: str) -> list[str]:
    counts = hidden_characters(text)
    return [f"{c.name}: {c.count}" for c in counts if c.kind is not GlyphKind.LINE_END]


Texts = Sequence[ContentBlock]
"""The texts of members, by number."""

DEEPEST_INDENT = 5  # levels; deeper ones would leave no room on a phone


def draw_members(members: Sequence[Member], texts: Texts, level: int = 0) -> SafeString:
    """Set members as a list, and what they hold as lists within it."""
    css = "members members--deep" if level > DEEPEST_INDENT else "members"
    rows = ((_member(member, texts, level),) for member in members)
    return format_html('<ul class="{}">{}</ul>', css, format_html_join("", "{}", rows))


def _member(member: Member, texts: Texts, level: int) -> SafeString:
    if member.members:
        return _nested(member, texts, level)
    block = texts[member.block] if member.block else None
    tall = " member--tall" if block and _is_tall(block) else ""
    return format_html(
        '<li class="member{}">{}<div class="member-value">{}{}</div>{}</li>',
        tall,
        _name(member),
        draw_text(block) if block else _value(member.value),
        _type(member, block),
        _warnings([*member.warnings, *(block.code.warnings if block else [])]),
    )


def _nested(member: Member, texts: Texts, level: int) -> SafeString:
    if _is_small(member, texts):
        return format_html(
            '<li class="member">{}<div class="member-value">{}</div></li>',
            _name(member),
            _draw_pairs(member.members, texts),
        )
    block = texts[member.block] if member.block else None
    command = (
        format_html('<p class="member-read">Read as one command</p>{}', draw_text(block))
        if block
        else ""
    )
    return format_html(
        '<li class="member member--nested"><details open><summary>{}{}</summary>'
        "{}{}{}</details></li>",
        _name(member),
        _type(member, block),
        _warnings(member.warnings),
        command,
        draw_members(member.members, texts, level + 1),
    )


_FEW = 3  # scalars of an object on one line

_SHORT_LINE = 90  # characters of what stands on one line


def _is_small(member: Member, texts: Texts) -> bool:
    """Say whether all that an object holds is shown on its own line."""
    members = member.members
    is_object = not any(inside.is_item for inside in members)
    return (
        is_object
        and len(members) <= _FEW
        and not (member.block or member.warnings)
        and not any(inside.members for inside in members)
        and _fit_on_a_line(members, texts)
    )


def _fit_on_a_line(members: Sequence[Member], texts: Texts) -> bool:
    """Say whether names and values on one line show all there is to see of them."""
    if any(_is_tall_or_warns(member, texts) for member in members):
        return False
    if any(_reads_as_two(member, texts) for member in members):
        return False
    return sum(len(member.name) + _length(member, texts) for member in members) <= _SHORT_LINE


def _is_tall_or_warns(member: Member, texts: Texts) -> bool:
    block = texts[member.block] if member.block else None
    is_tall = block is not None and (block.must_be_seen or block.code.line_count > 1)
    return bool(member.members or member.warnings) or is_tall


def _reads_as_two(member: Member, texts: Texts) -> bool:
    """Say whether it would look like several beside others, such as ``5  to=x`` for one value."""
    text = _text(member, texts)
    return bool(re.search(r"[\s=]", member.name)) or "=" in text or "  " in text


def _length(member: Member, texts: Texts) -> int:
    return len(_text(member, texts))


def _text(member: Member, texts: Texts) -> str:
    return texts[member.block].text if member.block else member.value


def _draw_pairs(members: Sequence[Member], texts: Texts) -> SafeString:
    """Set members on one line, as name and value."""
    return format_html(
        '<span class="pairs" translate="no">{}</span>',
        format_html_join(" ", "{}", ((_pair(member, texts),) for member in members)),
    )


def _pair(member: Member, texts: Texts) -> SafeString:
    words_of_type = format_html(' <span class="member-type">{}</span>', member.type)
    return format_html(
        '<span class="pair"><span class="pair-name">{}</span>'
        '<span class="pair-value">{}</span>{}</span>',
        member.name,
        _on_a_line(member, texts),
        words_of_type if member.type else EMPTY,
    )


def _on_a_line(member: Member, texts: Texts) -> SafeString:
    empty = trusted('<span class="member-empty">empty</span>')
    if not member.block:
        return member.value or empty
    return texts[member.block].code.lines[0] or empty


def draw_step(members: Sequence[Member], texts: Texts) -> SafeString:
    """Set the arguments of a step on one line, or one by one where that is not enough."""
    draw = _draw_pairs if _fit_on_a_line(members, texts) else draw_members
    return draw(members, texts)


def _is_tall(block: ContentBlock) -> bool:
    return block.code.line_count > 1 or bool(block.marks)


def _name(member: Member) -> SafeString:
    if member.is_item:
        return format_html('<span class="member-position">{}</span>', member.name)
    return format_html('<span class="member-name" translate="no">{}</span>', member.name)


def _type(member: Member, block: ContentBlock | None) -> SafeString:
    label = member.type
    if block and not member.members and block.code.line_count > 1:
        label = f"{block.code.line_count} lines"
    language = block.language if block and block.language != "text" else ""
    badge = format_html(' <span class="badge">{}</span>', words.language(language))
    if not (label or language):
        return EMPTY
    return format_html('<span class="member-type">{}{}</span>', label, badge if language else "")


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
