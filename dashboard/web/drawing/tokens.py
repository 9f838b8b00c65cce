"""Colours for code: a lexer runs in the sandbox and answers with classes and lengths only.

The text on the page is always cut from the source itself, so a lexer that loses, changes or
invents text can colour wrongly but never show anything else than what was asked. Comments and
strings are coloured only where ``literals`` reads them too, for nobody looks twice at a comment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES

from dashboard import sandbox
from dashboard.inspection.languages import TEXT, lexer_alias
from dashboard.inspection.literals import Literal, literals

if TYPE_CHECKING:
    from pygments.token import _TokenType

MAX_BYTES = 200_000

MAX_LINES = 5_000

DEADLINE_S = 1.0

_CSS_CLASS = re.compile(r"[a-z]{1,2}[a-z0-9]?")

_NOT_COLOURED = {"", "n", "p", "w", "err", "esc", "x"}

_QUIET = {"c", "s"}  # of comments and strings, whose classes begin so

_DRAWN_AS_CODE = {"cp"}  # what a preprocessor reads, in the colour of keywords

# Some languages end a line, and so a comment, at these; none may colour what follows as comment.
_LINE_ENDS = str.maketrans({"\r": "\n", "\u2028": "\n", "\u2029": "\n"})


def tokenize(
    source: str, language: str | None, deadline_s: float = DEADLINE_S
) -> list[tuple[str, str]] | None:
    """Cut ``source`` into pieces of (CSS class, text), or return None if it stays uncoloured.

    None means that the language is not coloured, the source is large, or the lexer failed, took
    too long or did not account for every character.
    """
    alias = lexer_alias(language)
    if not can_colour(source, alias):
        return None
    request = json.dumps([alias, source]).encode()
    try:
        reply = json.loads(sandbox.call(f"{__name__}.classify", request, deadline_s))
        return list(_cut(source, reply))
    except (sandbox.SandboxError, TypeError, ValueError):
        return None


def can_colour(source: str, alias: str) -> bool:
    """Say whether colouring is tried at all."""
    if alias == TEXT or len(source) > MAX_BYTES:
        return False
    size = len(source.encode(errors="surrogatepass"))
    return size <= MAX_BYTES and source.count("\n") < MAX_LINES


def classify(payload: bytes) -> bytes:
    """In the sandbox: turn JSON ``[alias, source]`` into JSON ``[[CSS class, length], …]``."""
    alias, source = json.loads(payload)
    source = source.replace("\r\n", " \n")
    readable = source.translate(_LINE_ENDS)
    # Not get_tokens(), which changes line ends and strips. The last line needs its end.
    lexed = list(get_lexer_by_name(alias).get_tokens_unprocessed(f"{readable}\n"))
    if "".join(text for _, _, text in lexed) != f"{readable}\n":
        raise ValueError("The lexer did not account for every character.")
    pieces = _merged((_css_class(kind), len(text)) for _, kind, text in lexed)
    certain = _certain(pieces, literals(alias, f"{source}\n"))
    return json.dumps(list(_merged(certain))).encode()


def _certain(
    pieces: Iterable[tuple[str, int]], spans: Iterable[Literal]
) -> Iterator[tuple[str, int]]:
    """Keep the colours of comments and strings within ``spans`` only. The rest is code."""
    literal = iter(spans)
    span = next(literal, None)
    end = 0
    for css_class, length in pieces:
        at, end = end, end + length
        if css_class[:1] not in _QUIET or css_class in _DRAWN_AS_CODE:
            yield css_class, length
            continue
        while at < end:
            while span and span.end <= at:
                span = next(literal, None)
            if span is None or span.start >= end:
                yield "", end - at
                break
            if at < span.start:
                yield "", span.start - at
            start, at = max(at, span.start), min(end, span.end)
            yield css_class, at - start


def _merged(pieces: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    for css_class, group in groupby(pieces, key=lambda piece: piece[0]):
        yield css_class, sum(length for _, length in group)


@cache
def _css_class(kind: _TokenType) -> str:
    css_class: str = next(STANDARD_TYPES[k] for k in reversed(kind.split()) if k in STANDARD_TYPES)
    return "" if css_class in _NOT_COLOURED else css_class


def _cut(source: str, pieces: list[tuple[Any, Any]]) -> Iterator[tuple[str, str]]:
    """Cut ``source`` into pieces. The last one also covers the line end that was added."""
    start = 0
    for css_class, length in pieces:
        text = source[start : start + length]
        start += length
        if length <= 0 or (css_class and not _CSS_CLASS.fullmatch(css_class)):
            raise ValueError("The sandbox answered with something that is no token.")
        if text:
            yield css_class, text
    if start != len(source) + 1:
        raise ValueError("The tokens do not add up to the source.")
