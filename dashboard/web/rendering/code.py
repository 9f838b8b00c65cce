"""Code as the page shows it: numbered lines of escaped text, coloured where that is certain."""

from __future__ import annotations

import hashlib
import time
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pygments
from django.core.cache import cache
from django.utils.html import escape
from django.utils.safestring import SafeString

from dashboard.inspection.hidden import Glyph, GlyphKind, hidden_characters, segments
from dashboard.inspection.languages import TEXT, lexer_alias
from dashboard.web.rendering.markup import draw, trusted
from dashboard.web.rendering.tokens import DEADLINE_S, can_colour, tokenize

RENDERER_VERSION = f"2 pygments-{pygments.__version__} unicode-{unicodedata.unidata_version}"
CACHED_CHARACTERS = 300_000  # of HTML; what is longer is rendered each time
CACHED_S = 3600
RETRY_COLOURS_S = 60  # what hangs a lexer costs a second a minute, not a second a view
_WARNINGS = 10
_SHORT = 2_000  # characters; what is not coloured is drawn faster than a cache answers


@dataclass(frozen=True, slots=True)
class RenderedCode:
    r"""One text, ready for the page, complete.

    Attributes:
        lines: One HTML fragment a line, split at ``\n`` only, without the line break.
        language: The lexer's name, ``"text"`` if there is none for it.
        highlighted: Whether it is coloured.
        warnings: What is hidden in it, in our words, one sentence fragment each.
        digest: SHA-256 of renderer, language and source: it names this very view.
    """

    lines: list[SafeString]
    language: str
    highlighted: bool
    warnings: list[str]
    digest: str

    @property
    def line_count(self) -> int:
        """How many lines there are. A text that ends with a line break has an empty last one."""
        return len(self.lines)


@dataclass(slots=True)
class ColourBudget:
    """What all colouring of one page may cost. When it is spent the rest stays uncoloured."""

    left_s: float = 2.0


def render_code(
    source: str, language: str | None = None, budget: ColourBudget | None = None
) -> RenderedCode:
    """Render ``source``. Nothing in it is cut off, changed or taken as markup."""
    alias = lexer_alias(language)
    identity = f"{RENDERER_VERSION}\n{alias}\n{source}".encode(errors="surrogatepass")
    digest = hashlib.sha256(identity).hexdigest()
    if alias == TEXT and len(source) <= _SHORT:
        return _render(source, alias, digest, ColourBudget())
    key = f"rendered-code:{digest}"
    known = cache.get(key)
    if isinstance(known, RenderedCode):
        return known
    rendered = _render(source, alias, digest, budget or ColourBudget())
    if sum(map(len, rendered.lines)) <= CACHED_CHARACTERS:
        settled = rendered.highlighted or not can_colour(source, alias)
        cache.set(key, rendered, CACHED_S if settled else RETRY_COLOURS_S)
    return rendered


def _render(source: str, alias: str, digest: str, budget: ColourBudget) -> RenderedCode:
    tokens = _tokens(source, alias, budget)
    html = "".join(map(draw, segments(source)) if tokens is None else _coloured(source, tokens))
    return RenderedCode(
        lines=[trusted(line) for line in html.split("\n")],
        language=alias,
        highlighted=tokens is not None,
        warnings=_warnings(source),
        digest=digest,
    )


def _tokens(source: str, alias: str, budget: ColourBudget) -> list[tuple[str, str]] | None:
    if budget.left_s <= 0:
        return None
    started_at = time.monotonic()
    tokens = tokenize(source, alias, min(DEADLINE_S, budget.left_s))
    budget.left_s -= time.monotonic() - started_at
    return tokens


def _coloured(source: str, tokens: Iterable[tuple[str, str]]) -> Iterator[str]:
    pieces = _Pieces(tokens)
    for segment in segments(source):
        if isinstance(segment, Glyph):
            pieces.skip(len(segment.text))
            yield draw(segment)
        else:
            for css_class, text in pieces.take(len(segment)):
                yield _span(css_class, text)


class _Pieces:
    """Hands out coloured text in the lengths that it is asked for."""

    def __init__(self, tokens: Iterable[tuple[str, str]]) -> None:
        self._tokens = iter(tokens)
        self._css_class = self._text = ""
        self._used = 0

    def take(self, size: int) -> Iterator[tuple[str, str]]:
        while size:
            if self._used == len(self._text):
                self._css_class, self._text = next(self._tokens)
                self._used = 0
            text = self._text[self._used : self._used + size]
            self._used += len(text)
            size -= len(text)
            yield self._css_class, text

    def skip(self, size: int) -> None:
        for _ in self.take(size):
            pass


def _span(css_class: str, text: str) -> str:
    """Wrap each line of ``text`` on its own, for lines become separate fragments."""
    if not css_class:
        return escape(text)
    around = f'<span class="{css_class}">{{}}</span>'.format
    return "\n".join(around(escape(line)) if line else "" for line in text.split("\n"))


def _warnings(source: str) -> list[str]:
    counts = [c for c in hidden_characters(source) if c.kind is not GlyphKind.LINE_END]
    found = [f"{count.name}: {count.count}" for count in counts[:_WARNINGS]]
    rest = sum(count.count for count in counts[_WARNINGS:])
    return [*found, f"other hidden characters: {rest}"] if rest else found
