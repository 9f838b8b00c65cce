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
_JOINERS = frozenset("\u200c\u200d")
_STYLES = frozenset("\ufe0e\ufe0f")
_JOINING = _JOINERS | _STYLES
_KEYS = frozenset("0123456789#*")
_KEYCAP = "\u20e3"
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
_CROSSED_OUT = FindingKind("hidden-text", _MEDIUM, "crossed-out")
_MARKS = "[\u0300-\u036f\u20d0-\u20f0]{0,8}"
_OVERLAY = "[\u0334-\u0338\u20d2\u20d3\u20d8-\u20da\u20e0\u20e5\u20e6\u20ea\u20eb]"
_CROSSED = re.compile(rf"(?:[^\W_]{_MARKS}?{_OVERLAY}{_MARKS}){{2}}")
"""Two letters side by side: physics writes one, and mathematics crosses out signs."""


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
    if glyph.text in _JOINING:
        return _joined(text, start)
    return _BY_KIND.get(glyph.kind, _UNKNOWN)


def _row(length: int, preceding: str, text: str, start: int) -> FindingKind | None:
    following = text[start + length : start + length + 1]
    if length < MANY_BLANKS or following in ("", "\n", "\r"):
        return None  # nothing stands behind it
    return None if preceding == "\n" and length < _DEEP else _FAR_OUT


def _joined(text: str, start: int) -> FindingKind | None:
    """Say what a joiner, or the style of an emoji, is where it stands; a second one is hidden."""
    is_joiner, preceding = text[start] in _JOINERS, text[start - 1 : start]
    base = text[start - 2 : start - 1] if is_joiner and preceding in _STYLES else preceding
    if base in _KEYS and not is_joiner and text[start + 1 : start + 2] == _KEYCAP:
        return None
    if base.isascii() or base in _JOINING:
        return _BY_KIND[GlyphKind.INVISIBLE]
    is_of_script = is_joiner and unicodedata.category(base) == "Mn"
    return None if is_of_script or _is_symbol(base) else _JOINED


def _is_symbol(character: str) -> bool:
    """Whether an emoji may begin so."""
    is_drawn = unicodedata.category(character) in ("So", "Sk", "Sm", "Po")
    return is_drawn or character in "\u2139\u3030"


def _odd(text: str) -> Iterator[tuple[int, FindingKind]]:
    if text.isascii():
        return
    yield from ((match.start(), _CROSSED_OUT) for match in _CROSSED.finditer(text))
    folded_words = {match.start() for match in FOLDABLE.finditer(text) if is_folded(match[0])}
    for start in folded_words:
        yield start, _FOLDED
    for start, _ in look_alikes(text):
        if start not in folded_words:
            yield start, DISGUISED
