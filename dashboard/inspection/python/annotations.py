"""Types that are written as texts: much evaluates them as Python, and nobody sees where."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from dashboard.inspection.notes import names
from dashboard.inspection.python.bindings import UNKNOWN
from dashboard.inspection.python.context import Context
from dashboard.inspection.python.strings import UNKNOWN_TEXT, Text
from dashboard.inspection.python_tree import parse

_TYPE = re.compile(r"[\w\s.,|\[\]'\"]*")
"""A type as a text: without a call, nothing in it runs."""

_TYPING = ("typing.", "typing_extensions.", "collections.abc.")
_GENERIC = frozenset(f"builtins.{name}" for name in ("list", "dict", "tuple", "set", "frozenset"))
_GENERIC |= {"builtins.type"}
_GIVE_TEXT = names("read read_text readline getvalue decode format join replace strip input")


class Annotations:
    """Reads the texts among types as the Python that they are."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._done: set[int] = set()

    def annotated(self, node: ast.AST) -> None:
        """Read what a parameter, a variable or a function is said to be."""
        annotation = getattr(node, "returns", None) or getattr(node, "annotation", None)
        if isinstance(annotation, ast.expr):
            self.read(annotation)

    def subscript(self, node: ast.Subscript) -> None:
        """Read the types between the brackets of a type, such as ``list["..."]``."""
        paths = self._context.evaluator.paths(node.value)
        if any(path in _GENERIC or path.startswith(_TYPING) for path in paths):
            self.read(node)

    def read(self, annotation: ast.expr) -> None:
        """Read all texts of a type."""
        for part in self._types(annotation):
            if id(part) not in self._done:
                self._done.add(id(part))
                self._evaluated(part)

    def _types(self, annotation: ast.expr) -> Iterator[ast.expr]:
        """Yield a type and what it is made of: no literals, and nothing that is only said."""
        parts = [annotation]
        while parts:
            part = parts.pop()
            yield part
            name = self._name(part) if isinstance(part, ast.Subscript) else ""
            if name == "Literal":
                continue
            if name == "Annotated" and isinstance(part, ast.Subscript):
                inner = part.slice.elts[:1] if isinstance(part.slice, ast.Tuple) else [part.slice]
                parts += inner
                continue
            children = ast.iter_child_nodes(part)
            parts += [child for child in children if isinstance(child, ast.expr)]

    def _name(self, node: ast.Subscript) -> str:
        """Return which of the words of ``typing`` has these brackets, if one has."""
        paths = self._context.evaluator.paths(node.value)
        words = {path.rpartition(".")[2] for path in paths if path.startswith(_TYPING)}
        if not words and paths == [UNKNOWN] and self._is_of_earlier_cell(node.value):
            words = {ast.unparse(node.value)}
        return words.pop() if len(words) == 1 else ""

    def _is_of_earlier_cell(self, node: ast.expr) -> bool:
        """Whether nothing here gives a name its meaning, as a parameter would."""
        scope = self._context.program.scopes.get(id(node))
        return (
            isinstance(node, ast.Name)
            and scope is not None
            and self._context.evaluator.names.is_free(scope, node.id)
        )

    def _evaluated(self, node: ast.expr) -> None:
        for value in self._context.evaluator.values(node):
            if isinstance(value, Text) and _may_run(value, node):
                self._context.adopt(node, self._context.nested.python(value))
            elif isinstance(node, ast.Call) and _gives_text(node.func):
                self._context.adopt(node, self._context.nested.python(UNKNOWN_TEXT))


def _gives_text(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else ""
    return (function.id if isinstance(function, ast.Name) else name) in _GIVE_TEXT


def _may_run(text: Text, node: ast.expr) -> bool:
    if not text.known:  # where it is no text that is put together, it is a type with parameters
        return isinstance(node, ast.JoinedStr | ast.BinOp | ast.Call)
    return not _TYPE.fullmatch(text.value) and _is_expression(text.value)


def _is_expression(source: str) -> bool:
    try:
        body = parse(source.strip()).body
    except (SyntaxError, ValueError):
        return False
    except (RecursionError, MemoryError):
        return True
    return len(body) == 1 and isinstance(body[0], ast.Expr)
