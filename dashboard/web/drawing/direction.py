"""Letters that run from right to left: drawn so that they read, and so that nothing else moves.

A browser that is left alone orders a whole line by its letters: two Hebrew names with ``-``
between them change places, and a quote, a digit or a comment mark goes with them. So each run of
such letters is a ``bdi``, an isolate: inside it they run from right to left, and to the rest of
the line it is one thing, in its place in the source. How much is one run depends on what is read:

- in code, the letters of one word and no more;
- in strings and comments, words with the blanks, the stops and the numbers of a sentence between
  them; never a quote that could close, an operator, a slash or a mark of a comment;
- in prose, a line whose first letter runs from right to left is one isolate as a whole, but for
  addresses, paths and the like, which stay in the order of the source. Such a line begins at the
  right edge of a block, so that nobody takes it for one that runs from left to right. A line that
  calculates, compares or calls is read as code: in ``x + (a - b)`` no operands change places.

The text itself is not changed: only tags are added.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from enum import Enum
from functools import cache

from django.utils.html import escape

from dashboard.inspection.hidden import segments

JOINERS = "\u200c\u200d"
"""Hidden, and so drawn as boxes; but Persian has them within words, which they do not part."""

_BETWEEN = r" ,.;:!?()0-9۰-۹\-–—…،"  # noqa: RUF001 - the digits of Persian, the dash of a sentence

_MOST_BETWEEN = 24  # characters between two words of one run; fewer than a row of blanks has

_JSON = re.compile(r'"(?:[^"\\\n]|\\.)*+"|[\s\[\]{},:]++|-?[0-9][0-9.eE+-]*+|true|false|null')
"""A string or another mark of JSON. What follows anything else in its line is no JSON."""

_OPERATES = re.compile(r"[\w)\]]\s*(?:[=<>|*^+]{1,3}|[!:/&-]=|//)\s*[\w(\[]|[\w)]-\(|\w\(")

_DASH = re.compile(r"([\w()])\s+-\s+([\w()])")

_OPERAND = re.compile(r"[A-Za-z0-9_()]")

_WORD = re.compile(r"\S+")

_LETTER = re.compile(r"[^\W\d_]")

_MACHINE = re.compile(r"[=@\\|<>_]|^\.{0,2}/|^~/|/[^/]*+/")

_BEGIN, _END = '<bdi dir="rtl">', "</bdi>"

_BEGIN_LINE = '<bdi class="leftwards" dir="rtl">'

_NO_PROSE = re.compile(r"\s*[\[{<$]")  # JSON, markup and the like


class TextReading(Enum):
    """How a text is read, and so how much of it runs from right to left as one.

    ``QUOTED`` is JSON that has no colours: its names and texts are strings. It is not for code,
    where a double quote may stand in single quotes or in a comment, and so opens no string.
    """

    CODE = "code"
    LITERAL = "literal"
    QUOTED = "quoted"
    PROSE = "prose"


def turns(text: str) -> bool:
    """Say whether anything in ``text`` runs from right to left, or changes how its line runs."""
    return not text.isascii() and _patterns().turning.search(text) is not None


def isolated(text: str, reading: TextReading) -> str:
    """Escape ``text``, with an isolate around each run. Not for ``PROSE``, which goes by lines."""
    if text.isascii():
        return escape(text)
    if reading is TextReading.QUOTED:
        return "\n".join("".join(_json(line)) for line in text.split("\n"))
    return _runs(text, is_literal=reading is not TextReading.CODE)


def runs_leftwards(line: str) -> bool:
    """Say whether a line of prose begins with a letter that runs from right to left."""
    match = _patterns().letter.search(_without_machine_words(line))
    if match is None or _NO_PROSE.match(line) or is_expression(line):
        return False
    return not any(unicodedata.bidirectional(c) == "L" for c in match.string[: match.start()])


def is_expression(line: str) -> bool:
    """Say whether a line calculates, compares or calls, so that the order of its words counts.

    A dash between two words of a sentence says so only where the line begins from left to right.
    """
    if not turns(line):
        return False
    plain = _without_machine_words(line)
    if _OPERATES.search(plain):
        return True
    dashes = _DASH.findall(plain)
    if not dashes:
        return False
    begins = _LETTER.search(plain)
    if begins is None or unicodedata.bidirectional(begins[0]) == "L":
        return True
    return any(_OPERAND.match(sign) for pair in dashes for sign in pair)


def prose(line: str, *, leftwards: bool) -> str:
    """Escape a line of prose, or a part of one; ``around`` makes an isolate of a whole line."""
    if not leftwards:
        reading = TextReading.CODE if is_expression(line) else TextReading.LITERAL
        return isolated(line, reading)
    at, pieces = 0, []
    for word in _WORD.finditer(line):
        if _is_machine_word(word[0]):
            pieces += [escape(line[at : word.start()]), '<bdi dir="ltr">']
            pieces += [isolated(word[0], TextReading.CODE), _END]
            at = word.end()
    return "".join([*pieces, escape(line[at:])])


def around(line: str, *, leftwards: bool) -> str:
    """Make one isolate of a line that is drawn, if it runs from right to left."""
    return f"{_BEGIN_LINE}{line}{_END}" if leftwards else line


def tags(text: str) -> int:
    """Return how many characters the tags of ``text`` take at most, however it is read."""
    if not turns(text):
        return 0
    words = sum(1 for _ in _patterns().word.finditer(text))
    machine_words = sum(1 for word in _WORD.finditer(text) if _is_machine_word(word[0]))
    lines = min(words, text.count("\n") + 1)
    return (words + machine_words) * len(_BEGIN + _END) + lines * len(_BEGIN_LINE + _END)


def _runs(text: str, *, is_literal: bool) -> str:
    runs = (_patterns().sentence if is_literal else _patterns().word).split(text)
    return "".join(
        f"{_BEGIN}{escape(run)}{_END}" if at % 2 else escape(run) for at, run in enumerate(runs)
    )


def _json(line: str) -> Iterator[str]:
    at = 0
    while mark := _JSON.match(line, at):
        yield _runs(mark[0], is_literal=mark[0].startswith('"'))
        at = mark.end()
    yield _runs(line[at:], is_literal=False)


def _is_machine_word(word: str) -> bool:
    return not word.isascii() and bool(_MACHINE.search(word)) and turns(word)


def _without_machine_words(line: str) -> str:
    return _WORD.sub(lambda word: "" if _is_machine_word(word[0]) else word[0], line)


class _Patterns:
    """Patterns of all characters that are not hidden, by the direction that Unicode gives them."""

    def __init__(self) -> None:
        letters, numbers = _of("R", "AL"), _of("AN")
        marks = _of("NSM")
        inner = rf"[{letters}{marks}]|[{JOINERS}](?=[{letters}{marks}])"
        number = rf"[{numbers}][{numbers}{marks}]*+"
        in_sentence = rf"[{letters}](?:{inner}|[{numbers}]|[\"'](?=[{letters}]))*+"
        between = rf"[{_BETWEEN}{numbers}]{{1,{_MOST_BETWEEN}}}+"
        self.letter = re.compile(rf"[{letters}]")
        self.turning = re.compile(rf"[{letters}{numbers}]")
        self.word = re.compile(rf"([{letters}](?:{inner})*+|{number})")
        self.sentence = re.compile(rf"({in_sentence}(?:{between}{in_sentence})*+|{number})")


@cache
def _patterns() -> _Patterns:
    return _Patterns()


def _of(*directions: str) -> str:
    """Write the inside of a character class; what is hidden is drawn as a box and left out."""
    every = map(chr, (*range(0xD800), *range(0xE000, 0x20000)))
    candidates = "".join(c for c in every if unicodedata.bidirectional(c) in directions)
    characters = "".join(piece for piece in segments(candidates) if isinstance(piece, str))
    return _ranges(characters)


def _ranges(characters: str) -> str:
    ranges: list[list[int]] = []
    for code in map(ord, characters):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(rf"\U{start:08x}-\U{end:08x}" for start, end in ranges)
