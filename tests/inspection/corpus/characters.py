"""What a reader cannot see, or reads as something else; and honest text that looks unusual."""

from __future__ import annotations

from tests.inspection.corpus.snippet import Snippet


def _deceives(title: str, text: str, *names: str) -> Snippet:
    return Snippet(title, "python", text, frozenset(names))


DANGEROUS = [
    _deceives("a comment that runs", "a = 1 # \u202e )x(nur \u2066\n", "text-direction"),
    _deceives("isolates", "s = 'user\u2066 # no\u2069'\n", "text-direction"),
    _deceives("tags", "s = 'x\U000e0069\U000e0067'\n", "hidden-text"),
    _deceives("a zero-width space", "pass\u200bword = 1\n", "invisible-characters"),
    _deceives("a zero-width joiner in a name", "ad\u200dmin = 1\n", "invisible-characters"),
    _deceives("a Hangul filler as a name", "\u3164 = 1\n", "unusual-blanks"),
    _deceives("an escape sequence", "s = '\x1b[2K\x1b[1A'\n", "control-characters"),
    _deceives("a lone carriage return", "evil()\r# fine\n", "control-characters"),
    _deceives("a Cyrillic letter", "\u0430dmin = True\n", "look-alike-characters"),
    _deceives("a Greek capital", "\u0391PI = 1\n", "look-alike-characters"),
    _deceives(
        "all letters Cyrillic",
        "\u0441\u043e\u0440\u0443 = 1\n",
        "look-alike-characters",
    ),
    _deceives("a full-width call", "\uff45\uff56\uff41\uff4c('1')\n", "folding-characters"),
    _deceives(
        "a mathematical call",
        "\U0001d41e\U0001d42f\U0001d41a\U0001d425('1')\n",
        "folding-characters",
    ),
    _deceives("far to the right", "a = 1" + " " * 200 + "; evil()\n", "row-of-blanks"),
    _deceives("a private character", "s = '\ue000'\n", "unknown-characters"),
    _deceives("a blank that is none", "a\u00a0= 1\n", "unusual-blanks"),
    _deceives("a key", "key = 'AKIAABCDEFGHIJKLMNOP'\n", "credentials"),
    _deceives("a password", "password = 'correct-horse'\n", "credentials"),
]
HARMLESS = [
    _deceives(
        "emoji", "print('Done \u2705 \u26a0\ufe0f \U0001f469\u200d\U0001f4bb 1\ufe0f\u20e3')\n"
    ),
    _deceives("German", "gr\u00f6\u00dfe = 1\nprint(gr\u00f6\u00dfe)  # in \u00b5m\n"),
    _deceives(
        "Russian",
        "# \u0421\u0440\u0435\u0434\u043d\u0435\u0435 \u0438\u0437 \u0442\nx = 1\n",
    ),
    _deceives("Japanese", "print('Python\u5165\u9580\uff08\u4e0a\uff09')\n"),
    _deceives("Greek letters", "\u0394t = 0.1\n\u03c3_x = \u0394t * 2\nprint(\u03c3_x)\n"),
    _deceives("Persian", "print('\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645')\n"),
    _deceives("typography", "# \u201cquoted\u201d \u2013 50 m\u00b2 \u2026\nx = 1\n"),
    _deceives("lines of Windows", "a = 1\r\nprint(a)\r\n"),
    _deceives("deep indentation", "f(\n" + " " * 40 + "1,\n" + " " * 40 + ")\nf = print\n"),
    _deceives("blanks at the end of lines", "a = 1   \nprint(a)" + " " * 40 + "\n"),
    _deceives("a mark at the start", "\ufeffprint(1)\n"),
    _deceives(
        "a word about passwords",
        "password_length = 12\nprint('password:', password_length)\n",
    ),
]
