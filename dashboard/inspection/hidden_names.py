"""What hidden characters are called. Data only; whatever is not here is named by its number."""

from __future__ import annotations

# Drawn as nothing, or as a blank, although their category does not say so.
LOOK_EMPTY = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u2800\u3164\uffa0\ufffc"
    "\U00016fe4\U0001d159"
)
LOOK_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0\U0001d159")
VARIATION_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
TAGS = range(0xE0000, 0xE0080)
SPELLING_TAGS = range(0xE0020, 0xE007F)  # each stands for the ASCII character below it

_DIRECTIONS = {
    "\u061c": "ALM",
    "\u200e": "LRM",
    "\u200f": "RLM",
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
}
DIRECTIONS = frozenset(_DIRECTIONS)

# fmt: off
_CONTROLS = [
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "TAB", "LF", "VT", "FF", "CR",
    "SO", "SI", "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC",
    "FS", "GS", "RS", "US",
]
# fmt: on
LABELS = {chr(code): label for code, label in enumerate(_CONTROLS)} | {
    **_DIRECTIONS,
    "\x7f": "DEL",
    "\x85": "NEL",
    "\x9b": "CSI",
    "\xa0": "NBSP",
    "\xad": "SHY",
    "\u034f": "CGJ",
    "\u180e": "MVS",
    "\u200b": "ZWSP",
    "\u200c": "ZWNJ",
    "\u200d": "ZWJ",
    "\u2028": "LS",
    "\u2029": "PS",
    "\u202f": "NNBSP",
    "\u2060": "WJ",
    "\u3000": "IDSP",
    "\ufeff": "BOM",
    "\ufffc": "OBJ",
}

# The Unicode data name no control characters.
CONTROL_NAMES = {
    "\x00": "NULL",
    "\x07": "BELL",
    "\x08": "BACKSPACE",
    "\x0b": "LINE TABULATION",
    "\x0c": "FORM FEED",
    "\r": "CARRIAGE RETURN",
    "\x1b": "ESCAPE",
    "\x7f": "DELETE",
    "\x85": "NEXT LINE",
    "\x9b": "CONTROL SEQUENCE INTRODUCER",
}
