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

_OUTSIDE = re.compile(r"^(?:\./)*(?:\.\./){1,2}(?!\.\./)")
"""One or two folders up from where nobody knows is seldom the top."""

_MOST_STEPS = 8  # from a call to the text that names the file
_MOST_VALUES = 20  # of one name
_MOST_ARGUMENTS = 2  # that stand first and may name what is written
_TO_SECOND = names("copy copy2 copyfile copytree link symlink unpack_archive")
"""Functions that read the first path and write the second one."""

_ONLY_FIRST = names("make_archive open")
_TAKES_NO_PATH = names("""
    write writelines writestr write_text write_bytes add dump dumps copyfileobj symlink_to
    hardlink_to
""")
"""Functions whose arguments are what is written, or what is pointed to."""

_PATHS = names("""
    path file filename fname fp f name dst dest destination target where to out output filepath
    path_or_buf excel_writer extract_dir base_name
""")
"""What an argument is called that names what is written."""

_JOINS = names("""
    Path PosixPath PurePath PurePosixPath join expanduser abspath realpath normpath expandvars str
    fspath joinpath resolve absolute
""")


class Places:
    """Tells which files the calls of one source write."""

    def __init__(self, program: Program, evaluator: Evaluator) -> None:
        self._program = program
        self._evaluator = evaluator
        self._values: dict[str, list[ast.expr]] | None = None
        self._paths_of_names: dict[str, list[str]] = {}

    def written(self, call: ast.Call) -> Iterator[FindingKind]:
        """Yield what writing there does, where that is more than to write a file."""
        for path in self._paths(call):
            for kind in writing(Word(_OUTSIDE.sub("", path))):
                if kind is not WRITES_FILE:
                    yield kind

    def _paths(self, call: ast.Call) -> Iterator[str]:
        name = _name_of(call.func)
        if isinstance(call.func, ast.Attribute):
            yield from self._spelled(call.func.value)
        if name in _TAKES_NO_PATH:
            return
        most = 1 if name in _ONLY_FIRST else _MOST_ARGUMENTS
        first_nodes = call.args[name in _TO_SECOND : most]
        named_nodes = [keyword.value for keyword in call.keywords if keyword.arg in _PATHS]
        for node in (*first_nodes, *named_nodes):
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
        if self._values is None:
            self._values = {}
            for binding in self._program.bindings:
                # Texts are known already, in the scope where they are bound.
                if isinstance(binding.value, ast.Call | ast.BinOp) and not binding.how:
                    self._values.setdefault(binding.name, []).append(binding.value)
        return self._values.get(name, [])[:_MOST_VALUES]


def _name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
