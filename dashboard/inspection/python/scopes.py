"""Which names a Python source binds, where, and to what: one pass over its syntax tree.

Nothing is resolved here. The pass has no recursion, so the depth of the tree does not matter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from math import inf
from typing import Any

Place = tuple[float, float]  # line and column
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_IDLE = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)
END: Place = (inf, inf)


class Position(IntEnum):
    """What is done with the value of an expression, as far as it matters whether it gets lost."""

    OTHER = 0
    BASE = 1
    CALLED = 2
    TRACKED = 3
    TYPE = 4
    SUBSCRIPTED = 5
    ASKED = 6
    INHERITED = 7


class Scope:
    """Names that belong together: of the module, a function, a class or a comprehension."""

    __slots__ = ("bound", "definite", "elsewhere", "is_class", "is_comprehension", "parent")

    def __init__(
        self, parent: Scope | None, *, is_class: bool = False, is_comprehension: bool = False
    ) -> None:
        self.parent = parent
        self.is_class = is_class
        self.is_comprehension = is_comprehension
        self.bound: set[str] = set()
        self.elsewhere: dict[str, bool] = {}  # declared global (True) or nonlocal (False)
        self.definite: dict[str, list[tuple[Place, Place]]] = {}


@dataclass(frozen=True, slots=True)
class Binding:
    """Something that a name may stand for.

    Attributes:
        scope: None for the name of an attribute, of whatever object.
        value: An expression, or a path that is known already.
        how: Empty if the name stands for the value itself, ``"instance"`` if for an object made
            by it, ``"part"`` if for one of its parts.
    """

    scope: Scope | None
    name: str
    value: ast.expr | str
    how: str = ""


@dataclass(slots=True)
class LocalClass:
    """A class of the source: what its body binds, and what it is made from.

    Attributes:
        is_changed: Whether a decorator or a metaclass may make something else of it.
    """

    members: set[str]
    bases: list[ast.expr]
    is_changed: bool


@dataclass(slots=True)
class Program:
    """What the pass found.

    Attributes:
        nodes: Every node that can matter, parents before children.
        positions: By the identity of an expression; what is not here is ``OTHER``.
        scopes: The scope of each name that is read, by the identity of its node.
        stars: Modules of which everything was imported.
        imports: The roots of all modules that are imported.
    """

    module: Scope = field(default_factory=lambda: Scope(None))
    nodes: list[ast.AST] = field(default_factory=list)
    positions: dict[int, Position] = field(default_factory=dict)
    scopes: dict[int, Scope] = field(default_factory=dict)
    bindings: list[Binding] = field(default_factory=list)
    classes: list[LocalClass] = field(default_factory=list)
    stars: list[str] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    docstrings: set[int] = field(default_factory=set)

    def position(self, node: ast.AST) -> Position:
        """Say what is done with the value of ``node``."""
        return self.positions.get(id(node), Position.OTHER)

    def mark(self, node: ast.AST, position: Position) -> None:
        """Note what is done with the value of ``node``."""
        self.positions[id(node)] = position


def children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the children of a node that can matter, in order."""
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            if not isinstance(value, _IDLE):
                yield value
        elif isinstance(value, list):
            yield from (item for item in value if isinstance(item, ast.AST))


def inner_scope(node: ast.AST, scope: Scope) -> Scope | None:
    """Return the new scope that a node opens, if it opens one."""
    if isinstance(node, FUNCTIONS):
        return Scope(scope)
    if isinstance(node, ast.ClassDef):
        return Scope(scope, is_class=True)
    if isinstance(node, COMPREHENSIONS):
        return Scope(scope, is_comprehension=True)
    return None


def below(node: Any, outer: Scope, inner: Scope) -> Iterator[tuple[ast.AST, Scope]]:
    """Yield the children of a node that opens a scope, each with the scope of its names."""
    if isinstance(node, ast.ClassDef):
        outside: list[ast.AST | None] = [*node.decorator_list, *node.bases, *node.keywords]
        inside: list[ast.AST] = [*node.body]
    elif isinstance(node, FUNCTIONS):
        outside = _outside(node)
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        inside = [*parameters(node.args), *body]
    else:
        # The first iterable is evaluated outside, where the names may mean something else.
        outside = [node.generators[0].iter]
        inside = [child for child in children(node) if not isinstance(child, ast.comprehension)]
        for index, generator in enumerate(node.generators):
            inside += [generator.target, *generator.ifs, *([generator.iter] if index else [])]
    yield from ((child, outer) for child in outside if child is not None)
    yield from ((child, inner) for child in inside)


def _outside(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.AST | None]:
    nodes: list[ast.AST | None] = [*node.args.defaults, *node.args.kw_defaults]
    nodes += [argument.annotation for argument in parameters(node.args)]
    if not isinstance(node, ast.Lambda):
        nodes += [*node.decorator_list, node.returns]
    return nodes


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """Return all parameters of a function."""
    extra = [argument for argument in (arguments.vararg, arguments.kwarg) if argument]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]


def start_of(node: ast.AST) -> Place:
    """Return where a node begins."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def end_of(node: ast.AST) -> Place:
    """Return where a node ends."""
    return getattr(node, "end_lineno", 0) or 0, getattr(node, "end_col_offset", 0) or 0
