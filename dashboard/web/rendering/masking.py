"""Which runs of a text are masked on the page. The text itself is never touched."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection
from typing import Any

from django.core.cache import cache
from django.utils.safestring import SafeString

from dashboard import sandbox
from dashboard.inspection.languages import lexer_alias
from dashboard.inspection.masking import candidates, secrets_in_text
from dashboard.web.rendering.drawing import Run, parts
from dashboard.web.rendering.markup import MASKED, draw, theirs, trusted
from dashboard.wire import canonical_json

DEADLINE_S = 0.5
CACHED_S = 3600
RETRY_S = 60
_READ = "dashboard.inspection.masking.python_runs"


def of_value(text: str, name: str) -> tuple[Run, ...]:
    """Return the secrets in a value that is called ``name``."""
    return _runs(secrets_in_text(text, name))


def of_code(source: str, language: str) -> tuple[Run, ...]:
    """Return the secrets in string literals. What cannot be read for certain is not masked."""
    if lexer_alias(language) != "python" or not candidates(source):
        return ()
    payload = json.dumps(source).encode()
    key = f"secrets:{hashlib.sha256(payload).hexdigest()}"
    known = cache.get(key)
    if known is None:
        known = _asked(payload)
        cache.set(key, known, CACHED_S if known else RETRY_S)
    return _runs(known)


def occurrences(text: str, secrets: Collection[str]) -> tuple[Run, ...]:
    """Return where known secrets stand again, as they are or as JSON writes them."""
    spelled = {*secrets, *(canonical_json(secret)[1:-1] for secret in secrets)}
    if not spelled:
        return ()
    longest_first = sorted(spelled, key=len, reverse=True)
    found = re.finditer("|".join(map(re.escape, longest_first)), text)
    return _runs(match.span() for match in found)


def said(text: str, secrets: Collection[str]) -> SafeString:
    """Draw what an agent wrote, as ``theirs`` does, with known secrets masked."""
    return _masked(text, occurrences(text, secrets))


def by_looks(text: str) -> SafeString:
    """Draw a text with all masked that looks like a secret, wherever it stands in it.

    Only for what nobody decides by: lists, and differences above a content that is whole.
    """
    return _masked(text, _runs(candidates(text)))


def _masked(text: str, runs: tuple[Run, ...]) -> SafeString:
    if not runs:
        return theirs(text)
    drawn = parts(text, 0, runs)
    return trusted("".join(MASKED if is_masked else draw(part) for part, is_masked in drawn))


def _asked(payload: bytes) -> list[Any]:
    try:
        found = json.loads(sandbox.call(_READ, payload, DEADLINE_S))
    except (sandbox.SandboxError, ValueError):
        return []
    return found if isinstance(found, list) else []


def _runs(found: Any) -> tuple[Run, ...]:
    return tuple(Run(start, end) for start, end in found)
