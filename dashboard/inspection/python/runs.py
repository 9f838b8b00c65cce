"""The checks of calls that run something else: code, commands, SQL, and names that are texts."""

from __future__ import annotations

import ast
import re

from dashboard.inspection.findings import Severity
from dashboard.inspection.knowledge import PYTHON_MODULES
from dashboard.inspection.knowledge.loading import Deed
from dashboard.inspection.notes import names
from dashboard.inspection.python.bindings import LOCAL
from dashboard.inspection.python.checks import CHECKS, UNKNOWN_CALL, Called, Check
from dashboard.inspection.python.indirect import INDIRECT
from dashboard.inspection.python.lookup import is_known
from dashboard.inspection.python.results import is_module_name
from dashboard.inspection.python.strings import HOLE, UNKNOWN_TEXT, Text, Words, command_line

UNKNOWN_IMPORT = Deed("unknown-import", Severity.LOW)
_STATEMENT = re.compile(
    r"(?i)[\s(]*(?:--[^\n]*\n\s*)*(?:select|insert|update|delete|drop|create|alter|truncate|grant|"
    r"revoke|with|merge|replace|copy|call|exec|pragma|attach|vacuum|set|begin|commit|do|load)\b"
)
_IN_SHELL = names("sx sc system !")
_ALL_ARGUMENTS = names("create_subprocess_exec subprocess_exec")


def _code(call: Called) -> None:
    call.note()
    for text in call.texts(call.argument(0, "source", "object", "raw_cell")) or [UNKNOWN_TEXT]:
        call.judge.adopt(call.node, call.judge.nested.python(text))


def _timed(call: Called) -> None:
    for name, index in (("stmt", 0), ("setup", 1)):
        given = call.argument(index, name)
        for value in () if given is None else call.judge.evaluator.values(given):
            if isinstance(value, Text):
                call.note()
                call.judge.adopt(call.node, call.judge.nested.python(value))
            elif value != LOCAL and value[0] == "?":
                call.note(UNKNOWN_CALL)


def _unseen(call: Called) -> None:
    call.note()
    call.doubt("What this runs is not in sight")


def _command(call: Called) -> None:
    given = call.argument(0, "command", "cmd", "args")
    if given is None and call.path.startswith("?") and not call.is_open_ended:
        return
    call.note()
    _shell(call, call.texts(given) or [UNKNOWN_TEXT])


def _argv(call: Called) -> None:
    call.note()
    if call.path.rpartition(".")[2] in _ALL_ARGUMENTS:
        _shell(call, [command_line(_each(call, call.node.args))])
        return
    given = call.argument(0, "args", "program", "filepath")
    if isinstance(given, ast.List | ast.Tuple):
        _shell(call, [command_line(_each(call, given.elts))])
    else:
        _shell(call, call.texts(given) or [UNKNOWN_TEXT])


def _program(call: Called) -> None:
    _flat(call, call.node.args)


def _spawned(call: Called) -> None:
    _flat(call, call.node.args[1:])


def _flat(call: Called, nodes: list[ast.expr]) -> None:
    """Read a program and its arguments, of which the first is the program's name once more."""
    call.note()
    given = nodes[1:2]
    rest = given[0].elts if given and isinstance(given[0], ast.List | ast.Tuple) else nodes[1:]
    _shell(call, [command_line(_each(call, [*nodes[:1], *rest[1:]]))])


def _each(call: Called, nodes: list[ast.expr]) -> list[Text]:
    found = [call.judge.evaluator.text(node) for node in nodes]
    return [UNKNOWN_TEXT if text is None else text for text in found] or [UNKNOWN_TEXT]


def _shell(call: Called, texts: list[Text]) -> None:
    shell = call.named("shell")
    in_shell = shell is not None and not (isinstance(shell, ast.Constant) and not shell.value)
    for text in texts:
        line = text
        if in_shell and isinstance(text, Words):  # a shell reads such words as they stand
            line = Text(" ".join(part.value for part in text.parts))
        call.judge.adopt(call.node, call.judge.nested.shell(line))


def _import(call: Called) -> None:
    name = call.argument(0, "name")
    for text in call.texts(name) or [UNKNOWN_TEXT]:
        if not is_module_name(Text(text.value.replace(":", ".", 1))):
            call.doubt("The name of the module is only known while running", Severity.HIGH)
        elif not is_known(text.value.partition(":")[0]):
            call.note(UNKNOWN_IMPORT)


def _attribute(call: Called) -> None:
    base, name = call.argument(0), call.argument(1)
    if base is None or name is None:
        call.doubt("The name of the attribute is only known while running")
        return
    if all(str(value)[:1] == "<" for value in call.judge.evaluator.paths(base)):
        return
    for text in call.texts(name):
        if not text.known:
            call.doubt("The name of the attribute is only known while running")
        elif text.value in PYTHON_MODULES.tricky:
            call.doubt("This leads from one object to all others")


def _set_attribute(call: Called) -> None:
    base, name = call.argument(0), call.argument(1)
    if base is None or name is None:
        call.doubt("The name of the attribute is only known while running")
        return
    for text in call.texts(name):
        call.judge.stored(call.node, base, text.value if text.known else HOLE)


def _set_own(call: Called) -> None:
    if isinstance(call.node.func, ast.Attribute):
        for text in call.texts(call.argument(0)) or [UNKNOWN_TEXT]:
            name = text.value if text.known else HOLE
            call.judge.stored(call.node, call.node.func.value, name)


def _named(call: Called) -> None:
    given = call.node.args[:1] if call.path.endswith("methodcaller") else call.node.args
    for text in [t for node in given for t in call.texts(node)] or [UNKNOWN_TEXT]:
        parts = text.value.split(".")
        if not text.known or len(parts) > 1 or not PYTHON_MODULES.tricky.isdisjoint(parts):
            call.doubt("The name of the attribute is only known while running")
        else:
            call.judge.called_as(call.node, f"?.{parts[0]}")


def _sql(call: Called) -> None:
    given = call.argument(0, "sql", "query", "statement", "operation")
    if given is None and not call.is_open_ended:
        return
    for text in call.texts(given) or [UNKNOWN_TEXT]:
        certain = call.path[0] != "?" or call.judge.uses_database
        if certain or _STATEMENT.match(text.value):
            call.judge.adopt(call.node, call.judge.nested.sql(text))
        else:
            call.note(UNKNOWN_CALL)


def _magic(call: Called) -> None:
    name = call.judge.evaluator.text(call.argument(0, "magic_name", "arg_s"))
    line = call.argument(1, "line", "cell")
    if name is not None and name.value in _IN_SHELL:
        _shell(call, call.texts(line) or [UNKNOWN_TEXT])
    call.note()
    call.doubt("What this runs is not in sight")


ALL_CHECKS: dict[str, Check] = {
    **CHECKS,
    **INDIRECT,
    "code": _code,
    "timed": _timed,
    "unseen": _unseen,
    "command": _command,
    "argv": _argv,
    "program": _program,
    "spawned": _spawned,
    "import": _import,
    "attribute": _attribute,
    "set_attribute": _set_attribute,
    "set_own": _set_own,
    "named": _named,
    "sql": _sql,
    "magic": _magic,
}
# Checks without which nothing can be said: naming such a function is no finding yet.
QUIET = frozenset([*CHECKS, *INDIRECT]) | names("""
    timed import attribute set_attribute set_own named sql
""")
