"""Where a text has comments and strings, which run nothing, as its language itself reads it.

A lexer for colours reads most code as its language does, and what is written to deceive it
otherwise: in ``echo $x#; rm -rf /srv`` it sees a comment. So this is a second reader, by grammar
where there is one. What it does not know for certain is code.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import NamedTuple

import tree_sitter
import tree_sitter_bash


class Literal(NamedTuple):
    """From where to where a comment or a string stands, in characters."""

    start: int
    end: int


_BASH = tree_sitter.Language(tree_sitter_bash.language())
_QUIET = frozenset({"raw_string", "ansi_c_string", "string", "heredoc_body"})
_RUNS_IN_STRINGS = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "arithmetic_expansion"}
)
_STATEMENTS = frozenset(
    {
        "case_item",
        "case_statement",
        "command_substitution",
        "compound_statement",
        "do_group",
        "elif_clause",
        "else_clause",
        "for_statement",
        "function_definition",
        "if_statement",
        "list",
        "negated_command",
        "pipeline",
        "program",
        "redirected_statement",
        "subshell",
        "while_statement",
    }
)
"""Where bash reads ``#`` as a comment: not in arithmetic, nor in the middle of a word."""

_QUOTES_OTHERWISE = frozenset({"expansion", "arithmetic_expansion", "subscript", *_QUIET})
"""In these a quote may mean nothing to bash, and what stands between two of them runs."""

_NO_BLANK_OF_BASH = re.compile(r"[^\S \t\n]")  # to the grammar it is one, to bash part of a word

_BEFORE_COMMENT = re.compile(r"(?:[^\\]?[ \t\n;&|(])?", re.DOTALL)
"""The two characters before a comment of bash, which reads ``#`` elsewhere as part of a word."""

_OTHER_ENCODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*+(?!utf-?8\b)", re.IGNORECASE)
_PREFIX = re.compile(r"[A-Za-z]*")
_BRACES = re.compile(r"\{\{|\}\}|[{}]")

_OF_C = re.compile(
    r"""//[^\n\r\u2028\u2029]*|/\*(?s:.*?)(?:\*/|(?P<open>\Z))"""
    r"""|(?P<quote>["'])(?:\\(?s:.)|(?!(?P=quote))[^\\\n])*+(?:(?P=quote)|(?P<cut>))"""
)
"""A comment or a string as C writes them, also one that does not end."""

_DOUBTS_OF_C = re.compile(r"[`\\]")
_DOUBTS_OF_JAVASCRIPT = re.compile(r"[`\\/]|<!--|-->|#!")  # a pattern, or another comment
_PREFIXED = re.compile(r"[\w#]\Z")  # a quote after this may not end where it seems to
_TRIGRAPH = "??/"  # a backslash to C
_DOUBTS_OF_SQL = re.compile(
    r"[$`\\\[#]|//|--(?!\s|\Z)|/\*(?=[!+M])|/\*(?:(?!\*/).)*/\*|'{3}|\"{3}|\bn?q'",
    re.DOTALL | re.IGNORECASE,
)
"""What one dialect reads as a quote or a comment, and another does not."""


def literals(language: str, source: str) -> list[Literal]:
    r"""Return the comments and strings of ``source``, in order and apart.

    What is run within a string, such as ``$(…)`` or an f-string's ``{…}``, is none of them.

    Args:
        language: One of our names for languages. There are none in a language that has no reader.
        source: With no ``\r\n``; a lone ``\r`` is what the language takes it for.
    """
    reader = _READERS.get(language)
    if reader is None:
        return []
    spans: list[Literal] = []
    for span in sorted(reader(source)):
        start = max(span.start, spans[-1].end) if spans else span.start
        if start < span.end:
            spans.append(Literal(start, span.end))
    return spans


def _python(source: str) -> Iterator[Literal]:
    source = source.replace("\r", "\n")
    if any(map(_OTHER_ENCODING.match, source.split("\n", 2)[:2])):
        return  # what a comment says there may be code
    starts = [0, *accumulate(len(line) + 1 for line in source.split("\n"))]
    formatted: list[int] = []  # where each f-string began that is still open
    try:
        for token in tokenize.generate_tokens(io.StringIO(source, newline="\n").readline):
            name = tokenize.tok_name[token.type]
            start = starts[token.start[0] - 1] + token.start[1]
            end = starts[token.end[0] - 1] + token.end[1]
            if name.endswith("STRING_START"):  # of f-strings, from Python 3.12 on
                formatted.append(start)
            elif name.endswith("STRING_END"):
                start = formatted.pop()
                if not formatted:
                    yield from _outside_braces(source, start, end)
            elif token.type == tokenize.COMMENT and not formatted:
                yield Literal(start, end)
            elif token.type == tokenize.STRING and not formatted:
                yield from _string(source, start, end)
    except (tokenize.TokenError, SyntaxError, ValueError):
        return  # what comes after this is code


def _string(source: str, start: int, end: int) -> Iterator[Literal]:
    prefix = _PREFIX.match(source, start, end)
    if prefix and "f" in prefix[0].lower():
        return _outside_braces(source, start, end)
    return iter([Literal(start, end)])


def _outside_braces(source: str, start: int, end: int) -> Iterator[Literal]:
    """Yield what an f-string says itself. Braces that do not pair end it: the rest is code."""
    depth = 0
    for brace in _BRACES.finditer(source, start, end):
        if depth == 0 and len(brace[0]) == 2:  # noqa: PLR2004 - two braces stand for one
            continue
        if depth == 0:
            yield Literal(start, brace.start())
        for sign in brace[0]:
            depth += 1 if sign == "{" else -1
        if depth < 0:
            return
        start = brace.end()
    if depth == 0:
        yield Literal(start, end)


def _bash(source: str) -> Iterator[Literal]:
    if _NO_BLANK_OF_BASH.search(source):
        return
    raw = source.encode(errors="surrogatepass")
    if not source.isascii() and len(raw.decode(errors="replace")) != len(source):
        return
    root = tree_sitter.Parser(_BASH).parse(raw).root_node
    if root.has_error:
        return
    at = _characters(source)
    waiting = [(root, True, True)]
    while waiting:
        node, comments, quotes = waiting.pop()
        if node.type == "comment":
            comment = Literal(at(node.start_byte), at(node.end_byte))
            start = max(0, comment.start - 2)
            if comments and _BEFORE_COMMENT.fullmatch(source, start, comment.start):
                yield comment
        elif node.type in _QUIET and quotes and b"`" not in raw[node.start_byte : node.end_byte]:
            for start, end in _says(node):
                yield Literal(at(start), at(end))
        is_arithmetic = any(child.type == "((" for child in node.children)
        comments = comments and node.type in _STATEMENTS and not is_arithmetic
        quotes = quotes and node.type not in _QUOTES_OTHERWISE and not is_arithmetic
        waiting += [(child, comments, quotes) for child in node.children]


def _says(node: tree_sitter.Node) -> Iterator[tuple[int, int]]:
    """Yield from which byte to which a string stands itself, without what runs in it."""
    start = node.start_byte
    for child in node.children:
        if child.type in _RUNS_IN_STRINGS:
            yield start, child.start_byte
            start = child.end_byte
    yield start, node.end_byte


def _characters(source: str) -> Callable[[int], int]:
    """Return what says which character begins at a byte of ``source`` in UTF-8."""
    if source.isascii():
        return int
    sizes = (len(character.encode(errors="surrogatepass")) for character in source)
    ends = accumulate(sizes, initial=0)
    numbers = {end: number for number, end in enumerate(ends)}
    return numbers.__getitem__


def _like_c(doubts: re.Pattern[str]) -> Callable[[str], Iterable[Literal]]:
    def read(source: str) -> Iterable[Literal]:
        spans, end = [], 0
        if _TRIGRAPH in source:
            return ()
        for match in _OF_C.finditer(source):
            doubt = doubts.search(source, end, match.start()) or (
                match["quote"] and _PREFIXED.search(source, end, match.start())
            )
            if doubt or match["open"] is not None or match["cut"] is not None:
                return ()
            spans.append(Literal(*match.span()))
            end = match.end()
        return () if doubts.search(source, end) else spans

    return read


def _sql(source: str) -> Iterable[Literal]:
    return () if _DOUBTS_OF_SQL.search(source) else (Literal(0, len(source)),)


def _json(source: str) -> Iterable[Literal]:
    return (Literal(0, len(source)),)  # nothing in it runs


_READERS: dict[str, Callable[[str], Iterable[Literal]]] = {
    **dict.fromkeys(("c", "cpp", "go", "rust"), _like_c(_DOUBTS_OF_C)),
    **dict.fromkeys(("javascript", "typescript"), _like_c(_DOUBTS_OF_JAVASCRIPT)),
    "bash": _bash,
    "json": _json,
    "python": _python,
    "sql": _sql,
}
