"""Members of JSON as HTML: nested lists that fold, but never over what has to be seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dashboard.web.presenting import words
from dashboard.web.presenting.lines import draw_text, icon
from dashboard.web.rendering.blocks import ContentBlock
from dashboard.web.rendering.markup import EMPTY
from dashboard.web.rendering.members import Member

ROWS_OPEN = 24
"""What holds more rows than this is folded at first, unless something in it has to be seen."""

DEEPEST_INDENT = 5  # levels; deeper ones would leave no room on a phone


class Drawn(NamedTuple):
    """What members are drawn with: the texts by number, and whether nothing may be folded."""

    blocks: Sequence[ContentBlock]
    all_open: bool


def draw_members(members: Sequence[Member], drawn: Drawn, level: int = 0) -> SafeString:
    """Set members as a list, and what they hold as lists within it."""
    css = "members members--deep" if level > DEEPEST_INDENT else "members"
    rows = ((_member(member, drawn, level),) for member in members)
    return format_html('<ul class="{}">{}</ul>', css, format_html_join("", "{}", rows))


def _member(member: Member, drawn: Drawn, level: int) -> SafeString:
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


def _nested(member: Member, drawn: Drawn, level: int) -> SafeString:
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
        SafeString(" open") if is_open else EMPTY,
        _name(member),
        _type(member, block),
        _warnings(member.warnings),
        command,
        draw_members(member.members, drawn, level + 1),
    )


def _must_be_seen(member: Member, drawn: Drawn) -> bool:
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
        return SafeString('<span class="member-empty">empty</span>')
    return format_html('<code class="member-plain" translate="no">{}</code>', value)


def _warnings(warnings: Sequence[str]) -> SafeString:
    if not warnings:
        return EMPTY
    return format_html(
        '<p class="member-warning">{}Hidden characters: {}</p>',
        icon("warning"),
        " · ".join(warnings),
    )
