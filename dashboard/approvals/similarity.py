"""How alike two contents are. Pure, and linear in their size whatever they hold.

A ratio of edits (such as difflib's) is quadratic or worse on text that is made for it. What is
compared here is which short pieces of text both have, and how often.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from approval_client.wire import Kind, canonical_json, parse_json

LONGEST = 20_000
"""Characters of canonical content; what is longer resembles nothing but itself."""

ALIKE = 0.6
"""From here on two contents are worth reading side by side: 1 is the same, 0 nothing common."""

_PIECE = 3  # characters: long enough to know words by, short enough to survive a changed one


@dataclass(frozen=True, slots=True)
class Sketch:
    """What is kept of a content to compare it.

    Attributes:
        frame: What has to be equal: the tool, or what is done to whose memory.
        pieces: How often each piece of text is in it.
        total: How many pieces that is.
    """

    frame: tuple[str, ...]
    pieces: Counter[str]
    total: int


def sketch(kind: str, content: str) -> Sketch:
    """Sketch canonical ``content``, which has to be no longer than ``LONGEST``."""
    frame, text = _read(Kind(kind), parse_json(content))
    padded = f"\n{text}\n"
    cut = [padded[start : start + _PIECE] for start in range(len(padded) - _PIECE + 1)]
    return Sketch(frame, Counter(cut), len(cut))


def likeness(one: Sketch, other: Sketch) -> float:
    """Return the share of pieces that two contents have in common, from 0 to 1."""
    total = one.total + other.total
    if one.frame != other.frame or not total:
        return 0.0
    fewer, more = sorted((one, other), key=lambda side: side.total)
    if 2 * fewer.total < ALIKE * total:
        return 0.0  # too unequal in length to be alike
    common = sum(min(count, more.pieces[piece]) for piece, count in fewer.pieces.items())
    return 2 * common / total


def _read(kind: Kind, content: dict[str, Any]) -> tuple[tuple[str, ...], str]:
    match kind:
        case Kind.CODE:
            return (), _written(content.get("code"))
        case Kind.TOOL_CALL:
            return (_written(content.get("tool")),), _written(content.get("arguments"))
        case Kind.PLAN:
            return (), _written(content.get("steps"))
        case Kind.MEMORY:
            whose = (_written(content.get("operation")), _written(content.get("user_id")))
            return whose, _written(content.get("content"))


def _written(value: Any) -> str:
    return value if isinstance(value, str) else canonical_json(value)
