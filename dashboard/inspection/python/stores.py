"""Notes what is set: attributes of devices, of other modules, and what the environment holds."""

from __future__ import annotations

import ast
import re

from dashboard.inspection import control_system
from dashboard.inspection.findings import Severity
from dashboard.inspection.knowledge import PYTHON_MODULES, SHELL_COMMANDS
from dashboard.inspection.knowledge.loading import Deed
from dashboard.inspection.notes import names
from dashboard.inspection.python.bindings import LOST, UNKNOWN
from dashboard.inspection.python.context import Context
from dashboard.inspection.python.lookup import is_known
from dashboard.inspection.python.notes import CREDENTIALS, UNKNOWN_CALL, written
from dashboard.inspection.python.strings import HOLE, Text
from dashboard.inspection.python.values import NAMESPACE
from dashboard.inspection.secrets import SECRET_NAME
from dashboard.inspection.shell.wrappers import HARMLESS_VALUES

LOADED_FROM = re.compile(
    r"(?:LD_|DYLD_|PYTHON|EPICS_|TANGO_|GIT_|SSH_|JUPYTER_|IPYTHON)\w*|PATH|IFS|BASH_ENV|ENV|"
    r"SHELL|PAGER|MANPAGER|EDITOR|VISUAL|BROWSER|MPLBACKEND|HOME|COMSPEC|"
    + "|".join(sorted(SHELL_COMMANDS.loading))
)
"""Variables of the environment that say which code programs load."""

_LESS_OPTIONS = HARMLESS_VALUES["LESS"]
_RC_RUNS = re.compile(r"_path$|^text\.latex\.preamble$")
"""Settings of matplotlib that name a program, or are code."""

_WRITES_ATTRIBUTES = names("keylog_filename")
_REPLACED = "replaces-meaning"
_BEHAVES = "changes-object"
_CHANGED = "changes-foreign"
_BEHAVIOUR = frozenset(["__class__", "__dict__", "__getattr__", "__call__", "__match_args__"])
_TABLES = frozenset(
    ["sys.modules", "sys.path", "sys.meta_path", "sys.path_hooks", "builtins", LOST]
)
_OPTIONS = names("options rcParams stdout stderr stdin argv ps1 ps2 rc config")


def sets_what_runs(key: Text, value: Text) -> bool:
    """Whether a setting of matplotlib names a program, or a module that is not its own."""
    if key.value == "backend":
        return not value.known or "." in value.value or "/" in value.value
    return _RC_RUNS.search(key.value) is not None


class Stores:
    """Judges what is set where, and parts of the environment that are read."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._harmless = set[ast.Subscript]()

    def stored(self, node: ast.expr, base: ast.expr, name: str) -> None:
        """Note what setting the attribute ``name`` of ``base`` does."""
        if name in _BEHAVIOUR or name in PYTHON_MODULES.tricky:
            self.behaves(node)
        if name in _WRITES_ATTRIBUTES:
            self._context.note(node, Deed("file-write", Severity.MEDIUM), written(base))
        self._elsewhere(node, base)
        for path in self._context.evaluator.paths(base):
            is_object = "(" in path
            if path[0] == UNKNOWN or (not is_object and not is_known(path)):
                if self._context.libraries and (
                    name == HOLE
                    or control_system.setting_writes(name, self._context.libraries, certain=False)
                ):
                    self._set(node, base)
            elif control_system.is_library(path) and is_object:
                if control_system.setting_writes(name, self._context.libraries, certain=True):
                    self._set(node, base)
            elif path == LOST or (path[0] != "<" and not is_object):
                self._replaced(node, path, name)

    def behaves(self, node: ast.expr) -> None:
        """Note that an object is to behave otherwise than its class says."""
        self._context.doubt(node, _BEHAVES)

    def _elsewhere(self, node: ast.expr, base: ast.expr) -> None:
        if self._context.is_from_elsewhere(base):
            self._context.notes.add(node, UNKNOWN_CALL, written(base), _CHANGED)

    def _set(self, node: ast.AST, base: ast.expr) -> None:
        self._context.notes.add(node, control_system.WRITES, written(base))

    def _replaced(self, node: ast.expr, path: str, name: str) -> None:
        if name == "backend" or (name not in _OPTIONS and _OPTIONS.isdisjoint(path.split("."))):
            self._context.doubt(node, _REPLACED)

    def subscript(self, node: ast.Subscript) -> None:
        """Note what setting or reading a part of something does."""
        if isinstance(node.ctx, ast.Store):
            self._elsewhere(node, node.value)
        for path in self._context.evaluator.paths(node.value):
            if path == "os.environ":
                self._variable(node)
            elif isinstance(node.ctx, ast.Store):
                self._item(node, path)

    def _variable(self, node: ast.Subscript) -> None:
        for text in self._context.evaluator.texts(node.slice):
            if isinstance(node.ctx, ast.Load):
                if not text.known or SECRET_NAME.search(text.value):
                    self._context.note(node, CREDENTIALS, "os.environ")
            elif node not in self._harmless and (
                not text.known or LOADED_FROM.fullmatch(text.value)
            ):
                self._context.note(node, Deed("system-change", Severity.MEDIUM), "os.environ")

    def setting(self, node: ast.Subscript, value: ast.expr) -> None:
        """Note a setting of matplotlib that makes it load a module or run a program.

        It comes before ``subscript``, which does not know what a variable is given.
        """
        evaluator = self._context.evaluator
        for path in evaluator.paths(node.value):
            if path == "os.environ" and all(
                key.value == "LESS" and text.known and _LESS_OPTIONS.fullmatch(text.value)
                for key in evaluator.texts(node.slice)
                for text in evaluator.texts(value)
            ):
                self._harmless.add(node)
            if path.endswith(".rcParams") and any(
                sets_what_runs(key, text)
                for key in evaluator.texts(node.slice)
                for text in evaluator.texts(value)
            ):
                self._context.note(node, Deed("dynamic-code", Severity.MEDIUM), path)

    def _item(self, node: ast.Subscript, path: str) -> None:
        if path.endswith(NAMESPACE) or path in _TABLES:
            self._context.doubt(node, _REPLACED)
        elif "(" in path and control_system.is_library(path):
            self._set(node, node.value)
