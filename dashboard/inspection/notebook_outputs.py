"""What a notebook says that its cells put out, as plain texts and as pictures by their place."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypedDict

from dashboard.inspection.notebook_texts import cut, is_text, text_of, without_colours

MOST_OUTPUTS = 20
"""Outputs of one cell that are handed on; the others are counted."""

MOST_LINES = 200
"""Lines of one output; the others are counted."""

MOST_CHARACTERS = 20_000
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
_OTHER = "a format that we do not know"


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


class Head(NamedTuple):
    """What the head of a PNG claims, in pixels."""

    width: int
    height: int


def read_outputs(outputs: Any) -> tuple[list[Output], int]:
    """Reduce the outputs of a cell; also returns how many are left out."""
    given = outputs if isinstance(outputs, list) else []
    some = enumerate(given[:MOST_OUTPUTS])
    return [_output(number, one) for number, one in some], len(given[MOST_OUTPUTS:])


def picture_of(output: Any) -> bytes:
    """Return the PNG of an output.

    Raises:
        ValueError, KeyError, TypeError: There is none that could be drawn.
    """
    raw = base64.b64decode("".join(text_of(output["data"][_PNG]).split()), validate=True)
    if _head(raw) is None or len(raw) > MOST_PICTURE_BYTES:
        raise ValueError("This is no PNG that could be drawn.")
    return raw


def _output(number: int, output: Any) -> Output:
    kind = output.get("output_type") if isinstance(output, dict) else None
    match kind:
        case "stream":
            name = "stderr" if output.get("name") == "stderr" else "stdout"
            return _texts(name, output.get("text"))
        case "error":
            return _texts("error", _trace(output))
        case "display_data" | "execute_result":
            named = "result" if kind == "execute_result" else "display"
            return _shown(named, number, output.get("data"))
    return _texts("unknown", None)


def _texts(kind: str, value: Any, **more: Any) -> Output:
    whole, colours = without_colours(text_of(value) if is_text(value) else "")
    text, left_out = cut(whole, MOST_LINES, MOST_CHARACTERS)
    found = Output(
        kind=kind, text=text, left_out=left_out, colours=colours, picture=None, not_shown=[]
    )
    found.update(more)  # type: ignore[typeddict-item] # its own fields
    return found


def _trace(output: Mapping[str, Any]) -> str:
    traceback = output.get("traceback")
    if is_text(traceback) and traceback:
        return "\n".join(traceback) if isinstance(traceback, list) else text_of(traceback)
    named = [output.get(name) for name in ("ename", "evalue")]
    return ": ".join(word for word in named if isinstance(word, str))


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
    others = [name for name in bundle if name not in (_PNG, _TEXT)]
    yield from (name for name in others if name in _KNOWN)
    unknown = sum(name not in _KNOWN for name in others)
    if unknown:
        yield _OTHER if unknown == 1 else f"{unknown} formats that we do not know"


def _claimed(value: Any) -> tuple[Head | None, str]:
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


def _head(raw: bytes) -> Head | None:
    if len(raw) < _HEADER.size:
        return None
    signature, _, name, width, height = _HEADER.unpack_from(raw)
    if signature != _SIGNATURE or name != b"IHDR" or not (width and height):
        return None
    return Head(width, height)
