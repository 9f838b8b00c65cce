"""Where the tree of a shell script is not to be trusted, because a shell may read it otherwise.

The grammar that we read with is not the shell's own. What is noted here are the differences that
are known, each a way to hide a command from whoever reads the tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from tree_sitter import Node

from dashboard.inspection.notes import Notes, doubt
from dashboard.inspection.shell.words import from_source, plain

NOT_PARSED = doubt("parsed-in-part", "not-a-script")
READ_DIFFERENTLY = doubt("parsed-in-part", "read-differently")
NUL = doubt("parsed-in-part", "nul-characters")
_CONTROL = re.compile(r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|\\\r")
_COMMENT_BEGINS = re.compile(rb"(?:^|[ \t\n|&;()<>`])\Z")
_NO_CODE = re.compile(rb"(?:[ \t\n]|\\\n)*")
_LONE_DASH = re.compile(rb"(?:[ \t]|\\\n)*(?:-[ \t]*)?")  # which the grammar loses before <<
_CODE_MARK = re.compile(r"(?<!\\)(?:\\\\)*(?:`|\$\(|[<>]\()")
_MARKS = re.compile(rb"[`(]")
_LEAVES = {"word", "string_content", "regex", "extglob_pattern", "heredoc_content"}
_LINE_ENDS = re.compile(rb"(?<!\\)(?:\\\\)*\n")
_BACKTICK_ESCAPE = re.compile(r"\\([\\`$])")
_QUOTES = re.compile(r"[\"'\\\0]")
_NO_WORDS = re.compile(
    r"\\\r?\n|<<-?\s*\w+|[{}#<]|\$(?=[({])|[\x01-\x08\x0b-\x1f\x7f]|(?<!\S)(?:\[\[?|\]\]?|!)(?!\S)"
)
_NEXT_COMMAND = re.compile(
    r"[()`;]|&&|\|\||\b(?:if|then|elif|else|fi|for|while|until|do|done|case|esac|select|function)\b"
)
_SEVERAL = re.compile(r"([|&>])(?:\s*[|&>])+")


def as_plain_commands(text: str) -> Iterator[str]:
    """Yield the words and pipes of a script, without the rest of its grammar.

    Whatever may begin a command begins one here, with and without the text in quotes. So nothing
    is lost where the tree went wrong, and more is found than is there.
    """
    words = _NO_WORDS.sub(" ", text)
    for between in ("", ";") if _QUOTES.search(words) else ("",):
        lines = (_NEXT_COMMAND.split(line) for line in _QUOTES.sub(between, words).split("\n"))
        yield "\n".join("; ".join(filter(None, map(_tidy, parts))) for parts in lines)


def _tidy(command: str) -> str:
    return _SEVERAL.sub(r"\1", command).strip(" \t|&>")


def check_text(text: str, notes: Notes) -> None:
    """Note characters that shells and our parser read differently: no tree shows them."""
    if "\0" in text:
        notes.add(NUL)
    odd = _CONTROL.search(text)
    if odd is None and "<<" in text:
        odd = re.search("\r\n", text)  # it belongs to the word that ends a here-document
    if odd:
        row = text.count("\n", 0, odd.start()) + 1
        with notes.at(row, row):
            notes.add(READ_DIFFERENTLY)


def check_tree(nodes: Iterable[Node], source: bytes, notes: Notes) -> Iterator[tuple[Node, str]]:
    """Note where a tree differs from the shell; yield code that it does not show as code."""
    position = here_until = 0
    for node in nodes:
        kind, start, end = node.type, node.start_byte, node.end_byte
        if kind == "heredoc_body":
            here_until = end
        hides = False
        if not node.child_count:
            between = _LONE_DASH if kind == "<<" else _NO_CODE
            hides = start > max(here_until, position) and not between.fullmatch(
                source, position, start
            )
            position = max(position, end)
        # Most nodes need no look, and there are many.
        if hides or kind in _CHECKED or node.is_error or node.is_missing:
            with notes.at(node.start_point.row + 1, node.end_point.row + 1):
                notes.add(*([READ_DIFFERENTLY] if hides else []))
                if code := _check(node, source, notes):
                    yield node, code


def _check(node: Node, source: bytes, notes: Notes) -> str:
    if node.is_error or node.is_missing:
        notes.add(NOT_PARSED)
        return ""
    if node.type in _DIFFERS and _DIFFERS[node.type](node, source):
        notes.add(READ_DIFFERENTLY)
    if node.type == "heredoc_redirect":
        return _check_heredoc(node, notes)
    if node.type == "command_substitution":
        text = plain(node)
        if text.startswith("`") and "\\" in text:
            return _BACKTICK_ESCAPE.sub(r"\1", text[1:-1])
    elif (
        node.type in _LEAVES and _MARKS.search(node.text or b"") and _CODE_MARK.search(plain(node))
    ):
        notes.add(READ_DIFFERENTLY)
        return plain(node)
    return ""


def _is_glued_comment(node: Node, source: bytes) -> bool:
    preceding = source[max(0, node.start_byte - 1) : node.start_byte]
    return not _COMMENT_BEGINS.search(preceding)


def _is_long_bracket(node: Node, _source: bytes) -> bool:
    # A single bracket is a command, and a line end ends it.
    return "\n" in plain(node) and not plain(node).startswith("[[")


def _goes_on(node: Node, source: bytes) -> bool:
    # For the grammar a command goes on where the next line begins with a backslash.
    between = zip(node.children, node.children[1:], strict=False)
    return any(_LINE_ENDS.search(source, child.end_byte, two.start_byte) for child, two in between)


def _begins_blank(node: Node, _source: bytes) -> bool:
    return (node.text or b"")[:1].isspace()


_DIFFERS: dict[str, Callable[[Node, bytes], bool]] = {
    "comment": _is_glued_comment,
    "test_command": _is_long_bracket,
    "command": _goes_on,
    "word": _begins_blank,
}
_CHECKED = _LEAVES | {*_DIFFERS, "heredoc_redirect", "command_substitution"}


def _check_heredoc(node: Node, notes: Notes) -> str:
    parts = {child.type: child for child in node.named_children}
    start, end = parts.get("heredoc_start"), parts.get("heredoc_end")
    body = parts.get("heredoc_body", end)
    if start is None or end is None or body is None:
        notes.add(READ_DIFFERENTLY)
        return ""
    word = re.sub(r"[\"'\\]", "", plain(start))
    ends_early = any(line.strip("\t") == word for line in plain(body).split("\n"))
    if (
        (ends_early and body is not end)
        or body.start_point.row != start.end_point.row + 1
        or word != plain(end).strip()
        or not re.fullmatch(r"[\w.!-]+", word)
    ):
        notes.add(READ_DIFFERENTLY)
    if word == plain(start) and _CODE_MARK.search(_without_code(body)):
        notes.add(READ_DIFFERENTLY)
        return plain(body)
    return ""


def _without_code(body: Node) -> str:
    """Return the text of a here-document around what the tree shows as code."""
    text, position, code_free = body.text or b"", body.start_byte, b""
    for child in body.named_children:
        if child.type != "heredoc_content":
            code_free += text[position - body.start_byte : child.start_byte - body.start_byte]
            position = child.end_byte
    return from_source(code_free + text[position - body.start_byte :])
