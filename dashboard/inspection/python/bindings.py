"""The pass over a syntax tree that writes down what binds a name and what happens to a value."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from dashboard.inspection.notes import names
from dashboard.inspection.python.lookup import called, canonical, imported, member
from dashboard.inspection.python.scopes import (
    END,
    Binding,
    LocalClass,
    Place,
    Position,
    Program,
    Scope,
    below,
    children,
    end_of,
    inner_scope,
    parameters,
)

LOCAL = "<def>"
UNKNOWN = "?"
LOST = "!"  # it was not followed to its end
_MOST_MATCH_ARGS = 10
_ASKING = names("getattr hasattr setattr delattr vars dir callable id type repr")
_CHECKING = frozenset(["isinstance", "issubclass"])
_LEAVES = (ast.Name, ast.Constant)
_TRUSTED = frozenset(["dataclass", "total_ordering", "final", "runtime_checkable"])


def collect(tree: ast.Module) -> Program:
    """Walk over ``tree`` once and return what was found."""
    return _Collector(tree).run()


class _Collector:
    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.program = Program()
        self.top = {id(statement) for statement in tree.body}
        self.followed: set[int] = set()  # targets that are bound to more than something unknown
        self.defaults: dict[int, ast.expr] = {}  # by parameter
        self.owners: dict[int, str] = {}  # what a method's first parameter is
        self.instances: dict[int, str] = {}  # by the scope of a class
        self.match_args: list[str] = []
        self.by_place: list[tuple[Scope, str]] = []  # what patterns capture by its place
        self.positions = _Positions(self.program)
        self.handlers = self._handlers()

    def _handlers(self) -> dict[type[ast.AST], Callable[[Any, Scope], None]]:
        return {
            ast.Name: self.name,
            ast.Assign: self.assign,
            ast.AnnAssign: self.annotated,
            ast.NamedExpr: self.named,
            ast.FunctionDef: self.function,
            ast.AsyncFunctionDef: self.function,
            ast.Lambda: self.function,
            ast.ClassDef: self.klass,
            ast.arg: self.argument,
            ast.Import: self.imported,
            ast.ImportFrom: self.imported_from,
            ast.Global: self.declared,
            ast.Nonlocal: self.declared,
            ast.With: self.with_items,
            ast.AsyncWith: self.with_items,
            ast.For: self.loop,
            ast.AsyncFor: self.loop,
            ast.ExceptHandler: self.captured,
            ast.MatchAs: self.captured,
            ast.MatchStar: self.captured,
            ast.MatchMapping: self.captured,
            ast.MatchClass: self.matched,
            **self.positions.handlers(),
        }

    def run(self) -> Program:
        stack: list[tuple[ast.AST, Scope]] = [(self.tree, self.program.module)]
        nodes, handlers = self.program.nodes, self.handlers
        while stack:
            node, scope = stack.pop()
            nodes.append(node)
            handler = handlers.get(type(node))
            if handler:
                handler(node, scope)
            if isinstance(node, _LEAVES):
                continue
            inner = inner_scope(node, scope)
            if inner is None:
                visits = [(child, scope) for child in children(node)]
            else:
                self.entered(node, inner)
                visits = list(below(node, scope, inner))
            visits.reverse()
            stack.extend(visits)
        self.by_match_args()
        self.positions.settle()
        return self.program

    def bind(self, scope: Scope, name: str, value: ast.expr | str, how: str = "") -> None:
        if name == "__match_args__":
            self.match_args += _match_args(value)
        for target in self.targets(scope, name):
            target.bound.add(name)
            self.program.bindings.append(Binding(target, name, value, how))
            if target.is_class:
                self.program.bindings.append(Binding(None, name, value, how))

    def targets(self, scope: Scope, name: str) -> list[Scope]:
        declared = scope.elsewhere.get(name)
        if declared is None:
            return [scope]
        scopes = []
        outer = None if declared else scope.parent
        while outer and outer.parent:
            if not outer.is_class:
                scopes.append(outer)
            outer = outer.parent
        return scopes or [self.program.module]

    def settle(
        self,
        node: ast.AST,
        scope: Scope,
        names: list[str],
        after: Place | None = None,
        until: Place = END,
    ) -> None:
        """Note that names surely mean what this statement of the module gives them."""
        if scope is self.program.module and id(node) in self.top:
            for name in names:
                scope.definite.setdefault(name, []).append((after or end_of(node), until))

    def name(self, node: ast.Name, scope: Scope) -> None:
        if isinstance(node.ctx, ast.Load):
            self.program.scopes[id(node)] = scope
        elif isinstance(node.ctx, ast.Del):
            self.program.deleted.add(node.id)
        elif id(node) not in self.followed:
            self.bind(scope, node.id, UNKNOWN)

    def target(self, target: ast.expr, value: ast.expr, scope: Scope, how: str = "") -> bool:
        """Bind one target; say whether nothing of the value gets lost."""
        if isinstance(target, ast.Name):
            self.followed.add(id(target))
            self.bind(scope, target.id, value, how)
            return True
        if isinstance(target, ast.Attribute):
            self.program.bindings.append(Binding(None, target.attr, value, how))
            return True
        if isinstance(target, ast.Tuple | ast.List):
            self.unpacked(target, value, scope)
        return False

    def unpacked(self, target: ast.Tuple | ast.List, value: ast.expr, scope: Scope) -> None:
        paired = _pairs(target, value)
        for index, part in enumerate(target.elts):
            if isinstance(part, ast.Name | ast.Attribute):
                self.target(
                    part, paired[index] if paired else value, scope, "" if paired else "part"
                )
                if paired:
                    self.program.mark(paired[index], Position.TRACKED)

    def assign(self, node: ast.Assign, scope: Scope) -> None:
        tracked = [self.target(target, node.value, scope) for target in node.targets]
        if all(tracked):
            self.program.mark(node.value, Position.TRACKED)
        self.settle(node, scope, [name for target in node.targets for name in _names(target)])

    def annotated(self, node: ast.AnnAssign, scope: Scope) -> None:
        self.program.mark(node.annotation, Position.TYPE)
        if node.value is not None:
            if self.target(node.target, node.value, scope):
                self.program.mark(node.value, Position.TRACKED)
            self.settle(node, scope, list(_names(node.target)))
        elif isinstance(node.target, ast.Name):
            self.followed.add(id(node.target))  # it says what it will be, and binds nothing

    def named(self, node: ast.NamedExpr, scope: Scope) -> None:
        while scope.is_comprehension and scope.parent:
            scope = scope.parent
        self.target(node.target, node.value, scope)
        self.program.mark(node.value, self.program.position(node))

    def function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope
    ) -> None:
        if not isinstance(node, ast.Lambda):
            self.bind(scope, node.name, LOCAL)
            self.settle(node, scope, [node.name])
            if node.returns:
                self.program.mark(node.returns, Position.TYPE)
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        optional = positional[len(positional) - len(arguments.defaults) :]
        defaults = zip(optional, arguments.defaults, strict=True)
        keyword_defaults = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        for argument, default in (*defaults, *keyword_defaults):
            if default is not None:
                self.defaults[id(argument)] = default
                self.program.mark(default, Position.TRACKED)
        for argument in parameters(arguments):
            if argument.annotation is not None:
                self.program.mark(argument.annotation, Position.TYPE)
        if positional and id(scope) in self.instances:
            self.owners[id(positional[0])] = self.instances[id(scope)]

    def argument(self, node: ast.arg, scope: Scope) -> None:
        owner = self.owners.get(id(node))
        self.bind(scope, node.arg, owner or UNKNOWN)
        if id(node) in self.defaults:
            self.bind(scope, node.arg, self.defaults[id(node)])
        if node.annotation is not None:
            self.bind(scope, node.arg, node.annotation, "instance")

    def klass(self, node: ast.ClassDef, scope: Scope) -> None:
        self.match_args += _fields(node)
        self.bind(scope, node.name, f"<{len(self.program.classes)}>")
        self.settle(node, scope, [node.name])
        for base in node.bases:
            self.program.mark(base, Position.INHERITED)

    def entered(self, node: ast.AST, inner: Scope) -> None:
        if isinstance(node, ast.ClassDef):
            self.instances[id(inner)] = f"<{len(self.program.classes)}>()"
            changed = bool(node.keywords) or not all(map(_is_trusted, node.decorator_list))
            self.program.classes.append(LocalClass(inner.bound, node.bases, changed))

    def imported(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            root = alias.name.partition(".")[0]
            self.program.imports.add(canonical(root))
            if alias.asname:
                self.bind(scope, alias.asname, imported(alias.name))
            else:
                self.bind(scope, root, canonical(root))
            self.settle(node, scope, [alias.asname or root])

    def imported_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        module = UNKNOWN  # a neighbour of this file: nobody sees what is in it
        if node.module and not node.level:
            module = imported(node.module)
            self.program.imports.add(canonical(node.module).partition(".")[0])
        for alias in node.names:
            if alias.name == "*":
                self.program.stars.append(module)
                continue
            path = UNKNOWN if node.level else member(module, alias.name)
            self.bind(scope, alias.asname or alias.name, path)
            self.settle(node, scope, [alias.asname or alias.name])

    def declared(self, node: ast.Global | ast.Nonlocal, scope: Scope) -> None:
        for name in node.names:
            scope.elsewhere[name] = isinstance(node, ast.Global)
            if isinstance(node, ast.Nonlocal):
                self.program.nonlocals.add(name)

    def with_items(self, node: ast.With | ast.AsyncWith, scope: Scope) -> None:
        for item in node.items:
            self.program.mark(item.context_expr, Position.TRACKED)
            if item.optional_vars is not None:
                self.target(item.optional_vars, item.context_expr, scope, "entered")
                names = list(_names(item.optional_vars))
                self.settle(node, scope, names, after=end_of(item.context_expr))

    def loop(self, node: ast.For | ast.AsyncFor, scope: Scope) -> None:
        names = list(_names(node.target))
        self.settle(node, scope, names, after=end_of(node.iter), until=end_of(node.body[-1]))

    def captured(
        self,
        node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar | ast.MatchMapping,
        scope: Scope,
    ) -> None:
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        if name:
            self.bind(scope, name, UNKNOWN)
        if isinstance(node, ast.ExceptHandler) and node.type is not None:
            self.program.mark(node.type, Position.TYPE)

    def matched(self, node: ast.MatchClass, scope: Scope) -> None:
        """Bind what a pattern fetches from an object: ``Path(unlink=delete)``."""
        for attribute, pattern in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
            maker = ast.Call(node.cls, [], [])
            fetched = ast.Attribute(maker, attribute, ast.Load())
            for part in (maker, fetched):
                ast.copy_location(part, node)
            for name in _captures(pattern):
                self.bind(scope, name, fetched)
                self.bind(scope, name, member(UNKNOWN, attribute))
        self.by_place += [(scope, name) for part in node.patterns for name in _captures(part)]

    def by_match_args(self) -> None:
        """Bind what patterns fetch by their place, where the source says which attributes."""
        attributes = list(dict.fromkeys(self.match_args))
        has_texts = self.by_place and any(map(_makes_match_args, self.program.nodes))
        if has_texts or len(attributes) > _MOST_MATCH_ARGS:
            attributes = [LOST]  # a class that is made of texts says it, or too much is said
        for scope, name in self.by_place:
            for attribute in attributes:
                self.bind(scope, name, attribute)


def _makes_match_args(node: ast.AST) -> bool:
    """Whether this may make a class of texts, which say what its patterns fetch."""
    if isinstance(node, ast.Constant):
        return node.value == "__match_args__"
    return isinstance(node, ast.alias) and node.name == "make_dataclass"


def _match_args(value: ast.expr | str) -> list[str]:
    """Return the paths of the attributes that a class says patterns fetch by their place."""
    parts = value.elts if isinstance(value, ast.Tuple | ast.List) else [None]
    texts = [part.value if isinstance(part, ast.Constant) else None for part in parts]
    paths = [member(UNKNOWN, text) if isinstance(text, str) else LOST for text in texts]
    return [path for path in paths if path == LOST or called(path)]


def _fields(node: ast.ClassDef) -> list[str]:
    """Return the paths of the fields of a class, which a dataclass has patterns fetch."""
    statements = [part for part in node.body if isinstance(part, ast.AnnAssign)]
    names_of_fields = [part.target.id for part in statements if isinstance(part.target, ast.Name)]
    return [path for name in names_of_fields if called(path := member(UNKNOWN, name))]


def _captures(pattern: ast.pattern) -> Iterator[str]:
    """Yield the names that all of what a pattern is given gets."""
    patterns = [pattern]
    while patterns:
        part = patterns.pop()
        if isinstance(part, ast.MatchOr):
            patterns += part.patterns
        elif isinstance(part, ast.MatchAs):
            patterns += [part.pattern] if part.pattern else []
            if part.name:
                yield part.name


class _Positions:
    """Marks what is done with each value: it is called, kept, or gets out of sight.

    A part of an expression comes after the whole of it.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._asked: list[tuple[str, ast.expr]] = []

    def handlers(self) -> dict[type[ast.AST], Callable[[Any, Scope], None]]:
        """Return what looks at which kind of node."""
        return {
            ast.Call: self._call,
            ast.Attribute: self._attribute,
            ast.Subscript: self._subscript,
            ast.Compare: self._compare,
            ast.Expr: self._statement,
            ast.IfExp: self._transparent,
            ast.BoolOp: self._transparent,
            ast.Await: self._transparent,
            ast.BinOp: self._typed,
            ast.Tuple: self._typed,
            ast.List: self._typed,
        }

    def settle(self) -> None:
        """Trust no name of a builtin that the source gives another meaning."""
        bound = {binding.name for binding in self._program.bindings}
        for name, node in self._asked:
            if name in bound:
                self._program.mark(node, Position.OTHER)

    def _call(self, node: ast.Call, _scope: Scope) -> None:
        self._program.mark(node.func, Position.CALLED)
        if isinstance(node.func, ast.Name) and node.args:
            if node.func.id in _ASKING:
                self._program.mark(node.args[0], Position.ASKED)
                self._asked.append((node.func.id, node.args[0]))
            elif node.func.id in _CHECKING:
                self._program.mark(node.args[-1], Position.TYPE)
                self._asked.append((node.func.id, node.args[-1]))

    def _attribute(self, node: ast.Attribute, _scope: Scope) -> None:
        self._program.mark(node.value, Position.BASE)

    def _subscript(self, node: ast.Subscript, _scope: Scope) -> None:
        if self._program.position(node) is Position.TYPE:
            self._program.mark(node.value, Position.TYPE)
            self._program.mark(node.slice, Position.TYPE)
        elif self._program.position(node) is Position.INHERITED:
            self._program.mark(node.value, Position.INHERITED)
            self._program.mark(node.slice, Position.TYPE)
        else:
            self._program.mark(node.value, Position.SUBSCRIPTED)

    def _compare(self, node: ast.Compare, _scope: Scope) -> None:
        sides = [node.left, *node.comparators]
        for side, operator, right in zip(sides, node.ops, sides[1:], strict=False):
            if isinstance(operator, ast.Is | ast.IsNot):
                self._program.mark(side, Position.ASKED)
            if isinstance(operator, ast.Is | ast.IsNot | ast.In | ast.NotIn):
                self._program.mark(right, Position.ASKED)

    def _statement(self, node: ast.Expr, _scope: Scope) -> None:
        self._program.mark(node.value, Position.TRACKED)
        if isinstance(node.value, ast.Constant):
            self._program.docstrings.add(id(node.value))

    def _transparent(self, node: ast.IfExp | ast.BoolOp | ast.Await, _scope: Scope) -> None:
        position = self._program.position(node)
        if isinstance(node, ast.BoolOp):
            parts = node.values
        else:
            parts = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node.value]
        for part in parts:
            self._program.mark(part, position)

    def _typed(self, node: ast.BinOp | ast.Tuple | ast.List, _scope: Scope) -> None:
        if self._program.position(node) is Position.TYPE:
            parts = [node.left, node.right] if isinstance(node, ast.BinOp) else node.elts
            for part in parts:
                self._program.mark(part, Position.TYPE)


def _is_trusted(decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in _TRUSTED


def _pairs(target: ast.Tuple | ast.List, value: ast.expr) -> list[ast.expr]:
    """Return the parts of ``value`` that belong to those of ``target``, if that can be told."""
    if not isinstance(value, ast.Tuple | ast.List) or len(value.elts) != len(target.elts):
        return []
    if any(isinstance(part, ast.Starred) for part in (*target.elts, *value.elts)):
        return []
    return value.elts


def _names(target: ast.expr) -> Iterator[str]:
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    yield from (part.id for part in parts if isinstance(part, ast.Name))
