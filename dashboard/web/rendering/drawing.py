"""A text as HTML, window by window: escaped, coloured, with boxes for what is hidden."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple, overload

from django.utils.html import escape
from django.utils.safestring import SafeString

from dashboard.inspection.hidden import Glyph, segments
from dashboard.web.rendering.markup import MASKED, draw, trusted
from dashboard.web.rendering.windows import Window, window_of

Tokens = list[tuple[str, int]]
"""CSS class and length of each piece of a text, in order and complete."""


class Run(NamedTuple):
    """From where to where something stands in a text."""

    start: int
    end: int


class Drawing(Sequence[SafeString]):
    """The lines of a text, drawn when they are asked for.

    ``tokens`` gives the colours up to the end of a window at least, or None if there are none.
    """

    def __init__(
        self,
        source: str,
        windows: Sequence[Window],
        tokens: Callable[[Window], Tokens | None],
        masked: Sequence[Run] = (),
    ) -> None:
        self._source, self._windows, self._tokens, self._masked = source, windows, tokens, masked
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
        first = window_of(self._windows, index + 1).number - 1
        holding = (one for one in self._windows[first:] if one.first <= index + 1 <= one.last)
        return trusted("".join(self._drawn(one)[index + 1 - one.first] for one in holding))

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
        pieces = _Pieces(tokens, start) if tokens is not None else None
        masked = [run for run in self._masked if start < run.end and run.start < start + len(text)]
        for part, is_masked in parts(text, start, masked):
            if isinstance(part, Glyph) or is_masked:
                size = len(part.text if isinstance(part, Glyph) else part)
                if pieces:
                    pieces.skip(size)
                yield draw(part) if isinstance(part, Glyph) else MASKED
            elif pieces is None:
                yield draw(part)
            else:
                yield from _coloured(part, pieces)


class _Pieces:
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


def parts(text: str, start: int, masked: Sequence[Run]) -> Iterator[tuple[str | Glyph, bool]]:
    """Split ``text``, which stands at ``start``, at hidden characters and at what is masked."""
    at = start
    for segment in segments(text):
        if isinstance(segment, Glyph):
            yield segment, False
            at += len(segment.text)
            continue
        end = at + len(segment)
        for run in masked:
            first, last = max(run.start, at), min(run.end, end)
            if first < last:
                if at < first:
                    yield text[at - start : first - start], False
                yield text[first - start : last - start], True
                at = last
        if at < end:
            yield text[at - start : end - start], False
        at = end


def _coloured(text: str, pieces: _Pieces) -> Iterator[str]:
    at = 0
    for css_class, length in pieces.take(len(text)):
        yield _span(css_class, text[at : at + length])
        at += length


def _span(css_class: str, text: str) -> str:
    """Wrap each line of ``text`` on its own, for lines become separate fragments."""
    if not css_class:
        return escape(text)
    around = f'<span class="{css_class}">{{}}</span>'.format
    return "\n".join(around(escape(line)) if line else "" for line in text.split("\n"))
