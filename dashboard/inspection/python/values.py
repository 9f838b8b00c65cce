"""What the expressions of a Python source may stand for, however they come by it.

A value is a dotted path (see ``lookup``) or a ``Text``. An expression has several values
where it may stand for several things: a name has all that is ever bound to it.
"""

from __future__ import annotations

import ast
import shlex
import textwrap
from collections.abc import Callable
from typing import Any

from dashboard.inspection.notes import names
from dashboard.inspection.python import strings
from dashboard.inspection.python.bindings import LOCAL, LOST, UNKNOWN
from dashboard.inspection.python.lookup import imported, makes, member
from dashboard.inspection.python.names import Names, Value, Values, union
from dashboard.inspection.python.scopes import Binding, LocalClass, Program, start_of
from dashboard.inspection.python.strings import UNKNOWN_TEXT, Text, Words

NAMESPACE = "{}"  # behind a path: the dictionary of what it holds
_MAX_DEPTH = 100
_MAX_ROUNDS = 5
_NOTHING: Values = (UNKNOWN,)
_OPAQUE = frozenset(["__new__", "__getattr__", "__getattribute__", "__call__"])
_PATH_PARTS = names("""
    parent with_suffix with_name with_stem joinpath resolve absolute expanduser home cwd
    relative_to rename replace
""")


class Evaluator:
    """Tells what expressions stand for, after following every name to its end."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.names = Names(program)
        self._memo: dict[int, Values] = {}
        self._inherited: dict[tuple[int, str], Values] = {}
        self._depth = 0
        self._kinds: dict[type[ast.AST], Callable[[Any], Values]] = {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Call: self._call,
            ast.Subscript: self._subscript,
            ast.Constant: self._constant,
            ast.BinOp: self._operation,
            ast.JoinedStr: self._interpolated,
            ast.FormattedValue: self._put_in,
            ast.IfExp: lambda node: self._either([node.body, node.orelse]),
            ast.BoolOp: lambda node: self._either(node.values),
            ast.NamedExpr: lambda node: self.values(node.value),
            ast.Await: lambda node: self.values(node.value),
            ast.List: self._list,
            ast.Tuple: self._list,
            ast.Lambda: lambda _node: (LOCAL,),
        }
        self._follow()

    def values(self, node: ast.expr) -> Values:
        """Return everything that ``node`` may stand for."""
        key = id(node)
        candidates = self._memo.get(key)
        if candidates is not None:
            return candidates
        kind = self._kinds.get(type(node))
        if kind is None:
            return _NOTHING
        if self._depth > _MAX_DEPTH:  # not remembered: it may be read again from nearer by
            return _NOTHING if isinstance(node, ast.BinOp) else (LOST,)
        self._depth += 1
        candidates = kind(node)
        self._depth -= 1
        self._memo[key] = candidates
        return candidates

    def texts(self, node: ast.expr) -> list[Text]:
        """Return the texts that ``node`` may be; one that is not known stands for the rest."""
        values = self.values(node) or _NOTHING
        return [value if isinstance(value, Text) else UNKNOWN_TEXT for value in values]

    def text(self, node: ast.expr | None) -> Text | None:
        """Return the one text that ``node`` is, if it is one."""
        values = self.values(node) if node is not None else ()
        return values[0] if len(values) == 1 and isinstance(values[0], Text) else None

    def paths(self, node: ast.expr) -> list[str]:
        """Return the values of ``node`` that are no texts."""
        return [value for value in self.values(node) if not isinstance(value, Text)]

    def attribute(self, base: Value, name: str) -> Values:
        """Return what an attribute of ``base`` may be."""
        if isinstance(base, Text):
            return (f"?.{name}" if isinstance(base, Words) else f"builtins.str.{name}",)
        if base == LOST:
            return (LOST,)
        if name == "__dict__" and base[0] not in "?<":
            return (base + NAMESPACE,)
        candidates: Values = (member(base, name),)
        if base[0] == "<":
            candidates = self._of_local(base, name)
        elif base == "pathlib.Path()" and name == "parent":
            candidates = (base,)
        return union(candidates, self.names.attributes.get(name, ()))

    def _of_local(self, base: str, name: str) -> Values:
        number = base[1:].partition(">")[0]
        if not number.isdigit():
            return (f"?.{name}",)
        made_from = self._program.classes[int(number)]
        if name in made_from.members and not self._is_opaque(int(number)):
            return (LOCAL,)
        key = (int(number), name)
        if key not in self._inherited:
            self._inherited[key] = (LOST,)  # in case that it inherits from itself
            self._inherited[key] = self._of_bases(made_from, name)
        return self._inherited[key]

    def _of_bases(self, made_from: LocalClass, name: str) -> Values:
        candidates: Values = (f"?.{name}",)
        if self._depth < _MAX_DEPTH:
            self._depth += 1
            for parent in made_from.bases:
                for path in self.paths(parent):
                    instance = f"{path}()" if path[0] != UNKNOWN else path
                    if path[0] == "<" or makes(path):
                        candidates = union(candidates, self.attribute(instance, name))
            self._depth -= 1
        return candidates

    def _is_opaque(self, number: int) -> bool:
        made_from = self._program.classes[number]
        return made_from.is_changed or not _OPAQUE.isdisjoint(made_from.members)

    def _follow(self) -> None:
        """Bind every name to all it may stand for, until nothing changes any more."""
        bindings = self._program.bindings
        for _ in range(_MAX_ROUNDS):
            self._forget()
            changed = [
                self.names.add(binding.scope, binding.name, self._bound(binding))
                for binding in bindings
            ]
            if not any(changed):
                return
            bindings = bindings[::-1]  # so that chains of names in either order are short
        for binding in bindings:
            if isinstance(binding.value, ast.Name | ast.Attribute):
                self.names.add(binding.scope, binding.name, (LOST,))
        self._forget()

    def _forget(self) -> None:
        self._memo.clear()
        self._inherited.clear()

    def _bound(self, binding: Binding) -> Values:
        if isinstance(binding.value, str):
            return (binding.value,)
        candidates = self.values(binding.value)
        if not binding.how:
            return candidates
        return tuple({_changed(value, binding.how): None for value in candidates})

    def _name(self, node: ast.Name) -> Values:
        scope = self._program.scopes.get(id(node)) or self._program.module
        return self.names.look_up(scope, node.id, start_of(node))

    def _attribute(self, node: ast.Attribute) -> Values:
        return union(*(self.attribute(base, node.attr) for base in self.values(node.value)))

    def _constant(self, node: ast.Constant) -> Values:
        text = strings.constant(node)
        return _NOTHING if text is None else (text,)

    def _either(self, nodes: list[ast.expr]) -> Values:
        return union(*(self.values(node) for node in nodes))

    def _interpolated(self, node: ast.JoinedStr) -> Values:
        return (strings.joined(self.text(part) for part in node.values),)

    def _put_in(self, node: ast.FormattedValue) -> Values:
        plain = node.conversion in (-1, ord("s")) and node.format_spec is None
        return self.values(node.value) if plain else (UNKNOWN_TEXT,)

    def _operation(self, node: ast.BinOp) -> Values:
        left_values = self.values(node.left)
        if isinstance(node.op, ast.Div) and "pathlib.Path()" in left_values:
            return ("pathlib.Path()",)
        words = [value for value in left_values if isinstance(value, Words)]
        if words:
            return (self._longer(words[0], node.right), UNKNOWN)
        texts = [value for value in left_values if isinstance(value, Text)]
        if isinstance(node.op, ast.Add):
            added = self.text(node.right)
            if texts or added:
                return (strings.joined([texts[0] if len(texts) == 1 else None, added]),)
        if len(texts) == 1 and isinstance(node.op, ast.Mod):
            parts = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
            return (strings.formatted(texts[0], [self.text(part) for part in parts]),)
        if len(texts) == 1 and isinstance(node.op, ast.Mult):
            return (strings.repeated(texts[0], node.right),)
        return _NOTHING

    def _longer(self, words: Words, more: ast.expr) -> Words:
        added = next((v for v in self.values(more) if isinstance(v, Words)), None)
        return strings.command_line((*words.parts, *(added.parts if added else [UNKNOWN_TEXT])))

    def _list(self, node: ast.List | ast.Tuple) -> Values:
        if not 0 < len(node.elts) <= strings.MAX_WORDS:
            return _NOTHING
        parts = [self.text(part) for part in node.elts]
        if not any(parts):
            return _NOTHING
        # What is in a list may be changed later.
        return (strings.command_line(part or UNKNOWN_TEXT for part in parts), UNKNOWN)

    def _subscript(self, node: ast.Subscript) -> Values:
        candidates: list[Values] = []
        for base in self.values(node.value):
            if isinstance(base, Text):
                candidates.append((_part(base, node.slice),))
            elif base == LOST:
                candidates.append((LOST,))
            elif base.endswith(NAMESPACE) or base in ("sys.modules", "builtins"):
                candidates += [self._held(base, text) for text in self.texts(node.slice)]
            else:
                candidates.append((f"{base}[]",) if base == "os.environ" else _NOTHING)
        return union(*candidates)

    def _held(self, base: str, key: Text) -> Values:
        if not is_module_name(key):
            return (LOST,)
        if base == "sys.modules":
            return (imported(key.value),)
        if base == NAMESPACE:
            return self.names.look_up(self._program.module, key.value, (0, 0))
        return self.attribute(base.removesuffix(NAMESPACE), key.value)

    def _call(self, node: ast.Call) -> Values:
        return union(*(self._result(path, node) for path in self.values(node.func)))

    def _result(self, path: Value, node: ast.Call) -> Values:
        if isinstance(path, Text) or path == LOST:
            return _NOTHING
        if path.startswith("builtins.str.") and isinstance(node.func, ast.Attribute):
            return self._of_text(node.func, node.args)
        if path in RESULTS:
            return RESULTS[path](self, node)
        if path in strings.DECODERS and node.args:
            codec = strings.DECODERS[path]
            return tuple(strings.decoded(text, codec) for text in self.texts(node.args[0]))
        return (_made(path),)

    def _of_text(self, func: ast.Attribute, arguments: list[ast.expr]) -> Values:
        texts = self.texts(func.value)
        if func.attr == "join" and arguments:
            return tuple(self._join(text, arguments[0]) for text in texts)
        operands = [self.text(argument) for argument in arguments]
        results = [strings.method(text, func.attr, operands) for text in texts]
        return tuple(UNKNOWN if text is None else text for text in results)

    def _join(self, between: Text, parts: ast.expr) -> Text:
        if not isinstance(parts, ast.List | ast.Tuple):
            return UNKNOWN_TEXT
        pieces: list[Text | None] = []
        for index, part in enumerate(parts.elts):
            pieces += [between, self.text(part)] if index else [self.text(part)]
        return strings.joined(pieces)


def _part(text: Text, index: ast.expr) -> Text:
    if not isinstance(text, Words):
        return strings.sliced(text, index)
    place = strings.number(index)
    inside = place is not None and -len(text.parts) <= place < len(text.parts)
    return text.parts[place] if place is not None and inside else UNKNOWN_TEXT


def _made(path: str) -> str:
    """Return the path of what a call of ``path`` returns, if that is of any interest."""
    if path.startswith(("pathlib.Path.", "pathlib.Path().")):
        return "pathlib.Path()" if path.rpartition(".")[2] in _PATH_PARTS else UNKNOWN
    is_class = path[0] == "<" and path[1:2].isdigit() and "(" not in path
    return f"{path}()" if is_class or (path[0] != "<" and makes(path)) else UNKNOWN


def _changed(value: Value, how: str) -> Value:
    if isinstance(value, Text):
        return UNKNOWN_TEXT if how == "part" else UNKNOWN
    if how == "instance":
        return f"{value}()" if value[0] not in "?<!" and makes(value) else UNKNOWN
    if how == "entered":
        return UNKNOWN if value[0] == "<" else value
    return value if value.startswith("matplotlib.") or value == LOST else UNKNOWN


def argument(node: ast.Call, index: int, name: str = "") -> ast.expr | None:
    """Return an argument by its place or its name."""
    if len(node.args) > index and not any(
        isinstance(a, ast.Starred) for a in node.args[: index + 1]
    ):
        return node.args[index]
    by_name = (keyword.value for keyword in node.keywords if name and keyword.arg == name)
    return next(by_name, None)


def is_name(text: Text) -> bool:
    """Say whether a text is known and can be the name of something."""
    return text.known and text.value.isidentifier()


def is_module_name(text: Text) -> bool:
    """Say whether a text is known and can be the full name of a module."""
    return text.known and all(part.isidentifier() for part in text.value.split("."))


def _handed_on(index: int) -> Callable[[Evaluator, ast.Call], Values]:
    def result(evaluator: Evaluator, node: ast.Call) -> Values:
        node_of_argument = argument(node, index)
        return (UNKNOWN,) if node_of_argument is None else evaluator.values(node_of_argument)

    return result


def _getattr(evaluator: Evaluator, node: ast.Call) -> Values:
    base, name, default = (argument(node, index) for index in range(3))
    if base is None or name is None:
        return (UNKNOWN,)
    candidates = [
        evaluator.attribute(value, text.value) if is_name(text) else (UNKNOWN,)
        for value in evaluator.values(base)
        for text in evaluator.texts(name)
    ]
    return union(*candidates, evaluator.values(default) if default is not None else ())


def _import(evaluator: Evaluator, node: ast.Call) -> Values:
    name = argument(node, 0, "name")
    if name is None:
        return (LOST,)
    candidates: list[Values] = []
    for text in evaluator.texts(name):
        if is_module_name(text):
            candidates += [(imported(text.value),), (imported(text.value.partition(".")[0]),)]
        else:
            candidates.append((LOST,))
    return union(*candidates)


def _resolved(evaluator: Evaluator, node: ast.Call) -> Values:
    text = evaluator.text(argument(node, 0, "name"))
    name = Text(text.value.replace(":", ".", 1)) if text else UNKNOWN_TEXT
    return (imported(name.value),) if is_module_name(name) else (LOST,)


def _namespace(evaluator: Evaluator, node: ast.Call) -> Values:
    if not node.args:
        return (NAMESPACE,)
    paths = evaluator.paths(node.args[0])
    return tuple(f"{path}{NAMESPACE}" if path[0] not in "?<!" else UNKNOWN for path in paths)


def _character(_evaluator: Evaluator, node: ast.Call) -> Values:
    code = strings.number(argument(node, 0))
    return (Text(chr(code)) if code is not None and 0 <= code < 0x110000 else UNKNOWN_TEXT,)  # noqa: PLR2004


def _decode(evaluator: Evaluator, node: ast.Call) -> Values:
    text, codec = argument(node, 0, "obj"), argument(node, 1, "encoding")
    name = evaluator.text(codec)
    if text is None or name is None:
        return (UNKNOWN_TEXT,)
    return tuple(strings.decoded(value, name.value) for value in evaluator.texts(text))


def _dedent(evaluator: Evaluator, node: ast.Call) -> Values:
    text = argument(node, 0, "text")
    if text is None:
        return (UNKNOWN,)
    return tuple(Text(textwrap.dedent(value.value)) for value in evaluator.texts(text))


def _shell_words(evaluator: Evaluator, node: ast.Call) -> Values:
    text = evaluator.text(argument(node, 0, "s"))
    try:
        words = shlex.split(text.value) if text and text.known else []
    except ValueError:
        words = []
    usable = 0 < len(words) <= strings.MAX_WORDS
    return (strings.command_line(map(Text, words)) if usable else UNKNOWN_TEXT,)


def _path(_evaluator: Evaluator, _node: ast.Call) -> Values:
    return ("pathlib.Path()",)


RESULTS: dict[str, Callable[[Evaluator, ast.Call], Values]] = {
    "builtins.getattr": _getattr,
    "builtins.__import__": _import,
    "importlib.import_module": _import,
    "importlib.__import__": _import,
    "pkgutil.resolve_name": _resolved,
    "pydoc.locate": _resolved,
    "builtins.vars": _namespace,
    "builtins.globals": _namespace,
    "builtins.locals": _namespace,
    "builtins.chr": _character,
    "codecs.decode": _decode,
    "shlex.split": _shell_words,
    "textwrap.dedent": _dedent,
    "inspect.cleandoc": _dedent,
    "pathlib.Path": _path,
    "typing.cast": _handed_on(1),
    **dict.fromkeys(
        names("""
            functools.partial functools.partialmethod copy.copy copy.deepcopy builtins.str
            builtins.bytes builtins.bytearray builtins.memoryview contextlib.closing
            contextlib.nullcontext contextlib.aclosing os.path.expanduser os.path.expandvars
            os.path.abspath os.path.realpath os.fspath sqlalchemy.text sqlalchemy.sql.text
            sys.intern builtins.staticmethod builtins.classmethod asyncio.run
            sqlalchemy.sql.expression.text builtins.repr.__call__ importlib.reload psycopg2.sql.SQL
            psycopg.sql.SQL asyncio.wait_for asyncio.shield
        """),
        _handed_on(0),
    ),
}
