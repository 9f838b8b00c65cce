"""A text as HTML, window by window: escaped, coloured, with boxes for hidden characters."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import takewhile
from operator import attrgetter
from typing import NamedTuple, overload

from django.utils.safestring import SafeString

from dashboard.inspection.hidden import Glyph, segments
from dashboard.web.drawing.alike import NONE, disguises_in, marked
from dashboard.web.drawing.direction import (
    JOINERS,
    TextReading,
    around,
    isolated,
    prose,
    runs_leftwards,
)
from dashboard.web.drawing.markup import (
    COVERED,
    REDACTED,
    draw,
    trusted,
    untrusted,
    untrusted_code,
)
from dashboard.web.drawing.windows import Window, window_of

Tokens = list[tuple[str, int]]
"""CSS class and length of each piece of a text, in order and complete."""


class Span(NamedTuple):
    """From where to where something stands in a text.

    Attributes:
        is_all: Whether it is the whole text, where single places were too many.
    """

    start: int
    end: int
    is_all: bool = False


def apart(runs: Iterable[Span]) -> tuple[Span, ...]:
    """Put runs in order, those that overlap as one."""
    spans: list[Span] = []
    for run in sorted(runs):
        if spans and run.start <= spans[-1].end:
            latest = spans[-1]
            spans[-1] = Span(latest.start, max(latest.end, run.end), latest.is_all or run.is_all)
        else:
            spans.append(run)
    return tuple(spans)


class Drawing(Sequence[SafeString]):
    """The lines of a text, drawn when they are asked for.

    ``tokens`` gives the colours up to the end of a window at least, or None if there are none.
    ``redacted`` is in order, each run apart. ``reading`` is for what has no colours.
    """

    def __init__(
        self,
        source: str,
        windows: Sequence[Window],
        tokens: Callable[[Window], Tokens | None],
        redacted: Sequence[Span] = (),
        reading: TextReading = TextReading.CODE,
    ) -> None:
        self._source, self._windows, self._tokens = source, windows, tokens
        self._redacted, self._reading = redacted, reading
        self._disguised = disguises_in(source)
        self._drawn = cache(self._draw)

    def __len__(self) -> int:
        return self._windows[-1].last

    @overload
    def __getitem__(self, index: int) -> SafeString: ...

    @overload
    def __getitem__(self, index: slice) -> list[SafeString]: ...

    def __getitem__(self, index: int | slice) -> SafeString | list[SafeString]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        line = index + 1
        windows = range(window_of(self._windows, line).number - 1, len(self._windows))
        holding = takewhile(lambda one: one.first <= line, map(self._windows.__getitem__, windows))
        return trusted("".join(self._drawn(window)[line - window.first] for window in holding))

    def within(self, window: Window) -> list[SafeString]:
        """Draw the lines of one window, or the parts of lines that stand in it."""
        return self._drawn(window)

    def _draw(self, window: Window) -> list[SafeString]:
        # With the break that ends it, for a CR before a line break is no CR within a line.
        text = self._source[window.start : window.end + 1]
        text = text if text.endswith("\n") else self._source[window.start : window.end]
        html = "".join(self._html(text, window.start, self._tokens(window)))
        lines = html.split("\n")[: window.last - window.first + 1]
        return [trusted(line) for line in lines]

    def _html(self, text: str, start: int, tokens: Tokens | None) -> Iterator[str]:
        redacted = self._redacted_in(start, start + len(text))
        text_pieces = with_joiners(pieces(text, start, redacted))
        if tokens is not None:
            colours = _Colours(tokens, start)
            for piece, html in text_pieces:
                if html is None:
                    yield from _coloured(piece, colours, self._disguised)
                else:
                    yield html
                    colours.skip(len(piece))
        elif redacted:
            yield drawn(text_pieces, self._reading, self._disguised)
        elif self._reading is TextReading.PROSE:
            yield untrusted(text)
        else:
            yield untrusted_code(text, self._reading)

    def _redacted_in(self, start: int, end: int) -> Sequence[Span]:
        index = bisect_right(self._redacted, start, key=attrgetter("end"))
        return self._redacted[index : bisect_left(self._redacted, end, key=attrgetter("start"))]


class _Colours:
    """Hands out CSS classes for the lengths of text that it is asked for."""

    def __init__(self, tokens: Tokens, start: int) -> None:
        self._tokens = iter(tokens)
        self._css_class, self._left = "", 0
        self.skip(start)

    def take(self, size: int) -> Iterator[tuple[str, int]]:
        while size:
            if not self._left:
                self._css_class, self._left = next(self._tokens)
            length = min(self._left, size)
            self._left -= length
            size -= length
            yield self._css_class, length

    def skip(self, size: int) -> None:
        for _ in self.take(size):
            pass


class Piece(NamedTuple):
    """A piece of a text. ``html`` is what is drawn for it; None for text that is as it looks."""

    text: str
    html: str | None = None


def pieces(text: str, start: int, redacted: Sequence[Span]) -> Iterator[Piece]:
    """Split ``text``, which stands at ``start``, at hidden characters and at what is redacted.

    What is redacted is one piece, whatever is hidden in it. ``redacted`` is in order, each run
    apart.
    """
    runs = iter(redacted)
    run = next(runs, None)
    at = run_end = 0
    for segment in segments(text):
        rest_start = max(at, run_end)
        at += len(segment.text if isinstance(segment, Glyph) else segment)
        while run and run.start - start < at:
            begin = max(run.start - start, rest_start)
            if isinstance(segment, str) and rest_start < begin:
                yield Piece(text[rest_start:begin])
            else:
                begin = rest_start  # a glyph is not cut: all of it is redacted with its end
            rest_start = run_end = min(max(run.end - start, begin), len(text))
            if begin < run_end:
                yield Piece(text[begin:run_end], COVERED if run.is_all else REDACTED)
            run = next(runs, None)
        if rest_start >= at:
            continue
        if isinstance(segment, str):
            yield Piece(text[rest_start:at])
        else:
            is_whole = rest_start == at - len(segment.text)
            yield Piece(text[rest_start:at], draw(segment) if is_whole else REDACTED)


@cache
def _joiner_boxes() -> dict[str, str]:
    return {joiner: untrusted(joiner) for joiner in JOINERS}


def with_joiners(parts: Iterable[Piece]) -> Iterator[Piece]:
    """Leave single joiners in the text around them, for they part no word; drawn at its end."""
    texts: list[str] = []
    boxes = _joiner_boxes()
    for piece in parts:
        if piece.html is None or boxes.get(piece.text) == piece.html:
            texts.append(piece.text)
        else:
            if texts:
                yield Piece("".join(texts))
                texts = []
            yield piece
    if texts:
        yield Piece("".join(texts))


def drawn(
    parts: Iterable[Piece], reading: TextReading, disguised: AbstractSet[str] = NONE
) -> SafeString:
    """Draw pieces that have no colours; ``with_joiners`` made them."""
    if reading is not TextReading.PROSE:
        html = (
            _boxed(isolated(piece, reading), disguised) if html is None else html
            for piece, html in parts
        )
        return trusted("".join(html))
    return trusted("\n".join(_prose(line, disguised) for line in _lines(parts)))


def _lines(parts: Iterable[Piece]) -> Iterator[list[Piece]]:
    line: list[Piece] = []
    for piece in parts:
        if piece.html is not None:
            line.append(piece)
            continue
        head, *tails = piece.text.split("\n")
        line.append(Piece(head))
        for tail in tails:
            yield line
            line = [Piece(tail)]
    yield line


def _prose(line: list[Piece], disguised: AbstractSet[str]) -> str:
    leftwards = runs_leftwards("".join(piece for piece, html in line if html is None))
    html = (
        _boxed(prose(piece, leftwards=leftwards), disguised) if html is None else html
        for piece, html in line
    )
    return around("".join(html), leftwards=leftwards)


def _boxed(html: str, disguised: AbstractSet[str]) -> str:
    if html.isascii():
        return html
    html = marked(html, disguised)
    for joiner, box in _joiner_boxes().items():
        html = html.replace(joiner, box)
    return html


def _coloured(text: str, colours: _Colours, disguised: AbstractSet[str]) -> Iterator[str]:
    at = 0
    for css_class, length in colours.take(len(text)):
        yield _span(css_class, text[at : at + length], disguised)
        at += length


def _span(css_class: str, text: str, disguised: AbstractSet[str]) -> str:
    """Wrap each line of ``text`` on its own, for lines become separate fragments."""
    html = _boxed(isolated(text, _reading(css_class, text)), disguised)
    if not css_class:
        return html
    coloured = f'<span class="{css_class}">{{}}</span>'.format
    return "\n".join(coloured(line) if line else "" for line in html.split("\n"))


_CODE_IN_STRINGS = {"sa", "se", "si", "sr", "ch", "cp", "cpf"}  # of classes that begin so


def _reading(css_class: str, text: str) -> TextReading:
    """Say how a token is read; the names in JSON are strings."""
    if css_class == "nt":
        return TextReading.LITERAL if text.startswith('"') else TextReading.CODE
    is_literal = css_class[:1] in ("s", "c") and css_class not in _CODE_IN_STRINGS
    return TextReading.LITERAL if is_literal else TextReading.CODE
