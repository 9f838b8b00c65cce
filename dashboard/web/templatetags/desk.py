"""Filters and tags of the pages."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import UUID

from django import template
from django.conf import settings
from django.template.context import Context
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.web import times, words
from dashboard.web.content import Content
from dashboard.web.drawing import lines, markup, moments, redaction, tree
from dashboard.web.drawing.blocks import ContentBlock
from dashboard.web.drawing.markup import EMPTY
from dashboard.web.drawing.tree import Member

if TYPE_CHECKING:  # pages load these tags
    from dashboard.web.desk.queue import QueueRow

register = template.Library()

register.simple_tag(lines.icon)


@register.filter
def utc_time(at: datetime) -> str:
    """Write the time of the day in UTC, for the record."""
    return times.clock(at)


@register.simple_tag
def server_now_ms() -> int:
    """Return the server's clock, in milliseconds: countdowns do not trust the browser's."""
    return time.time_ns() // 1_000_000


# Times: in the reader's zone where the page runs script, in UTC where it does not.
register.simple_tag(moments.exact)
register.simple_tag(moments.clock)
register.simple_tag(moments.ago)
register.simple_tag(moments.time_left)
register.simple_tag(moments.time_left_short)
register.simple_tag(moments.time_bar)


register.simple_tag(lines.plain_lines, name="code_lines")
register.simple_tag(lines.draw_lines, name="block_lines")
register.simple_tag(lines.draw_map, name="block_map")


@register.simple_tag
def block_text(content: Content, number: int) -> SafeString:
    """Set the text of a block of the content."""
    return lines.draw_text(content.blocks[number])


@register.simple_tag
def block_of(content: Content, number: int) -> ContentBlock:
    """Return a block of the content."""
    return content.blocks[number]


@register.simple_tag
def members(content: Content, inside: Sequence[Member]) -> SafeString:
    """Set members as nested lists."""
    return tree.draw_members(inside, content.blocks)


@register.simple_tag
def step_arguments(content: Content, inside: Sequence[Member]) -> SafeString:
    """Set what a step of a plan is called with."""
    return tree.draw_step(inside, content.blocks)


@register.simple_tag
def changes(content: Content) -> SafeString:
    """Set what becomes of a memory, line by line."""
    memory = content.memory
    if memory is None or memory.compared is None:
        return EMPTY
    old = content.blocks[memory.existing] if memory.existing else None
    return lines.draw_changes(memory.compared, old, content.blocks[memory.content])


@register.filter
def counted(number: int) -> str:
    """Write a number as people do: 2,999."""
    return f"{number:,}"


@register.filter
def language(alias: str) -> str:
    """Write the name of a language as people do."""
    return words.language(alias)


@register.simple_tag
def public_url() -> str:
    """Return where people and agents reach this dashboard."""
    return str(settings.PUBLIC_URL)


@register.simple_tag
def operator_command() -> str:
    """Return what an operator types before the name of a command."""
    return str(settings.OPERATOR_COMMAND)


@register.filter
def untrusted(text: str) -> SafeString:
    """Draw what an agent wrote: escaped, hidden characters as glyphs."""
    return markup.untrusted(text)


@register.filter
def redacted(text: str) -> SafeString:
    """Draw the reason of an answer: with a replacement in it, it may hold a secret too."""
    return redaction.redacted(text)


@register.simple_tag
def page_link(name: str, words: str) -> SafeString:
    """Link to one of our pages by the name of its URL."""
    return format_html('<a href="{}">{}</a>', reverse(name), words)


@register.simple_tag
def run_url(agent: str, run_id: str) -> str:
    """Return where a run is told. Whatever it is called travels as a parameter, encoded."""
    return f"{reverse('web:run', args=[agent])}?{urlencode({'run': run_id})}"


@register.simple_tag
def history_url(agent: str, run_id: str = "") -> str:
    """Return where everything stands that an agent asked, or that it asked in a run."""
    chosen = {"agent": agent, "run": run_id} if run_id else {"agent": agent}
    return f"{reverse('web:history')}?{urlencode(chosen)}"


@register.simple_tag
def queue_row(row: QueueRow, query: str, in_run: bool, opened: UUID | str) -> SafeString:  # noqa: FBT001 - a tag of templates
    """Draw a row of the list, or return it as it was drawn before for anybody.

    Args:
        row: What it shows.
        query: What its list is asked for with.
        in_run: Whether it stands below the name of its run.
        opened: The request that is open beside the list.
    """
    return _drawn_row(row, query, in_run=in_run, is_open=row.id == opened)


@lru_cache(1000)
def _drawn_row(row: QueueRow, query: str, *, in_run: bool, is_open: bool) -> SafeString:
    context = {"row": row, "query": query, "in_run": in_run, "is_open": is_open}
    return render_to_string("desk/_row.html", context)


@register.inclusion_tag("desk/_nav_link.html", takes_context=True)
def nav_link(context: Context, name: str, words: str) -> dict[str, Any]:
    """Link to one of our pages from the header, and mark it where it is open."""
    url = reverse(name)
    return {"url": url, "words": words, "current": _is_open(context["request"].path, url)}


def _is_open(path: str, url: str) -> bool:
    if url == reverse("web:queue"):
        return path == url or path.startswith("/approvals/")
    if url == reverse("web:policies"):
        return path.startswith((url, reverse("web:grants")))
    return path.startswith(url)
