"""Where a call writes: to places that a system, an editor or an agent's host reads by itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from dashboard.inspection.effects import WRITES_FILE
from dashboard.inspection.notes import FindingKind, names
from dashboard.inspection.python.scopes import Program
from dashboard.inspection.python.strings import HOLE
from dashboard.inspection.python.values import Evaluator
from dashboard.inspection.shell.paths import writing
from dashboard.inspection.shell.words import Word

_MOST_STEPS = 8  # from a call to the text that names the file
_MOST_VALUES = 20  # of one name
_TO_SECOND = names("copy copy2 copyfile copytree link symlink")
"""Functions that read the first path and write the second one."""

_TAKES_NO_PATH = names("write writelines writestr write_text write_bytes add dump dumps")
"""Functions whose arguments are what is written."""

_JOINS = names("""
    Path PosixPath PurePath PurePosixPath join expanduser abspath realpath normpath expandvars str
    fspath joinpath resolve absolute open
""")


class Places:
    """Tells which files the calls of one source write."""

    def __init__(self, program: Program, evaluator: Evaluator) -> None:
        self._program = program
        self._evaluator = evaluator
        self._values: dict[str, list[ast.expr]] = {}
        self._paths_of_names: dict[str, list[str]] = {}

    def written(self, call: ast.Call) -> Iterator[FindingKind]:
        """Yield what writing there does, where that is more than to write a file."""
        for path in self._paths(call):
            for kind in writing(Word(path)):
                if kind is not WRITES_FILE:
                    yield kind

    def _paths(self, call: ast.Call) -> Iterator[str]:
        name = _name_of(call.func)
        if isinstance(call.func, ast.Attribute):
            yield from self._spelled(call.func.value)
        if name in _TAKES_NO_PATH:
            return
        nodes = [*call.args, *(keyword.value for keyword in call.keywords)]
        for node in nodes[1:] if name in _TO_SECOND and call.args else nodes:
            yield from self._spelled(node)

    def _spelled(self, node: ast.expr, steps: int = _MOST_STEPS) -> list[str]:
        """Return the paths that an expression may be, with a hole for what is not known."""
        if steps == 0:
            return [HOLE]
        texts = [text.value for text in self._evaluator.texts(node) if text.value != HOLE]
        if texts:
            return texts
        parts = self._parts(node)
        if parts:
            choices = [self._spelled(part, steps - 1)[0] for part in parts]
            return [re.sub("/{2,}", "/", "/".join(choices))]
        return self._of_name(node.id, steps) if isinstance(node, ast.Name) else [HOLE]

    def _of_name(self, name: str, steps: int) -> list[str]:
        """Return the paths that a name stands for; each name is followed once."""
        if name not in self._paths_of_names:
            self._paths_of_names[name] = [HOLE]  # in case that it is bound to itself
            values = self._values_of(name)
            paths = [path for value in values for path in self._spelled(value, steps - 1)]
            self._paths_of_names[name] = paths[:_MOST_VALUES] or [HOLE]
        return self._paths_of_names[name]

    def _parts(self, node: ast.expr) -> list[ast.expr]:
        """Return the expressions that a path is joined of."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            return [node.left, node.right]
        if isinstance(node, ast.Call) and _name_of(node.func) in _JOINS:
            base = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            is_path = base and not (isinstance(base[0], ast.Name | ast.Attribute) and node.args)
            return [*(base if is_path else ()), *node.args]
        return []

    def _values_of(self, name: str) -> list[ast.expr]:
        if not self._values:
            for binding in self._program.bindings:
                if isinstance(binding.value, ast.expr) and not binding.how:
                    self._values.setdefault(binding.name, []).append(binding.value)
        return self._values.get(name, [])[:_MOST_VALUES]


def _name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
