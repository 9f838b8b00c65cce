"""Make the table of look-alikes from Unicode's data.

    python -m tests.confusables confusables.txt LICENSE

``confusables.txt`` is that of Unicode Technical Standard 39, which ICU's sources hold too, and the
licence is that of the same release. Kept is what can matter here: what looks like something of
another script or like Latin letters, and signs that look like ASCII.
"""

import sys
import unicodedata
from collections import defaultdict
from pathlib import Path

PLACE = Path(__file__).parent.parent / "dashboard/inspection/knowledge/confusables.toml"
OVERLAY = 1  # the combining class of what strikes a letter through
HONEST_SIGNS = frozenset(
    "\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}\N{LEFT DOUBLE QUOTATION MARK}"
    "\N{RIGHT DOUBLE QUOTATION MARK}\N{DOUBLE HIGH-REVERSED-9 QUOTATION MARK}"
    "\N{SINGLE LOW-9 QUOTATION MARK}\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"
    "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}\N{PRIME}\N{DOUBLE PRIME}\N{TRIPLE PRIME}"
    "\N{ACUTE ACCENT}\N{CEDILLA}\N{SMALL TILDE}\N{EN DASH}\N{HORIZONTAL ELLIPSIS}"
    "\N{MULTIPLICATION SIGN}\N{TILDE OPERATOR}\N{MUCH LESS-THAN}\N{MUCH GREATER-THAN}"
    "\N{PARALLEL TO}\N{UNION}\N{LOGICAL OR}\N{INFINITY}\N{NUMERO SIGN}\N{ESTIMATED SYMBOL}"
    "\N{HEBREW PUNCTUATION GERESH}\N{HEBREW PUNCTUATION GERSHAYIM}\N{HEBREW PUNCTUATION SOF PASUQ}"
    "\N{ARABIC DECIMAL SEPARATOR}\N{ARABIC FIVE POINTED STAR}"
)
"""Typography, mathematics and punctuation that honest text has every day."""


def main(source, licence):
    """Write the table."""
    looks = dict(read(source))
    signs = sorted(sign for sign, look in looks.items() if is_sign(sign, look))
    classes = defaultdict(list)
    for character, look in looks.items():
        if is_of_words(character, look):
            classes[look].append(character)
    kept = {look: members for look, members in classes.items() if matters([*members, *look])}
    crossed = [
        code for code in range(0x300, 0x1F000) if unicodedata.combining(chr(code)) == OVERLAY
    ]
    small = [code for code in range(0x1D00, 0x2000) if is_small_capital(chr(code))]
    small += [code for code in range(0x250, 0x2B0) if is_small_capital(chr(code))]
    small += [code for code in range(0xA700, 0xA800) if is_small_capital(chr(code))]
    lines = [*header(source, licence), f"signs = {quoted(''.join(signs))}"]
    lines += ["", "# Small capitals, and what strikes a letter through."]
    lines.append(f"odd = {quoted(''.join(map(chr, sorted(small) + crossed)))}")
    lines += ["", "# What each of these characters looks like.", "[looks]"]
    lines += [f"{quoted(look)} = {quoted(''.join(kept[look]))}" for look in sorted(kept)]
    PLACE.write_text("\n".join(lines) + "\n")


def read(source):
    """Return each character and what it looks like."""
    for line in Path(source).read_text("utf-8-sig").splitlines():
        fields = line.partition("#")[0].split(";")
        if len(fields) == 3:
            yield text(fields[0]), text(fields[1])


def text(codes):
    """Return the characters of some numbers."""
    return "".join(chr(int(code, 16)) for code in codes.split())


def is_of_words(character, look):
    """Say whether it can stand in a word, or looks as if it did."""
    category = unicodedata.category(character)
    is_letter = category[0] in "LNM" or category == "Pc"
    is_drawn = category[0] == "S" and look.isascii() and look.isalnum()
    return not character.isascii() and (is_letter or (is_drawn and character not in HONEST_SIGNS))


def is_sign(character, look):
    """Say whether it passes for a sign of ASCII."""
    is_honest = character in HONEST_SIGNS or "\u3000" <= character <= "\u303f"
    is_wide = "\uff00" <= character <= "\uffef"  # and honest in Japanese
    is_seen = character.isprintable() and unicodedata.category(character)[0] in "PS"
    is_one = len(look) == 1 and look.isascii() and not look.isalnum()
    return is_seen and is_one and not (is_honest or is_wide or character.isascii())


def matters(members):
    """Say whether there are several scripts among these, or Latin letters."""
    scripts = {script(member) for member in members}
    return len(scripts) > 1 or "LATIN" in scripts


def script(character):
    """Return the first word of a character's name, which is its script for letters."""
    plain = unicodedata.normalize("NFKC", character)[:1] or character
    return unicodedata.name(plain, "?").split()[0]


def is_small_capital(character):
    """Say whether it is a small capital."""
    return unicodedata.name(character, "").startswith("LATIN LETTER SMALL CAPITAL")


def header(source, licence):
    """Return where this is from, and under which licence."""
    version = [line for line in Path(source).read_text("utf-8-sig").splitlines()[:10] if line]
    terms = Path(licence).read_text().split("\n\nExcept as contained", 1)
    rest = terms[1].split("\n\n", 1)[0]
    notice = f"{terms[0]}\n\nExcept as contained{rest}".splitlines()
    return [
        "# Made by tests/confusables.py of Unicode's data. Do not change it here.",
        "#",
        *version[1:8],
        "#",
        *(f"# {line}".rstrip() for line in notice),
        "",
        "# Signs that look like one of ASCII.",
    ]


def quoted(characters):
    """Write a text as TOML does, in ASCII."""
    return '"' + "".join(map(escaped, characters)) + '"'


def escaped(character):
    """Write one character."""
    code = ord(character)
    if 0x20 <= code < 0x7F:
        return "\\" + character if character in '"\\' else character
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


if __name__ == "__main__":
    main(*sys.argv[1:])
