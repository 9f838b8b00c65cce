"""The pinned notebook of a request: what we say of it, its cells, and its pictures."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from approval_client.wire import Kind, parse_json
from dashboard.approvals import services
from dashboard.approvals.models import ApprovalRequest, Notebook
from dashboard.approvals.rules import notebook as notebook_rules
from dashboard.clock import database_now
from dashboard.inspection.notebooks import Cell, Changes, Match, Output, Picture, changes, match
from dashboard.web import errors, times
from dashboard.web.access import for_readers
from dashboard.web.desk.judgement import last_judgement
from dashboard.web.desk.view import redacted_secrets
from dashboard.web.drawing.code import ColourBudget, RenderedCode, render_code
from dashboard.web.drawing.diff import Difference, difference
from dashboard.web.drawing.direction import TextReading
from dashboard.web.drawing.pictures import drawn_anew
from dashboard.web.drawing.redaction import KnownSecrets
from dashboard.web.http import PersonRequest
from dashboard.web.times import Moment

_TITLES = {"code": "Code", "markdown": "Text", "raw": "Text that is not run"}

_OUTPUTS = {
    "stdout": "Printed",
    "stderr": "Printed as an error",
    "result": "Result",
    "display": "Displayed",
    "error": "Error",
    "unknown": "An output of a kind that we do not know",
}

_LONG = 12  # lines; a longer output is folded


@dataclass(frozen=True, slots=True)
class OutputView:
    """One output. ``label`` and ``not_shown`` are ours."""

    label: str
    code: RenderedCode | None
    left_out: int
    colours: int
    picture: Picture | None
    not_shown: str

    @property
    def is_long(self) -> bool:
        """Whether it is folded at first."""
        return self.code is not None and self.code.line_count > _LONG


@dataclass(frozen=True, slots=True)
class CellView:
    """One cell: code, or a text that is shown as it was written and never as markup."""

    number: int
    title: str
    count: int | None
    code: RenderedCode | None
    prose: SafeString | None
    left_out: int
    outputs: list[OutputView]
    outputs_left_out: int
    attachments: int


def draw_cells(
    cells: Iterable[Cell], language: str, secrets: Collection[str] = ()
) -> list[CellView]:
    """Draw cells, in their order, while the time for colours lasts, with ``secrets`` masked."""
    budget, known_secrets = ColourBudget(1.0), KnownSecrets(secrets)
    return [_cell(cell, language, budget, known_secrets) for cell in cells]


def _cell(cell: Cell, language: str, budget: ColourBudget, secrets: KnownSecrets) -> CellView:
    is_code, source = cell["kind"] == "code", cell["source"]
    redacted = secrets.occurrences(source) if is_code else ()
    return CellView(
        number=cell["number"],
        title=_TITLES[cell["kind"]],
        count=cell["count"],
        code=render_code(source, language, budget, redacted) if is_code else None,
        prose=None if is_code else secrets.draw(source),
        left_out=cell["left_out"],
        outputs=[_output(output, secrets) for output in cell["outputs"]],
        outputs_left_out=cell["outputs_left_out"],
        attachments=cell["attachments"],
    )


def _output(output: Output, secrets: KnownSecrets) -> OutputView:
    text = output["text"].removesuffix("\n")
    return OutputView(
        label=_OUTPUTS[output["kind"]],
        code=render_code(text, redacted=secrets.occurrences(text), reading=TextReading.PROSE)
        if text
        else None,
        left_out=output["left_out"],
        colours=output["colours"],
        picture=output["picture"],
        not_shown=", ".join(output["not_shown"]),
    )


EVERYTHING = "The code that would run is all code cells of this notebook, one after the other."

NOTHING = "The code that would run is not in this notebook."

THE_SAME = "The same notebook as in the request before it in this run."

NO_CELL = "No cell changed since the request before it in this run; outputs or settings did."


@dataclass(frozen=True, kw_only=True, slots=True)
class PinnedNotebook:
    """A notebook beside a request. Every word is ours.

    Attributes:
        digest: SHA-256 of its bytes, as the request names it.
        sent: When it came; None if the agent had not sent it when it asked.
        cells: How many there are.
        compared: Whether what would run is in it; empty where that is no code.
        is_in_it: Whether it is.
        since: What changed since the notebook before; empty if there was none.
    """

    digest: str
    sent: Moment | None = None
    cells: int = 0
    compared: str = ""
    is_in_it: bool = False
    since: str = ""


def pinned_notebook(approval: ApprovalRequest, now: datetime) -> PinnedNotebook | None:
    """Describe the notebook that a request names, or return None if it names none."""
    digest = parse_json(approval.evidence).get("notebook")
    if not notebook_rules.is_digest(digest):
        return None
    notebook = notebook_rules.pinned_to(approval.pk)
    if notebook is None:
        return PinnedNotebook(digest=digest)
    occurrence = found_in(approval, notebook)
    return PinnedNotebook(
        digest=digest,
        sent=times.moment(notebook.sent_at, now),
        cells=len(notebook_rules.outline_of(notebook)["cells"]),
        compared="" if occurrence is None else _compared(occurrence),
        is_in_it=bool(occurrence),
        since=_since(approval, notebook),
    )


def found_in(approval: ApprovalRequest, notebook: Notebook) -> Match | None:
    """Say where the code of a request stands in a notebook; None if it asks for no code."""
    if approval.kind != Kind.CODE:
        return None
    content = parse_json(approval.content)
    return match(content["code"], content.get("language"), notebook_rules.outline_of(notebook))


def changes_since(notebook: Notebook, earlier: Notebook | None) -> Changes:
    """Say how a notebook differs from the one before."""
    if earlier is None or earlier.digest == notebook.digest:
        return Changes()
    return changes(notebook_rules.outline_of(earlier), notebook_rules.outline_of(notebook))


def _compared(found: Match) -> str:
    if found.is_everything:
        return EVERYTHING
    numbers = ", ".join(map(str, found.cells))
    match len(found.cells):
        case 0:
            return NOTHING
        case 1:
            return f"The code that would run is cell {numbers} of this notebook."
    return f"Each block that would run is a cell of this notebook: {numbers}."


def _since(approval: ApprovalRequest, notebook: Notebook) -> str:
    older = notebook_rules.pinned_before(approval)
    if older is None:
        return ""
    if older.digest == notebook.digest:
        return THE_SAME
    updates = changes_since(notebook, older)
    if not updates:
        return NO_CELL
    counts = [(len(updates.earlier), "changed"), (len(updates.new), "new"), (updates.gone, "gone")]
    phrases = [f"{count} {word}" for count, word in counts if count]
    head, _, word = phrases[0].partition(" ")
    phrases[0] = f"{head} cell{'' if head == '1' else 's'} {word}"
    return f"{', '.join(phrases)} since the request before it in this run."


MOST_CELLS = 50
"""Cells on one page."""


@dataclass(frozen=True, slots=True)
class CellRow:
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
class CellPage:
    """Some cells of a notebook.

    Attributes:
        first, last: Their numbers, from 1.
        before, after: The numbers with which other pages begin; 0 if there is none.
        is_unreadable: They could not be read.
    """

    cells: list[CellRow]
    first: int
    last: int
    total: int
    before: int
    after: int
    is_unreadable: bool


def cell_page(
    approval: ApprovalRequest, notebook: Notebook, start: int, secrets: Collection[str] = ()
) -> CellPage:
    """Draw the cells from number ``start`` on, as many as fit on a page, ``secrets`` masked."""
    outline = notebook_rules.outline_of(notebook)
    total = len(outline["cells"])
    start = min(max(start, 1), max(total, 1))
    cells = notebook_rules.cells_of(notebook, start - 1, MOST_CELLS)
    views = draw_cells(cells or [], outline["language"], secrets)
    last_number = start + len(views) - 1
    return CellPage(
        cells=_rows(approval, notebook, views, redacts=bool(secrets)),
        first=start,
        last=last_number,
        total=total,
        before=max(start - MOST_CELLS, 1) if start > 1 else 0,
        after=last_number + 1 if views and last_number < total else 0,
        is_unreadable=cells is None,
    )


def _rows(
    approval: ApprovalRequest, notebook: Notebook, views: list[CellView], *, redacts: bool
) -> list[CellRow]:
    occurrence = found_in(approval, notebook)
    older = notebook_rules.pinned_before(approval)
    since = changes_since(notebook, older)
    cells = [view for view in views if view.number - 1 in since.earlier]
    diffs = _differences(notebook, older, since, cells, redacts=redacts) if older and cells else {}
    return [
        CellRow(
            view,
            is_run=occurrence is not None and _would_run(occurrence, view),
            is_new=view.number - 1 in since.new,
            diff=diffs.get(view.number - 1),
        )
        for view in views
    ]


def _would_run(found: Match, view: CellView) -> bool:
    return view.number in found.cells or (found.is_everything and view.code is not None)


def _differences(
    notebook: Notebook,
    earlier: Notebook,
    since: Changes,
    cells: list[CellView],
    *,
    redacts: bool,
) -> dict[int, Difference]:
    numbers = [view.number - 1 for view in cells]
    old = notebook_rules.sources_of(earlier, [since.earlier[number] for number in numbers])
    new = notebook_rules.sources_of(notebook, numbers)
    if old is None or new is None:
        return {}
    readings = [TextReading.PROSE if view.code is None else TextReading.CODE for view in cells]
    pairs = zip(numbers, old, new, readings, strict=True)
    return {
        number: difference(base, source, redacts=redacts, reading=reading)
        for number, base, source, reading in pairs
    }


_LONGEST_NUMBER = 6  # digits

_PICTURE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"


@require_safe
@for_readers
def notebook(request: PersonRequest, approval_id: UUID) -> HttpResponse:
    """Show the cells of the notebook that was pinned; to htmx, the cells alone."""
    approval = services.current(approval_id)
    pin = notebook_rules.pinned_to(approval_id)
    if pin is None:
        return errors.not_found(request)
    secrets = redacted_secrets(approval, last_judgement(approval), request.user)
    context = {
        "approval": approval,
        "pinned": pinned_notebook(approval, database_now()),
        "page": cell_page(approval, pin, _number(request.GET.get("from", "")), secrets),
    }
    return render(request, "desk/_cells.html" if request.htmx else "desk/notebook.html", context)


@require_safe
@for_readers
def picture(request: PersonRequest, approval_id: UUID, cell: int, output: int) -> HttpResponse:
    """Show a picture of a pinned notebook, drawn anew."""
    pin = notebook_rules.pinned_to(approval_id)
    original = notebook_rules.picture_of(pin, cell - 1, output) if pin and cell else None
    png = drawn_anew(original) if original else None
    if png is None:
        return errors.not_found(request)
    headers = {"Content-Security-Policy": _PICTURE_POLICY, "Content-Disposition": "inline"}
    return HttpResponse(png, content_type="image/png", headers=headers)


def _number(text: str) -> int:
    is_number = text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER
    return int(text) if is_number else 1
