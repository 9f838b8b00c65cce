"""What is done with the value of an expression: it is called, kept, or gets out of sight."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from dashboard.inspection.notes import names
from dashboard.inspection.python.scopes import Position, Program, Scope

_ASKING = names("getattr hasattr setattr delattr vars dir callable id type repr")
_CHECKING = frozenset(["isinstance", "issubclass"])


class Positions:
    """Marks the parts of each expression, which come after it, with what is done with them."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._asked: list[tuple[str, ast.expr]] = []

    def handlers(self) -> dict[type[ast.AST], Callable[[Any, Scope], None]]:
        """Return what looks at which kind of node."""
        return {
            ast.Call: self._call,
            ast.Attribute: self._attribute,
            ast.Subscript: self._subscript,
            ast.Compare: self._compare,
            ast.Expr: self._statement,
            ast.IfExp: self._transparent,
            ast.BoolOp: self._transparent,
            ast.Await: self._transparent,
            ast.BinOp: self._typed,
            ast.Tuple: self._typed,
            ast.List: self._typed,
        }

    def settle(self) -> None:
        """Trust no name of a builtin that the source gives another meaning."""
        bound = {binding.name for binding in self._program.bindings}
        for name, node in self._asked:
            if name in bound:
                self._program.mark(node, Position.OTHER)

    def _call(self, node: ast.Call, _scope: Scope) -> None:
        self._program.mark(node.func, Position.CALLED)
        if isinstance(node.func, ast.Name) and node.args:
            if node.func.id in _ASKING:
                self._program.mark(node.args[0], Position.ASKED)
                self._asked.append((node.func.id, node.args[0]))
            elif node.func.id in _CHECKING:
                self._program.mark(node.args[-1], Position.TYPE)
                self._asked.append((node.func.id, node.args[-1]))

    def _attribute(self, node: ast.Attribute, _scope: Scope) -> None:
        self._program.mark(node.value, Position.BASE)

    def _subscript(self, node: ast.Subscript, _scope: Scope) -> None:
        if self._program.position(node) is Position.TYPE:
            self._program.mark(node.value, Position.TYPE)
            self._program.mark(node.slice, Position.TYPE)
        elif self._program.position(node) is Position.INHERITED:
            self._program.mark(node.value, Position.INHERITED)
            self._program.mark(node.slice, Position.TYPE)
        else:
            self._program.mark(node.value, Position.SUBSCRIPTED)

    def _compare(self, node: ast.Compare, _scope: Scope) -> None:
        sides = [node.left, *node.comparators]
        for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
            if isinstance(operator, ast.Is | ast.IsNot):
                self._program.mark(left, Position.ASKED)
            if isinstance(operator, ast.Is | ast.IsNot | ast.In | ast.NotIn):
                self._program.mark(right, Position.ASKED)

    def _statement(self, node: ast.Expr, _scope: Scope) -> None:
        self._program.mark(node.value, Position.TRACKED)
        if isinstance(node.value, ast.Constant):
            self._program.docstrings.add(id(node.value))

    def _transparent(self, node: ast.IfExp | ast.BoolOp | ast.Await, _scope: Scope) -> None:
        position = self._program.position(node)
        if isinstance(node, ast.BoolOp):
            parts = node.values
        else:
            parts = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node.value]
        for part in parts:
            self._program.mark(part, position)

    def _typed(self, node: ast.BinOp | ast.Tuple | ast.List, _scope: Scope) -> None:
        if self._program.position(node) is Position.TYPE:
            parts = [node.left, node.right] if isinstance(node, ast.BinOp) else node.elts
            for part in parts:
                self._program.mark(part, Position.TYPE)
