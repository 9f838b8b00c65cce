"""What can still be read of a Python source that does not parse: its statements, line by line."""

from __future__ import annotations

import re
from typing import NamedTuple

from dashboard.inspection.python_tree import parse

MOST_TRIED = 5000
"""Texts that are tried; each takes some 20 microseconds."""

_MOST_LINES = 20  # that one statement goes on over
_LIKE_CODE = re.compile(r"[\w\])]\s*[(\[]|\bimport\b|=|\bdel\b")
_JUNK = re.compile(r"\W+")
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


class Fragments(NamedTuple):
    """The statements that parse by themselves, without their indents.

    Attributes:
        source: All of them, which is Python.
        lines: The line of the whole that each of its lines stood on, from 1.
        is_all: Whether every line was tried.
    """

    source: str
    lines: list[int]
    is_all: bool


def fragments(source: str) -> Fragments:
    """Read what is Python in a source that is not one as a whole.

    What ran in a function or a branch stands beside it: it is read as if it ran.
    """
    lines = re.split(r"\r\n|\r|\n", source)
    statements, numbers = list[str](), list[int]()
    reading = _FragmentReading()
    number = 0
    while number < len(lines) and reading.left > 0:
        length = 1
        if _LIKE_CODE.search(lines[number]):
            statement, length = reading.statement(lines[number : number + _MOST_LINES])
            statement_lines = statement.split("\n") if statement else []
            statements += statement_lines
            numbers += [
                number + 1 + min(index, length - 1) for index in range(len(statement_lines))
            ]
        number += length
    return Fragments("\n".join(statements), numbers, is_all=number >= len(lines))


class _FragmentReading:
    def __init__(self) -> None:
        self.left = MOST_TRIED

    def statement(self, lines: list[str]) -> tuple[str, int]:
        """Return what the first of some lines says, and how many it goes on over."""
        text = lines[0].strip()
        length = _length(lines)
        if length > 1:
            whole = "\n".join([text, *lines[1:length]])
            if self._first_error(whole) is None:
                return whole, length
        for beginning in dict.fromkeys([text, _JUNK.sub("", text, count=1)]):
            end = self._first_error(beginning)
            if end is None:
                return _complete(beginning), 1
            prefix = beginning[:end].rstrip()
            if prefix and self._first_error(prefix) is None:
                return _complete(prefix), 1
        return "", 1

    def _first_error(self, text: str) -> int | None:
        """Return the place where a text stops being Python, None if all of it is."""
        self.left -= 1
        try:
            parse(_complete(text))
        except SyntaxError as error:
            return max((error.offset or 1) - 1, 0)
        except (ValueError, RecursionError, MemoryError):
            return 0
        return None


def _length(lines: list[str]) -> int:
    """Say how many lines a statement goes on over, by its brackets."""
    depth = 0
    for number, line in enumerate(lines, 1):
        depth += sum((c in _OPENING) - (c in _CLOSING) for c in line)
        if depth <= 0:
            return number
    return 1


def _complete(text: str) -> str:
    """Give the head of a statement the body that it needs."""
    return f"{text} pass" if text.endswith(":") else text
