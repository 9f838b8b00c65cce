"""The difference between two texts: which lines they share, and what changed, drawn.

The texts are compared in the sandbox, for that can take very long. What the sandbox answers is
checked against the texts, so it can fail to find a line that both share, but never show a line as
shared that is not.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

from django.core.cache import cache
from django.utils.safestring import SafeString

from dashboard import sandbox
from dashboard.web.drawing.direction import TextReading
from dashboard.web.drawing.markup import size_drawn, untrusted_as
from dashboard.web.drawing.redaction import redacted

MAX_LINES = 2_000

MAX_CHARACTERS = 200_000

MAX_DRAWN = 2_000_000  # characters of HTML: a comparison is drawn whole

DEADLINE_S = 0.5

CACHED_S = 3600

RETRY_S = 60  # what takes too long costs half a second a minute, not at every view

_MATCH = "dashboard.web.drawing.matching.match"


class LineChange(StrEnum):
    """What becomes of a line."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"


class ChangedLine(NamedTuple):
    """One line: of the old text where it is removed, of the new one where it is not."""

    change: LineChange
    line: int


def is_drawn_whole(*texts: str) -> bool:
    """Say whether texts are short enough that a page draws every line of them."""
    if sum(map(len, texts)) > MAX_CHARACTERS:
        return False
    is_short = max(text.count("\n") for text in texts) < MAX_LINES
    return is_short and sum(map(size_drawn, texts)) <= MAX_DRAWN


def line_changes(old_text: str, new_text: str) -> list[ChangedLine] | None:
    """Return what becomes of every line, or None where the texts are too much to be compared."""
    if not is_drawn_whole(old_text, new_text):
        return None
    old, new = old_text.split("\n"), new_text.split("\n")
    shared = _shared(json.dumps([old, new]).encode())
    try:
        return None if shared is None else list(_laid_out(old, new, shared))
    except (TypeError, ValueError):
        return None


def _shared(payload: bytes) -> Any:
    key = f"line-changes:{hashlib.sha256(payload).hexdigest()}"
    hit = cache.get(key)
    if hit is not None:
        return hit["shared"]
    try:
        shared = json.loads(sandbox.call(_MATCH, payload, DEADLINE_S))
    except (sandbox.SandboxError, ValueError):
        shared = None
    cache.set(key, {"shared": shared}, RETRY_S if shared is None else CACHED_S)
    return shared


def _laid_out(old: list[str], new: list[str], shared: list[Any]) -> Iterator[ChangedLine]:
    at_old = at_new = 0
    for first_old, first_new, count in [*shared, (len(old), len(new), 0)]:
        if not (at_old <= first_old <= len(old) and at_new <= first_new <= len(new)):
            raise ValueError("The sandbox answered with lines that are not in order.")
        if count < 0 or old[first_old:][:count] != new[first_new:][:count]:
            raise ValueError("The sandbox answered with lines that are not the same.")
        yield from (ChangedLine(LineChange.REMOVED, n + 1) for n in range(at_old, first_old))
        yield from (ChangedLine(LineChange.ADDED, n + 1) for n in range(at_new, first_new))
        yield from (ChangedLine(LineChange.SAME, first_new + n + 1) for n in range(count))
        at_old, at_new = first_old + count, first_new + count


MOST_LINES = 600
"""Lines of one difference that are shown; the others are counted."""

CONTEXT = 3
"""Equal lines that are shown before and after a change."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line, drawn."""

    change: str
    text: SafeString


@dataclass(frozen=True, slots=True)
class Gap:
    """So many equal lines that are left out."""

    count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """A difference, ready for the page.

    Attributes:
        added, removed: How many lines.
        left_out: How many lines of the difference are beyond what is shown.
    """

    lines: list[DiffLine | Gap]
    added: int
    removed: int
    left_out: int


def difference(
    old_text: str,
    new_text: str,
    *,
    redacts: bool = False,
    reading: TextReading = TextReading.CODE,
) -> Difference:
    """Compare two texts. What is too much to compare is shown as replaced whole, as is true.

    Args:
        redacts: Whether what looks like a secret is redacted.
        reading: How a line is read. Lines are drawn one by one and without colours, so nothing
            says where a string or a comment of code begins: code keeps the order of its source.
    """
    draw = partial(_drawn, redacts=redacts, reading=reading)
    old, new = old_text.split("\n"), new_text.split("\n")
    steps = line_changes(old_text, new_text) or list(_replaced(old, new))
    folded = list(_folded(steps))
    return Difference(
        lines=[draw(step, old, new) for step in folded[:MOST_LINES]],
        added=sum(step.change is LineChange.ADDED for step in steps),
        removed=sum(step.change is LineChange.REMOVED for step in steps),
        left_out=len(folded[MOST_LINES:]),
    )


def tally(old_text: str, new_text: str) -> tuple[int, int]:
    """Count lines that were added and removed, wherever they stand: at once, for long lists."""
    old, new = Counter(old_text.split("\n")), Counter(new_text.split("\n"))
    return (new - old).total(), (old - new).total()


def _replaced(old: list[str], new: list[str]) -> Iterator[ChangedLine]:
    yield from (ChangedLine(LineChange.REMOVED, number) for number in range(1, len(old) + 1))
    yield from (ChangedLine(LineChange.ADDED, number) for number in range(1, len(new) + 1))


def _drawn(
    step: ChangedLine | Gap,
    old: list[str],
    new: list[str],
    *,
    redacts: bool,
    reading: TextReading,
) -> DiffLine | Gap:
    if isinstance(step, Gap):
        return step
    side = old if step.change is LineChange.REMOVED else new
    draw = redacted if redacts else untrusted_as
    return DiffLine(step.change, draw(side[step.line - 1], reading))


def _folded(steps: list[ChangedLine]) -> Iterator[ChangedLine | Gap]:
    """Leave out equal lines that are far from any change."""
    groups = [
        list(group) for _, group in groupby(steps, lambda step: step.change is LineChange.SAME)
    ]
    for number, group in enumerate(groups):
        if group[0].change is not LineChange.SAME:
            yield from group
            continue
        head = group[:CONTEXT] if number else []
        tail = group[len(head) :][-CONTEXT:] if number < len(groups) - 1 else []
        left_out = len(group) - len(head) - len(tail)
        yield from head
        if left_out:
            yield Gap(left_out)
        yield from tail
