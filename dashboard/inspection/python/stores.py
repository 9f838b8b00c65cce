"""Notes what is set: attributes of devices, of other modules, and what the environment holds."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dashboard.inspection import control_system
from dashboard.inspection.findings import Severity
from dashboard.inspection.knowledge import PYTHON_MODULES
from dashboard.inspection.knowledge.loading import Deed
from dashboard.inspection.notes import names
from dashboard.inspection.python.bindings import UNKNOWN
from dashboard.inspection.python.checks import SECRET_NAME, UNKNOWN_CALL
from dashboard.inspection.python.indirect import LOADED_FROM
from dashboard.inspection.python.lookup import is_known
from dashboard.inspection.python.names import LOST
from dashboard.inspection.python.notes import written
from dashboard.inspection.python.results import NAMESPACE
from dashboard.inspection.python.statements import CREDENTIALS
from dashboard.inspection.python.strings import HOLE

if TYPE_CHECKING:
    from dashboard.inspection.python.judge import Judge

_REPLACED = "This gives a new meaning to something of another module"
_BEHAVES = "This changes what an object is or does"
_CHANGED = "Changes something that was made elsewhere"
_BEHAVIOUR = frozenset(["__class__", "__dict__", "__getattr__", "__call__"])
_TABLES = frozenset(
    ["sys.modules", "sys.path", "sys.meta_path", "sys.path_hooks", "builtins", LOST]
)
_OPTIONS = names("options rcParams stdout stderr stdin argv ps1 ps2 rc config")


class Stores:
    """Judges what is set where, and parts of the environment that are read."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def stored(self, node: ast.expr, base: ast.expr, name: str) -> None:
        """Note what setting the attribute ``name`` of ``base`` does."""
        if name in _BEHAVIOUR or (name in PYTHON_MODULES.tricky and name != "__annotations__"):
            self._judge.doubt(node, _BEHAVES)
        self._elsewhere(node, base)
        for path in self._judge.evaluator.paths(base):
            is_object = "(" in path
            if path[0] == UNKNOWN or (not is_object and not is_known(path)):
                if self._judge.libraries and (
                    name == HOLE
                    or control_system.setting_writes(name, self._judge.libraries, certain=False)
                ):
                    self._set(node, base)
            elif control_system.is_library(path) and is_object:
                if control_system.setting_writes(name, self._judge.libraries, certain=True):
                    self._set(node, base)
            elif path == LOST or (path[0] != "<" and not is_object):
                self._replaced(node, path, name)

    def _elsewhere(self, node: ast.expr, base: ast.expr) -> None:
        if self._judge.is_from_elsewhere(base):
            self._judge.notes.add(node, UNKNOWN_CALL, written(base), _CHANGED)

    def _set(self, node: ast.AST, base: ast.expr) -> None:
        self._judge.notes.add(node, control_system.WRITES, written(base))

    def _replaced(self, node: ast.expr, path: str, name: str) -> None:
        if name == "backend" or (name not in _OPTIONS and _OPTIONS.isdisjoint(path.split("."))):
            self._judge.doubt(node, _REPLACED)

    def subscript(self, node: ast.Subscript) -> None:
        """Note what setting or reading a part of something does."""
        if isinstance(node.ctx, ast.Store):
            self._elsewhere(node, node.value)
        for path in self._judge.evaluator.paths(node.value):
            if path == "os.environ":
                self._variable(node)
            elif isinstance(node.ctx, ast.Store):
                self._item(node, path)

    def _variable(self, node: ast.Subscript) -> None:
        for text in self._judge.evaluator.texts(node.slice):
            if isinstance(node.ctx, ast.Load):
                if not text.known or SECRET_NAME.search(text.value):
                    self._judge.note(node, CREDENTIALS, "os.environ")
            elif not text.known or LOADED_FROM.fullmatch(text.value):
                self._judge.note(node, Deed("system-change", Severity.MEDIUM), "os.environ")

    def _item(self, node: ast.Subscript, path: str) -> None:
        if path.endswith(NAMESPACE) or path in _TABLES:
            self._judge.doubt(node, _REPLACED)
        elif "(" in path and control_system.is_library(path):
            self._set(node, node.value)
