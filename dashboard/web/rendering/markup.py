"""The one place where text becomes HTML. Everything is escaped; hidden characters are drawn."""

from __future__ import annotations

from functools import lru_cache

from django.utils.html import escape
from django.utils.safestring import SafeString

from dashboard.inspection.hidden import Glyph, GlyphKind, segments


def theirs(text: str) -> SafeString:
    """Return what an agent wrote as HTML: escaped, hidden characters as glyphs, lines kept."""
    return trusted("".join(map(draw, segments(text))))


def draw(part: str | Glyph) -> str:
    """Return HTML for plain text or for a glyph. It is escaped but not yet marked as such."""
    return _box(part.label, part.name, part.kind) if isinstance(part, Glyph) else escape(part)


def trusted(html: str) -> SafeString:
    """Mark ``html`` as safe. Only for what ``draw`` and the spans around it are made of."""
    return SafeString(html)


EMPTY = trusted("")

MASKED = trusted(
    '<span class="masked" title="A secret, masked by us">'
    '<span aria-hidden="true">••••••••</span>'
    '<span class="visually-hidden">masked secret</span></span>'
)
"""Stands for a secret. It says nothing of how long that is, and is a box that no text can draw."""


@lru_cache(maxsize=1024)
def _box(label: str, name: str, kind: GlyphKind) -> str:
    title = escape(name)
    return f'<span class="glyph glyph-{kind.value}" title="{title}">{escape(label)}</span>'


def numbered(line: SafeString, place: str, number: int) -> SafeString:
    """Set a drawn line with its number; ``place`` is an id of ours."""
    return trusted(f'<code class="line" id="{place}" data-n="{number}">{line}</code>')
