"""Which names may hold objects that the kernel had before a Python source runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dashboard.inspection.python.bindings import LOCAL
from dashboard.inspection.python.names import Names
from dashboard.inspection.python.scopes import COMPREHENSIONS, FUNCTIONS, Program, parameters

_MAX_ROUNDS = 10
_HANDING_ON = frozenset(
    ["zip", "enumerate", "iter", "list", "tuple", "set", "sorted", "reversed", "next", "copy"]
)


class Elsewhere:
    """Follows objects of the kernel through names, lists, loops and the source's own functions.

    By name alone, whatever the scope: a name that holds one somewhere may hold one everywhere.
    """

    def __init__(self, program: Program, names: Names) -> None:
        self._program = program
        self._names = names
        self._own = {b.name for b in program.bindings if b.value == LOCAL}
        self._held = set[str]()
        self._follow(list(self._given()))

    def may_be(self, node: ast.Name) -> bool:
        """Whether this name may stand for an object of the kernel."""
        scope = self._program.scopes.get(id(node), self._program.module)
        return node.id in self._held or self._names.is_free(scope, node.id)

    def _follow(self, given: list[tuple[str, list[ast.Name]]]) -> None:
        for _ in range(_MAX_ROUNDS):
            more = {name for name, sources in given if any(map(self.may_be, sources))}
            if more <= self._held:
                return
            self._held |= more

    def _given(self) -> Iterator[tuple[str, list[ast.Name]]]:
        """Yield names, each with the names that its value is taken from."""
        for binding in self._program.bindings:
            if isinstance(binding.value, ast.expr) and binding.scope:
                yield binding.name, list(origins(binding.value))
        own_parameters, handed = set[str](), list[ast.Name]()
        for node in self._program.nodes:
            for target, value in _loops(node):
                sources = list(origins(value))
                yield from ((name, sources) for name in _named(target))
            if isinstance(node, FUNCTIONS):
                own_parameters.update(argument.arg for argument in parameters(node.args))
            elif isinstance(node, ast.Call) and _name_of(node.func) in self._own:
                arguments = (*node.args, *(keyword.value for keyword in node.keywords))
                handed += [origin for value in arguments for origin in origins(value)]
        yield from ((name, handed) for name in own_parameters)


def origins(value: ast.AST) -> Iterator[ast.Name]:
    """Yield the names that a value, or a part of it, is taken from."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Name():
                yield node
            case ast.Attribute() | ast.Subscript() | ast.Starred() | ast.Await() | ast.NamedExpr():
                waiting.append(node.value)
            case ast.Call():
                waiting.append(node.func)
                if isinstance(node.func, ast.Name) and node.func.id in _HANDING_ON:
                    waiting += node.args
            case ast.IfExp():
                waiting += [node.body, node.orelse]
            case ast.BoolOp() | ast.Dict():
                waiting += node.values
            case ast.List() | ast.Tuple() | ast.Set():
                waiting += node.elts


def _name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _loops(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.For | ast.AsyncFor):
        return [(node.target, node.iter)]
    if isinstance(node, COMPREHENSIONS):
        return [(part.target, part.iter) for part in node.generators]
    return []


def _named(target: ast.expr) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name))
