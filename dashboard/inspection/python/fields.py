"""The fields of a text that is formatted: ``"{0.name}".format(x)`` reads ``x.name``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from string import Formatter

from dashboard.inspection.knowledge import PYTHON_MODULES
from dashboard.inspection.python.context import Context
from dashboard.inspection.python.references import LEADS, References
from dashboard.inspection.python.stores import Stores

_FORMATS = frozenset(["format", "format_map"])
_STEP = re.compile(r"\.([^.\[]+)|\[([^\]]+)\]")


class Fields:
    """Judges what a call of ``format`` reads, as if it stood in the source as an expression."""

    def __init__(self, context: Context, references: References, stores: Stores) -> None:
        self._context = context
        self._references = references
        self._stores = stores
        self._read: list[ast.expr] = []  # what is judged goes by its identity, so it stays

    def call(self, node: ast.Call) -> None:
        """Judge the fields of a call, if it formats a text."""
        function, evaluator = node.func, self._context.evaluator
        if not isinstance(function, ast.Attribute) or function.attr not in _FORMATS:
            return
        arguments, template = list(node.args), function.value
        if "builtins.str" in evaluator.values(template) and arguments:
            template = arguments.pop(0)
        for text in evaluator.texts(template):
            for name in _names(text.value):
                root = re.split(r"[.\[]", name, maxsplit=1)[0]
                for argument in _arguments(node, root, arguments):
                    self._read_in(node, argument, _STEP.findall(name, len(root)))

    def _read_in(self, node: ast.Call, expression: ast.expr, steps: list[tuple[str, str]]) -> None:
        for attribute, key in steps:
            step: ast.Attribute | ast.Subscript
            if attribute:
                step = ast.Attribute(expression, attribute, ast.Load())
            else:
                step = ast.Subscript(expression, ast.Constant(key), ast.Load())
            expression = ast.copy_location(step, node)
            self._read.append(expression)
            if attribute in PYTHON_MODULES.tricky:
                self._context.doubt(node, LEADS)
            if isinstance(step, ast.Subscript):
                self._stores.subscript(step)
        self._references.reference(expression)


def _names(template: str) -> Iterator[str]:
    """Yield the fields that lead on from what they name, also those within fields."""
    templates = [template]
    while templates:
        try:
            parts = list(Formatter().parse(templates.pop()))
        except ValueError:  # it cannot be formatted either
            continue
        for _, name, inner, _ in parts:
            if name and ("." in name or "[" in name):
                yield name
            if inner and "{" in inner:
                templates.append(inner)


def _arguments(node: ast.Call, root: str, arguments: list[ast.expr]) -> list[ast.expr]:
    """Return what a field may begin with: something unknown where that cannot be told."""
    by_name: dict[object, ast.expr] = {keyword.arg: keyword.value for keyword in node.keywords}
    for argument in arguments:  # of ``format_map``
        if isinstance(argument, ast.Dict):
            pairs = zip(argument.keys, argument.values, strict=True)
            by_name |= {key.value: value for key, value in pairs if isinstance(key, ast.Constant)}
    if root in by_name:
        return [by_name[root]]
    is_place = root.isdecimal() and int(root) < len(arguments)
    if is_place and not any(isinstance(argument, ast.Starred) for argument in arguments):
        return [arguments[int(root)]]
    return [*arguments, ast.Constant(None)]
