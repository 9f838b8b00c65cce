"""Texts as notebooks hold them, cut and cleared of the codes that colour a terminal."""

from __future__ import annotations

import re
from typing import Any

_COLOURS = re.compile(r"\x1b\[[0-9;]{0,30}m")


def is_text(value: Any) -> bool:
    """Say whether ``value`` is what notebooks write for a text: one, or a list of its lines."""
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(line, str) for line in value)
    )


def text_of(value: Any) -> str:
    """Return a text as one."""
    return value if isinstance(value, str) else "".join(value)


def cut(text: str, lines: int, characters: int) -> tuple[str, int]:
    """Cut a text to so much, and count the lines that are not, or not whole, in it."""
    kept = "\n".join(text[:characters].split("\n", lines)[:lines])
    rest = text[len(kept) :]
    return kept, rest.count("\n") + (not rest.startswith("\n") and bool(rest))


def without_colours(text: str) -> tuple[str, int]:
    """Take out the codes that only colour a terminal, and count them; no other escape goes."""
    return _COLOURS.subn("", text)
