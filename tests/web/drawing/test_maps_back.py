"""What is displayed can be turned back into the very text that was sent."""

import random
import re
from collections import Counter

from dashboard.web.drawing.code import render_code

TEXTS = 10_000
PLANES = [(0x20, 0x7F), (0xA0, 0x250), (0x370, 0x600), (0x600, 0x780), (0x2000, 0x2070)]
PLANES += [(0xFE00, 0xFE10), (0xE0000, 0xE0080), (0x1F300, 0x1F650), (0, 0x20), (0x3000, 0xD7FF)]
PIECES = [
    "\r\n",
    "\n",
    "\t",
    "    ",
    " " * 40,
    "<b>",
    "&lt;",
    '"""',
    "# ",
    "\u200b" * 12,
    "\u202e",
]
NUMBERED = re.compile(r"U\+([0-9A-F]{4,6}) ")
BLANKS = re.compile(r"(\d+) (space|tab)s?\Z")
COUNTED = re.compile(r"(U\+([0-9A-F]{4,6}) [^:,]*|[a-z]+ characters): (\d+)")


def some_text(rng):
    return "".join(
        rng.choice(PIECES) if rng.random() < 0.3 else chr(rng.randrange(*rng.choice(PLANES)))
        for _ in range(rng.randrange(40))
    )


def standing_for(name, rest):
    """Return the characters at the beginning of ``rest`` that a box of this name stands for."""
    if blanks := BLANKS.match(name):
        return {"space": " ", "tab": "\t"}[blanks[2]] * int(blanks[1])
    if name.endswith(("blank", "blanks")):  # of both sorts
        return rest[: int(name.split()[0])]
    counts = [(number, int(count)) for _, number, count in COUNTED.findall(name)]
    if not counts:
        return chr(int(NUMBERED.match(name)[1], 16))
    run = rest[: sum(count for _, count in counts)]
    known = Counter({chr(int(number, 16)): count for number, count in counts if number})
    assert not known or known == Counter(run)
    return run


def mapped_back(parts, source):
    found = ""
    for kind, value in parts:
        found += value if kind == "text" else standing_for(value[1], source[len(found) :])
    return found


def test_what_is_displayed_maps_back_to_the_bytes_of_10_000_texts(read):
    rng = random.Random(4)  # noqa: S311 - the same texts every time
    for _ in range(TEXTS):
        source = some_text(rng)
        page = read("\n".join(render_code(source).lines))
        assert mapped_back(page.parts, source).encode() == source.encode()
