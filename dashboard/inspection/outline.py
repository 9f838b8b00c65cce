"""What a long code defines, imports and runs, and in which lines: read from its syntax tree.

Names are the agent's words; what each is, is ours.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter
import tree_sitter_bash

from dashboard.inspection.python_tree import parse

MOST = 300
"""More entries are counted, not listed."""

LONGEST = 80
"""How many characters of a name are given."""

_BASH = tree_sitter.Language(tree_sitter_bash.language())
_DEFINED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class LineEntry(NamedTuple):
    """One line of an outline; ``what`` is one of "imports", "function", "class", "command"."""

    line: int
    what: str
    name: str


def outline(payload: bytes) -> bytes:
    """In the sandbox: turn JSON ``[language, source]`` into ``[count, [[line, what, name], …]]``.

    Raises:
        SyntaxError: It cannot be read.
        ValueError: The language has no outline.
    """
    language, source = json.loads(payload)
    if language not in ("python", "bash"):
        raise ValueError(language)
    entries = sorted((_python if language == "python" else _shell)(source))
    short = [(line, category, name[:LONGEST]) for line, category, name in entries[:MOST]]
    return json.dumps([len(entries), short]).encode()


def _python(source: str) -> Iterator[LineEntry]:
    waiting: list[tuple[str, ast.AST]] = [("", parse(source))]
    while waiting:
        above, node = waiting.pop()
        name = above
        if isinstance(node, ast.Import):
            yield LineEntry(node.lineno, "imports", ", ".join(alias.name for alias in node.names))
        elif isinstance(node, ast.ImportFrom):
            yield LineEntry(node.lineno, "imports", f"{'.' * node.level}{node.module or ''}")
        elif isinstance(node, _DEFINED):
            name = f"{above}{node.name}"
            category = "class" if isinstance(node, ast.ClassDef) else "function"
            yield LineEntry(node.lineno, category, name)
            name = f"{name}."
        if isinstance(node, ast.mod | ast.stmt | ast.excepthandler | ast.match_case):
            waiting += [(name, child) for child in ast.iter_child_nodes(node)]


def _shell(source: str) -> Iterator[LineEntry]:
    raw = source.encode(errors="replace")
    waiting = [tree_sitter.Parser(_BASH).parse(raw).root_node]
    while waiting:
        node = waiting.pop()
        name_node = node.child_by_field_name("name")
        category = {"command": "command", "function_definition": "function"}.get(node.type)
        if category and name_node is not None:
            text = raw[name_node.start_byte : name_node.end_byte].decode(errors="replace")
            yield LineEntry(node.start_point.row + 1, category, text)
        waiting += node.children
