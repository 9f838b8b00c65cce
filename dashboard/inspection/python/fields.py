"""The fields of a text that is formatted: ``"{0.name}".format(x)`` reads ``x.name``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import count
from string import Formatter

from dashboard.inspection.knowledge import PYTHON_MODULES
from dashboard.inspection.python.context import Context
from dashboard.inspection.python.references import LEADS, References
from dashboard.inspection.python.scopes import Position
from dashboard.inspection.python.stores import Stores

_FORMATS = frozenset(["format", "format_map"])
_STEP = re.compile(r"\.([^.\[]+)|\[([^\]]+)\]")
_ROOT = re.compile(r"[.\[]")
_UNKNOWN = ast.Constant(None)


class Fields:
    """Judges what a call of ``format`` reads, as if it stood in the source as an expression."""

    def __init__(self, context: Context, references: References, stores: Stores) -> None:
        self._context = context
        self._references = references
        self._stores = stores
        self._read: list[ast.expr] = []  # what is judged goes by its identity, so it stays

    def call(self, node: ast.Call) -> None:
        """Judge the fields of a call, if it formats a text."""
        function = node.func
        if not isinstance(function, ast.Attribute) or function.attr not in _FORMATS:
            return
        arguments, template = _unpacked(node.args), function.value
        if "builtins.str" in self._context.evaluator.values(template) and arguments:
            template = arguments.pop(0)
        by_name = _by_name(node.keywords)
        if function.attr == "format_map" and arguments:
            by_name |= _mapping(arguments[0])
        by_name |= {str(index): argument for index, argument in enumerate(arguments)}
        for name in self._names(template):
            root = _ROOT.split(name, maxsplit=1)[0]
            self._read_in(node, by_name.get(root, _UNKNOWN), _STEP.findall(name, len(root)))

    def attribute(self, node: ast.Attribute) -> None:
        """Judge a method that formats a text, and is called elsewhere."""
        is_called = self._context.program.position(node) is Position.CALLED
        if node.attr in _FORMATS and not is_called:
            for name in self._names(node.value):
                self._read_in(node, _UNKNOWN, _STEP.findall(name))

    def _names(self, template: ast.expr) -> dict[str, None]:
        """Return the fields of a text, each once."""
        texts = self._context.evaluator.texts(template)
        return dict.fromkeys(name for text in texts for name in _names(text.value, count()))

    def _read_in(self, node: ast.expr, expression: ast.expr, steps: list[tuple[str, str]]) -> None:
        for attribute, key in steps:
            step: ast.Attribute | ast.Subscript
            if attribute in PYTHON_MODULES.tricky or (
                expression is _UNKNOWN and attribute.startswith("_")
            ):
                self._context.doubt(node, LEADS)
            if expression is _UNKNOWN:
                continue
            if attribute:
                step = ast.Attribute(expression, attribute, ast.Load())
            else:
                step = ast.Subscript(expression, ast.Constant(key), ast.Load())
            expression = ast.copy_location(step, node)
            self._read.append(expression)
            if isinstance(step, ast.Subscript):
                self._stores.subscript(step)
        if expression is not _UNKNOWN:
            self._references.reference(expression)


def _names(template: str, places: Iterator[int]) -> Iterator[str]:
    """Yield the fields that lead on from what they name, with their numbers, as Python counts.

    Also those within fields, which may stand one level deep.
    """
    try:
        parts = list(Formatter().parse(template))
    except ValueError:  # it cannot be formatted either
        return
    for _, name, inner, _ in parts:
        if name is None:
            continue
        whole_name = f"{next(places)}{name}" if not _ROOT.split(name, maxsplit=1)[0] else name
        if _ROOT.search(whole_name):
            yield whole_name
        if inner and "{" in inner:
            yield from _names(inner, places)


def _unpacked(arguments: list[ast.expr]) -> list[ast.expr]:
    """Return the arguments by their places, as far as those can be told."""
    unpacked = list[ast.expr]()
    for argument in arguments:
        if not isinstance(argument, ast.Starred):
            unpacked.append(argument)
        elif isinstance(argument.value, ast.List | ast.Tuple):
            unpacked += argument.value.elts
        else:
            break
    return unpacked


def _by_name(keywords: list[ast.keyword]) -> dict[str, ast.expr]:
    arguments = dict[str, ast.expr]()
    for keyword in keywords:
        name, value = keyword.arg, keyword.value
        arguments |= _mapping(value) if name is None else {name: value}
    return arguments


def _mapping(node: ast.expr) -> dict[str, ast.expr]:
    """Return what a dict that is written out has by name."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        return {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
    if not isinstance(node, ast.Dict):
        return {}
    pairs = zip(node.keys, node.values, strict=True)
    return {str(key.value): value for key, value in pairs if isinstance(key, ast.Constant)}
