"""JSON laid out for reading. Only blanks between its marks are added: every digit stays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from approval_client.wire import canonical_json

_MARKS = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\],:]|[^{}\[\],:"]++', re.DOTALL)

_PLAIN = re.compile(r"[\w$@.:/-]+")

_DEEPEST_INDENT = 15  # levels; below MANY_BLANKS, which are drawn as hidden


def pretty_json(value: Any) -> str:
    """Write parsed JSON one member a line, numbers with the digits that their sender wrote."""
    return "".join(_laid_out(_MARKS.findall(canonical_json(value))))


def is_plain(text: str) -> bool:
    """Whether a text reads as one name or value on a line where several stand."""
    return bool(_PLAIN.fullmatch(text))


def on_a_line(text: str) -> str:
    """Return a text as it stands on such a line: in quotation marks, unless it is plain."""
    return text if is_plain(text) else canonical_json(text)


def _laid_out(marks: list[str]) -> Iterator[str]:
    depth = 0
    for index, mark in enumerate(marks):
        if mark in "{[":
            depth += 1
            yield mark if marks[index + 1] in "}]" else mark + _line(depth)
        elif mark in "}]":
            depth -= 1
            yield mark if marks[index - 1] in "{[" else _line(depth) + mark
        elif mark == ",":
            yield mark + _line(depth)
        else:
            yield ": " if mark == ":" else mark


def _line(depth: int) -> str:
    return "\n" + "  " * min(depth, _DEEPEST_INDENT)
