"""What characters look like: words that pass for others, after Unicode Technical Standard 39."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import lru_cache

from dashboard.inspection.knowledge import CHARACTERS, CONFUSABLES

_SIGNS = "".join(
    odd for odds in CONFUSABLES.looks.values() for odd in odds if not (odd.isalnum() or odd == "_")
)
WORD = re.compile(rf"[\w\u0300-\u036f\u20d0-\u20f0{re.escape(_SIGNS)}]+")
"""Letters, and what looks like them."""

LATIN = "LATIN"
_ASCII_LOOKS = str.maketrans({"1": "l", "I": "l", "0": "O", "m": "rn"})
# Letters of French, Danish and others that everybody tells from two letters.
_TOLD_APART = "\xc6\xe6\u0152\u0153"
DOTLESS = "\u0131"
_TURKISH = frozenset("\u011e\u011f\u0130\u015e\u015f")
# A small letter alone, or with an index, is a quantity: physics has both nu and v, rho and p.
_QUANTITY = re.compile(r"(?<![^\W\d_])([\u03b1-\u03be\u03c0-\u03c9])(?![^\W\d_])")
_SMALL_GREEK = frozenset(map(chr, range(0x3B1, 0x3CA))) - {"\u03bf"}
_CURATED = {odd: plain for plain, odds in CHARACTERS.look_alikes.items() for odd in odds}
LOOKS = {
    odd: look.translate(_ASCII_LOOKS)
    for odd, look in (
        *((odd, look) for look, odds in CONFUSABLES.looks.items() for odd in odds),
        *_CURATED.items(),
    )
    if odd not in _TOLD_APART
}
"""What each character that looks like another looks like; ASCII as 1, I, 0 and m do."""

_TABLE = str.maketrans(LOOKS) | _ASCII_LOOKS
_PLAIN = str.maketrans(_CURATED)
_ASSIGNED = re.compile(r"[ \t]*(?:[-+*/|&^%@]?=(?!=))|[(\[]|\.\w")
_LETTERS = re.compile(r"[^\W\d_]")
_PIECE = 128  # characters


def look_alikes(text: str) -> Iterator[tuple[int, str]]:
    """Yield the words of a text that pass for something else, and where each begins.

    A word does if Latin letters stand in it beside letters of another script that look Latin, if
    it looks like a common name of code, or like another word of the text.
    """
    odd_words = [(match.start(), match[0]) for match in WORD.finditer(text) if _is_odd(match[0])]
    if not odd_words:
        return
    twins = _twins(set(WORD.findall(text)))
    distinct_words = {word for _, word in odd_words}
    disguises = {word for word in distinct_words if _is_mixed(word) or _is_common(word)}
    for start, word in odd_words:
        is_twin = word in twins and (len(word) > 1 or _ASSIGNED.match(text, start + 1))
        if is_twin or word in disguises:
            yield start, word


def is_turkish(text: str) -> bool:
    """Whether ``text`` has letters of Turkish, which has an i without a dot in every sentence."""
    return not _TURKISH.isdisjoint(text)


def skeleton(word: str) -> str:
    """Return what a word looks like: the same for all words that look like it."""
    if word.isascii():
        return word.translate(_ASCII_LOOKS)
    pieces = _QUANTITY.split(_decomposed(word))
    pieces[::2] = [piece.translate(_TABLE) for piece in pieces[::2]]
    return _decomposed("".join(pieces))


def _decomposed(word: str) -> str:
    """Return a word in NFD, piece by piece: sorting a long row of marks takes its square."""
    pieces = (word[at : at + _PIECE] for at in range(0, len(word), _PIECE))
    return "".join(unicodedata.normalize("NFD", piece) for piece in pieces)


def looks_ascii(character: str) -> bool:
    """Whether a character beyond ASCII looks like one, or some, of ASCII."""
    return LOOKS.get(character, character).isascii()


@lru_cache(maxsize=8192)
def script(character: str) -> str:
    """Return the script of a character, as its Unicode name begins: LATIN, CYRILLIC, CJK."""
    if character.isascii():
        return LATIN if character.isalpha() else ""
    plain = unicodedata.normalize("NFKC", character)[:1] or character
    return unicodedata.name(plain, "?").split()[0]


def look_of(character: str) -> str:
    """Return what a character looks like, in plain letters where there are any."""
    return _CURATED.get(character) or LOOKS.get(character, "")


def _is_odd(word: str) -> bool:
    return not word.isascii() and any(character in LOOKS for character in word)


def _twins(words: AbstractSet[str]) -> set[str]:
    """Return the words, not of ASCII alone, that look like another one.

    Not by what differs within ASCII, such as l and 1, and not within one other script: Arabic has
    several letters of one look, and honest text has all of them.
    """
    by_look = defaultdict(list)
    for word in words:
        by_look[skeleton(word)].append(word)
    return {word for alike in by_look.values() if len(alike) > 1 for word in _deceptive(alike)}


def _deceptive(alike: list[str]) -> Iterator[str]:
    """Yield which of the words of one look are not the same in another form, or of one script.

    In a time that grows with their number alone: an agent may send any number.
    """
    if len({word.translate(_ASCII_LOOKS) for word in alike}) == 1:
        return
    scripts_in_order = [frozenset(map(script, _LETTERS.findall(word))) for word in alike]
    is_mixture = any(LATIN in scripts or len(scripts) > 1 for scripts in scripts_in_order)
    counts = Counter(scripts_in_order)
    for word, scripts in zip(alike, scripts_in_order, strict=True):
        is_apart = LATIN in scripts or len(scripts) > 1
        foreign_count = len(alike) - counts[scripts] - counts[frozenset()]
        if not word.isascii() and (is_apart or is_mixture or (scripts and foreign_count)):
            yield word


def _is_mixed(word: str) -> bool:
    """Whether all letters pass for Latin ones, and not all are.

    Small Greek letters may stand beside Latin ones: physics writes so.
    """
    if not re.search("[A-Za-z]", word) or not _passes_for_ascii(word):
        return False
    return any(not character.isascii() and _is_foreign(character) for character in word)


def _is_foreign(character: str) -> bool:
    """Whether a character that looks Latin is of another script, or like a sign: U+01C3."""
    look = LOOKS[character]
    if character in _CURATED or (len(look) == 1 and not look.isalnum()):
        return True
    return script(character) != LATIN and character not in _SMALL_GREEK


def _is_common(word: str) -> bool:
    return len(word) > 1 and (
        skeleton(word) in _COMMON or word.translate(_PLAIN) in CHARACTERS.common
    )


def _passes_for_ascii(word: str) -> bool:
    return all(character.isascii() or looks_ascii(character) for character in word)


_COMMON = frozenset(map(skeleton, CHARACTERS.common))
