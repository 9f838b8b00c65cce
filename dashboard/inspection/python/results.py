"""What calls return, for the functions that only hand on what they are given or look it up."""

from __future__ import annotations

import ast
import shlex
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING

from dashboard.inspection.notes import names
from dashboard.inspection.python import strings
from dashboard.inspection.python.bindings import UNKNOWN
from dashboard.inspection.python.lookup import imported
from dashboard.inspection.python.names import LOST, Values, union
from dashboard.inspection.python.strings import UNKNOWN_TEXT, Text

if TYPE_CHECKING:
    from dashboard.inspection.python.values import Evaluator

NAMESPACE = "{}"  # behind a path: the dictionary of what it holds
Result = Callable[["Evaluator", ast.Call], Values]


def argument(node: ast.Call, index: int, name: str = "") -> ast.expr | None:
    """Return an argument by its place or its name."""
    if len(node.args) > index and not any(
        isinstance(a, ast.Starred) for a in node.args[: index + 1]
    ):
        return node.args[index]
    named = (keyword.value for keyword in node.keywords if name and keyword.arg == name)
    return next(named, None)


def is_name(text: Text) -> bool:
    """Say whether a text is known and can be the name of something."""
    return text.known and text.value.isidentifier()


def is_module_name(text: Text) -> bool:
    """Say whether a text is known and can be the full name of a module."""
    return text.known and all(part.isidentifier() for part in text.value.split("."))


def _handed_on(index: int) -> Result:
    def result(evaluator: Evaluator, node: ast.Call) -> Values:
        given = argument(node, index)
        return (UNKNOWN,) if given is None else evaluator.values(given)

    return result


def _getattr(evaluator: Evaluator, node: ast.Call) -> Values:
    base, name, default = (argument(node, index) for index in range(3))
    if base is None or name is None:
        return (UNKNOWN,)
    found = [
        evaluator.attribute(value, text.value) if is_name(text) else (UNKNOWN,)
        for value in evaluator.values(base)
        for text in evaluator.texts(name)
    ]
    return union(*found, evaluator.values(default) if default is not None else ())


def _import(evaluator: Evaluator, node: ast.Call) -> Values:
    name = argument(node, 0, "name")
    if name is None:
        return (LOST,)
    found: list[Values] = []
    for text in evaluator.texts(name):
        if is_module_name(text):
            found += [(imported(text.value),), (imported(text.value.partition(".")[0]),)]
        else:
            found.append((LOST,))
    return union(*found)


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
        found = shlex.split(text.value) if text and text.known else []
    except ValueError:
        found = []
    usable = 0 < len(found) <= strings.MAX_WORDS
    return (strings.command_line(map(Text, found)) if usable else UNKNOWN_TEXT,)


def _path(_evaluator: Evaluator, _node: ast.Call) -> Values:
    return ("pathlib.Path()",)


RESULTS: dict[str, Result] = {
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
