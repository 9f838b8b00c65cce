"""Which lines two texts share. Compared in the sandbox, for that can take very long.

What the sandbox answers is checked against the texts, so it can fail to find a line that both
share, but never show a line as shared that is not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, NamedTuple

from django.core.cache import cache

from dashboard import sandbox
from dashboard.web.rendering.markup import size_drawn

MAX_LINES = 2_000
MAX_CHARACTERS = 200_000
MAX_DRAWN = 2_000_000  # characters of HTML: a comparison is drawn whole
DEADLINE_S = 0.5
CACHED_S = 3600
RETRY_S = 60  # what takes too long costs half a second a minute, not at every view
_MATCH = "dashboard.web.rendering.matching.match"


class Change(StrEnum):
    """What becomes of a line."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"


class Changed(NamedTuple):
    """One line: of the old text where it is removed, of the new one where it is not."""

    change: Change
    line: int


def changes(before: str, after: str) -> list[Changed] | None:
    """Return what becomes of every line, or None where the texts are too much to be compared."""
    if len(before) + len(after) > MAX_CHARACTERS:
        return None
    if size_drawn(before) + size_drawn(after) > MAX_DRAWN:
        return None
    old, new = before.split("\n"), after.split("\n")
    if max(len(old), len(new)) > MAX_LINES:
        return None
    shared = _shared(json.dumps([old, new]).encode())
    try:
        return None if shared is None else list(_laid_out(old, new, shared))
    except (TypeError, ValueError):
        return None


def _shared(payload: bytes) -> Any:
    key = f"line-changes:{hashlib.sha256(payload).hexdigest()}"
    known = cache.get(key)
    if known is not None:
        return known["shared"]
    try:
        shared = json.loads(sandbox.call(_MATCH, payload, DEADLINE_S))
    except (sandbox.SandboxError, ValueError):
        shared = None
    cache.set(key, {"shared": shared}, RETRY_S if shared is None else CACHED_S)
    return shared


def _laid_out(old: list[str], new: list[str], shared: list[Any]) -> Iterator[Changed]:
    at_old = at_new = 0
    for first_old, first_new, count in [*shared, (len(old), len(new), 0)]:
        if not (at_old <= first_old <= len(old) and at_new <= first_new <= len(new)):
            raise ValueError("The sandbox answered with lines that are not in order.")
        if count < 0 or old[first_old:][:count] != new[first_new:][:count]:
            raise ValueError("The sandbox answered with lines that are not the same.")
        yield from (Changed(Change.REMOVED, n + 1) for n in range(at_old, first_old))
        yield from (Changed(Change.ADDED, n + 1) for n in range(at_new, first_new))
        yield from (Changed(Change.SAME, first_new + n + 1) for n in range(count))
        at_old, at_new = first_old + count, first_new + count
