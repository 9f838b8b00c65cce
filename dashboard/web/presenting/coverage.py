"""What of a long content is on the page, what was served before, and what is still unread."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from uuid import UUID

from django.urls import reverse

from dashboard.approvals.rules.view import ServedText, TextPart
from dashboard.web.rendering.blocks import ContentBlock
from dashboard.web.rendering.content import Content
from dashboard.web.rendering.windows import CHARACTERS, LINES, Window, is_small

AT_ONCE, CHARACTERS_AT_ONCE = 2 * LINES, 2 * CHARACTERS
"""How many lines and characters a page begins with, however many texts there are."""


@dataclass(frozen=True, slots=True)
class Owed:
    """Parts of one text that were not served yet, one after the other. ``words`` are ours."""

    words: str
    href: str
    parts: int


def laid_out(content: Content, approval_id: UUID) -> Content:
    """Say of each text how many of its windows the page begins with, and where the others are."""
    reader = reverse("web:lines", args=[approval_id])
    lines_left, left, blocks = AT_ONCE, CHARACTERS_AT_ONCE, []
    for block in content.blocks:
        drawn = 1 if min(lines_left, left) > 0 or is_small(block.text) or block.is_raw else 0
        first = block.code.windows[0]
        if drawn and not block.is_raw:
            lines_left -= first.last - first.first + 1
            left -= first.end - first.start
        drawn = len(block.code.windows) if _is_compared(content, block) else drawn
        blocks.append(replace(block, href=reader, drawn=drawn))
    return replace(content, blocks=blocks)


def whole(content: Content) -> Content:
    """Have the page begin with every window of every text."""
    blocks = [replace(block, drawn=len(block.code.windows)) for block in content.blocks]
    return replace(content, blocks=blocks)


def texts(content: Content) -> list[ServedText]:
    """Return the texts that the page does not hold whole: each is served in parts."""
    return [ServedText(block.code.digest, len(block.code.windows)) for block in _in_parts(content)]


def parts_on_page(content: Content) -> list[TextPart]:
    """Return the parts that the page begins with, of texts that it does not hold whole."""
    return [
        part
        for block in _in_parts(content)
        for window in block.code.windows[: block.drawn]
        for part in served(block, window)
    ]


def served(block: ContentBlock, window: Window) -> list[TextPart]:
    """Return the part that a window is, if it is all to be read there: what is masked is not."""
    if any(run.start < window.end and window.start < run.end for run in block.code.masked):
        return []
    return [TextPart(block.code.digest, window.number)]


def owed(content: Content, missing: Collection[TextPart]) -> list[Owed]:
    """Say what is unread in words, neighbours together."""
    parts, is_one = frozenset(missing), len(content.to_be_read) == 1
    return [one for block in _in_parts(content) for one in _of(block, parts, is_one=is_one)]


def _in_parts(content: Content) -> list[ContentBlock]:
    return [block for block in content.to_be_read if block.drawn < len(block.code.windows)]


def _is_compared(content: Content, block: ContentBlock) -> bool:
    """Whether a comparison of memories draws all of its lines."""
    memory = content.memory
    if memory is None or memory.compared is None:
        return False
    return block.number in (memory.content, memory.existing or memory.content)


def _of(block: ContentBlock, missing: Collection[TextPart], *, is_one: bool) -> Iterator[Owed]:
    windows = [w for w in block.code.windows if TextPart(block.code.digest, w.number) in missing]
    # Consecutive numbers keep their distance to their position.
    for _, group in groupby(enumerate(windows), lambda one: one[1].number - one[0]):
        together = list(map(itemgetter(1), group))
        first, last = together[0], together[-1]
        text = "" if is_one else f"Text {block.number + 1}, "
        words = f"{text}{lines(first.first, last.last)}"
        href = f"{block.href}?block={block.number}&part={first.number}"
        yield Owed(words, href, len(together))


def lines(first: int, last: int) -> str:
    """Name lines."""
    return f"line {first:,}" if first == last else f"lines {first:,} to {last:,}"
