"""The notebook that the demo agent sends: text, code, and what it put out the last time."""

from __future__ import annotations

import base64
import json
import math
import struct
import zlib
from typing import Any

_WIDTH, _HEIGHT = 480, 160
_WHITE, _GREY, _BLACK = 255, 205, 40
_INTRODUCTION = """\
# Trim corrector C01

Centre the beam at monitor 7 before the users come. The picture is of the last time, from the
archive: position in micrometres over ten minutes."""
_ARCHIVE = 'archived = orbit("SR:C01-BI{BPM:7}Pos:X-I", minutes=10)\narchived.plot()'


def notebook(code: str) -> bytes:
    """Return a notebook whose second cell of code is ``code``."""
    figure = {"image/png": base64.b64encode(_picture()).decode(), "text/plain": "<Figure>"}
    output = {"output_type": "display_data", "data": figure, "metadata": {}}
    cells = [
        {"cell_type": "markdown", "id": "why", "metadata": {}, "source": _INTRODUCTION},
        _code("last-time", _ARCHIVE, 1, [output]),
        _code("trim", code, None, []),
    ]
    language = {
        "kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}
    }
    whole = {"nbformat": 4, "nbformat_minor": 5, "metadata": language, "cells": cells}
    return json.dumps(whole, indent=1).encode()


def _code(name: str, source: str, count: int | None, outputs: list[Any]) -> dict[str, Any]:
    fields = {"cell_type": "code", "id": name, "metadata": {}, "source": source}
    return fields | {"execution_count": count, "outputs": outputs}


def _picture() -> bytes:
    """Draw a grey PNG of an orbit that settles."""
    rows = [bytearray([_WHITE] * _WIDTH) for _ in range(_HEIGHT)]
    rows[_HEIGHT // 2] = bytearray([_GREY] * _WIDTH)
    for x in range(_WIDTH):
        swing = math.exp(-x / 160) * math.cos(x / 18) * (_HEIGHT / 2 - 8)
        for thick in (-1, 0, 1):
            rows[_HEIGHT // 2 + thick + round(swing)][x] = _BLACK
    size = struct.pack("!IIBBBBB", _WIDTH, _HEIGHT, 8, 0, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    chunks = [(b"IHDR", size), (b"IDAT", data), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, inside) for name, inside in chunks)


def _chunk(name: bytes, inside: bytes) -> bytes:
    checked = struct.pack("!I", zlib.crc32(name + inside))
    return struct.pack("!I", len(inside)) + name + inside + checked
