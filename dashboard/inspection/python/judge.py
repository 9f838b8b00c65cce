"""Goes through a Python source whose names are followed, and notes what it does."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from dashboard.inspection.python.annotations import Annotations
from dashboard.inspection.python.calls import Calls
from dashboard.inspection.python.context import Context
from dashboard.inspection.python.fields import Fields
from dashboard.inspection.python.references import References
from dashboard.inspection.python.statements import Statements
from dashboard.inspection.python.stores import Stores
from dashboard.inspection.python.strings import Text

_ANNOTATED = (ast.arg, ast.AnnAssign, ast.FunctionDef, ast.AsyncFunctionDef)


class Judge:
    """Notes what each node does, children before parents."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._references = References(context)
        self._stores = Stores(context)
        self._fields = Fields(context, self._references, self._stores)
        self._annotations = Annotations(context)
        self._calls = Calls(context, self._stores, self._annotations)
        self._statements = Statements(context.program, context.notes)
        self._handlers: dict[type[ast.AST], Callable[[Any], None]] = {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Call: self._call,
            ast.Subscript: self._subscript,
            ast.Assign: self._assigned,
            ast.BinOp: self._built,
            ast.JoinedStr: self._built,
            **self._statements.handlers(),
        }

    def run(self) -> None:
        """Judge every node."""
        nodes = self._context.program.nodes
        for node in reversed(nodes):  # so that nothing is deep when it is read
            if isinstance(node, ast.Call):
                self._context.speaks_to(self._context.evaluator.values(node.func))
            elif isinstance(node, ast.expr):
                self._context.evaluator.values(node)
        for node in reversed(nodes):
            handler = self._handlers.get(type(node))
            if handler:
                handler(node)
            if isinstance(node, _ANNOTATED):
                self._annotations.annotated(node)

    def _name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._references.reference(node)
        elif node.id == "__annotations__":
            self._stores.behaves(node)

    def _attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Store):
            self._stores.stored(node, node.value, node.attr)
        else:
            self._references.attribute(node)
            self._fields.attribute(node)

    def _subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.ctx, ast.Load):
            self._references.reference(node)
            self._annotations.subscript(node)
        self._stores.subscript(node)

    def _assigned(self, node: ast.Assign) -> None:
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                self._stores.setting(target, node.value)

    def _call(self, node: ast.Call) -> None:
        self._calls.call(node)
        self._fields.call(node)
        self._references.reference(node)
        self._built(node)

    def _built(self, node: ast.expr) -> None:
        for value in self._context.evaluator.values(node):
            if isinstance(value, Text) and value.known:
                self._statements.secret(node, value.value)
