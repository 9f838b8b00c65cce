"""Texts as a Python source builds them, as far as they can be told without running it.

``HOLE`` stands in a text for each part that is not known.
"""

from __future__ import annotations

import ast
import base64
import binascii
import codecs
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

HOLE = "\0"
MAX_TEXT = 1 << 16  # characters; longer texts are not followed
MAX_WORDS = 40  # of a list; longer ones are not followed
_MAX_TIMES = 64


@dataclass(frozen=True, slots=True)
class Text:
    """A text, or bytes read as Latin-1."""

    value: str

    @property
    def known(self) -> bool:
        """Whether all of it is known."""
        return HOLE not in self.value


UNKNOWN_TEXT = Text(HOLE)


@dataclass(frozen=True, slots=True)
class Words(Text):
    """Several texts in a list, and the line that a shell would make the same list of."""

    parts: tuple[Text, ...]


def command_line(parts: Iterable[Text]) -> Words:
    """Put the words of a command together as a shell reads them."""
    words = tuple(parts)
    return Words(joined(_quoted(part) for part in _spaced(words)).value, words)


def _spaced(parts: tuple[Text, ...]) -> Iterator[Text]:
    for index, part in enumerate(parts):
        if index:
            yield Text(" ")
        yield part


def _quoted(text: Text) -> Text:
    return text if not text.known or text.value == " " else Text(shlex.quote(text.value))


def constant(node: ast.Constant) -> Text | None:
    """Return the text that a constant is."""
    if isinstance(node.value, str):
        return _capped(node.value)
    if isinstance(node.value, bytes):
        return _capped(node.value.decode("latin-1"))
    return None


def _capped(value: str) -> Text:
    return Text(value if len(value) <= MAX_TEXT else value[:MAX_TEXT] + HOLE)


def joined(parts: Iterable[Text | None]) -> Text:
    """Put texts behind each other; None is a part that is not known."""
    pieces, length = [], 0
    for part in parts:
        value = HOLE if part is None else part.value
        length += len(value)
        if length > MAX_TEXT:
            return UNKNOWN_TEXT
        pieces.append(value)
    return Text("".join(pieces))


def repeated(text: Text, times: ast.expr) -> Text:
    """Return ``text * times``."""
    count = number(times)
    if count is None or not 0 <= count <= _MAX_TIMES:
        return UNKNOWN_TEXT
    return joined([text] * count)


def number(node: ast.expr | None) -> int | None:
    """Return the whole number that an expression is, if it is one."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node, sign = node.operand, -1
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return sign * int(node.value)
    return None


def sliced(text: Text, index: ast.expr) -> Text:
    """Return a part of a text: ``text[3]``, ``text[::-1]``."""
    if not text.known:
        return UNKNOWN_TEXT
    if not isinstance(index, ast.Slice):
        place = number(index)
        inside = place is not None and -len(text.value) <= place < len(text.value)
        return Text(text.value[place]) if place is not None and inside else UNKNOWN_TEXT
    bounds = (index.lower, index.upper, index.step)
    numbers = [number(bound) for bound in bounds]
    unclear = any(b is not None and n is None for b, n in zip(bounds, numbers, strict=True))
    if unclear or numbers[2] == 0:
        return UNKNOWN_TEXT
    return Text(text.value[slice(*numbers)])


def formatted(text: Text, values: list[Text | None]) -> Text:
    """Return ``text % values`` or ``text.format(*values)``, with what can be told put in."""
    pieces, rest = list[Text | None](), text.value
    for value in values:
        start, mark = min(
            ((rest.find(mark), mark) for mark in ("%s", "{}") if mark in rest), default=(-1, "")
        )
        if start < 0:
            break
        pieces += [Text(rest[:start]), value]
        rest = rest[start + len(mark) :]
    if "%" in rest or "{" in rest:
        pieces.append(None)
        rest = rest.replace("%", HOLE).replace("{", HOLE)
    return joined([*pieces, Text(rest)])


def _replace(text: str, *arguments: str) -> str:
    old, new = arguments[:2]
    return text.replace(old, new) if old and len(new) <= len(old) else HOLE


_METHODS: dict[str, Callable[..., str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "strip": str.strip,
    "lstrip": str.lstrip,
    "rstrip": str.rstrip,
    "casefold": str.casefold,
    "swapcase": str.swapcase,
    "title": str.title,
    "capitalize": str.capitalize,
    "removeprefix": str.removeprefix,
    "removesuffix": str.removesuffix,
    "replace": _replace,
}


def method(text: Text, name: str, arguments: list[Text | None]) -> Text | None:
    """Return what a method of a text returns, or None if that is not a text or not its method."""
    if name in ("encode", "decode"):
        codec = arguments[0].value if arguments and arguments[0] else ""
        return decoded(text, codec) if codec.strip("-_").lower() in _CODECS else text
    if name in ("format", "split"):
        return formatted(text, arguments) if name == "format" else _split(text, arguments)
    if name not in _METHODS:
        return None
    texts = [argument.value for argument in arguments if argument and argument.known]
    if not text.known or len(texts) < len(arguments):
        return UNKNOWN_TEXT
    try:
        return _capped(_METHODS[name](text.value, *texts))
    except (TypeError, ValueError):
        return UNKNOWN_TEXT


def _split(text: Text, arguments: list[Text | None]) -> Text | None:
    between = arguments[0] if arguments else None
    clear = text.known and len(arguments) == bool(between) and between != Text("")
    if not clear or (between and not between.known):
        return None
    words = text.value.split(between.value if between else None, MAX_WORDS)
    return command_line(map(Text, words)) if len(words) <= MAX_WORDS else None


def _rot13(text: str) -> str:
    return codecs.decode(text, "rot13")


def _base64(text: str) -> str:
    return base64.b64decode(
        text.encode("latin-1"), altchars=b"-_" if "_" in text else None
    ).decode("latin-1")


def _hexadecimal(text: str) -> str:
    return bytes.fromhex(text).decode("latin-1")


_CODECS: dict[str, Callable[[str], str]] = {
    "rot13": _rot13,
    "rot_13": _rot13,
    "base64": _base64,
    "base64_codec": _base64,
    "hex": _hexadecimal,
    "hex_codec": _hexadecimal,
}
DECODERS = {
    "base64.b64decode": "base64",
    "base64.standard_b64decode": "base64",
    "base64.urlsafe_b64decode": "base64",
    "base64.decodebytes": "base64",
    "binascii.a2b_base64": "base64",
    "binascii.unhexlify": "hex",
    "binascii.a2b_hex": "hex",
    "builtins.bytes.fromhex": "hex",
    "builtins.bytearray.fromhex": "hex",
}


def decoded(text: Text, codec: str) -> Text:
    """Return what a text in a code of letters says."""
    decode = _CODECS.get(codec.replace("-", "_").lower().strip("_"))
    if decode is None or not text.known:
        return UNKNOWN_TEXT
    try:
        return _capped(decode(text.value))
    except (ValueError, binascii.Error):
        return UNKNOWN_TEXT
