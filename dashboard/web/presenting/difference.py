"""A difference between two texts of an agent, drawn: what changed, and a little around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from django.utils.safestring import SafeString

from dashboard.web.rendering.diff import Change, Changed, changes
from dashboard.web.rendering.markup import theirs
from dashboard.web.rendering.masking import by_looks

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


def difference(before: str, after: str, *, masks: bool = False) -> Difference:
    """Compare two texts. What is too much to compare is shown as replaced whole, as is true.

    ``masks`` says whether what looks like a secret is masked.
    """
    old, new = before.split("\n"), after.split("\n")
    steps = changes(before, after) or list(_replaced(old, new))
    folded = list(_folded(steps))
    return Difference(
        lines=[_drawn(step, old, new, masks=masks) for step in folded[:MOST_LINES]],
        added=sum(step.change is Change.ADDED for step in steps),
        removed=sum(step.change is Change.REMOVED for step in steps),
        left_out=len(folded[MOST_LINES:]),
    )


def tally(before: str, after: str) -> tuple[int, int]:
    """Count lines that were added and removed, wherever they stand: at once, for long lists."""
    old, new = Counter(before.split("\n")), Counter(after.split("\n"))
    return (new - old).total(), (old - new).total()


def _replaced(old: list[str], new: list[str]) -> Iterator[Changed]:
    yield from (Changed(Change.REMOVED, number) for number in range(1, len(old) + 1))
    yield from (Changed(Change.ADDED, number) for number in range(1, len(new) + 1))


def _drawn(step: Changed | Gap, old: list[str], new: list[str], *, masks: bool) -> DiffLine | Gap:
    if isinstance(step, Gap):
        return step
    side = old if step.change is Change.REMOVED else new
    draw = by_looks if masks else theirs
    return DiffLine(step.change, draw(side[step.line - 1]))


def _folded(steps: list[Changed]) -> Iterator[Changed | Gap]:
    """Leave out equal lines that are far from any change."""
    groups = [list(group) for _, group in groupby(steps, lambda step: step.change is Change.SAME)]
    for number, group in enumerate(groups):
        if group[0].change is not Change.SAME:
            yield from group
            continue
        before = group[:CONTEXT] if number else []
        after = group[len(before) :][-CONTEXT:] if number < len(groups) - 1 else []
        left_out = len(group) - len(before) - len(after)
        yield from before
        if left_out:
            yield Gap(left_out)
        yield from after
