"""Notebooks (nbformat 4) as texts and pictures: read, measured and cut, never run.

Everything here is called through the sandbox, for a notebook may be 10 MiB of anything. Only what
a page can draw as plain text leaves it, and PNG pictures, which are drawn anew elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, TypedDict

from approval_client.wire import JsonError, parse_json
from dashboard.inspection.notebook_outputs import Output, picture_of, read_outputs
from dashboard.inspection.notebook_texts import cut, is_text, text_of

READER_VERSION = "1"
MOST_CELLS = 5_000
MOST_LINES = 1_000
"""Lines of one cell that are handed on; the others are counted."""

MOST_CHARACTERS = 50_000
MOST_PICTURES = 20
"""Pictures that are shown together: each takes a moment of a process that others need too."""

MOST_AT_ONCE = 400_000  # characters of all cells that are handed on together
_LONGEST_ID = 64  # nbformat 4.5
_KINDS = {"code": "code", "markdown": "markdown", "raw": "raw"}
_NOT_ONE = "This is not a notebook of nbformat 4"


class Outline(TypedDict):
    """What is kept beside a notebook, so that nobody has to read all of it again.

    Attributes:
        language: What its metadata say that its code is written in; perhaps empty.
        cells: ``[kind, fingerprint of the source, id]`` each; the id may be empty.
        joined: Fingerprints of all code cells one after the other.
    """

    language: str
    cells: list[list[str]]
    joined: list[str]


class Cell(TypedDict):
    """One cell, cut to what a page can draw. ``number`` counts from 1.

    Attributes:
        count: How often the kernel had run something, as the notebook says; None if it does not.
        left_out: How many lines of the source are not in it.
        attachments: How many files are attached to it, which are never shown.
    """

    number: int
    kind: str
    count: int | None
    source: str
    left_out: int
    outputs: list[Output]
    outputs_left_out: int
    attachments: int


class NotANotebook(ValueError):
    """It is JSON, but no notebook that could be shown."""


def fingerprint(text: str) -> str:
    """Name a source; line breaks before and after it do not count."""
    whole = text.strip("\n").encode(errors="surrogatepass")
    return hashlib.sha256(whole).hexdigest()[:32]


def check(body: bytes) -> bytes:
    """In the sandbox: return the outline as JSON, or ``{"code": …, "problem": …}``."""
    try:
        return json.dumps(outline(parse_json(body))).encode()
    except JsonError as error:
        return json.dumps({"code": error.code, "problem": str(error)}).encode()
    except NotANotebook as error:
        return json.dumps({"code": "not_a_notebook", "problem": str(error)}).encode()


def outline(notebook: Any) -> Outline:
    """Describe a notebook in short.

    Raises:
        NotANotebook: It lacks what a notebook has, or has too much of it.
    """
    cells = _cells(notebook)
    sources = [
        text_of(cell["source"]).strip("\n") for cell in cells if cell["cell_type"] == "code"
    ]
    return Outline(
        language=_language(notebook.get("metadata")),
        cells=[[_kind(c), fingerprint(text_of(c["source"])), _id(c)] for c in cells],
        joined=[fingerprint(joint.join(sources)) for joint in ("\n", "\n\n")],
    )


def read(payload: bytes) -> bytes:
    """In the sandbox: return cells as JSON, ``[Cell, …]``, as many as are not too much at once.

    The payload is JSON ``[first, count]``, a line break, and the notebook; cells count from 0.
    """
    (first, count), cells = _asked(payload)
    found, left, pictures = [], MOST_AT_ONCE, MOST_PICTURES
    for number, cell in enumerate(cells[first : first + count], first + 1):
        found.append(_cell(number, cell))
        pictures = _with_few_pictures(found[-1], pictures)
        left -= len(found[-1]["source"]) + sum(len(o["text"]) for o in found[-1]["outputs"])
        if left < 0:
            break
    return json.dumps(found).encode()


def sources(payload: bytes) -> bytes:
    """In the sandbox: return the whole sources of the cells whose numbers, from 0, are asked."""
    numbers, cells = _asked(payload)
    return json.dumps([text_of(cells[number]["source"]) for number in numbers]).encode()


def picture(payload: bytes) -> bytes:
    """In the sandbox: return the bytes of a PNG output; asked as ``[cell, output]``, from 0."""
    (cell, output), cells = _asked(payload)
    return picture_of(cells[cell]["outputs"][output])


def _asked(payload: bytes) -> tuple[Any, list[dict[str, Any]]]:
    asked, _, body = payload.partition(b"\n")
    return json.loads(asked), _cells(json.loads(body))  # it was read strictly when it came


def _cells(notebook: Any) -> list[dict[str, Any]]:
    if not isinstance(notebook, dict) or notebook.get("nbformat") != 4:  # noqa: PLR2004 - the format's
        raise NotANotebook(f"{_NOT_ONE}. Save it again with a Jupyter of 2015 or later.")
    cells = notebook.get("cells")
    if not isinstance(cells, list) or not all(map(_is_cell, cells)):
        raise NotANotebook(f"{_NOT_ONE}: its cells are not what cells are.")
    if len(cells) > MOST_CELLS:
        raise NotANotebook(f"This notebook has more than {MOST_CELLS:,} cells.")
    return cells


def _is_cell(cell: Any) -> bool:
    return (
        isinstance(cell, dict)
        and cell.get("cell_type") in _KINDS
        and is_text(cell.get("source"))
        and isinstance(cell.get("outputs", []), list)
    )


def _kind(cell: dict[str, Any]) -> str:
    return _KINDS[cell["cell_type"]]


def _id(cell: dict[str, Any]) -> str:
    name = cell.get("id")
    return name if isinstance(name, str) and len(name) <= _LONGEST_ID else ""


def _language(metadata: Any) -> str:
    """Return the language that the metadata name; most notebooks say it in two places."""
    for part, name in (("language_info", "name"), ("kernelspec", "language")):
        inside = metadata.get(part) if isinstance(metadata, dict) else None
        found = inside.get(name) if isinstance(inside, dict) else None
        if isinstance(found, str):
            return found[:50]
    return ""


def _cell(number: int, cell: dict[str, Any]) -> Cell:
    source, left_out = cut(text_of(cell["source"]), MOST_LINES, MOST_CHARACTERS)
    outputs, more = read_outputs(cell["outputs"]) if cell["cell_type"] == "code" else ([], 0)
    count, attached = cell.get("execution_count"), cell.get("attachments")
    return Cell(
        number=number,
        kind=_kind(cell),
        count=count if type(count) is int and 0 <= count < 10**9 else None,
        source=source,
        left_out=left_out,
        outputs=outputs,
        outputs_left_out=more,
        attachments=len(attached) if isinstance(attached, dict) else 0,
    )


def _with_few_pictures(cell: Cell, left: int) -> int:
    """Leave out the pictures of a cell beyond ``left``; returns how many may still follow."""
    for output in cell["outputs"]:
        if output["picture"] and left <= 0:
            output["picture"] = None
            output["not_shown"].append(f"image/png, after {MOST_PICTURES} others on this page")
        left -= output["picture"] is not None
    return left
