"""Letters that look like others: words that read as one thing and are another."""

from __future__ import annotations

import re
import unicodedata

from dashboard.inspection.knowledge import CHARACTERS

_ASCII = str.maketrans(
    {odd: plain for plain, odds in CHARACTERS.look_alikes.items() for odd in odds}
)
_WORD = re.compile(r"(?=\w*[^\x00-\x7f])\w{2,}")
_ORDINALS = "\xaa\xba"  # as in 1st, in Spanish


def is_disguised(word: str, others: frozenset[str]) -> bool:
    """Say whether ``word`` passes for another one.

    It does if Latin letters stand in it beside letters that merely look Latin, or if all of it
    looks like a common name of code, or like one of the ``others`` in the same text.
    """
    plain = word.translate(_ASCII)
    if plain == word:
        return False
    if re.search("[A-Za-z]", word):
        return True
    return plain.isascii() and (plain in CHARACTERS.common or plain in others)


def is_folded(word: str) -> bool:
    """Say whether Python reads ``word`` as another name, of plain letters (NFKC, PEP 3131)."""
    letters = any(
        character not in _ORDINALS and not character.isascii() and _is_letter(character)
        for character in word
    )
    return letters and unicodedata.normalize("NFKC", word).isascii()


def odd_words(text: str) -> list[tuple[int, str]]:
    """Return where the words with letters beyond ASCII begin, and the words."""
    return [(match.start(), match[0]) for match in _WORD.finditer(text)]


def plain_words(text: str) -> frozenset[str]:
    """Return the words of a text that are made of ASCII only."""
    return frozenset(re.findall(r"[A-Za-z_]\w+", text, re.ASCII))


def _is_letter(character: str) -> bool:
    return unicodedata.category(character)[0] == "L" or unicodedata.category(character) == "Nl"
