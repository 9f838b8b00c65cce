"""Letters that look like others: words that read as one thing and are another."""

from __future__ import annotations

import re
import unicodedata

from dashboard.inspection.notes import names

# From the scripts whose letters pass for Latin ones. Left out is what physics writes beside Latin
# letters every day, such as the small Greek alpha, nu and rho.
_LOOK_LIKE = {
    "a": "\u0430\u0251",
    "c": "\u0441\u03f2",
    "d": "\u0501",
    "e": "\u0435",
    "g": "\u0261\u0581",
    "h": "\u04bb\u0570",
    "i": "\u0456\u0269",
    "j": "\u0458\u03f3\u0575",
    "k": "\u043a",
    "l": "\u04cf",
    "n": "\u0578",
    "o": "\u043e\u03bf\u0585",
    "p": "\u0440",
    "q": "\u051b\u0566",
    "s": "\u0455",
    "u": "\u057d",
    "v": "\u0475",
    "w": "\u051d",
    "x": "\u0445",
    "y": "\u0443\u04af",
    "A": "\u0410\u0391\u13aa",
    "B": "\u0412\u0392\u13f4",
    "C": "\u0421\u13df",
    "D": "\u13a0",
    "E": "\u0415\u0395\u13ac",
    "G": "\u13c0",
    "H": "\u041d\u0397\u13bb",
    "I": "\u0406\u0399\u04c0",
    "J": "\u0408\u13ab",
    "K": "\u041a\u039a\u13e6",
    "L": "\u13de",
    "M": "\u041c\u039c\u13b7",
    "N": "\u039d",
    "O": "\u041e\u039f\u0555",
    "P": "\u0420\u03a1\u13e2",
    "Q": "\u051a",
    "R": "\u13a1",
    "S": "\u0405\u054f\u13da",
    "T": "\u0422\u03a4\u13a2",
    "U": "\u054d",
    "W": "\u051c\u13b3",
    "X": "\u0425\u03a7",
    "Y": "\u0423\u03a5",
    "Z": "\u0396\u13c3",
}
_ASCII = str.maketrans({odd: plain for plain, odds in _LOOK_LIKE.items() for odd in odds})
_WORD = re.compile(r"(?=\w*[^\x00-\x7f])\w{2,}")
_COMMON = names("""
    eval exec open import compile getattr setattr globals print input system popen call run remove
    unlink rmtree write send put caput caget rm cp mv dd sudo su cat curl wget bash sh python root
    admin user copy move delete get post True False None yes no not and or if return
""")
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
    return plain.isascii() and (plain in _COMMON or plain in others)


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
