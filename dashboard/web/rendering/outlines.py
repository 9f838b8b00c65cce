"""The outline of a code, made in the sandbox and kept for a while."""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

from django.core.cache import cache

from dashboard import sandbox
from dashboard.inspection.languages import lexer_alias

DEADLINE_S = 2.5
CACHED_S = 3600
RETRY_S = 60
READ = ("python", "bash")
"""The languages that are read."""

_OUTLINE = "dashboard.inspection.outline.outline"
_WHAT = {"imports": "imports", "function": "function", "class": "class", "command": "runs"}


class OutlineEntry(NamedTuple):
    """One line of an outline. ``name`` is the agent's; ``what`` is ours."""

    line: int
    what: str
    name: str


class Outline(NamedTuple):
    """What a code defines, imports and runs; ``total`` is of all, also of what is not listed."""

    entries: list[OutlineEntry]
    total: int


def outline_of(source: str, language: str) -> Outline | None:
    """Return the outline of a code, or None where it cannot be read, or not in time."""
    alias = lexer_alias(language)
    if alias not in READ:
        return None
    payload = json.dumps([alias, source]).encode()
    key = f"outline:{hashlib.sha256(payload).hexdigest()}"
    known = cache.get(key)
    if known is None:
        known = {"outline": _asked(payload)}
        cache.set(key, known, CACHED_S if known["outline"] else RETRY_S)
    try:
        return _checked(known["outline"]) if known["outline"] else None
    except (KeyError, TypeError, ValueError):
        return None


def _asked(payload: bytes) -> Any:
    try:
        return json.loads(sandbox.call(_OUTLINE, payload, DEADLINE_S))
    except (sandbox.SandboxError, ValueError):
        return None


def _checked(answer: Any) -> Outline:
    count, entries = answer
    return Outline(
        [OutlineEntry(int(line), _WHAT[what], str(name)) for line, what, name in entries],
        int(count),
    )
