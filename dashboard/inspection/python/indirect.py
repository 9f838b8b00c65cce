"""The checks of calls that have code run later or elsewhere: by a setting, a name, a formula."""

from __future__ import annotations

import ast
import re

from dashboard.inspection.findings import Severity
from dashboard.inspection.knowledge.loading import Deed
from dashboard.inspection.notes import names
from dashboard.inspection.python.checks import Called, Check
from dashboard.inspection.python.lookup import is_known
from dashboard.inspection.python.strings import UNKNOWN_TEXT, Text

LOADED_FROM = re.compile(
    r"(?:LD_|DYLD_|PYTHON|EPICS_|TANGO_|GIT_|SSH_|JUPYTER_|IPYTHON)\w*|PATH|IFS|BASH_ENV|ENV|"
    r"SHELL|PAGER|MANPAGER|EDITOR|VISUAL|BROWSER|MPLBACKEND|HOME|COMSPEC"
)
"""Variables of the environment that say which code programs load."""

_SYMBOLS = names("""
    symbols Symbol Dummy Wild Function IndexedBase Idx MatrixSymbol latex pprint pretty print_latex
    init_printing init_session
""")
_CALLS = re.compile(r"[\w\])]\s*\(|__")
_HARMLESS_CALLS = re.compile(
    r"\b(?:a?(?:sin|cos|tan)h?|exp|log|ln|sqrt|abs|Abs|pi|Eq|Integral|Derivative|diff|[a-zA-Z])\("
)


def _environ(call: Called) -> None:
    starred = any(isinstance(node, ast.Starred) for node in call.node.args)
    for text in [UNKNOWN_TEXT] if starred else _keys(call):
        if not text.known or LOADED_FROM.fullmatch(text.value):
            call.note()


def _keys(call: Called) -> list[Text]:
    first = call.argument(0)
    named = [Text(k.arg) if k.arg else UNKNOWN_TEXT for k in call.node.keywords]
    if first is None or not call.path.endswith(".update"):
        return [*call.texts(first), *named]
    if not isinstance(first, ast.Dict):
        return [UNKNOWN_TEXT]
    keys = [call.texts(key) if key else [UNKNOWN_TEXT] for key in first.keys]
    return [*named, *(text for texts in keys for text in texts)]


def _temporary(call: Called) -> None:
    kept = call.named("dir") or call.named("delete") or call.is_open_ended
    call.note(call.deed if kept else Deed(call.deed.name, Severity.LOW))


def _backend(call: Called) -> None:
    for text in call.texts(call.argument(0, "backend", "newbackend")) or [UNKNOWN_TEXT]:
        if not text.known or "/" in text.value or "." in text.value:
            call.note()
            call.doubt("The name of the module that this loads is not one of the usual")


def _option(call: Called) -> None:
    for name, value in zip(call.node.args[::2], call.node.args[1::2], strict=False):
        for text in call.texts(name):
            if not text.known or "backend" in text.value:
                _if_unusual(call, call.texts(value))


def _if_unusual(call: Called, modules: list[Text]) -> None:
    if any(not text.known or not is_known(text.value) for text in modules):
        call.note()


def _plotted(call: Called) -> None:
    _if_unusual(call, call.texts(call.named("backend")))


def _formula(call: Called) -> None:
    if call.path.rpartition(".")[2] in _SYMBOLS:
        return
    for node in (*call.node.args, *(keyword.value for keyword in call.node.keywords)):
        for value in call.judge.evaluator.values(node):
            if isinstance(value, Text) and not _is_plain(value):
                call.note()


def _is_plain(formula: Text) -> bool:
    """Say whether a formula, which is evaluated as Python, calls mathematics only."""
    return formula.known and not _CALLS.search(_HARMLESS_CALLS.sub("(", formula.value))


INDIRECT: dict[str, Check] = {
    "environ": _environ,
    "temporary": _temporary,
    "backend": _backend,
    "option": _option,
    "plotted": _plotted,
    "formula": _formula,
}
