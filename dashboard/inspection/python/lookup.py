"""What is known about a dotted path: ``os.system``, ``epics.PV().put``, ``?.unlink``.

``()`` after a part stands for what a call of it returns, ``?`` for an object of which nothing is
known, ``<3>`` for a class of the source itself.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from itertools import chain
from types import MappingProxyType

from dashboard.inspection import control_system
from dashboard.inspection.findings import Severity
from dashboard.inspection.knowledge import (
    CONTROL_SYSTEM,
    LIBRARIES,
    PYTHON_MODULES,
    STANDARD_LIBRARY,
    VERBS,
)
from dashboard.inspection.knowledge.loading import Deed, Deeds

MAX_PATH = 120  # characters; longer ones are nobody's name


def _merged(*tables: Deeds) -> Deeds:
    """Put tables together; a name in several of them is all that they say."""
    table: dict[str, tuple[Deed, ...]] = {}
    for path, deeds in (item for part in tables for item in part.items()):
        table[path] = (*table.get(path, ()), *deeds)
    return MappingProxyType(table)


_TABLE = _merged(STANDARD_LIBRARY.calls, LIBRARIES.calls)
_EXACT = {path: deeds for path, deeds in _TABLE.items() if not path.endswith(".*")}
_WHOLE = {path[:-2]: deeds for path, deeds in _TABLE.items() if path.endswith(".*")}
_MOVED: dict[
    str, tuple[Deed, ...]
] = {}  # a function of a library, found under another of its modules
for _path, _deeds in _EXACT.items():
    _root, _, _rest = _path.partition(".")
    if _rest:
        _name = f"{_root} {_rest.rpartition('.')[2]}"
        _MOVED[_name] = (*_MOVED.get(_name, ()), *_deeds)
_WRITES = (Deed("file-write", Severity.MEDIUM, check="target"),)
_PRIVATE = (Deed("unknown-call", Severity.MEDIUM),)
_METHODS = _merged(LIBRARIES.methods, CONTROL_SYSTEM.methods)
_ALIASES = {**PYTHON_MODULES.aliases, **CONTROL_SYSTEM.aliases}
KNOWN = (
    PYTHON_MODULES.harmless
    | CONTROL_SYSTEM.libraries
    | {root for path in _EXACT if (root := path.partition(".")[0]) in sys.stdlib_module_names}
    | {path.partition(".")[0] for path in _WHOLE}
    | {path for path in _ALIASES if "." not in path}
) - PYTHON_MODULES.partly
_HARMFUL = {path for path, deeds in _TABLE.items() if any(d.severity.rank > 1 for d in deeds)}
_CALLED_CLASSES = {
    parent
    for path in _EXACT
    if (parent := path.rpartition(".")[0]).rpartition(".")[2][:1].isupper()
}
_MODULES = (
    {path.rpartition(".")[0] for path in _HARMFUL}
    - _CALLED_CLASSES
    - {"", "builtins.object", "builtins.type"}  # what harms is their __setattr__, by its name
) | CONTROL_SYSTEM.libraries
_TYPES = (
    _CALLED_CLASSES
    | PYTHON_MODULES.harmless_types
    | {"socket.socket", "get_ipython", "sqlite3.connect", "boto3.client"}
    | {"xml.etree.ElementTree.parse", "lxml.etree.parse", "importlib.metadata.EntryPoint"}
)
_HELD, _HELD_BY_STDLIB = (
    {f"{blank}{name}": name for blank in ("", "_") for name in held}
    for held in (PYTHON_MODULES.held, PYTHON_MODULES.held_by_stdlib)
)
_STREAMS = ("sys.stdin", "sys.stdout", "sys.stderr")
_PROXIES = frozenset(["__call__", "__init__", "__new__", "__wrapped__", "__get__", "__func__"])


def canonical(path: str) -> str:
    """Return the one name under which a path is known here."""
    return _ALIASES.get(path, path)


def member(path: str, attribute: str) -> str:
    """Return the path of an attribute."""
    if path[0] == "?":
        return _HELD.get(attribute) or f"?.{attribute}"
    if len(path) + len(attribute) > MAX_PATH:
        return f"?.{attribute[:MAX_PATH]}"
    return _held(path, attribute) or canonical(f"{path}.{attribute}")


def imported(name: str) -> str:
    """Return the path of a module by the name it is imported under."""
    root, *rest = name.split(".")
    path = canonical(root)
    for part in rest:
        path = member(path, part)
    return path


def _held(path: str, attribute: str) -> str:
    root = path.partition(".")[0]
    if "(" in path or f"{path}.{attribute}" in PYTHON_MODULES.holds_its_own:
        return ""
    holder = _HELD.get(attribute, "")
    if not holder and root in sys.stdlib_module_names:
        holder = _HELD_BY_STDLIB.get(attribute, "")
    return holder


def is_module(path: str) -> bool:
    """Whether a path is a module that can do harm, and so must not get out of sight."""
    return path in _MODULES


def is_known(module: str) -> bool:
    """Whether the effects of a module are known."""
    return module.partition(".")[0] in KNOWN


def makes(path: str) -> bool:
    """Whether a call of ``path`` returns an object whose methods are in the tables."""
    return path.replace("()", "") in _TYPES or (
        control_system.is_library(path) and path.count("()") < 2  # noqa: PLR2004
    )


@lru_cache(maxsize=4096)
def called(path: str) -> tuple[Deed, ...]:
    """Return what a call of ``path`` does, as far as its name shows."""
    parent, _, name = path.rpartition(".")
    if path.endswith("()"):  # an object that is called
        return (control_system.WRITES,) if control_system.is_library(path) else ()
    exact = _EXACT.get(path) or _EXACT.get(path.replace("()", ""))
    if exact:
        return exact
    if name in _PROXIES and parent not in ("?", "") and parent[0] != "<":
        return called(_made_by(parent) if name == "__init__" else parent)
    if _is_harmless(path, parent):
        return ()
    if control_system.is_library(path):
        return (control_system.called(path),)
    surely = _METHODS.get(name, ()) if parent else ()
    return (
        surely
        or _whole(path)
        or _method(path, name)
        or _moved(path)
        or _says_it_writes(path, name)
        or _not_listed(path)
    )


def _made_by(path: str) -> str:
    """Return what makes an object: its ``__init__`` does the same, of other arguments."""
    if path.startswith(_STREAMS):
        return "builtins.open"
    return path.removesuffix("()") if path != "builtins.super()" else path


def _moved(path: str) -> tuple[Deed, ...]:
    """Look a name up in all of its library; what is private there is known to nobody."""
    root, *parts = path.split(".")
    if root not in KNOWN or not parts or "(" in path:
        return ()
    is_private = any(part[:1] == "_" and part[:2] != "__" for part in parts)
    return _MOVED.get(f"{root} {parts[-1]}") or (_PRIVATE if is_private else ())


def _says_it_writes(path: str, name: str) -> tuple[Deed, ...]:
    """Recognise what a known library has to write files: ``write_adjlist``, ``hb_write``."""
    root = path.partition(".")[0]
    words = name.split("_")
    says_so = len(words) > 1 and VERBS.writing & {words[0], words[-1]}
    writes = says_so and root in PYTHON_MODULES.harmless
    return _WRITES if writes and root not in sys.stdlib_module_names else ()


@lru_cache(maxsize=4096)
def referred(path: str) -> tuple[Deed, ...]:
    """Return what may follow from naming ``path`` without a call: it may be called elsewhere."""
    parent, _, name = path.rpartition(".")
    if path.endswith("()"):
        return ()
    exact = _EXACT.get(path) or _EXACT.get(path.replace("()", ""))
    if exact or _is_harmless(path, parent):
        return exact or ()
    if control_system.is_library(path) and path not in CONTROL_SYSTEM.libraries:
        deed = control_system.called(path)
        return (deed,) if "()" not in path and not name.islower() else _METHODS.get(name, ())
    deeds = _METHODS.get(name, ()) if parent else ()
    return deeds or (_whole(path) if name.islower() and "(" not in path else ())


def _is_harmless(path: str, parent: str) -> bool:
    if path[0] == "<" or (parent.endswith("()") and parent[:-2] in PYTHON_MODULES.harmless_types):
        return path.rpartition(".")[2] not in _METHODS
    if path.startswith(PYTHON_MODULES.harmless_parts):
        return True
    root, _, rest = path.partition(".")
    return rest in PYTHON_MODULES.harmless_members.get(root, ())


def _whole(path: str) -> tuple[Deed, ...]:
    while "." in path:
        path = path.rpartition(".")[0]
        if path in _WHOLE:
            return _WHOLE[path]
    return ()


def _method(path: str, name: str) -> tuple[Deed, ...]:
    strong = _METHODS.get(name, ())
    root = path.partition(".")[0]
    if strong or "." not in path:
        return strong
    is_object = "(" in path or root == "?" or root not in KNOWN
    return LIBRARIES.weak_methods.get(name, ()) if is_object else ()


def _not_listed(path: str) -> tuple[Deed, ...]:
    root, _, rest = path.partition(".")
    is_listed = root in PYTHON_MODULES.harmless_members
    if is_listed and rest and "(" not in rest and not rest[0].isupper():
        return (Deed("unknown-call", Severity.LOW),)
    return ()


def names_of(module: str) -> frozenset[str]:
    """Return what ``from module import *`` is known to bring."""
    prefix = f"{module}."
    return frozenset(
        path[len(prefix) :] for path in chain(_EXACT, _WHOLE) if path.startswith(prefix)
    )


def is_harmful(module: str) -> bool:
    """Whether a module holds anything of medium severity or higher."""
    return module in _MODULES or any(
        deed.severity.rank >= Severity.MEDIUM.rank for deed in _WHOLE.get(module, ())
    )
