"""One line that tells requests apart in a list, cut from the ends of the stored text.

A queue may hold fifty requests of a megabyte each, so only their first and last characters are
read. What it returns is the agent's voice: it is drawn, never trusted, and never a title.
"""

from __future__ import annotations

import json
import re

from django.utils.safestring import SafeString

from approval_client.wire import Kind
from dashboard.inspection.redaction import candidates
from dashboard.web.drawing.redaction import redacted

HEAD, TAIL = 800, 600
"""How many characters of the stored text, from each end, are enough."""

_LONGEST = 160

_STRING = r'(?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*'

_DULL = re.compile(r"\s*(#|//|--|```|import\b|from\b|\"\"\"|'''|$)")


def summary(kind: str, head: str, tail: str) -> SafeString:
    """Return one drawn line from the first and the last characters of a request's content.

    The text is our canonical JSON, so the members stand in the order of their names.
    """
    match kind:
        case Kind.CODE:
            line = _telling_line(_member("code", head))
        case Kind.TOOL_CALL:
            arguments = head.removeprefix('{"arguments":')
            if head.endswith(tail):  # the whole of it
                arguments = arguments.rpartition(',"tool":')[0]
            line = f"{_last_member('tool', tail)} {arguments}"
        case Kind.PLAN:
            line = _first_text(head.removeprefix('{"steps":['))
        case _:
            line = _telling_line(_member("content", head))
    return _redacted(line or head)


def _member(name: str, head: str) -> str:
    found = re.match(rf'{{"{name}":"({_STRING})', head)
    return _unescaped(found[1]) if found else ""


def _last_member(name: str, tail: str) -> str:
    found = re.search(rf'"{name}":"({_STRING})"}}\Z', tail)
    return _unescaped(found[1]) if found else ""


def _first_text(steps: str) -> str:
    """Return the first value that is a text, after its key, or the step as it is."""
    found = re.match(rf'{{"{_STRING}":"({_STRING})', steps)
    return _unescaped(found[1]) if found else steps


def _telling_line(text: str) -> str:
    """Return the first line that says something: no comment, no import, no fence."""
    lines = [line for line in text.split("\n") if line.strip()]
    telling = (line for line in lines if not _DULL.match(line))
    return next(telling, lines[0] if lines else "").strip()


def _unescaped(inside: str) -> str:
    return str(json.loads(f'"{inside}"', strict=False))


def _redacted(line: str) -> SafeString:
    """Draw the beginning of a line; a secret that the cut would shorten still is one."""
    return redacted(line if len(line) <= _LONGEST else f"{line[: _cut_at(line)]}…")


def _cut_at(line: str) -> int:
    """Return where to cut: before a secret that would be cut in two."""
    cut = (start for start, end in candidates(line) if start < _LONGEST < end)
    return next(cut, _LONGEST)
