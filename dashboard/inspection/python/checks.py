"""What a call does, where that depends on its arguments: one check for each word of the tables."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dashboard.inspection.findings import Severity
from dashboard.inspection.knowledge import PYTHON_MODULES
from dashboard.inspection.knowledge.loading import Deed
from dashboard.inspection.notes import names
from dashboard.inspection.python.lookup import called
from dashboard.inspection.python.names import Value
from dashboard.inspection.python.results import argument
from dashboard.inspection.python.strings import HOLE, Text

if TYPE_CHECKING:
    from dashboard.inspection.python.judge import Judge

READS = Deed("file-read", Severity.INFO)
WRITES = Deed("file-write", Severity.MEDIUM)
NETWORK = Deed("network", Severity.MEDIUM)
UNKNOWN_CALL = Deed("unknown-call", Severity.LOW)
SECRET_NAME = re.compile(r"(?i)key|token|secret|passw|pwd|credential|auth")
_ANYWHERE = Deed("network", Severity.LOW)
_ADDRESS = re.compile(r"(?i)(?:https?|ftps?|s3|gs|wss?|hdfs|sftp|ssh)://")
_MODE = re.compile(r"[rwaxbtU+]{1,4}(?::\w*|\|\w*)?")
_QUERY_CALLS = re.compile(r"@\s*\w+\s*[.(]|__|\b(?:import|lambda)\b")
_METHOD = re.compile(r"\.\s*(\w{1,60})\s*\(")
_CHANGING = frozenset("wax+")
_RIGHTS = 0o6002  # set user, set group, writable by everybody
_TARGETS = names("path_or_buf path buf excel_writer fname file filename fp name f")


@dataclass(frozen=True, slots=True)
class Called:
    """One call, under one of the names that it may go by."""

    judge: Judge
    node: ast.Call
    path: str
    deed: Deed

    def note(self, deed: Deed | None = None) -> None:
        """Note what it does."""
        self.judge.note(self.node, deed or self.deed, self.path)

    def doubt(self, why: str, severity: Severity = Severity.MEDIUM) -> None:
        """Note that it cannot be followed."""
        self.judge.doubt(self.node, why, severity)

    def argument(self, index: int, *names: str) -> ast.expr | None:
        """Return an argument by its place or one of its names."""
        found = (argument(self.node, index, name) for name in names or ("",))
        return next((node for node in found if node is not None), None)

    def named(self, name: str) -> ast.expr | None:
        """Return an argument that can only be given by its name."""
        return next((k.value for k in self.node.keywords if k.arg == name), None)

    def texts(self, node: ast.expr | None) -> list[Text]:
        """Return the texts that an argument may be."""
        return [] if node is None else self.judge.evaluator.texts(node)

    @property
    def is_open_ended(self) -> bool:
        """Whether it gets arguments that are not written out."""
        starred = any(isinstance(node, ast.Starred) for node in self.node.args)
        return starred or any(keyword.arg is None for keyword in self.node.keywords)


Check = Callable[[Called], None]


def _is(node: ast.expr | None, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _variable(call: Called) -> None:
    texts = call.texts(call.argument(0, "key", "varname"))
    if not texts or any(not text.known or SECRET_NAME.search(text.value) for text in texts):
        call.note()


def _open(call: Called) -> None:
    _mode(call, call.argument(1, "mode"))


def _mode(call: Called, mode: ast.expr | None) -> None:
    if mode is None:
        call.note(call.deed if call.is_open_ended else READS)
        return
    texts = call.texts(mode)
    modes = [re.split(r"[:|]", text.value, maxsplit=1)[0] if text.known else "w" for text in texts]
    call.note(READS if all(_CHANGING.isdisjoint(mode) for mode in modes) else call.deed)


def _open_method(call: Called) -> None:
    first, second = call.argument(0, "mode"), call.argument(1, "mode")
    if call.is_open_ended or call.path.startswith("pathlib.") or _is_mode(call, first):
        _mode(call, first)
    elif second is not None:  # the method of a library that takes a name first
        _mode(call, second)


def _is_mode(call: Called, node: ast.expr | None) -> bool:
    return any(_MODE.fullmatch(text.value) for text in call.texts(node))


def _chmod(call: Called) -> None:
    index = 1 if call.path.startswith("os.") else 0
    mode = call.argument(index, "mode")
    number = mode.value if isinstance(mode, ast.Constant) else None
    grave = isinstance(number, int) and number & _RIGHTS
    call.note(call.deed if grave else WRITES)


def _thread(call: Called) -> None:
    daemon = any(k.arg == "daemon" and not _is(k.value, value=False) for k in call.node.keywords)
    call.note(Deed(call.deed.name, Severity.LOW) if daemon else None)


def _filename(call: Called) -> None:
    if call.named("filename") is not None or call.is_open_ended:
        call.note()


def _inplace(call: Called) -> None:
    inplace = call.argument(1, "inplace")
    call.note(READS if inplace is None or _is(inplace, value=False) else None)


def _target(call: Called) -> None:
    only_returns = call.path.rpartition(".")[2].startswith("to_") and not _given(call)
    if not only_returns and not _to_memory(call):
        call.note()


def _path_given(call: Called) -> None:
    if _given(call) and not _to_memory(call):
        call.note()


def _saved(call: Called) -> None:
    if _given(call) and not _to_memory(call):
        call.note()


def _given(call: Called) -> bool:
    names = {keyword.arg for keyword in call.node.keywords}
    return bool(call.node.args) or call.is_open_ended or not _TARGETS.isdisjoint(names - {None})


def _to_memory(call: Called) -> bool:
    nodes = [*call.node.args, *(keyword.value for keyword in call.node.keywords)]
    values = [call.judge.evaluator.values(node) for node in nodes]
    return any(found and PYTHON_MODULES.buffers.issuperset(found) for found in values)


def _url(call: Called) -> None:
    given = call.argument(0, "filepath_or_buffer", "path", "io", "fname")
    values = [v for node in (given,) if node for v in call.judge.evaluator.values(node)]
    if given is None and call.is_open_ended:
        call.note(_ANYWHERE)
    elif any(isinstance(v, Text) and _ADDRESS.match(v.value) for v in values):
        call.note(NETWORK)
    else:
        call.note(_ANYWHERE if any(_may_be_address(value) for value in values) else None)


def _may_be_address(value: Value) -> bool:
    return value.value.startswith(HOLE) if isinstance(value, Text) else value == "?"


def _url_given(call: Called) -> None:
    nodes = [*call.node.args[:2], *(k.value for k in call.node.keywords if k.arg == "url")]
    if any(_ADDRESS.match(text.value) for node in nodes for text in call.texts(node)):
        call.note()


def _engine(call: Called) -> None:
    texts = call.texts(call.argument(0, "url"))
    is_file = texts and all(text.value.startswith("sqlite") for text in texts)
    call.note(READS if is_file else None)


def _numpy_load(call: Called) -> None:
    allowed = call.argument(2, "allow_pickle")
    safe = (allowed is None and not call.is_open_ended) or _is(allowed, value=False)
    call.note(READS if safe else None)


def _torch_load(call: Called) -> None:
    call.note(READS if _is(call.named("weights_only"), value=True) else None)


def _yaml(call: Called) -> None:
    loader = call.argument(1, "Loader")
    paths = [] if loader is None else call.judge.evaluator.values(loader)
    if not paths or not {"yaml.SafeLoader", "yaml.BaseLoader"}.issuperset(paths):
        call.note()


def _query(call: Called) -> None:
    if call.is_open_ended:
        call.note()
    for text in call.texts(call.argument(0, "expr", "ex")):
        if not text.value.strip(HOLE):
            call.note(UNKNOWN_CALL)
        elif _QUERY_CALLS.search(text.value):
            call.note()
            call.doubt("The query may call anything")
        else:
            for name in _METHOD.findall(text.value):
                _all(call, called(f"?.{name}"))
            if not text.known:
                call.note(UNKNOWN_CALL)


def _all(call: Called, deeds: Iterable[Deed]) -> None:
    for deed in deeds:
        call.note(deed)


def _moved(call: Called) -> None:
    arguments = call.node.args
    plain = (ast.Dict, ast.List, ast.Lambda, ast.Constant)
    if len(arguments) == 1 and not call.node.keywords and not isinstance(arguments[0], plain):
        call.note()


CHECKS: dict[str, Check] = {
    "variable": _variable,
    "open": _open,
    "open_method": _open_method,
    "chmod": _chmod,
    "thread": _thread,
    "filename": _filename,
    "inplace": _inplace,
    "target": _target,
    "path_given": _path_given,
    "saved": _saved,
    "url": _url,
    "url_given": _url_given,
    "engine": _engine,
    "numpy_load": _numpy_load,
    "torch_load": _torch_load,
    "yaml": _yaml,
    "query": _query,
    "moved": _moved,
}
