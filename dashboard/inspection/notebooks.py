"""Notebooks (nbformat 4) as texts and pictures: read, measured, cut and compared, never run.

A notebook may be 10 MiB of anything, so what reads one is called through the sandbox. Only what a
page can draw as plain text leaves it, and PNG pictures, which are drawn anew elsewhere.
"""

from __future__ import annotations

import base64
import gc
import hashlib
import json
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypedDict

from approval_client.wire import JsonError
from dashboard.inspection.fences import parse_fences

READER_VERSION = "3"
MOST_CELLS = 5_000
MOST_LEVELS = 500
"""How deep its JSON may be. Widgets and figures go to some 40; what we send ourselves to 32."""

MOST_LINES = 1_000
"""Lines of one cell that are handed on; the others are counted."""

MOST_CHARACTERS = 50_000
MOST_PICTURES = 20
"""Pictures that are shown together: each takes a moment of a process that others need too."""

MOST_AT_ONCE = 400_000  # characters of all cells that are handed on together
_LONGEST_ID = 64  # nbformat 4.5
_KINDS = {"code": "code", "markdown": "markdown", "raw": "raw"}
_NOT_ONE = "This is not a notebook of nbformat 4"

MOST_OUTPUTS = 20
"""Outputs of one cell that are handed on; the others are counted."""

MOST_OUTPUT_LINES = 200
"""Lines of one output; the others are counted."""

MOST_OUTPUT_CHARACTERS = 20_000
MOST_PICTURE_BYTES = 4 << 20
MOST_PIXELS = 6_000_000
LONGEST_SIDE = 10_000

_PNG = "image/png"
_TEXT = "text/plain"
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER = struct.Struct("!8sI4sII")  # signature, length, "IHDR", width, height
_KNOWN = {
    "application/javascript",
    "application/json",
    "application/pdf",
    "application/vnd.bokehjs_exec.v0+json",
    "application/vnd.jupyter.widget-view+json",
    "application/vnd.plotly.v1+json",
    "application/vnd.vegalite.v5+json",
    "image/gif",
    "image/jpeg",
    "image/svg+xml",
    "image/webp",
    "text/csv",
    "text/html",
    "text/latex",
    "text/markdown",
    "video/mp4",
}
_NO_TEXT = "a text that is not written as one"
_OTHER = "a format that we do not know"
_COLOURS = re.compile(r"\x1b\[[0-9;]{0,30}m")


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


_Members = list[tuple[str, Any]]


_TOO_DEEP = f"The notebook is nested deeper than {MOST_LEVELS} levels."


def parse(body: bytes, members: Callable[[_Members], dict[str, Any]] | None = None) -> Any:
    """Read the JSON of a notebook as nbformat reads it.

    Real ones hold what our own messages must not: NaN, NUL, half a surrogate pair, deep figures.

    Args:
        body: The notebook.
        members: Makes an object of its names and values; of a name that stands twice the last
            one counts without it.

    Raises:
        JsonError: It is not UTF-8, not JSON, or deeper than ``MOST_LEVELS``.
    """
    gc.disable()  # it would walk over millions of lists, again and again, and find nothing
    try:
        text = body.decode("utf-8-sig")
        notebook = json.loads(text, parse_int=_number, object_pairs_hook=members)
    except UnicodeDecodeError as error:
        raise JsonError(
            "not_utf8", f"The notebook is not UTF-8 text: byte {error.start + 1:,} is not."
        ) from None
    except json.JSONDecodeError as error:
        raise JsonError("not_json", f"The notebook is not valid JSON: {error}.") from None
    except RecursionError:
        raise JsonError("too_deep", _TOO_DEEP) from None
    finally:
        gc.enable()
    level = [notebook]
    for _ in range(MOST_LEVELS + 1):
        level = [inner for value in level for inner in _inside(value)]
        if not level:
            return notebook
    raise JsonError("too_deep", _TOO_DEEP)


_MOST_DIGITS = 18  # that are counted with; a longer number is in no field that we read


def _number(text: str) -> float:
    return int(text) if len(text) <= _MOST_DIGITS else float(text)


def _named_once(pairs: _Members) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):  # two readers could read it differently
        message = "An object in the notebook names the same key twice."
        raise JsonError("duplicate_key", message)
    return members


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def check(body: bytes) -> bytes:
    """In the sandbox: return the outline as JSON, or ``{"code": …, "problem": …}``."""
    try:
        return json.dumps(outline(parse(body, _named_once))).encode()
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
    sources = [_source(cell).strip("\n") for cell in cells if cell["cell_type"] == "code"]
    return Outline(
        language=_language(notebook.get("metadata")),
        cells=[[_kind(c), fingerprint(_source(c)), _id(c)] for c in cells],
        joined=[fingerprint(joint.join(sources)) for joint in ("\n", "\n\n")],
    )


def read(payload: bytes) -> bytes:
    """In the sandbox: return cells as JSON, ``[Cell, …]``, as many as are not too much at once.

    The payload is JSON ``[first, count]``, a line break, and the notebook; cells count from 0.
    """
    (start, count), cells = _asked(payload)
    read_cells, room, pictures = [], MOST_AT_ONCE, MOST_PICTURES
    for number, cell in enumerate(cells[start : start + count], start + 1):
        read_cells.append(_cell(number, cell))
        pictures = _with_few_pictures(read_cells[-1], pictures)
        room -= len(read_cells[-1]["source"]) + sum(
            len(o["text"]) for o in read_cells[-1]["outputs"]
        )
        if room < 0:
            break
    return json.dumps(read_cells).encode()


def sources(payload: bytes) -> bytes:
    """In the sandbox: return the whole sources of the cells whose numbers, from 0, are asked."""
    numbers, cells = _asked(payload)
    return json.dumps([_source(cells[number]) for number in numbers]).encode()


def picture(payload: bytes) -> bytes:
    """In the sandbox: return the bytes of a PNG output; asked as ``[cell, output]``, from 0.

    Nothing is returned where there is none that could be drawn.
    """
    (cell, output), cells = _asked(payload)
    try:
        return picture_of(cells[cell]["outputs"][output])
    except (IndexError, KeyError, TypeError, ValueError):
        return b""


def _asked(payload: bytes) -> tuple[Any, list[dict[str, Any]]]:
    question, _, body = payload.partition(b"\n")
    return json.loads(question), _cells(parse(body))


def _cells(notebook: Any) -> list[dict[str, Any]]:
    if not isinstance(notebook, dict) or notebook.get("nbformat") != 4:  # noqa: PLR2004 - the format's
        raise NotANotebook(f"{_NOT_ONE}. Save it again with a Jupyter of 2015 or later.")
    cells = notebook.get("cells")
    if not isinstance(cells, list):
        raise NotANotebook(f"{_NOT_ONE}: it has no list of cells.")
    for number, cell in enumerate(cells, 1):
        if why_not := _why_not(cell):
            raise NotANotebook(f"{_NOT_ONE}: cell {number} {why_not}.")
    if len(cells) > MOST_CELLS:
        raise NotANotebook(f"This notebook has more than {MOST_CELLS:,} cells.")
    return cells


def _why_not(cell: Any) -> str:
    """Say why this is not a cell; empty if it is. Jupyter also reads what lacks a member."""
    if not isinstance(cell, dict):
        return "is not an object"
    kind = cell.get("cell_type")
    if not isinstance(kind, str) or kind not in _KINDS:
        return "is of a type that is not code, markdown or raw"
    if not is_text(cell.get("source", "")):
        return "has a source that is not text"
    if not isinstance(cell.get("outputs", []), list):
        return "has outputs that are not a list"
    return ""


def _source(cell: dict[str, Any]) -> str:
    return text_of(cell.get("source", ""))


def _kind(cell: dict[str, Any]) -> str:
    return _KINDS[cell["cell_type"]]


def _id(cell: dict[str, Any]) -> str:
    name = cell.get("id")
    return name if isinstance(name, str) and len(name) <= _LONGEST_ID else ""


def _language(metadata: Any) -> str:
    """Return the language that the metadata name; most notebooks say it in two places."""
    for part, name in (("language_info", "name"), ("kernelspec", "language")):
        inside = metadata.get(part) if isinstance(metadata, dict) else None
        language = inside.get(name) if isinstance(inside, dict) else None
        if isinstance(language, str):
            return language[:50]
    return ""


def _cell(number: int, cell: dict[str, Any]) -> Cell:
    source, left_out = cut(_source(cell), MOST_LINES, MOST_CHARACTERS)
    outputs, more = read_outputs(cell.get("outputs"))
    if cell["cell_type"] != "code":  # Jupyter draws none, and Literate.jl writes them
        outputs, more = [], len(outputs) + more
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


def _with_few_pictures(cell: Cell, room: int) -> int:
    """Leave out the pictures of a cell beyond ``room``; returns how many may still follow."""
    for output in cell["outputs"]:
        if output["picture"] and room <= 0:
            output["picture"] = None
            output["not_shown"].append(f"image/png, after {MOST_PICTURES} others on this page")
        room -= output["picture"] is not None
    return room


class Picture(TypedDict):
    """A PNG by its place among the outputs of its cell, from 0, and by what its head claims."""

    output: int
    width: int
    height: int


class Output(TypedDict):
    """One output.

    Attributes:
        kind: ``stdout``, ``stderr``, ``result``, ``display``, ``error`` or ``unknown``.
        text: Plain text; perhaps empty.
        left_out: How many of its lines are not in it.
        colours: How many codes that colour a terminal were taken out.
        not_shown: What else there was, in words of ours.
    """

    kind: str
    text: str
    left_out: int
    colours: int
    picture: Picture | None
    not_shown: list[str]


class NotebookHead(NamedTuple):
    """What the head of a PNG claims, in pixels."""

    width: int
    height: int


def read_outputs(outputs: Any) -> tuple[list[Output], int]:
    """Reduce the outputs of a cell; also returns how many are left out."""
    output_list = outputs if isinstance(outputs, list) else []
    some = enumerate(output_list[:MOST_OUTPUTS])
    return [_output(number, output) for number, output in some], len(output_list[MOST_OUTPUTS:])


def picture_of(output: Any) -> bytes:
    """Return the PNG of an output.

    Raises:
        ValueError, KeyError, TypeError: There is none that could be drawn.
    """
    raw = base64.b64decode("".join(text_of(output["data"][_PNG]).split()), validate=True)
    if _head(raw) is None or len(raw) > MOST_PICTURE_BYTES:
        raise ValueError("This is not a PNG that can be drawn.")
    return raw


def _output(number: int, output: Any) -> Output:
    kind = output.get("output_type") if isinstance(output, dict) else None
    match kind:
        case "stream":
            name = "stderr" if output.get("name") == "stderr" else "stdout"
            return _texts(name, output.get("text"))
        case "error":
            return _error(output)
        case "display_data" | "execute_result":
            label = "result" if kind == "execute_result" else "display"
            return _shown(label, number, output.get("data"))
    return _texts("unknown", None)


def _texts(
    kind: str, value: Any, picture: Picture | None = None, not_shown: Iterable[str] = ()
) -> Output:
    whole, colours = without_colours(text_of(value) if is_text(value) else "")
    text, left_out = cut(whole, MOST_OUTPUT_LINES, MOST_OUTPUT_CHARACTERS)
    no_text = [] if value is None or is_text(value) else [_NO_TEXT]
    return Output(
        kind=kind,
        text=text,
        left_out=left_out,
        colours=colours,
        picture=picture,
        not_shown=[*no_text, *not_shown],
    )


def _error(output: Mapping[str, Any]) -> Output:
    traceback = output.get("traceback")
    if is_text(traceback) and traceback:
        lines = "\n".join(traceback) if isinstance(traceback, list) else traceback
        return _texts("error", lines)
    name_and_message = [output.get(name) for name in ("ename", "evalue")]
    in_short = ": ".join(word for word in name_and_message if isinstance(word, str))
    no_text = traceback is not None and not is_text(traceback)
    return _texts("error", in_short, not_shown=[_NO_TEXT] if no_text else [])


def _shown(kind: str, number: int, data: Any) -> Output:
    bundle = data if isinstance(data, dict) else {}
    claimed, why_not = _claimed(bundle.get(_PNG)) if _PNG in bundle else (None, "")
    picture = (
        Picture(output=number, width=claimed.width, height=claimed.height) if claimed else None
    )
    not_shown = [why_not] if why_not else []
    not_shown += _named(bundle)
    return _texts(kind, bundle.get(_TEXT), picture=picture, not_shown=not_shown)


def _named(bundle: Mapping[str, Any]) -> Iterator[str]:
    formats = [name for name in bundle if name not in (_PNG, _TEXT)]
    yield from (name for name in formats if name in _KNOWN)
    unknown = sum(name not in _KNOWN for name in formats)
    if unknown:
        yield _OTHER if unknown == 1 else f"{unknown} formats that we do not know"


def _claimed(value: Any) -> tuple[NotebookHead | None, str]:
    """Read the head of a picture, or say why it is not shown."""
    if not is_text(value):
        return None, "image/png that holds no picture"
    text = "".join(text_of(value).split())
    if len(text) * 3 // 4 > MOST_PICTURE_BYTES:
        return None, f"image/png of more than {MOST_PICTURE_BYTES >> 20} MiB"
    head = _head(_beginning(text))
    if head is None:
        return None, "image/png that holds no picture"
    if max(head) > LONGEST_SIDE or head.width * head.height > MOST_PIXELS:
        return None, f"image/png that claims {head.width:,} × {head.height:,} pixels"  # noqa: RUF001 - as people write it
    return head, ""


def _beginning(text: str) -> bytes:
    try:
        return base64.b64decode(text[:44], validate=True)
    except ValueError:
        return b""


def _head(raw: bytes) -> NotebookHead | None:
    if len(raw) < _HEADER.size:
        return None
    signature, _, name, width, height = _HEADER.unpack_from(raw)
    if signature != _SIGNATURE or name != b"IHDR" or not (width and height):
        return None
    return NotebookHead(width, height)


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
    beginning = "\n".join(text[:characters].split("\n", lines)[:lines])
    rest = text[len(beginning) :]
    return beginning, rest.count("\n") + (not rest.startswith("\n") and bool(rest))


def without_colours(text: str) -> tuple[str, int]:
    """Take out the codes that only colour a terminal, and count them; no other escape goes."""
    return _COLOURS.subn("", text)


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
    numbers = [places.get(fingerprint(text)) for text in texts]
    return Match(tuple(number for number in numbers if number) if all(numbers) else ())


def changes(before: Outline, now: Outline) -> Changes:
    """Pair the cells of two notebooks: by text, then by id, then by place."""
    old = [(kind, name) for kind, name, _ in before["cells"]]
    new = [(kind, name) for kind, name, _ in now["cells"]]
    old_names, new_names = set(old), set(new)
    unpaired = {number for number, cell in enumerate(old) if cell not in new_names}
    ids = {before["cells"][number][2]: number for number in unpaired if before["cells"][number][2]}
    earlier: dict[int, int] = {}
    for number in (n for n, cell in enumerate(new) if cell not in old_names):
        was = ids.get(now["cells"][number][2], _same_place(number, before["cells"], now["cells"]))
        if was in unpaired:
            earlier[number] = was
            unpaired.discard(was)
    added = frozenset(n for n, cell in enumerate(new) if cell not in old_names) - earlier.keys()
    return Changes(earlier, added, len(unpaired))


def _same_place(number: int, old: Sequence[list[str]], new: Sequence[list[str]]) -> int:
    """Return the same number where neither side names its cells there; -1 if there is none."""
    is_there = number < len(old) and old[number][0] == new[number][0]
    return number if is_there and not (old[number][2] and new[number][2]) else -1
