"""Letters and signs that pass for others, marked where they are drawn.

Nothing is replaced: a reader sees the character as it is, with a line below it, and its name when
it is pointed at. What is meant is what looks like ASCII and is not, outside of the script that the
text is mostly in; so Russian and Greek prose stays as it is, and one Cyrillic letter in an English
word does not.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from itertools import groupby

from django.utils.html import escape

from dashboard.inspection.knowledge import CONFUSABLES
from dashboard.inspection.looks import (
    DOTLESS,
    LATIN,
    LOOKS,
    WORD,
    disguises,
    is_turkish,
    look_of,
    looks_ascii,
    script,
)

MARK = 170
"""Characters of HTML that one mark takes at most, without what is marked."""

_PROSE = 3  # words; what has fewer is a name, and what script that is in says nothing
_READ = 20_000  # characters by which the script of a text is told
_SEARCHED = 100_000  # characters; of more, a pair of words is a finding and not marked
NONE: frozenset[str] = frozenset()
_LATIN_LETTERS = re.compile("[A-Za-z]")
_LEFTWARDS = {"R", "AL", "AN"}  # which have an isolate of their own
_ODD = frozenset(CONFUSABLES.odd)
_ALWAYS = _ODD | frozenset(CONFUSABLES.signs)
_CANDIDATES = frozenset(
    character
    for character in {*filter(looks_ascii, LOOKS), *_ALWAYS}
    if unicodedata.bidirectional(character) not in _LEFTWARDS
)
_MARKED = _CANDIDATES | _ALWAYS


def marked(html: str, disguised: AbstractSet[str] = NONE) -> str:
    """Return escaped text with a mark around each run of characters that pass for others.

    ``disguised`` are words of the whole text, of which this may be a piece: see ``disguises_in``.
    """
    if html.isascii() or (_CANDIDATES.isdisjoint(html) and not disguised):
        return html
    main = _main_script(html)
    own_letters = DOTLESS if is_turkish(html) else ""

    def mark_word(match: re.Match[str]) -> str:
        word = match[0]
        if word.isascii():
            return word
        is_mixed = _LATIN_LETTERS.search(word) is not None
        is_disguised = word in disguised
        flags = [
            character in _ALWAYS
            or (is_disguised and _is_disguise(character))
            or (
                character in _CANDIDATES
                and character not in own_letters
                and (is_mixed or script(character) != main)
            )
            for character in word
        ]
        return _with_marks(word, flags) if any(flags) else word

    return _pieces().sub(mark_word, html)


def disguises_in(text: str) -> frozenset[str]:
    """Return the words of a text that pass for others, if it is not too long for that."""
    return disguises(text) if len(text) <= _SEARCHED else NONE


def marks(text: str) -> int:
    """Return the most marks that ``text`` gets."""
    if text.isascii():
        return 0
    disguised = disguises_in(text)
    words = WORD.findall(text) if disguised else ()
    of_words = sum(len(word) for word in words if word in disguised)
    return of_words + sum(map(_MARKED.__contains__, text))


def _is_disguise(character: str) -> bool:
    """Whether a character makes a word pass for another one: it looks, or is read, like others."""
    if character.isascii():
        return False
    if unicodedata.combining(character) or unicodedata.normalize("NFKC", character) != character:
        return True
    return not LOOKS.keys().isdisjoint(unicodedata.normalize("NFD", character))


def _with_marks(word: str, flags: list[bool]) -> str:
    """Mark each run of what is flagged, with the letter that its first stroke goes through."""
    for at in range(1, len(word)):
        if flags[at] and unicodedata.combining(word[at]):
            flags[at - 1] = True
    html, start = [], 0
    for is_marked, run in groupby(flags):
        end = start + sum(1 for _ in run)
        html.append(_mark(word[start:end]) if is_marked else word[start:end])
        start = end
    return "".join(html)


def _mark(run: str) -> str:
    odd = next(character for character in run if not character.isascii())
    return f'<span class="alike" title="{_title(odd, len(run))}">{run}</span>'


@lru_cache(maxsize=4096)
def _title(character: str, length: int) -> str:
    name, look = unicodedata.name(character, "")[:60], look_of(character)
    like = f", looks like {look}" if len(look) == 1 else ""
    more = (
        f"; {length} such characters"
        if length > 1 and not unicodedata.combining(character)
        else ""
    )
    return escape(f"U+{ord(character):04X} {name}{like}{more}")


def _main_script(html: str) -> str:
    head = html[:_READ]
    if len(WORD.findall(head)) < _PROSE:
        return LATIN
    scripts: Counter[str] = Counter({LATIN: len(_LATIN_LETTERS.findall(head))})
    for character, count in Counter(head).items():
        if not character.isascii() and character.isalpha():
            scripts[script(character)] += count
    return scripts.most_common(1)[0][0]


@cache
def _pieces() -> re.Pattern[str]:
    """A word, or one sign."""
    signs = "".join(map(re.escape, CONFUSABLES.signs))
    return re.compile(rf"{WORD.pattern}|[{signs}]")
