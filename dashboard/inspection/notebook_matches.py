"""What of a notebook is what would run, and what of it is not as it was before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dashboard.inspection.fences import parse_fences
from dashboard.inspection.notebooks import Outline, fingerprint


@dataclass(frozen=True, slots=True)
class Match:
    """Where code stands in a notebook.

    Attributes:
        cells: The numbers, from 1, of the cells that are it: one for each block.
        is_everything: It is all code cells, one after the other.
    """

    cells: tuple[int, ...] = ()
    is_everything: bool = False

    def __bool__(self) -> bool:
        return bool(self.cells) or self.is_everything


@dataclass(frozen=True, slots=True)
class Changes:
    """How a notebook differs from an earlier one, in its cells alone.

    Attributes:
        earlier: Cell -> the cell that it was before, both from 0, where its text changed.
        new: Cells that have no earlier one.
        gone: How many cells there were that are no more.
    """

    earlier: Mapping[int, int] = field(default_factory=dict)
    new: frozenset[int] = frozenset()
    gone: int = 0

    def __bool__(self) -> bool:
        return bool(self.earlier or self.new or self.gone)


def match(code: str, language: str | None, outline: Outline) -> Match:
    """Look for code among the cells. Line breaks before and after either do not count."""
    cells = enumerate(outline["cells"], 1)
    places = {name: number for number, (kind, name, _) in reversed([*cells]) if kind == "code"}
    if fingerprint(code) in outline["joined"] and fingerprint(code) not in places:
        return Match(is_everything=True)
    blocks = None if language else parse_fences(code)
    texts = [block.code for block in blocks] if blocks else [code]
    found = [places.get(fingerprint(text)) for text in texts]
    return Match(tuple(number for number in found if number) if all(found) else ())


def changes(before: Outline, now: Outline) -> Changes:
    """Pair the cells of two notebooks: by text, then by id, then by place."""
    old = [(kind, name) for kind, name, _ in before["cells"]]
    new = [(kind, name) for kind, name, _ in now["cells"]]
    known, kept = set(old), set(new)
    left = {number for number, one in enumerate(old) if one not in kept}
    ids = {before["cells"][number][2]: number for number in left if before["cells"][number][2]}
    earlier: dict[int, int] = {}
    for number in (n for n, one in enumerate(new) if one not in known):
        was = ids.get(now["cells"][number][2], _same_place(number, before["cells"], now["cells"]))
        if was in left:
            earlier[number] = was
            left.discard(was)
    added = frozenset(n for n, one in enumerate(new) if one not in known) - earlier.keys()
    return Changes(earlier, added, len(left))


def _same_place(number: int, old: Sequence[list[str]], new: Sequence[list[str]]) -> int:
    """Return the same number where neither side names its cells there; -1 if there is none."""
    is_there = number < len(old) and old[number][0] == new[number][0]
    return number if is_there and not (old[number][2] and new[number][2]) else -1
