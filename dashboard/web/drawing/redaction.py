"""Which runs of a text are redacted on the page. The text itself is never changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from typing import Any

from django.core.cache import cache
from django.utils.safestring import SafeString

from approval_client.wire import canonical_json
from dashboard import sandbox
from dashboard.inspection.languages import lexer_alias
from dashboard.inspection.redaction import candidates, may_hold_secrets, secrets_in_text
from dashboard.web.drawing.alike import disguises_in
from dashboard.web.drawing.direction import TextReading
from dashboard.web.drawing.markup import untrusted_as
from dashboard.web.drawing.text import Span, apart, drawn, pieces, with_joiners

MOST_SOUGHT = 50
"""Secrets that are looked for in what an agent says, as they are and as JSON writes them."""

MOST_PLACES = 2_000
"""Places in one text in which they may stand."""

SOUGHT_BY = 200
"""Characters. What begins like a longer secret is redacted for as long as that is."""

DEADLINE_S = 0.5

CACHED_S = 3600

RETRY_S = 60

_READ = "dashboard.inspection.redaction.python_runs"


def secrets_in_value(text: str, name: str) -> tuple[Span, ...]:
    """Return the secrets in a value that is called ``name``."""
    return _spans(secrets_in_text(text, name))


def secrets_in_code(source: str, language: str) -> tuple[Span, ...]:
    """Return the secrets in string literals. What cannot be read for certain is not masked."""
    if lexer_alias(language) != "python" or not may_hold_secrets(source):
        return ()
    payload = json.dumps(source).encode()
    key = f"secrets:{hashlib.sha256(payload).hexdigest()}"
    raw_spans = cache.get(key)
    if raw_spans is None:
        raw_spans = _asked(payload)
        cache.set(key, raw_spans, CACHED_S if raw_spans else RETRY_S)
    return _spans(raw_spans)


class KnownSecrets:
    """Secrets that are redacted wherever they stand again, as they are or as JSON writes them.

    A secret is known by its first ``SOUGHT_BY`` characters. Where there are more than
    ``MOST_SOUGHT`` of them, or they stand in more than ``MOST_PLACES`` of a text, all of the text
    is redacted. So the work is linear in the text, and nothing unsearched is shown.
    """

    def __init__(self, secrets: Collection[str] = ()) -> None:
        self._lengths: dict[str, int] = {}
        for secret in secrets:
            for spelled in {secret, canonical_json(secret)[1:-1]}:
                begin = spelled[:SOUGHT_BY]
                self._lengths[begin] = max(len(spelled), self._lengths.get(begin, 0))
            if self._are_too_many:
                break

    def occurrences(self, text: str) -> tuple[Span, ...]:
        """Return where they stand, in order, each run apart."""
        if self._are_too_many:
            return _all_of(text)
        spans: list[Span] = []
        for begin, length in self._lengths.items():
            start = text.find(begin)
            while start >= 0:
                spans.append(Span(start, min(start + length, len(text))))
                if len(spans) > MOST_PLACES:
                    return _all_of(text)
                start = text.find(begin, start + 1)  # it may overlap itself
        return apart(spans)

    def draw(
        self, text: str, end: int | None = None, reading: TextReading = TextReading.PROSE
    ) -> SafeString:
        """Draw what an agent wrote, as ``untrusted`` does, with these secrets redacted.

        ``end`` says how much of it is drawn, in characters; None is all of it.
        """
        return _redacted(text[:end], clipped(self.occurrences(text), text[:end]), reading)

    @property
    def _are_too_many(self) -> bool:
        return len(self._lengths) > MOST_SOUGHT


def redacted(text: str, reading: TextReading = TextReading.PROSE) -> SafeString:
    """Draw a text with all redacted that looks like a secret, wherever it stands in it.

    Only for what nobody decides by: lists, and differences above a content that is whole.
    """
    return _redacted(text, _spans(candidates(text)), reading)


def draw_masked(
    text: str, masks: Iterable[tuple[int, int]], reading: TextReading = TextReading.PROSE
) -> SafeString:
    """Draw what an agent wrote with these runs of it redacted, which stand apart and in order."""
    return _redacted(text, _spans(masks), reading)


def clipped(runs: Iterable[Span], beginning: str) -> tuple[Span, ...]:
    """Return what of ``runs`` stands in the beginning of their text."""
    end = len(beginning)
    return tuple(run._replace(end=min(run.end, end)) for run in runs if run.start < end)


def _redacted(
    text: str, runs: tuple[Span, ...], reading: TextReading = TextReading.PROSE
) -> SafeString:
    if runs:
        return drawn(with_joiners(pieces(text, 0, apart(runs))), reading, disguises_in(text))
    return untrusted_as(text, reading)


def _all_of(text: str) -> tuple[Span, ...]:
    return (Span(0, len(text), is_all=True),) if text else ()


def _asked(payload: bytes) -> list[Any]:
    try:
        answer = json.loads(sandbox.call(_READ, payload, DEADLINE_S))
    except (sandbox.SandboxError, ValueError):
        return []
    return answer if isinstance(answer, list) else []


def _spans(rows: Any) -> tuple[Span, ...]:
    return tuple(Span(start, end) for start, end in rows)
