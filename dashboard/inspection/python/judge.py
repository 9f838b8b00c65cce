"""Goes through a Python source whose names are followed, and notes what it does."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from dashboard.inspection import control_system
from dashboard.inspection.findings import Finding, Severity
from dashboard.inspection.knowledge import CONTROL_SYSTEM, PYTHON_MODULES
from dashboard.inspection.knowledge.loading import Deed
from dashboard.inspection.python.bindings import UNKNOWN
from dashboard.inspection.python.checks import UNKNOWN_CALL, Called
from dashboard.inspection.python.elsewhere import Elsewhere, origins
from dashboard.inspection.python.lookup import called, is_known
from dashboard.inspection.python.names import LOST, Values
from dashboard.inspection.python.nested import Nested
from dashboard.inspection.python.notes import PythonNotes, written
from dashboard.inspection.python.references import NAMESPACES, References
from dashboard.inspection.python.runs import ALL_CHECKS
from dashboard.inspection.python.scopes import Program
from dashboard.inspection.python.statements import Statements
from dashboard.inspection.python.stores import Stores
from dashboard.inspection.python.strings import Text
from dashboard.inspection.python.values import Evaluator


class Judge:
    """Notes what each node does, children before parents."""

    def __init__(
        self, program: Program, evaluator: Evaluator, notes: PythonNotes, nested: Nested
    ) -> None:
        self.program = program
        self.notes = notes
        self.evaluator = evaluator
        self.nested = nested
        self.libraries = CONTROL_SYSTEM.libraries & program.imports  # and those found on the way
        self.uses_database = not PYTHON_MODULES.databases.isdisjoint(program.imports)
        self._elsewhere = Elsewhere(program, evaluator.names)
        self._references = References(self)
        self._stores = Stores(self)
        self._statements = Statements(program, notes)
        self._handlers: dict[type[ast.AST], Callable[[Any], None]] = {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Call: self._call,
            ast.Subscript: self._subscript,
            ast.BinOp: self._built,
            ast.JoinedStr: self._built,
            **self._statements.handlers(),
        }

    def run(self) -> None:
        """Judge every node."""
        nodes = self.program.nodes
        for node in reversed(nodes):  # so that nothing is deep when it is read
            if isinstance(node, ast.Call):
                self._speaks_to(self.evaluator.values(node.func))
            elif isinstance(node, ast.expr):
                self.evaluator.values(node)
        for node in reversed(nodes):
            handler = self._handlers.get(type(node))
            if handler:
                handler(node)

    def _speaks_to(self, called: Values) -> None:
        for path in called:
            if isinstance(path, str) and control_system.is_library(path):
                self.libraries |= {path.partition(".")[0].removesuffix("()")}

    def note(self, node: ast.AST, deed: Deed, path: str = "") -> None:
        """Note a deed of what is named or called at ``node``."""
        about = written(node.func if isinstance(node, ast.Call) else node)
        if path and path[0] not in "?<!" and about and about.replace("(...)", "()") != path:
            about = f"{about} ({path})"
        self.notes.add(node, deed, about)

    def doubt(self, node: ast.AST, why: str, severity: Severity = Severity.MEDIUM) -> None:
        """Note that what is called at ``node`` cannot be followed."""
        about = written(node.func if isinstance(node, ast.Call) else node)
        self.notes.doubt(node, about, why, severity)

    def adopt(self, node: ast.AST, findings: Iterable[Finding]) -> None:
        """Note what was found in a text that is run at ``node``."""
        self.notes.adopt(node, findings)

    def may_write(self, path: str) -> bool:
        """Say whether a method of an unknown object may write to a control system."""
        last = path.rpartition(".")[2]
        return bool(self.libraries) and control_system.may_write(last, self.libraries)

    def stored(self, node: ast.expr, base: ast.expr, name: str) -> None:
        """Note what setting the attribute ``name`` of ``base`` does."""
        self._stores.stored(node, base, name)

    def _name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._references.reference(node)

    def _attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Store):
            self._stores.stored(node, node.value, node.attr)
        else:
            self._references.attribute(node)

    def _subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.ctx, ast.Load):
            self._references.reference(node)
        self._stores.subscript(node)

    def _call(self, node: ast.Call) -> None:
        for path in self.evaluator.values(node.func):
            if not isinstance(path, Text):
                self.called_as(node, path)
        if self._name_of(node.func) in PYTHON_MODULES.higher_order:
            self._hands_on(node)
        self._references.reference(node)
        self._built(node)

    def _built(self, node: ast.expr) -> None:
        for value in self.evaluator.values(node):
            if isinstance(value, Text) and value.known:
                self._statements.secret(node, value.value)

    def called_as(self, node: ast.Call, path: str) -> None:
        """Note what a call does if ``path`` is what is called."""
        if path == LOST:
            self.doubt(node, NAMESPACES, Severity.HIGH)
            return
        if "." in path and self._writes(node, path):
            self.note(node, control_system.WRITES, path)
        for deed in called(path):
            check = ALL_CHECKS.get(deed.check)
            if check:
                check(Called(self, node, path, deed))
            else:
                self.note(node, deed, path)
        if path[0] == UNKNOWN and self._is_unknown(node, path):
            self.note(node, UNKNOWN_CALL, path)

    def _writes(self, node: ast.Call, path: str) -> bool:
        """Say whether a method of an object that is not known may write to a control system."""
        root = path.partition(".")[0]
        last = path.rpartition(".")[2]
        if path[0] != UNKNOWN and (is_known(root.removesuffix("()")) or last[:1].isupper()):
            return False
        return self.may_write(path) and (last != "set" or bool(node.args or node.keywords))

    def _is_unknown(self, node: ast.Call, path: str) -> bool:
        last = path.rpartition(".")[2]
        if last == "put" or self.is_from_elsewhere(node.func):
            return True
        return "." in path and bool(self.libraries) and control_system.may_command(last)

    def is_from_elsewhere(self, root: ast.AST) -> bool:
        """Say whether nothing in the source says what an expression comes from."""
        return any(map(self._elsewhere.may_be, origins(root)))

    def _name_of(self, function: ast.expr) -> str:
        if isinstance(function, ast.Attribute):
            return function.attr
        paths = self.evaluator.paths(function)
        return paths[0].rpartition(".")[2] if paths else ""

    def _hands_on(self, node: ast.Call) -> None:
        """Judge functions that are given to something that calls them."""
        keywords = [
            k for k in node.keywords if k.arg not in ("target", "args", "function", "func")
        ]
        given = [(argument, node.args[i + 1 :]) for i, argument in enumerate(node.args)]
        given += [(k.value, _listed(node)) for k in node.keywords if k not in keywords]
        for function, rest in given:
            for path in self.evaluator.paths(function):
                if "." in path or path == LOST:
                    call = ast.Call(function, [*rest, *_listed(node)], keywords)
                    self.called_as(ast.copy_location(call, node), path)


def _listed(node: ast.Call) -> list[ast.expr]:
    """Return what stands in ``args=(...)`` of a call."""
    given = next((k.value for k in node.keywords if k.arg == "args"), None)
    return list(given.elts) if isinstance(given, ast.Tuple | ast.List) else []
