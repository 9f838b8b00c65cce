"""Characters that a reader cannot see, or that change how others are seen, made visible.

Whatever does not draw itself honestly becomes a ``Glyph``: control and format characters, blanks
other than the space, variation selectors, tags, fillers, private and unassigned code points,
blanks at the end of a line, and long rows of blanks. Nothing is dropped: the texts of the
segments, joined, are the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from itertools import chain
from typing import NamedTuple

from dashboard.inspection.knowledge import CHARACTERS

MANY_BLANKS = 32  # side by side; deeper than honest code is indented
COLLAPSE_ABOVE = 8  # hidden characters side by side that are drawn one by one
SPELLED_OUT = 200  # characters of a message in tags that a glyph's name repeats
MOST_NAMED = 100  # different characters of a text; more are counted together
_NAMED_ONE_BY_ONE = 3  # different characters in a collapsed glyph; more are counted by kind
_BLANKS = rf"(?<![ \t])[ \t]++(?=\r?(?:\n|\Z))|[ \t]{{{MANY_BLANKS},}}+"
_ROWS = re.compile(rf"[ \t]{{{MANY_BLANKS},}}+")
_HIDDEN_IN_ASCII = r"[\x00-\x08\x0b-\x1f\x7f]"
_COUNTED_AT_ONCE = 50_000  # characters; other threads may run between two pieces
_BLOCK = 0x1000
_VARIATION_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
_TAGS = range(0xE0000, 0xE0080)
_SPELLING_TAGS = range(0xE0020, 0xE007F)  # each stands for the ASCII character below it
_LABELS = {**CHARACTERS.labels, **CHARACTERS.directions}


class GlyphKind(StrEnum):
    """Why a character is shown as a glyph, the most dangerous first.

    ``LINE_END`` is the CR of a CRLF and nothing else: honest text of Windows has one a line.
    """

    DIRECTION = "direction"
    TAG = "tag"
    CONTROL = "control"
    INVISIBLE = "invisible"
    SURROGATE = "surrogate"
    PRIVATE = "private"
    UNASSIGNED = "unassigned"
    LINE_END = "lineend"
    BLANK = "blank"


_DANGER = list(GlyphKind)
_BY_CATEGORY = {
    "Cc": GlyphKind.CONTROL,
    "Cn": GlyphKind.UNASSIGNED,
    "Co": GlyphKind.PRIVATE,
    "Cs": GlyphKind.SURROGATE,
    "Zl": GlyphKind.CONTROL,
    "Zp": GlyphKind.CONTROL,
    "Zs": GlyphKind.BLANK,
}


class Hidden(NamedTuple):
    """One hidden character: what is drawn for it, what it is called, and why it is shown."""

    label: str
    name: str
    kind: GlyphKind


_ROW_OF_BLANKS = Hidden(
    f"{MANY_BLANKS}+ blanks", f"row of {MANY_BLANKS} or more blanks", GlyphKind.BLANK
)


_OTHERS = Hidden("others", "other hidden characters", GlyphKind.INVISIBLE)


@dataclass(frozen=True, slots=True)
class Glyph:
    """What stands in the page for one hidden character, or for many side by side.

    Attributes:
        text: The characters themselves.
        label: What is drawn, such as ``"RLO"`` or ``"9998 ZWSP, 2 ZWJ"``.
        name: What it says when asked, such as ``"U+202E RIGHT-TO-LEFT OVERRIDE"``.
        kind: Why. Of many drawn as one, the most dangerous.
    """

    text: str
    label: str
    name: str
    kind: GlyphKind


@dataclass(frozen=True, slots=True)
class HiddenCount:
    """How often one hidden character occurs in a text."""

    label: str
    name: str
    kind: GlyphKind
    count: int


def segments(text: str) -> Iterator[str | Glyph]:
    """Split ``text`` into runs of plain text and glyphs, in order and complete."""
    position = 0
    for match in _pattern(text).finditer(text):
        if match.start() > position:
            yield text[position : match.start()]
        position = match.end()
        run = match["hidden"]
        if run:
            yield from _glyphs(run, ends_line=_ends_line(run, text, position))
        else:
            yield _row_of_blanks(match[0])
    if position < len(text):
        yield text[position:]


def replaced(text: str, boxed: Callable[[str, bool], str]) -> str:
    """Put ``boxed(run, ends_line)`` in the place of each run of hidden characters.

    The same runs as those of ``segments``, which is several times slower where there are many.
    ``ends_line`` says that the run ends with the CR of a CRLF.
    """

    def box(match: re.Match[str]) -> str:
        run = match[0]
        return boxed(run, run[-1] == "\r" and _ends_line(run, text, match.end()))

    return _pattern(text).sub(box, text)


def glyphs(run: str, *, ends_line: bool) -> Iterator[Glyph]:
    """Return what is drawn for one run of hidden characters."""
    if run[0] in " \t":
        yield _row_of_blanks(run)
    else:
        yield from _glyphs(run, ends_line=ends_line)


def hidden_characters(text: str) -> list[HiddenCount]:
    """Count what is hidden in ``text``, the most frequent first.

    A row of blanks counts once, and only from ``MANY_BLANKS`` on: honest text has a few at the
    ends of its lines. Beyond ``MOST_NAMED`` different characters all others are one count, the
    last.
    """
    characters: Counter[str] = Counter()
    for start in range(0, len(text), _COUNTED_AT_ONCE):
        characters.update(text[start : start + _COUNTED_AT_ONCE])
    different = "".join(characters)
    hidden = Counter({c: characters[c] for c in "".join(_hidden_in(different).findall(different))})
    line_ends, lone = text.count("\r\n"), hidden.pop("\r", 0)
    common = hidden.most_common()
    census = _census(Counter(dict(common[:MOST_NAMED])))
    census[_describe("\r")] += lone - line_ends
    census[_describe("\r", ends_line=True)] += line_ends
    census[_ROW_OF_BLANKS] += sum(1 for _ in _ROWS.finditer(text))
    counts = [HiddenCount(*hidden, count) for hidden, count in census.most_common() if count]
    other_count = sum(count for _, count in common[MOST_NAMED:])
    return [*counts, HiddenCount(*_OTHERS, other_count)] if other_count else counts


def _ends_line(run: str, text: str, end: int) -> bool:
    """Say whether ``run``, which ends at ``end``, closes with the CR of a CRLF."""
    return run[-1] == "\r" and text.startswith("\n", end)


def _glyphs(run: str, *, ends_line: bool) -> Iterator[Glyph]:
    if len(run) > COLLAPSE_ABOVE:
        yield _collapsed(run, _census(Counter(run), line_ends=int(ends_line)))
        return
    line_end = len(run) - 1 if ends_line else None
    for index, character in enumerate(run):
        yield _glyph(character, ends_line=index == line_end)


def _census(characters: Counter[str], line_ends: int = 0) -> Counter[Hidden]:
    census: Counter[Hidden] = Counter()
    for character, count in characters.items():
        census[_describe(character)] += count
    if line_ends:
        census[_describe("\r")] -= line_ends
        census[_describe("\r", ends_line=True)] += line_ends
    return +census  # without what is zero


def _collapsed(run: str, census: Counter[Hidden]) -> Glyph:
    few = len(census) <= _NAMED_ONE_BY_ONE
    labels: Counter[str] = Counter()
    titles: Counter[str] = Counter()
    for hidden, count in census.items():  # a CR has one label, wherever it stands
        labels[hidden.label if few else hidden.kind] += count
        titles[hidden.name if few else f"{hidden.kind} characters"] += count
    return Glyph(
        run,
        label=", ".join(f"{count} {label}" for label, count in labels.items()),
        name=", ".join(f"{name}: {count}" for name, count in titles.items()) + _message(run),
        kind=min((hidden.kind for hidden in census), key=_DANGER.index),
    )


def _message(run: str) -> str:
    """Say what tag characters spell: text for a machine that no person sees."""
    spelled = "".join(chr(ord(c) - _TAGS.start) for c in run if ord(c) in _SPELLING_TAGS)
    if not spelled:
        return ""
    more = f" and {len(spelled) - SPELLED_OUT} more" if len(spelled) > SPELLED_OUT else ""
    return f". The tags spell: {spelled[:SPELLED_OUT]}{more}"


def _row_of_blanks(run: str) -> Glyph:
    noun = "space" if "\t" not in run else "tab" if " " not in run else "blank"
    label = f"{len(run)} {noun}{'s' if len(run) > 1 else ''}"
    return Glyph(run, label, label, GlyphKind.BLANK)


@lru_cache(maxsize=4096)
def _glyph(character: str, *, ends_line: bool) -> Glyph:
    return Glyph(character, *_describe(character, ends_line=ends_line))


@lru_cache(maxsize=4096)
def _describe(character: str, *, ends_line: bool = False) -> Hidden:
    number = f"U+{ord(character):04X}"
    name = unicodedata.name(character, CHARACTERS.control_names.get(character, ""))
    kind = GlyphKind.LINE_END if ends_line and character == "\r" else _kind(character)
    label = _LABELS.get(character, number)
    return Hidden(label, f"{number} {name or f'({kind} character)'}", kind)


def _kind(character: str) -> GlyphKind:
    if character in CHARACTERS.directions:
        return GlyphKind.DIRECTION
    if ord(character) in _TAGS:
        return GlyphKind.TAG
    if character in CHARACTERS.look_blank:
        return GlyphKind.BLANK
    return _BY_CATEGORY.get(unicodedata.category(character), GlyphKind.INVISIBLE)


def _pattern(text: str) -> re.Pattern[str]:
    return _runs(_HIDDEN_IN_ASCII) if text.isascii() else _runs(_hidden_in_unicode())


def _hidden_in(text: str) -> re.Pattern[str]:
    return re.compile(_HIDDEN_IN_ASCII if text.isascii() else _hidden_in_unicode())


@cache
def _runs(hidden: str) -> re.Pattern[str]:
    return re.compile(rf"(?P<hidden>(?:{hidden})++)|{_BLANKS}")


@cache
def _hidden_in_unicode() -> str:
    """Write a pattern for one hidden character: 0.1 s, once, when first needed."""
    basic = _ranges(filter(_is_hidden, range(0x10000)))
    # Block by block, because every character would be compared with each of 400 ranges otherwise.
    blocks = [
        (start, [code for code in range(start, start + _BLOCK) if _is_hidden(code)])
        for start in chain(range(0x10000, 0x40000, _BLOCK), range(0xE0000, 0xF0000, _BLOCK))
    ]
    whole = _ranges(code for _, codes in blocks if len(codes) == _BLOCK for code in codes)
    # Planes 4 to 13 are unassigned, 15 and 16 are private.
    beyond = [rf"[{whole}\U00040000-\U000dffff\U000f0000-\U0010ffff]"]
    beyond += [
        rf"[\U{start:08x}-\U{start + _BLOCK - 1:08x}](?<=[{_ranges(codes)}])"
        for start, codes in blocks
        if 0 < len(codes) < _BLOCK
    ]
    return rf"[{basic}]|(?=[\U00010000-\U0010ffff])(?:{'|'.join(beyond)})"


def _ranges(codes: Iterable[int]) -> str:
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(rf"\U{start:08x}-\U{end:08x}" for start, end in ranges)


def _is_hidden(code: int) -> bool:
    character = chr(code)
    if not character.isprintable():  # Cc Cf Cn Co Cs Zl Zp, and Zs but for the space
        return character not in "\n\t"
    return character in CHARACTERS.look_empty or any(code in r for r in _VARIATION_SELECTORS)
