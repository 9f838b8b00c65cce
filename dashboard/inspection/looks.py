"""What characters look like: words that pass for others, after Unicode Technical Standard 39."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import lru_cache

from dashboard.inspection.knowledge import CHARACTERS, CONFUSABLES

_SIGNS = "".join(
    odd for odds in CONFUSABLES.looks.values() for odd in odds if not (odd.isalnum() or odd == "_")
)
_LETTER = rf"\w\u0300-\u036f\u20d0-\u20f0\u3099\u309a{re.escape(_SIGNS)}"
WORD = re.compile(f"[{_LETTER}]+")
"""Letters, and what looks like them."""

# What joins the parts of names, paths, hosts and options. Not the dashes of typography.
_JOINTS = {
    "-": "\u02d7\u2010\u2011\u2012\u2043\u2212",
    ".": "\u0701\u0702\u2024\ua4f8",
    "/": "\u2044\u2215\u29f8",
    ":": "\u02d0\u0589\u05c3\u2236\ua789",
    ";": "\u037e",
    "_": "\u02cd\uff3f",
    "|": "\u01c0\u2223",
    "~": "",
    "@": "",
}
_JOINT_LOOKS = {odd: plain for plain, odds in _JOINTS.items() for odd in odds}
_ODD_JOINTS = frozenset(_JOINT_LOOKS)
_JOINT_TABLE = str.maketrans(_JOINT_LOOKS)
_JOINT = re.escape("".join([*_JOINTS, *_JOINT_LOOKS]))
_NAME = re.compile(f"[{_LETTER}{_JOINT}]+")
_NAMING = 2  # letters
_DOTS = frozenset(_JOINTS["."])
_MATHEMATICS = frozenset("\u2212\u2044\u2215\u2236")  # minus, fractions and ratios
_RUN = re.compile(r"[^\W\d_]{2}")

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

# Unicode's table tells chi from x; most people do not.
_TABLE = str.maketrans(LOOKS | {"\u03c7": "x"}) | _ASCII_LOOKS
_UNITS = frozenset("\u2126\u212a\u212b")  # signs of units, beside their letters: honest
_PLAIN = str.maketrans(_CURATED)
_ASSIGNED = re.compile(r"[ \t]*(?:[-+*/|&^%@]?=(?!=))|[(\[]|\.\w")
_LETTERS = re.compile(r"[^\W\d_]")
_PIECE = 128  # characters
_LINE_END = re.compile("\n")
_ORDINALS = "\xaa\xba"  # as in 1st, in Spanish
# Looks ahead from the beginning of a word alone: from each of its letters is quadratic.
FOLDABLE = re.compile(r"(?<!\w)(?=\w*[^\x00-\x7f])\w{2,}")


def look_alikes(text: str) -> Iterator[tuple[int, str]]:
    """Yield the words of a text that pass for something else, and where each begins.

    A word does if Latin letters stand in it beside letters of another script that look Latin, if
    it looks like a common name of code, or like another word of the text. Names are words with
    what joins them, such as a hyphen.
    """
    yield from _names(text)
    odd_words = [(match.start(), match[0]) for match in WORD.finditer(text) if _is_odd(match[0])]
    if not odd_words:
        return
    twins = _twins(set(WORD.findall(text)))
    distinct_words = {word for _, word in odd_words}
    disguises = {word for word in distinct_words if _is_mixed(word) or _is_common(word)}
    lines = _Lines(text)
    for start, word in odd_words:
        is_twin = word in twins and (_is_long(word) or lines.has_code_at(start))
        if is_twin or word in disguises:
            yield start, word


def disguises(text: str) -> frozenset[str]:
    """Return the words that pass for something else, or that Python reads as plain letters."""
    if text.isascii():
        return frozenset()
    folded = (word for word in FOLDABLE.findall(text) if is_folded(word))
    return frozenset(folded).union(word for _, word in look_alikes(text))


def is_folded(word: str) -> bool:
    """Say whether Python reads ``word`` as another name, of plain letters (NFKC, PEP 3131)."""
    letters = any(
        character not in _ORDINALS and not character.isascii() and _is_letter(character)
        for character in word
    )
    return letters and unicodedata.normalize("NFKC", word).isascii()


def _is_letter(character: str) -> bool:
    return unicodedata.category(character)[0] == "L" or unicodedata.category(character) == "Nl"


def _names(text: str) -> Iterator[tuple[int, str]]:
    """Yield the names that look like another one of the text because of what joins their parts."""
    if _ODD_JOINTS.isdisjoint(text):
        return
    by_look = defaultdict(set)
    for name in set(_NAME.findall(text)):
        by_look[skeleton(name.translate(_JOINT_TABLE))].add(name.translate(_ASCII_LOOKS))
    for match in _NAME.finditer(text):
        name = match[0]
        if _ODD_JOINTS.isdisjoint(name) or not _is_name(name):
            continue
        if len(by_look[skeleton(name.translate(_JOINT_TABLE))]) > 1:
            yield match.start(), name


def _is_name(text: str) -> bool:
    """Whether it is more than a number, a time, a range or a formula such as x - y.

    An address may be of digits alone.
    """
    if _ODD_JOINTS.intersection(text) <= _MATHEMATICS:
        return _RUN.search(text) is not None
    return len(_LETTERS.findall(text)) >= _NAMING or not _DOTS.isdisjoint(text)


def _is_long(word: str) -> bool:
    """Whether a word is more than one letter, or another letter in another code."""
    if len(word) > 1 or len(skeleton(word)) > 1:
        return True
    return word not in _UNITS and not unicodedata.is_normalized("NFC", word)


class _Lines:
    """Tells whether one letter is a name or a word of a sentence: Russian has such words.

    Each line is read once, however many there are in it.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text)), len(text) + 1]
        self._scripts: dict[int, Counter[str]] = {}

    def has_code_at(self, place: int) -> bool:
        if _ASSIGNED.match(self._text, place + 1):
            return True
        name = script(self._text[place])
        return name != LATIN and self._scripts_around(place)[name] == 1

    def _scripts_around(self, place: int) -> Counter[str]:
        number = bisect_right(self._starts, place) - 1
        if number not in self._scripts:
            line = self._text[self._starts[number] : self._starts[number + 1]]
            self._scripts[number] = Counter(map(script, _LETTERS.findall(line)))
        return self._scripts[number]


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
    if word.isascii():
        return False
    is_composed = unicodedata.is_normalized("NFC", word)
    return not is_composed or any(character in LOOKS for character in _decomposed(word))


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
        is_other_code = not unicodedata.is_normalized("NFC", word)
        if not word.isascii() and (
            is_other_code or is_apart or is_mixture or (scripts and foreign_count)
        ):
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
