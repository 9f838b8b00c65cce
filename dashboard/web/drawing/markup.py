"""The one place where text becomes HTML. Everything is escaped; hidden characters are drawn."""

from __future__ import annotations

from functools import lru_cache

from django.utils.html import escape
from django.utils.safestring import SafeString

from dashboard.inspection.hidden import Glyph, glyphs, hidden_characters, replaced
from dashboard.web.drawing.alike import MARK, disguises_in, marked, marks
from dashboard.web.drawing.direction import (
    TextReading,
    around,
    isolated,
    prose,
    runs_leftwards,
    tags,
    turns,
)

_BOX = 110  # characters of HTML that a glyph takes at most

_LINE_ENDS = (" \n", "\t\n", " \r\n", "\t\r\n")  # where blanks are drawn

_ESCAPED = {"&": 5, "<": 4, ">": 4, '"': 6, "'": 6}


def untrusted(text: str) -> SafeString:
    """Return what an agent wrote as HTML: escaped, hidden characters as glyphs, lines kept.

    It is read as prose: a line that begins with such letters runs from right to left.
    """
    # Escaping adds nothing that is hidden and no blank, so it may come first, for all at once.
    # Nor do the tags of an isolate, which begins and ends with what is seen.
    disguised = disguises_in(text)
    if not turns(text):
        return trusted(replaced(marked(escape(text), disguised), _boxes))
    lines = text.split("\n")
    leftwards = [runs_leftwards(line) for line in lines]
    escaped = "\n".join(
        prose(line, leftwards=so) for line, so in zip(lines, leftwards, strict=True)
    )
    rows = replaced(marked(escaped, disguised), _boxes).split("\n")
    return trusted(
        "\n".join(around(line, leftwards=so) for line, so in zip(rows, leftwards, strict=True))
    )


def untrusted_code(text: str, reading: TextReading) -> SafeString:
    """Return code as HTML, as ``untrusted`` does; its base direction is left to right."""
    return trusted(replaced(marked(isolated(text, reading), disguises_in(text)), _boxes))


def untrusted_as(text: str, reading: TextReading) -> SafeString:
    """Return what an agent wrote as HTML, as prose or as the code that it is read as."""
    return untrusted(text) if reading is TextReading.PROSE else untrusted_code(text, reading)


def size_drawn(text: str) -> int:
    """Return the most characters of HTML that ``untrusted`` gives, in a fraction of its time."""
    boxes = sum(count.count for count in hidden_characters(text))
    boxes += sum(map(text.count, _LINE_ENDS)) + text.endswith((" ", "\t"))
    escaped = sum(text.count(mark) * (size - 1) for mark, size in _ESCAPED.items())
    return len(text) + boxes * _BOX + marks(text) * MARK + escaped + tags(text)


def draw(glyph: Glyph) -> str:
    """Return HTML for a glyph. It is escaped but not yet marked as such."""
    title, label = escape(glyph.name), escape(glyph.label)
    return f'<span class="glyph glyph-{glyph.kind.value}" title="{title}">{label}</span>'


def trusted(html: str) -> SafeString:
    """Mark ``html`` as safe. Only for what ``draw`` and the spans around it are made of."""
    return SafeString(html)


EMPTY = trusted("")

REDACTED = trusted(
    '<span class="masked" title="A secret, masked by us">'
    '<span aria-hidden="true">••••••••</span>'
    '<span class="visually-hidden">masked secret</span></span>'
)
"""Stands for a secret. It says nothing of how long that is, and is a box that no text can draw."""

COVERED = trusted(
    '<span class="masked" title="Masked by us">'
    '<span aria-hidden="true">••••••••</span> all of this is masked, for it holds secrets in too '
    "many places to mask each of them</span>"
)
"""Stands for a whole text. Where it is too much to find each secret, nothing of it is shown."""


@lru_cache(maxsize=4096)
def _boxes(run: str, ends_line: bool) -> str:  # noqa: FBT001 - as it is called for each run
    return "".join(map(draw, glyphs(run, ends_line=ends_line)))


def numbered(line: SafeString, place: str, number: int) -> SafeString:
    """Set a drawn line with its number; ``place`` is an id of ours."""
    return trusted(f'<code class="line" id="{place}" data-n="{number}">{line}</code>')
