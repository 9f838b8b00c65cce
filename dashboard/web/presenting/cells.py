"""A pinned notebook, cell by cell, a page of them at a time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from dashboard.approvals.models import ApprovalRequest, Notebook
from dashboard.approvals.rules import notebook as notebook_rules
from dashboard.inspection.notebook_matches import Changes, Match
from dashboard.web.presenting.difference import Difference, difference
from dashboard.web.presenting.pinned import changed, found_in
from dashboard.web.rendering.notebooks import CellView, draw_cells

MOST_CELLS = 50
"""Cells on one page."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A cell, and what we say of it.

    Attributes:
        is_run: It is what would run.
        is_new: The notebook before had no such cell.
        diff: What changed in it since; None if nothing.
    """

    cell: CellView
    is_run: bool
    is_new: bool
    diff: Difference | None


@dataclass(frozen=True, slots=True)
class Cells:
    """Some cells of a notebook.

    Attributes:
        first, last: Their numbers, from 1.
        before, after: The numbers with which other pages begin; 0 if there is none.
        is_unreadable: They could not be read.
    """

    cells: list[Standing]
    first: int
    last: int
    total: int
    before: int
    after: int
    is_unreadable: bool


def cells(
    approval: ApprovalRequest, notebook: Notebook, first: int, secrets: Collection[str] = ()
) -> Cells:
    """Draw the cells from number ``first`` on, as many as fit on a page, ``secrets`` masked."""
    outline = notebook_rules.outline_of(notebook)
    total = len(outline["cells"])
    first = min(max(first, 1), max(total, 1))
    read = notebook_rules.cells_of(notebook, first - 1, MOST_CELLS)
    views = draw_cells(read or [], outline["language"], secrets)
    last = first + len(views) - 1
    return Cells(
        cells=_standings(approval, notebook, views, masks=bool(secrets)),
        first=first,
        last=last,
        total=total,
        before=max(first - MOST_CELLS, 1) if first > 1 else 0,
        after=last + 1 if views and last < total else 0,
        is_unreadable=read is None,
    )


def _standings(
    approval: ApprovalRequest, notebook: Notebook, views: list[CellView], *, masks: bool
) -> list[Standing]:
    found = found_in(approval, notebook)
    before = notebook_rules.pinned_before(approval)
    since = changed(notebook, before)
    shown = [view.number - 1 for view in views if view.number - 1 in since.earlier]
    diffs = _differences(notebook, before, since, shown, masks=masks) if before and shown else {}
    return [
        Standing(
            view,
            is_run=found is not None and _would_run(found, view),
            is_new=view.number - 1 in since.new,
            diff=diffs.get(view.number - 1),
        )
        for view in views
    ]


def _would_run(found: Match, view: CellView) -> bool:
    return view.number in found.cells or (found.is_everything and view.code is not None)


def _differences(
    notebook: Notebook, before: Notebook, since: Changes, shown: list[int], *, masks: bool
) -> dict[int, Difference]:
    old = notebook_rules.sources_of(before, [since.earlier[number] for number in shown])
    new = notebook_rules.sources_of(notebook, shown)
    if old is None or new is None:
        return {}
    pairs = zip(shown, old, new, strict=True)
    return {number: difference(one, other, masks=masks) for number, one, other in pairs}
