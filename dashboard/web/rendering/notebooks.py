"""Cells of a notebook as the page draws them: texts of the agent's, under labels of ours."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.utils.safestring import SafeString

from dashboard.inspection.notebook_outputs import Output, Picture
from dashboard.inspection.notebooks import Cell
from dashboard.web.drawing.code import ColourBudget, RenderedCode, render_code
from dashboard.web.drawing.redaction import KnownSecrets

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
    budget, known = ColourBudget(1.0), KnownSecrets(secrets)
    return [_cell(cell, language, budget, known) for cell in cells]


def _cell(cell: Cell, language: str, budget: ColourBudget, known: KnownSecrets) -> CellView:
    is_code, source = cell["kind"] == "code", cell["source"]
    masked = known.occurrences(source) if is_code else ()
    return CellView(
        number=cell["number"],
        title=_TITLES[cell["kind"]],
        count=cell["count"],
        code=render_code(source, language, budget, masked) if is_code else None,
        prose=None if is_code else known.said(source),
        left_out=cell["left_out"],
        outputs=[_output(output, known) for output in cell["outputs"]],
        outputs_left_out=cell["outputs_left_out"],
        attachments=cell["attachments"],
    )


def _output(output: Output, known: KnownSecrets) -> OutputView:
    text = output["text"].removesuffix("\n")
    return OutputView(
        label=_OUTPUTS[output["kind"]],
        code=render_code(text, masked=known.occurrences(text)) if text else None,
        left_out=output["left_out"],
        colours=output["colours"],
        picture=output["picture"],
        not_shown=", ".join(output["not_shown"]),
    )
