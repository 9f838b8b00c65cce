"""Notes names that are read without being called: what they stand for may be called elsewhere."""

from __future__ import annotations

import ast

from dashboard.inspection import control_system
from dashboard.inspection.knowledge import PYTHON_MODULES
from dashboard.inspection.python.bindings import LOST, UNKNOWN
from dashboard.inspection.python.calls import NAMESPACES, QUIET
from dashboard.inspection.python.context import Context
from dashboard.inspection.python.lookup import called, is_module, referred
from dashboard.inspection.python.notes import CREDENTIALS
from dashboard.inspection.python.scopes import Position
from dashboard.inspection.python.values import NAMESPACE

_ESCAPES = "hands-on-module"
LEADS = "reaches-every-object"


class References:
    """Judges names and attributes that are read without being called there."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def reference(self, node: ast.expr) -> None:
        """Judge a name, or whatever else stands for something."""
        position = self._context.program.position(node)
        if position is Position.CALLED:
            return
        for path in self._context.evaluator.paths(node):
            if path != UNKNOWN:
                self._refer(node, path, position)

    def _refer(self, node: ast.expr, path: str, position: Position) -> None:
        lost = position in (Position.OTHER, Position.BASE)
        if path == LOST:
            if position is Position.OTHER:
                self._context.doubt(node, NAMESPACES)
        elif path.endswith(NAMESPACE) or path == "sys.modules":
            if lost:
                self._context.doubt(node, NAMESPACES)
        elif path == "os.environ":
            if position is Position.OTHER:
                self._context.note(node, CREDENTIALS, path)
        elif is_module(path):
            if position is Position.OTHER:
                self._context.doubt(node, _ESCAPES)
        elif position not in (Position.BASE, Position.SUBSCRIPTED, Position.ASKED):
            self._name(node, path, position)

    def _name(self, node: ast.expr, path: str, position: Position) -> None:
        name = path.rpartition(".")[2]
        if position is Position.TYPE and name[:1].isupper():
            return
        is_object = path[0] == UNKNOWN or "(" in path
        if is_object and self._context.may_write(path) and name != "write":
            self._context.note(node, control_system.WRITES, path)
        inherited = position is Position.INHERITED
        for deed in called(path) if inherited else referred(path):
            if deed.check == "types":  # it does nothing, whatever is made of it
                continue
            if inherited or position is Position.OTHER or not (is_object or deed.check in QUIET):
                self._context.note(node, deed, path)

    def attribute(self, node: ast.Attribute) -> None:
        """Judge an attribute that is read or deleted."""
        if node.attr in PYTHON_MODULES.tricky or self._is_of_type(node):
            self._context.doubt(node, LEADS)
        self.reference(node)

    def _is_of_type(self, node: ast.Attribute) -> bool:
        """Recognise ``type(x).__dict__``."""
        call = node.value
        return (
            node.attr == "__dict__"
            and isinstance(call, ast.Call)
            and "builtins.type" in self._context.evaluator.values(call.func)
        )
