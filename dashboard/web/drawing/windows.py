"""Long texts cut into windows, so that no page has to hold more than a browser draws at once."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from dashboard.web.drawing.markup import size_drawn

LINES = 1_000
"""The most lines of a window."""

FEW_LINES, FEW_CHARACTERS = 50, 5_000
"""A text that has no more of both is on the page in any case."""

CHARACTERS = 100_000
"""The most characters of one; a line that is longer goes on in the next."""

CHARACTERS_DENSE = CHARACTERS // 10
"""The most of one where the text is dense: each character takes ``DENSE`` of HTML, or more."""

DENSE = 8

_BREAK = re.compile("\n")


class Window(NamedTuple):
    """A part of a text.

    Attributes:
        number: Which one, from 1.
        first, last: The lines that it holds, from 1.
        start, end: Where it begins and ends in the text, without the break after its last line.
        goes_on: Whether it begins within a line.
    """

    number: int
    first: int
    last: int
    start: int
    end: int
    goes_on: bool = False


def cut(source: str) -> list[Window]:
    """Cut a text into windows that together are all of it."""
    breaks, most = source.count("\n"), CHARACTERS_DENSE if is_dense(source) else CHARACTERS
    if breaks < LINES and len(source) <= most:
        return [Window(1, 1, breaks + 1, 0, len(source))]
    ends = [*(match.start() for match in _BREAK.finditer(source)), len(source)]
    return list(_cut(ends, most))


def is_small(source: str) -> bool:
    """Say whether a text is on the page in any case."""
    return len(source) <= FEW_CHARACTERS and source.count("\n") < FEW_LINES


def window_of(windows: Sequence[Window], line: int) -> Window:
    """Return the first window that holds a line; of a line that is not there, the nearest one."""
    return windows[min(bisect_left(windows, line, key=attrgetter("last")), len(windows) - 1)]


def is_dense(source: str) -> bool:
    """Say whether a text is long and takes many times its length as HTML."""
    return len(source) > CHARACTERS_DENSE and size_drawn(source) > DENSE * len(source)


def _cut(ends: Sequence[int], characters: int) -> Iterator[Window]:
    """Fill window after window; ``ends`` says where each line ends."""
    line = start = number = 0
    goes_on = False
    while line < len(ends):
        number += 1
        most = min(line + LINES, len(ends))
        fits = bisect_right(ends, start + characters, line, most)
        if fits == line:  # not even one line
            end = start + characters
            yield Window(number, line + 1, line + 1, start, end, goes_on)
            start, goes_on = end, True
        else:
            end = ends[fits - 1]
            yield Window(number, line + 1, fits, start, end, goes_on)
            line, start, goes_on = fits, end + 1, False
