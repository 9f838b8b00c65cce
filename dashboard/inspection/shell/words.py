"""The words of a shell command as the shell would make them, as far as the text alone says.

Quotes are taken away, escapes and constant variables put in. ``UNKNOWN`` stands in a word for
whatever only the run can tell; no text of a shell can hold it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from tree_sitter import Node

UNKNOWN = "\0"
PLACEHOLDER = "${_}"  # stands for UNKNOWN where a text is read as code again
_BLANKS = " \t\n"
_PATTERN = re.compile(r"[*?\[]|\{[^{}]*(?:,|\.\.)")
_NESTED = re.compile(rb"[$<>]\(|`")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED_IN_QUOTES = re.compile(r'\\([$`"\\\n])')
_ANSI_ESCAPE = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|[uU]([0-9A-Fa-f]{1,8})|(c.)|(.))",
    re.DOTALL,
)
_ANSI = dict(zip("abeEfnrtv", "\a\b\x1b\x1b\f\n\r\t\v", strict=True))
_PLAIN_TYPES = {"word", "number", "command_name"}
_PLAIN_WORD = re.compile(rb"[\w./:=,@%+~-]+")
_VALUE_TYPES = {"simple_expansion", "expansion"}
_COMPUTED_TYPES = {"command_substitution", "process_substitution", "arithmetic_expansion"}


class Value(NamedTuple):
    """What a variable holds.

    Attributes:
        guessed: Whether it may hold something else by then.
        fetched: Whether another machine may have sent it.
    """

    text: str
    guessed: bool
    fetched: bool = False


class Scope(Protocol):
    """What is known of the script that a word stands in."""

    def value(self, name: str, place: int) -> Value | None:
        """Return what a variable holds at a place of the source, None if that is not known."""

    def fetches(self, node: Node) -> bool:
        """Whether commands below a node print what another machine sends."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command.

    Attributes:
        text: The word, with ``UNKNOWN`` for each part that is not known.
        quoted: Whether any of it was quoted or escaped.
        guessed: Whether it comes from a variable that may hold something else by then.
        pattern: Whether the shell would put file names or alternatives in its place.
        process: Whether it is the output or the input of another command, as a file.
        fetched: Whether another machine may have sent any of it.
    """

    text: str
    quoted: bool = False
    guessed: bool = False
    pattern: bool = False
    process: bool = False
    fetched: bool = False

    @property
    def known(self) -> bool:
        """Whether all of it is known."""
        return UNKNOWN not in self.text

    @property
    def opaque(self) -> bool:
        """Whether it may turn out to be an option."""
        return self.guessed or self.text.startswith(UNKNOWN)


class _Piece(NamedTuple):
    text: str
    quoted: bool = False
    expanded: bool = False
    guessed: bool = False
    fetched: bool = False


def words_of(node: Node, scope: Scope) -> list[Word]:
    """Return what the shell makes of one word of its grammar: one word, several or none."""
    if node.type in _PLAIN_TYPES and _PLAIN_WORD.fullmatch(node.text or b""):
        return [Word(plain(node))]  # most words, for a tenth of the work
    pieces = list(_pieces(node, scope))
    process = any(child.type == "process_substitution" for child in (node, *node.children))
    groups, current = [], list[_Piece]()
    for piece in pieces:
        if not piece.expanded or piece.quoted:
            current.append(piece)
            continue
        parts = re.split(f"[{_BLANKS}]+", piece.text)
        for index, part in enumerate(parts):
            if index:
                groups.append(current)
                current = []
            current.append(piece._replace(text=part))
    groups.append(current)
    joined = [_join(group, process=process) for group in groups]
    return [word for word in joined if word.text or word.quoted]


def text_of(node: Node, scope: Scope) -> Word:
    """Return one word where the shell splits none: a value, a target, a here-document."""
    return _join(list(_pieces(node, scope)), process=False)


def plain(node: Node) -> str:
    """Return a node's text as it stands in the source."""
    return from_source(node.text or b"")


def as_source(text: str) -> bytes:
    """Return what the grammar is given to read.

    Its scanner looks characters up in a table for the first 256 of them, and far beyond its end
    for the others, which ends the process. So each byte of theirs goes as a character.
    """
    return text.encode(errors="replace").decode("latin-1").encode()


def from_source(source: bytes) -> str:
    """Return the text that ``as_source`` was given, or a part of it."""
    return source.decode(errors="replace").encode("latin-1", "replace").decode(errors="replace")


def dollar_quoted(text: str) -> str:
    r"""Return what ``$'\x72m'`` means, given what stands between the quotes."""
    return _ANSI_ESCAPE.sub(_ansi, text).partition("\0")[0]


def _ansi(match: re.Match[str]) -> str:
    simple, octal, hexadecimal, unicode, control, literal = match.groups()
    if simple:
        return _ANSI.get(simple, simple)
    if octal or hexadecimal:
        return chr(int(octal, 8) % 256 if octal else int(hexadecimal, 16))
    if unicode:
        return _character(int(unicode, 16))
    return chr(ord(control[1].upper()) & 0x1F) if control else f"\\{literal}"


def _character(code: int) -> str:
    try:
        return chr(code).encode().decode()
    except (ValueError, OverflowError):  # beyond Unicode, or half of a surrogate pair
        return "\ufffd"


def _join(pieces: list[_Piece], *, process: bool) -> Word:
    bare = "".join("x" if piece.quoted else piece.text for piece in pieces)
    return Word(
        "".join(piece.text for piece in pieces),
        quoted=any(piece.quoted for piece in pieces),
        guessed=any(piece.guessed for piece in pieces),
        pattern=_PATTERN.search(bare) is not None,
        process=process,
        fetched=any(piece.fetched for piece in pieces),
    )


def _pieces(node: Node, scope: Scope, *, quoted: bool = False) -> Iterator[_Piece]:
    kind = node.type
    if kind == "raw_string":
        yield _Piece(plain(node)[1:-1], quoted=True)
    elif kind == "ansi_c_string":
        yield _Piece(dollar_quoted(plain(node)[2:-1]), quoted=True)
    elif kind in _VALUE_TYPES:
        yield _value(node, scope, quoted=quoted)
    elif kind in _COMPUTED_TYPES:
        output = _echoed(node, scope)
        yield _Piece(
            output or UNKNOWN,
            quoted=quoted,
            expanded=True,
            guessed=bool(output),
            fetched=scope.fetches(node),
        )
    elif kind == "string":
        yield _Piece("", quoted=True)
        yield from _between(node, scope, trim=1)
    elif kind == "heredoc_body":
        yield from _between(node, scope, trim=0)
    elif kind in {"concatenation", "command_name", "translated_string"}:
        yield from _concatenated(node, scope)
    else:
        pieces = list(_unescaped(plain(node)))
        holds_code = any(not piece.quoted and re.search("[(`]", piece.text) for piece in pieces)
        # The grammar sometimes takes for one word what is more than that.
        yield from [_Piece(UNKNOWN)] if holds_code else pieces


def _concatenated(node: Node, scope: Scope) -> Iterator[_Piece]:
    if node.type == "translated_string":
        yield from (piece for child in node.named_children for piece in _pieces(child, scope))
        return
    end = node.start_byte
    for child in node.children:
        if child.start_byte != end:
            yield _Piece(UNKNOWN)  # nothing stands between the parts of one word
        yield from _pieces(child, scope)
        end = child.end_byte


def _between(node: Node, scope: Scope, *, trim: int) -> Iterator[_Piece]:
    """Yield what stands in double quotes: the source itself, but for what is expanded."""
    source, start = node.text or b"", node.start_byte
    position = trim
    for child in node.named_children:
        if child.type not in _VALUE_TYPES | _COMPUTED_TYPES:
            continue
        yield _in_quotes(source[position : child.start_byte - start])
        yield from _pieces(child, scope, quoted=True)
        position = child.end_byte - start
    yield _in_quotes(source[position : len(source) - trim])


def _in_quotes(source: bytes) -> _Piece:
    text = from_source(source)
    return _Piece(_ESCAPED_IN_QUOTES.sub(_escaped, text), quoted=True)


def _escaped(match: re.Match[str]) -> str:
    return "" if match[1] == "\n" else match[1]


def _unescaped(text: str) -> Iterator[_Piece]:
    for index, part in enumerate(_ESCAPED.split(text)):
        if part and part != "\n":
            yield _Piece(part, quoted=bool(index % 2))


def _echoed(node: Node, scope: Scope) -> str:
    """Return what a substituted ``echo`` or ``printf`` of constant words prints, else nothing."""
    inner = node.named_children[0] if node.named_child_count == 1 else node
    if node.type != "command_substitution" or inner.type != "command":
        return ""
    if _NESTED.search(inner.text or b""):
        return ""  # what is nested is read by itself; here it would be read once a level
    words = [word for child in inner.named_children for word in words_of(child, scope)]
    texts = [word.text for word in words if word.known]
    spoken = bool(texts) and len(texts) == len(words) and texts[0] in {"echo", "printf"}
    return " ".join(texts[1:]) if spoken else ""


def _value(node: Node, scope: Scope, *, quoted: bool) -> _Piece:
    name = re.fullmatch(r"\$(\w+)|\$\{(\w+)\}", plain(node), re.ASCII)
    if name is None:
        part_of = re.match(r"\$\{!?(\w+)", plain(node), re.ASCII)
        value = scope.value(part_of[1], node.start_byte) if part_of else None
        fetched = value is not None and value.fetched
        return _Piece(UNKNOWN, quoted=quoted, expanded=True, fetched=fetched)
    value = scope.value(name[1] or name[2], node.start_byte) or Value(UNKNOWN, guessed=False)
    return _Piece(value.text, quoted, expanded=True, guessed=value.guessed, fetched=value.fetched)
