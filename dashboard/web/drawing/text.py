"""A text as HTML, window by window: escaped, coloured, with boxes for hidden characters."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import takewhile
from operator import attrgetter
from typing import NamedTuple, overload

from django.utils.html import escape
from django.utils.safestring import SafeString

from dashboard.inspection.hidden import Glyph, segments
from dashboard.web.drawing.markup import COVERED, REDACTED, draw, trusted, untrusted
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
    found: list[Span] = []
    for run in sorted(runs):
        if found and run.start <= found[-1].end:
            before = found[-1]
            found[-1] = Span(before.start, max(before.end, run.end), before.is_all or run.is_all)
        else:
            found.append(run)
    return tuple(found)


class Drawing(Sequence[SafeString]):
    """The lines of a text, drawn when they are asked for.

    ``tokens`` gives the colours up to the end of a window at least, or None if there are none.
    ``redacted`` is in order, each run apart.
    """

    def __init__(
        self,
        source: str,
        windows: Sequence[Window],
        tokens: Callable[[Window], Tokens | None],
        redacted: Sequence[Span] = (),
    ) -> None:
        self._source, self._windows, self._tokens, self._redacted = (
            source,
            windows,
            tokens,
            redacted,
        )
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
        return trusted("".join(self._drawn(one)[line - one.first] for one in holding))

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
        if tokens is None and not redacted:
            yield untrusted(text)
            return
        colours = _Colours(tokens, start) if tokens is not None else None
        for piece, html in pieces(text, start, redacted):
            if html is not None:
                yield html
                if colours:
                    colours.skip(len(piece))
            elif colours is None:
                yield escape(piece)
            else:
                yield from _coloured(piece, colours)

    def _redacted_in(self, start: int, end: int) -> Sequence[Span]:
        first = bisect_right(self._redacted, start, key=attrgetter("end"))
        return self._redacted[first : bisect_left(self._redacted, end, key=attrgetter("start"))]


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
    at = done = 0
    for segment in segments(text):
        first = max(at, done)
        at += len(segment.text if isinstance(segment, Glyph) else segment)
        while run and run.start - start < at:
            begin = max(run.start - start, first)
            if isinstance(segment, str) and first < begin:
                yield Piece(text[first:begin])
            else:
                begin = first  # a glyph is not cut: all of it is redacted with its end
            first = done = min(max(run.end - start, begin), len(text))
            if begin < done:
                yield Piece(text[begin:done], COVERED if run.is_all else REDACTED)
            run = next(runs, None)
        if first >= at:
            continue
        if isinstance(segment, str):
            yield Piece(text[first:at])
        else:
            is_whole = first == at - len(segment.text)
            yield Piece(text[first:at], draw(segment) if is_whole else REDACTED)


def _coloured(text: str, colours: _Colours) -> Iterator[str]:
    at = 0
    for css_class, length in colours.take(len(text)):
        yield _span(css_class, text[at : at + length])
        at += length


def _span(css_class: str, text: str) -> str:
    """Wrap each line of ``text`` on its own, for lines become separate fragments."""
    if not css_class:
        return escape(text)
    around = f'<span class="{css_class}">{{}}</span>'.format
    return "\n".join(around(escape(line)) if line else "" for line in text.split("\n"))
