"""What a call does: by the name that is called, and by its arguments where those decide.

A row of the tables may name a check, which is a function of this module. It looks at the arguments
of a call and notes what they make of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeGuard

from dashboard.inspection import control_system
from dashboard.inspection.findings import Severity
from dashboard.inspection.knowledge import PYTHON_MODULES, VERBS
from dashboard.inspection.knowledge.loading import Deed
from dashboard.inspection.notes import names
from dashboard.inspection.python.annotations import Annotations
from dashboard.inspection.python.bindings import LOCAL, LOST, UNKNOWN
from dashboard.inspection.python.context import Context
from dashboard.inspection.python.lookup import called, is_known
from dashboard.inspection.python.names import Value
from dashboard.inspection.python.notes import (
    NETWORK,
    SERVICE_DESTROYS,
    UNKNOWN_CALL,
    UNKNOWN_DESTROYS,
    UNKNOWN_IMPORT,
    written,
)
from dashboard.inspection.python.stores import LOADED_FROM, Stores, sets_what_runs
from dashboard.inspection.python.strings import HOLE, UNKNOWN_TEXT, Text, Words, command_line
from dashboard.inspection.python.values import argument, is_module_name
from dashboard.inspection.secrets import SECRET_NAME

NAMESPACES = "reaches-namespace"
_READS = Deed("file-read", Severity.INFO)
_WRITES = Deed("file-write", Severity.MEDIUM)
_UNPICKLES = Deed("deserialisation", Severity.HIGH)
_SAVES = names("save savez write dump dumps to")
_FITS_WRITES = names("update append ostream")
_STORES_FIRST = names("group create_array create_group open_like")
_TYPES_IN = (0x5412, 0x80017472)  # TIOCSTI of Linux and of the BSDs
_ANYWHERE = Deed("network", Severity.LOW)
_REMOTE_CODE = Deed("dynamic-code", Severity.HIGH)
_FOLDERS = ("/", "./", "../", "~")
_ADDRESS = re.compile(r"(?i)(?:https?|ftps?|s3|gs|wss?|hdfs|sftp|ssh)://")
_MODE = re.compile(r"[rwaxbtU+]{1,4}(?::\w*|\|\w*)?")
_NAME_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_QUERY_CALLS = re.compile(r"@\s*\w+\s*[.(]|__|\b(?:import|lambda)\b")
_MODEL_CALLS = re.compile(
    r"__|\b(?:import|lambda)\b|\b(?:eval|exec|compile|open|getattr|setattr|globals|locals|vars"
    r"|input|breakpoint|os|sys|subprocess|shutil|builtins)\b\s*[.(),\]]"
)
"""What no formula of a model has; functions such as ``C(x)`` and ``np.log(y)`` are usual."""

_METHOD = re.compile(r"\.\s*(\w{1,60})\s*\(")
_CHANGING = frozenset("wax+")
_RIGHTS = 0o6002  # set user, set group, writable by everybody
_TARGETS = names("path_or_buf path buf excel_writer fname file filename fp name f")
_SYMBOLS = names("""
    symbols Symbol Dummy Wild Function IndexedBase Idx MatrixSymbol latex pprint pretty print_latex
    init_printing init_session
""")
_REQUESTS = names("request Request send api_call")
_ENDS_MANY = names("delete flushall flushdb drop_database drop_collection delete_many drop_table")
_ENDS_MANY_OF = re.compile(r"(?:delete|destroy|purge|erase|wipe|terminate)_\w")
_ENDS_REMOTELY = names("terminate flushall flushdb deregister revoke truncate")
_STARTED = names("target function func")
"""What a function that is called elsewhere is given as."""

_NAMED = (ast.Name, ast.Attribute, ast.Subscript)
_RUN_TEXT = names("eval query")
"""Methods of a table that read a text as code."""

_SETS = names("__setattr__ __delattr__ __setitem__ __call__")
"""What sets something, and says so only where it is read off the object."""

_CALLED_FIRST = names("map filter reduce takewhile dropwhile filterfalse")
_CALLED_BY_KEY = names("sorted min max iter")
"""Of these only ``key`` is a function: what they are given is looked at, and not called."""

_CALLS = re.compile(r"[\w\])]\s*\(|__")
_HARMLESS_CALLS = re.compile(
    r"\b(?:a?(?:sin|cos|tan)h?|exp|log|ln|sqrt|abs|Abs|pi|Eq|Integral|Derivative|diff|[a-zA-Z])\("
)
_STATEMENT = re.compile(
    r"(?i)[\s(]*(?:--[^\n]*\n\s*)*(?:select|insert|update|delete|drop|create|alter|truncate|grant|"
    r"revoke|with|merge|replace|copy|call|exec|pragma|attach|vacuum|set|begin|commit|do|load)\b"
)
_IN_SHELL = names("sx sc system !")
_ALL_ARGUMENTS = names("create_subprocess_exec subprocess_exec")


class Calls:
    """Judges calls by what may be called, and by their arguments."""

    def __init__(self, context: Context, stores: Stores, annotations: Annotations) -> None:
        self.context = context
        self.stores = stores
        self.annotations = annotations

    def call(self, node: ast.Call) -> None:
        """Judge a call under each of the names that it may go by."""
        for path in self.context.evaluator.values(node.func):
            if not isinstance(path, Text):
                self.called_as(node, path)
        if self._name_of(node.func) in PYTHON_MODULES.higher_order:
            self._hands_on(node)
        if self._unpickles(node):
            self.context.note(node, _UNPICKLES, written(node.func))

    def called_as(self, node: ast.Call, path: str) -> None:
        """Note what a call does if ``path`` is what is called."""
        if path == LOST:
            self.context.doubt(node, NAMESPACES, Severity.HIGH)
            return
        if "." in path and self._writes(node, path):
            self.context.note(node, control_system.WRITES, path)
        for deed in called(path):
            check = CHECKS.get(deed.check)
            if check:
                check(Called(self, node, path, deed))
            else:
                self.context.note(node, deed, path)
        if path[0] == UNKNOWN and self._is_unknown(node, path):
            self.context.note(node, UNKNOWN_CALL, path)
        elif _says_it_destroys(path):
            self.context.note(node, UNKNOWN_DESTROYS, path)
        elif self._asks_to_delete(node, path):
            self.context.note(node, SERVICE_DESTROYS, path)

    def _asks_to_delete(self, node: ast.Call, path: str) -> bool:
        """Whether a service is asked to delete: ``requests.delete``, ``request("DELETE", …)``."""
        name = path.rpartition(".")[2]
        if path[0] == UNKNOWN:  # such as what a client has returned
            asks_network = any(map(_is_of_network, self.context.program.imports))
            says_so = name in _ENDS_MANY or _ENDS_MANY_OF.match(name)
            return asks_network and bool(says_so or self._sends_delete(node, name))
        if not any(deed.name == NETWORK.name for deed in called(path)):
            return False
        if self._sends_delete(node, name):
            return True
        verbs = {word.lower() for word in _NAME_WORDS.findall(name)}
        return not (VERBS.destroying_options | _ENDS_REMOTELY).isdisjoint(verbs)

    def _sends_delete(self, node: ast.Call, name: str) -> bool:
        """Whether the method of a request is ``DELETE``: the first argument, or one by name."""
        if name not in _REQUESTS:
            return False
        methods = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "method")]
        texts = [text for method in methods for text in self.context.evaluator.texts(method)]
        return any(text.value.upper() == "DELETE" for text in texts)

    def _unpickles(self, node: ast.Call) -> bool:
        """Whether a call allows objects that may run code, whoever reads them."""
        values = [k.value for k in node.keywords if k.arg == "allow_pickle"]
        saves = not _SAVES.isdisjoint(self._name_of(node.func).split("_"))
        return bool(values) and not saves and not _is(values[0], value=False)

    def _writes(self, node: ast.Call, path: str) -> bool:
        """Whether a method of an unknown object may write to a control system."""
        root = path.partition(".")[0]
        method = path.rpartition(".")[2]
        if path[0] != UNKNOWN and (is_known(root.removesuffix("()")) or method[:1].isupper()):
            return False
        return self.context.may_write(path) and (
            method != "set" or bool(node.args or node.keywords)
        )

    def _is_unknown(self, node: ast.Call, path: str) -> bool:
        method = path.rpartition(".")[2]
        if method == "put" or self.context.is_from_elsewhere(node.func):
            return True
        return "." in path and bool(self.context.libraries) and control_system.may_command(method)

    def _name_of(self, function: ast.expr) -> str:
        if isinstance(function, ast.Attribute):
            return function.attr
        paths = self.context.evaluator.paths(function)
        return paths[0].rpartition(".")[2] if paths else ""

    def _hands_on(self, node: ast.Call) -> None:
        """Judge functions that are given to something that calls them."""
        keywords = [k for k in node.keywords if k.arg != "args" and k.arg not in _STARTED]
        name = self._name_of(node.func)
        most = 0 if name in _CALLED_BY_KEY else 1 if name in _CALLED_FIRST else len(node.args)
        if name == "iter" and len(node.args) > 1:
            most = 1  # it is called until it returns the second
        arguments = [(argument, node.args[i + 1 :]) for i, argument in enumerate(node.args[:most])]
        arguments += [(k.value, _listed(node)) for k in node.keywords if k not in keywords]
        for keyword in node.keywords:
            function = keyword.value
            is_name = isinstance(function, ast.Name)
            if keyword.arg in _STARTED and is_name and self.context.is_from_elsewhere(function):
                self.context.note(function, UNKNOWN_CALL)
        for function, rest in arguments:
            for path in self.context.evaluator.paths(function):
                if "." in path or path == LOST:
                    call = ast.Call(function, [*rest, *_listed(node)], keywords)
                    self.called_as(ast.copy_location(call, node), path)


def _is_of_network(module: str) -> bool:
    """Whether all that a module has talks to other machines."""
    return any(deed.name == NETWORK.name for deed in called(f"{module}.a_name"))


def _says_it_destroys(path: str) -> bool:
    """Whether a function has a name that means to delete, of files or of what nobody knows."""
    root, dot, _ = path.partition(".")
    keeps_files = root in PYTHON_MODULES.keeps_files and not called(path)
    if not dot or not root.isidentifier() or (is_known(root) and not keeps_files):
        return False
    name = path.rpartition(".")[2]
    return not VERBS.destroying.isdisjoint(word.lower() for word in _NAME_WORDS.findall(name))


def _listed(node: ast.Call) -> list[ast.expr]:
    """Return what stands in ``args=(...)`` of a call."""
    arguments = next((k.value for k in node.keywords if k.arg == "args"), None)
    return list(arguments.elts) if isinstance(arguments, ast.Tuple | ast.List) else []


@dataclass(frozen=True, slots=True)
class Called:
    """One call, under one of the names that it may go by."""

    calls: Calls
    node: ast.Call
    path: str
    deed: Deed

    @property
    def context(self) -> Context:
        """The source that it stands in."""
        return self.calls.context

    def note(self, deed: Deed | None = None) -> None:
        """Note what it does."""
        self.context.note(self.node, deed or self.deed, self.path)

    def doubt(self, code: str, severity: Severity = Severity.MEDIUM) -> None:
        """Note that it cannot be followed."""
        self.context.doubt(self.node, code, severity)

    def argument(self, index: int, *names: str) -> ast.expr | None:
        """Return an argument by its place or one of its names."""
        nodes = (argument(self.node, index, name) for name in names or ("",))
        return next((node for node in nodes if node is not None), None)

    def named(self, name: str) -> ast.expr | None:
        """Return an argument that can only be given by its name."""
        return next((k.value for k in self.node.keywords if k.arg == name), None)

    def texts(self, node: ast.expr | None) -> list[Text]:
        """Return the texts that an argument may be."""
        return [] if node is None else self.context.evaluator.texts(node)

    @property
    def is_open_ended(self) -> bool:
        """Whether it gets arguments that are not written out."""
        starred = any(isinstance(node, ast.Starred) for node in self.node.args)
        return starred or any(keyword.arg is None for keyword in self.node.keywords)


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
        call.note(call.deed if call.is_open_ended else _READS)
        return
    texts = call.texts(mode)
    modes = [re.split(r"[:|]", text.value, maxsplit=1)[0] if text.known else "w" for text in texts]
    call.note(_READS if all(_CHANGING.isdisjoint(mode) for mode in modes) else call.deed)


def _open_method(call: Called) -> None:
    first_argument, second = call.argument(0, "mode"), call.argument(1, "mode")
    if call.is_open_ended or call.path.startswith("pathlib.") or _is_mode(call, first_argument):
        _mode(call, first_argument)
    elif second is not None:  # the method of a library that takes a name first
        _mode(call, second)


def _first_mode(call: Called) -> None:
    _mode(call, call.argument(0, "mode"))


def _is_mode(call: Called, node: ast.expr | None) -> bool:
    return any(_MODE.fullmatch(text.value) for text in call.texts(node))


def _chmod(call: Called) -> None:
    index = 1 if call.path.startswith("os.") else 0
    mode = call.argument(index, "mode")
    number = mode.value if isinstance(mode, ast.Constant) else None
    grave = isinstance(number, int) and number & _RIGHTS
    call.note(call.deed if grave else _WRITES)


def _thread(call: Called) -> None:
    daemon = any(k.arg == "daemon" and not _is(k.value, value=False) for k in call.node.keywords)
    call.note(Deed(call.deed.name, Severity.LOW) if daemon else None)


def _filename(call: Called) -> None:
    if call.named("filename") is not None or call.is_open_ended:
        call.note()


def _inplace(call: Called) -> None:
    inplace = call.argument(1, "inplace")
    is_reading = (inplace is None and not call.is_open_ended) or _is(inplace, value=False)
    call.note(_READS if is_reading else None)


def _target(call: Called) -> None:
    only_returns = call.path.rpartition(".")[2].startswith("to_") and not _given(call)
    if not only_returns and not _to_memory(call):
        call.note()


def _path_given(call: Called) -> None:
    if _given(call) and not _to_memory(call):
        call.note()


def _text_given(call: Called) -> None:
    """The method of an array, which is given the name of a file, and not that of a schema."""
    file = call.argument(0, "file")
    may_be_array = "numpy" in call.context.program.imports and isinstance(file, _NAMED)
    if file is not None and (may_be_array or any(text.known for text in _texts(call, file))):
        call.note()


def _texts(call: Called, node: ast.expr) -> list[Text]:
    return [value for value in call.context.evaluator.values(node) if isinstance(value, Text)]


def _if_given(call: Called) -> None:
    if call.node.args or call.node.keywords:
        call.note()


def _given(call: Called) -> bool:
    names = {keyword.arg for keyword in call.node.keywords}
    return bool(call.node.args) or call.is_open_ended or not _TARGETS.isdisjoint(names - {None})


def _to_memory(call: Called) -> bool:
    nodes = [*call.node.args, *(keyword.value for keyword in call.node.keywords)]
    values = [call.context.evaluator.values(node) for node in nodes]
    return any(paths and PYTHON_MODULES.buffers.issuperset(paths) for paths in values)


def _url(call: Called) -> None:
    address = call.argument(0, "filepath_or_buffer", "path", "io", "fname")
    values = [v for node in (address,) if node for v in call.context.evaluator.values(node)]
    if address is None and call.is_open_ended:
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
    call.note(_READS if is_file else None)


def _numpy_load(call: Called) -> None:
    allow_pickle = call.argument(2, "allow_pickle")
    safe = (allow_pickle is None and not call.is_open_ended) or _is(allow_pickle, value=False)
    call.note(_READS if safe else None)


def _torch_load(call: Called) -> None:
    call.note(_READS if _is(call.named("weights_only"), value=True) else None)


def _yaml(call: Called) -> None:
    loader = call.argument(1, "Loader")
    paths = [] if loader is None else call.context.evaluator.values(loader)
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
            call.doubt("query-calls-anything")
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


def _environ(call: Called) -> None:
    starred = any(isinstance(node, ast.Starred) for node in call.node.args)
    for text in [UNKNOWN_TEXT] if starred else _keys(call):
        if not text.known or LOADED_FROM.fullmatch(text.value):
            call.note()


def _keys(call: Called) -> list[Text]:
    mapping = call.argument(0)
    keyword_names = [Text(k.arg) if k.arg else UNKNOWN_TEXT for k in call.node.keywords]
    if mapping is None or not call.path.endswith(".update"):
        return [*call.texts(mapping), *keyword_names]
    if not isinstance(mapping, ast.Dict):
        return [UNKNOWN_TEXT]
    keys = [call.texts(key) if key else [UNKNOWN_TEXT] for key in mapping.keys]
    return [*keyword_names, *(text for texts in keys for text in texts)]


def _temporary(call: Called) -> None:
    is_kept = call.named("dir") or call.named("delete") or call.is_open_ended
    call.note(call.deed if is_kept else Deed(call.deed.name, Severity.LOW))


def _backend(call: Called) -> None:
    for text in call.texts(call.argument(0, "backend", "newbackend")) or [UNKNOWN_TEXT]:
        if not text.known or "/" in text.value or "." in text.value:
            call.note()
            call.doubt("unusual-module")


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
        for value in call.context.evaluator.values(node):
            if isinstance(value, Text) and not _is_plain(value):
                call.note()


def _is_plain(formula: Text) -> bool:
    """Say whether a formula, which is evaluated as Python, calls mathematics only."""
    return formula.known and not _CALLS.search(_HARMLESS_CALLS.sub("(", formula.value))


def _code(call: Called) -> None:
    call.note()
    for text in call.texts(call.argument(0, "source", "object", "raw_cell")) or [UNKNOWN_TEXT]:
        call.context.adopt(call.node, call.context.nested.python(text))


def _timed(call: Called) -> None:
    for name, index in (("stmt", 0), ("setup", 1)):
        statement = call.argument(index, name)
        for value in () if statement is None else call.context.evaluator.values(statement):
            if isinstance(value, Text):
                call.note()
                call.context.adopt(call.node, call.context.nested.python(value))
            elif value != LOCAL and value[0] == "?":
                call.note(UNKNOWN_CALL)


def _unseen(call: Called) -> None:
    call.note()
    call.doubt("runs-out-of-sight")


def _command(call: Called) -> None:
    command = call.argument(0, "command", "cmd", "args")
    if command is None and call.path.startswith("?") and not call.is_open_ended:
        return
    call.note()
    _shell(call, call.texts(command) or [UNKNOWN_TEXT])


def _argv(call: Called) -> None:
    call.note()
    if call.path.rpartition(".")[2] in _ALL_ARGUMENTS:
        _shell(call, [command_line(_each(call, call.node.args))])
        return
    argv = call.argument(0, "args", "program", "filepath")
    if isinstance(argv, ast.List | ast.Tuple):
        _shell(call, [command_line(_each(call, argv.elts))])
    else:
        _shell(call, call.texts(argv) or [UNKNOWN_TEXT])


def _program(call: Called) -> None:
    _flat(call, call.node.args)


def _spawned(call: Called) -> None:
    _flat(call, call.node.args[1:])


def _flat(call: Called, nodes: list[ast.expr]) -> None:
    """Read a program and its arguments, of which the first is the program's name once more."""
    call.note()
    arguments = nodes[1:2]
    rest = (
        arguments[0].elts
        if arguments and isinstance(arguments[0], ast.List | ast.Tuple)
        else nodes[1:]
    )
    _shell(call, [command_line(_each(call, [*nodes[:1], *rest[1:]]))])


def _each(call: Called, nodes: list[ast.expr]) -> list[Text]:
    texts = [call.context.evaluator.text(node) for node in nodes]
    return [UNKNOWN_TEXT if text is None else text for text in texts] or [UNKNOWN_TEXT]


def _shell(call: Called, texts: list[Text]) -> None:
    shell = call.named("shell")
    in_shell = shell is not None and not (isinstance(shell, ast.Constant) and not shell.value)
    for text in texts:
        line = text
        if in_shell and isinstance(text, Words):  # a shell reads such words as they stand
            line = Text(" ".join(part.value for part in text.parts))
        call.context.adopt(call.node, call.context.nested.shell(line))


def _import(call: Called) -> None:
    name = call.argument(0, "name")
    for text in call.texts(name) or [UNKNOWN_TEXT]:
        if not is_module_name(Text(text.value.replace(":", ".", 1))):
            call.doubt("module-while-running", Severity.HIGH)
        elif not is_known(text.value.partition(":")[0]):
            call.note(UNKNOWN_IMPORT)


def _package(call: Called) -> None:
    """A package of the house itself is as known as the source that names it."""
    for text in call.texts(call.argument(0, "package", "anchor")):
        if text.known and not is_known(text.value):
            call.note()


def _evaluated(call: Called) -> None:
    evaluated = call.named("eval_str")
    if call.is_open_ended or (evaluated is not None and not _is(evaluated, value=False)):
        call.note()


def _types(call: Called) -> None:
    for node in (*call.node.args, *(keyword.value for keyword in call.node.keywords)):
        call.calls.annotations.read(node)


def _by_name(call: Called) -> None:
    function = call.argument(0, "func")
    parts = [function] if function else []
    while parts:
        part = parts.pop()
        if isinstance(part, ast.List | ast.Tuple):
            parts += part.elts
        elif isinstance(part, ast.Dict):
            parts += part.values
        else:
            for text in call.context.evaluator.values(part):
                if isinstance(text, Text) and text.value in _RUN_TEXT:
                    call.note()
                elif isinstance(text, Text) and text.value.startswith("to_"):
                    _all(call, called(f"?.{text.value}"))


def _attribute(call: Called) -> None:
    base, name = call.argument(0), call.argument(1)
    if base is None or name is None:
        call.doubt("attribute-while-running")
        return
    if all(str(value)[:1] == "<" for value in call.context.evaluator.paths(base)):
        return
    for text in call.texts(name):
        if not text.known:
            call.doubt("attribute-while-running")
        elif text.value in PYTHON_MODULES.tricky:
            call.doubt("reaches-every-object")
        elif text.value in _SETS:
            call.doubt("attribute-while-running")


def _set_attribute(call: Called) -> None:
    base, name = call.argument(0), call.argument(1)
    if base is None or name is None:
        call.doubt("attribute-while-running")
        return
    for text in call.texts(name):
        call.calls.stores.stored(call.node, base, text.value if text.known else HOLE)


def _set_own(call: Called) -> None:
    if isinstance(call.node.func, ast.Attribute):
        for text in call.texts(call.argument(0)) or [UNKNOWN_TEXT]:
            name = text.value if text.known else HOLE
            call.calls.stores.stored(call.node, call.node.func.value, name)


def _named(call: Called) -> None:
    arguments = call.node.args[:1] if call.path.endswith("methodcaller") else call.node.args
    for text in [t for node in arguments for t in call.texts(node)] or [UNKNOWN_TEXT]:
        parts = text.value.split(".")
        if not text.known or len(parts) > 1 or not PYTHON_MODULES.tricky.isdisjoint(parts):
            call.doubt("attribute-while-running")
        else:
            call.calls.called_as(call.node, f"?.{parts[0]}")


def _pretrained(call: Called) -> None:
    """A model is loaded from a folder, or else fetched; some bring code of their own."""
    is_trusted = call.named("trust_remote_code")
    if is_trusted is not None and not _is(is_trusted, value=False):
        call.note(_REMOTE_CODE)
    texts = call.texts(call.argument(0, "pretrained_model_name_or_path"))
    is_folder = texts and all(text.value.startswith(_FOLDERS) for text in texts)
    call.note(_READS if is_folder else None)


def _sql(call: Called) -> None:
    statement = call.argument(0, "sql", "query", "statement", "operation")
    if statement is None and not call.is_open_ended:
        return
    for text in call.texts(statement) or [UNKNOWN_TEXT]:
        certain = call.path[0] != "?" or call.context.uses_database
        if certain or _STATEMENT.match(text.value):
            call.context.adopt(call.node, call.context.nested.sql(text))
        else:
            call.note(UNKNOWN_CALL)


def _magic(call: Called) -> None:
    name = call.context.evaluator.text(call.argument(0, "magic_name", "arg_s"))
    line = call.argument(1, "line", "cell")
    if name is not None and name.value in _IN_SHELL:
        _shell(call, call.texts(line) or [UNKNOWN_TEXT])
    call.note()
    call.doubt("runs-out-of-sight")


def _fits_mode(call: Called) -> None:
    if any(not t.known or t.value in _FITS_WRITES for t in call.texts(call.argument(1, "mode"))):
        call.note()


def _model(call: Called) -> None:
    """A formula of a statistical model is evaluated as Python, and functions in it are usual."""
    for text in call.texts(call.argument(0, "formula", "formula_like")):
        if not text.known:
            call.note(UNKNOWN_CALL)
        elif _MODEL_CALLS.search(text.value) or any(
            called(f"?.{name}") for name in _METHOD.findall(text.value)
        ):
            call.note()


def _parent(call: Called) -> None:
    """To find a module within a package, the package is imported."""
    for text in call.texts(call.argument(0, "name", "fullname", "module_or_name")):
        if not text.known or ("." in text.value and not is_known(text.value)):
            call.note()


def _preload(call: Called) -> None:
    modules = call.argument(0, "module_names", "modules_names")
    elements = modules.elts if isinstance(modules, ast.List | ast.Tuple | ast.Set) else []
    for text in [t for node in elements for t in call.texts(node)] or [UNKNOWN_TEXT]:
        if not text.known or not is_known(text.value):
            call.note()


def _rc(call: Called) -> None:
    """A setting of matplotlib may name a module or a program."""
    for mapping in call.node.args[:1]:
        keys = zip(mapping.keys, mapping.values, strict=True) if _is_dict(mapping) else ()
        for key, value in keys:
            texts = call.texts(key) if key else []
            if any(sets_what_runs(text, v) for text in texts for v in call.texts(value)):
                call.note()


def _is_dict(node: ast.expr) -> TypeGuard[ast.Dict]:
    return isinstance(node, ast.Dict)


def _ruamel(call: Called) -> None:
    kinds = call.argument(0, "typ")
    nodes = kinds.elts if isinstance(kinds, ast.List | ast.Tuple) else [kinds] if kinds else []
    if any(not text.known or text.value == "unsafe" for n in nodes for text in call.texts(n)):
        call.note()


def _stored(call: Called) -> None:
    is_first = call.path.rpartition(".")[2] in _STORES_FIRST and call.node.args
    store = call.named("store") or call.named("path") or (call.node.args[0] if is_first else None)
    if store is not None and not _is(store, value=None) and not _to_memory(call):
        call.note()


def _terminal(call: Called) -> None:
    """A character may be put where a terminal reads what is typed."""
    request = call.argument(1, "request")
    if isinstance(request, ast.Constant):
        if request.value in _TYPES_IN:
            call.note()
    elif request is not None:
        for path in call.context.evaluator.paths(request):
            if path.endswith("TIOCSTI"):
                call.note()
            elif "." not in path:
                call.note(UNKNOWN_CALL)


def _timed_words(call: Called) -> None:
    words = call.argument(0, "args")
    nodes = words.elts if isinstance(words, ast.List | ast.Tuple) else []
    texts = [text for node in nodes for text in call.texts(node)] or [UNKNOWN_TEXT]
    call.note()
    for text in texts:
        if not text.value.startswith("-"):
            call.context.adopt(call.node, call.context.nested.python(text))


Check = Callable[[Called], None]
CHECKS: dict[str, Check] = {
    "variable": _variable,
    "open": _open,
    "open_method": _open_method,
    "first_mode": _first_mode,
    "chmod": _chmod,
    "thread": _thread,
    "filename": _filename,
    "inplace": _inplace,
    "target": _target,
    "path_given": _path_given,
    "text_given": _text_given,
    "if_given": _if_given,
    "saved": _path_given,
    "url": _url,
    "url_given": _url_given,
    "engine": _engine,
    "numpy_load": _numpy_load,
    "torch_load": _torch_load,
    "yaml": _yaml,
    "query": _query,
    "moved": _moved,
    "environ": _environ,
    "temporary": _temporary,
    "backend": _backend,
    "option": _option,
    "plotted": _plotted,
    "formula": _formula,
    "code": _code,
    "timed": _timed,
    "unseen": _unseen,
    "command": _command,
    "argv": _argv,
    "program": _program,
    "spawned": _spawned,
    "import": _import,
    "package": _package,
    "evaluated": _evaluated,
    "by_name": _by_name,
    "types": _types,
    "attribute": _attribute,
    "set_attribute": _set_attribute,
    "set_own": _set_own,
    "named": _named,
    "pretrained": _pretrained,
    "sql": _sql,
    "magic": _magic,
    "fits_mode": _fits_mode,
    "model": _model,
    "parent": _parent,
    "preload": _preload,
    "rc": _rc,
    "ruamel": _ruamel,
    "stored": _stored,
    "terminal": _terminal,
    "timed_words": _timed_words,
}
"""By the names that the tables use."""

QUIET = names("""
    attribute backend by_name chmod engine environ evaluated filename first_mode fits_mode formula
    if_given import inplace model moved named numpy_load open open_method option package parent
    path_given plotted preload pretrained query rc ruamel saved set_attribute set_own sql stored
    target temporary terminal text_given thread timed timed_words torch_load types url url_given
    variable yaml
""")
"""Checks that decide by the arguments: naming such a function is not a finding yet."""
