"""Code as the page shows it: numbered lines of escaped text, coloured where that is certain."""

from __future__ import annotations

import hashlib
import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pygments
from django.core.cache import cache
from django.utils.safestring import SafeString

from dashboard.inspection.hidden import GlyphKind, hidden_characters
from dashboard.inspection.languages import TEXT, lexer_alias
from dashboard.web.drawing.direction import TextReading
from dashboard.web.drawing.text import Drawing, Span, Tokens
from dashboard.web.drawing.tokens import DEADLINE_S, can_colour, tokenize
from dashboard.web.drawing.windows import Window, cut

RENDERER_VERSION = f"6 pygments-{pygments.__version__} unicode-{unicodedata.unidata_version}"

CACHED_CHARACTERS = 300_000  # of HTML; what is longer is rendered each time

CACHED_S = 3600

RETRY_COLOURS_S = 60  # what hangs a lexer costs a second a minute, not a second a view

_WARNINGS = 10

_AHEAD = 10_000  # characters beyond the first window, for what has its end there

_SHORT = 2_000  # characters; what is not coloured is drawn faster than a cache answers


@dataclass(frozen=True, slots=True)
class RenderedCode:
    r"""One text, ready for the page, complete.

    Attributes:
        lines: One HTML fragment a line, split at ``\n`` only, without the line break. Those of a
            text of several windows are drawn when they are asked for.
        language: The lexer's name, ``"text"`` if there is none for it.
        highlighted: Whether it is coloured.
        warnings: What is hidden in it, in our words, one sentence fragment each.
        digest: SHA-256 of renderer, language and source: it names this very view.
        windows: The parts that it is served in; one if it is short.
        redacted: Where secrets stand that are drawn as dots.
    """

    lines: Sequence[SafeString]
    language: str
    highlighted: bool
    warnings: list[str]
    digest: str
    windows: list[Window]
    redacted: tuple[Span, ...] = ()

    @property
    def line_count(self) -> int:
        """How many lines there are. A text that ends with a line break has an empty last one."""
        return self.windows[-1].last

    @property
    def is_long(self) -> bool:
        """Whether it takes more than one window."""
        return len(self.windows) > 1

    def lines_in(self, window: Window) -> Sequence[SafeString]:
        """Return the lines of one window, or the parts of lines that stand in it."""
        return self.lines.within(window) if isinstance(self.lines, Drawing) else self.lines


@dataclass(slots=True)
class ColourBudget:
    """What all colouring of one page may cost. When it is spent the rest stays uncoloured."""

    left_s: float = 2.0


@dataclass(frozen=True, slots=True)
class _Source:
    """What is to be rendered."""

    text: str
    alias: str
    redacted: tuple[Span, ...] = ()
    reading: TextReading = TextReading.CODE
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        identity = f"{RENDERER_VERSION}\n{self.alias} {self.reading.value}\n{self.text}"
        digest = hashlib.sha256(identity.encode(errors="surrogatepass")).hexdigest()
        object.__setattr__(self, "digest", digest)


def render_code(
    source: str,
    language: str | None = None,
    budget: ColourBudget | None = None,
    redacted: tuple[Span, ...] = (),
    reading: TextReading | None = None,
) -> RenderedCode:
    """Render ``source``. Nothing in it is cut off, changed or taken as markup.

    ``redacted`` says from where to where dots stand for what it says; ``reading`` how it is
    read where it has no colours, as code of its language if that is None.
    """
    alias = lexer_alias(language)
    of_language = TextReading.QUOTED if alias == "json" else TextReading.CODE
    code = _Source(source, alias, redacted, reading or of_language)
    if code.alias == TEXT and len(source) <= _SHORT:
        return _render(code, ColourBudget())
    key = f"rendered-code:{code.digest}"
    hit = None if redacted else cache.get(key)
    if isinstance(hit, RenderedCode):
        return hit
    rendered = _render(code, budget or ColourBudget())
    if not rendered.is_long and not redacted and _size(rendered) <= CACHED_CHARACTERS:
        settled = rendered.highlighted or not can_colour(source, code.alias)
        cache.set(key, rendered, CACHED_S if settled else RETRY_COLOURS_S)
    return rendered


def _size(rendered: RenderedCode) -> int:
    return sum(map(len, rendered.lines))


def _render(source: _Source, budget: ColourBudget) -> RenderedCode:
    windows = cut(source.text)
    is_long = len(windows) > 1
    tokens = _long(source, windows, budget) if is_long else _short(source, budget)
    drawing = Drawing(source.text, windows, tokens, source.redacted, source.reading)
    return RenderedCode(
        lines=drawing if is_long else drawing.within(windows[0]),
        language=source.alias,
        highlighted=tokens(windows[0]) is not None,
        warnings=_warnings(source.text),
        digest=source.digest,
        windows=windows,
        redacted=source.redacted,
    )


_TokensOf = Callable[[Window], Tokens | None]


def _short(source: _Source, budget: ColourBudget) -> _TokensOf:
    tokens = _tokens(source.text, source.alias, budget)
    return lambda _: tokens


def _long(source: _Source, windows: Sequence[Window], budget: ColourBudget) -> _TokensOf:
    """Read the beginning for the first window, and all of it once for every other.

    A window alone would be misread; so the beginning goes on further than is shown, for what a
    lexer takes as one only when it sees its end.
    """
    if not can_colour(source.text, source.alias):
        return lambda _: None
    beginning = source.text[: windows[0].end + _AHEAD]

    def tokens(window: Window) -> Tokens | None:
        text = beginning if window.number == 1 else source.text
        return _kept(f"tokens:{source.digest}:{len(text)}", text, source.alias, budget)

    return tokens


def _kept(key: str, text: str, alias: str, budget: ColourBudget) -> Tokens | None:
    cache_entry = cache.get(key)
    if cache_entry is None:
        tokens = _tokens(text, alias, budget)
        cache_entry = {"tokens": tokens}
        cache.set(key, cache_entry, RETRY_COLOURS_S if tokens is None else CACHED_S)
    tokens_of: Tokens | None = cache_entry["tokens"]
    return tokens_of


def _tokens(text: str, alias: str, budget: ColourBudget) -> Tokens | None:
    if budget.left_s <= 0:
        return None
    started_at = time.monotonic()
    tokens = tokenize(text, alias, min(DEADLINE_S, budget.left_s))
    budget.left_s -= time.monotonic() - started_at
    return None if tokens is None else [(css_class, len(piece)) for css_class, piece in tokens]


def _warnings(source: str) -> list[str]:
    counts = [c for c in hidden_characters(source) if c.kind is not GlyphKind.LINE_END]
    texts = [f"{count.name}: {count.count}" for count in counts[:_WARNINGS]]
    rest = sum(count.count for count in counts[_WARNINGS:])
    return [*texts, f"other hidden characters: {rest}"] if rest else texts
