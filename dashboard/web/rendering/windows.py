"""Long texts cut into windows, so that no page has to hold more than a browser draws at once."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

LINES = 1_000
"""The most lines of a window."""

CHARACTERS = 100_000
"""The most characters of one; a line that is longer goes on in the next."""

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
    breaks = source.count("\n")
    if breaks < LINES and len(source) <= CHARACTERS:
        return [Window(1, 1, breaks + 1, 0, len(source))]
    return list(_cut([*(found.start() for found in _BREAK.finditer(source)), len(source)]))


def window_of(windows: Sequence[Window], line: int) -> Window:
    """Return the first window that holds a line; of a line that is not there, the nearest one."""
    return next((one for one in windows if line <= one.last), windows[-1])


def _cut(ends: Sequence[int]) -> Iterator[Window]:
    """Fill window after window; ``ends`` says where each line ends."""
    line = start = number = 0
    goes_on = False
    while line < len(ends):
        number += 1
        most = min(line + LINES, len(ends))
        fits = bisect_right(ends, start + CHARACTERS, line, most)
        if fits == line:  # not even one line
            end = start + CHARACTERS
            yield Window(number, line + 1, line + 1, start, end, goes_on)
            start, goes_on = end, True
        else:
            end = ends[fits - 1]
            yield Window(number, line + 1, fits, start, end, goes_on)
            line, start, goes_on = fits, end + 1, False
