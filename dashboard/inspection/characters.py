"""Findings about characters: hidden ones, and those that pass for others."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from dashboard.inspection.findings import Finding, Severity
from dashboard.inspection.hidden import MANY_BLANKS, Glyph, GlyphKind, segments
from dashboard.inspection.looks import FOLDABLE, is_folded, look_alikes
from dashboard.inspection.notes import FindingKind, Notes, line_finder

_DEEP = 80  # blanks at the start of a line that honest code is never indented by
_JOINERS = "\u200c\u200d"
_EMOJI_STYLE = "\ufe0e\ufe0f"
_BOM = "\ufeff"
_HIGH, _MEDIUM, _LOW = Severity.HIGH, Severity.MEDIUM, Severity.LOW
_BY_KIND = {
    GlyphKind.DIRECTION: FindingKind(
        "text-direction",
        _HIGH,
        "reorders-text",
    ),
    GlyphKind.TAG: FindingKind(
        "hidden-text",
        _HIGH,
        "tag-characters",
    ),
    GlyphKind.CONTROL: FindingKind(
        "control-characters",
        _HIGH,
        "control-characters",
    ),
    GlyphKind.INVISIBLE: FindingKind("invisible-characters", _HIGH, "unseen-characters"),
    GlyphKind.BLANK: FindingKind("unusual-blanks", _MEDIUM, "unusual-spaces"),
}
_UNKNOWN = FindingKind("unknown-characters", _MEDIUM, "private-characters")
_FAR_OUT = FindingKind(
    "row-of-blanks",
    _MEDIUM,
    "row-of-blanks",
)
_JOINED = FindingKind("invisible-characters", _LOW, "joining-characters")
DISGUISED = FindingKind(
    "look-alike-characters",
    _HIGH,
    "letters-of-another-script",
)
_FOLDED = FindingKind(
    "folding-characters",
    _HIGH,
    "folded-by-python",
)


_SUSPECT = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f]|[ \t]{{{MANY_BLANKS}}}")


def inspect_characters(text: str, *, block: int = 0) -> list[Finding]:
    """Return what the characters of a text hide, line by line."""
    notes = Notes(block)
    if text.isascii() and not _SUSPECT.search(text):
        return []
    line_of = line_finder(text)
    for start, effect in [*_hidden(text), *_odd(text)]:
        line = line_of(start)
        with notes.at(line, line):
            notes.add(effect)
    return notes.found


def inspect_look_alikes(text: str, *, block: int = 0) -> list[Finding]:
    """Return a finding, without lines, if a word of a text passes for another one."""
    if text.isascii():
        return []
    return [DISGUISED.finding(0, 0, block)] if any(True for _ in look_alikes(text)) else []


def _hidden(text: str) -> Iterator[tuple[int, FindingKind]]:
    start = 0
    for segment in segments(text):
        if isinstance(segment, Glyph):
            effect = _effect(segment, text, start)
            if effect is not None:
                yield start, effect
        start += len(segment.text if isinstance(segment, Glyph) else segment)


def _effect(glyph: Glyph, text: str, start: int) -> FindingKind | None:
    preceding = text[start - 1] if start else "\n"
    if glyph.kind is GlyphKind.LINE_END or (glyph.text == _BOM and not start):
        return None
    if not glyph.text.strip(" \t"):
        return _row(len(glyph.text), preceding, text, start)
    if not glyph.text.strip(_EMOJI_STYLE) and _is_symbol(preceding):
        return None
    if not glyph.text.strip(_JOINERS + _EMOJI_STYLE) and not preceding.isascii():
        return None if _is_symbol(preceding) else _JOINED
    return _BY_KIND.get(glyph.kind, _UNKNOWN)


def _row(length: int, preceding: str, text: str, start: int) -> FindingKind | None:
    following = text[start + length : start + length + 1]
    if length < MANY_BLANKS or following in ("", "\n", "\r"):
        return None  # nothing stands behind it
    return None if preceding == "\n" and length < _DEEP else _FAR_OUT


def _is_symbol(character: str) -> bool:
    """Whether an emoji may begin so; the digits, ``#`` and ``*`` are drawn on keycaps."""
    is_drawn = unicodedata.category(character) in ("So", "Sk", "Sm", "Po", "Mn")
    return (is_drawn and not character.isascii()) or character in "0123456789#*"


def _odd(text: str) -> Iterator[tuple[int, FindingKind]]:
    if text.isascii():
        return
    folded_words = {match.start() for match in FOLDABLE.finditer(text) if is_folded(match[0])}
    for start in folded_words:
        yield start, _FOLDED
    for start, _ in look_alikes(text):
        if start not in folded_words:
            yield start, DISGUISED
