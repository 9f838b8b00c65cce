"""What names stand for, in the scope and at the place where they are read.

A name that the source does not surely bind before may be there already: as a builtin, or because
the code goes to a kernel that ran other code before. Such names keep their usual meaning.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable

from dashboard.inspection.knowledge import CONTROL_SYSTEM, PYTHON_MODULES
from dashboard.inspection.python.bindings import LOST, UNKNOWN
from dashboard.inspection.python.lookup import KNOWN, is_known, member, names_of
from dashboard.inspection.python.scopes import Place, Program, Scope
from dashboard.inspection.python.strings import UNKNOWN_TEXT, Text

Value = str | Text
Values = tuple[Value, ...]
MAX_VALUES = 12
_AMBIENT = {
    **{name: f"builtins.{name}" for name in dir(builtins) if not name.startswith("_")},
    "__import__": "builtins.__import__",
    "__builtins__": "builtins",
    "__loader__": "importlib.machinery",
    "file": "builtins.open",
    "execfile": "builtins.exec",
    "raw_input": "builtins.input",
    "unicode": "builtins.str",
    **{name: name for name in PYTHON_MODULES.ambient_modules},
    **PYTHON_MODULES.ambient,
    **CONTROL_SYSTEM.ambient,
}
_FREE = {**{name: name for name in KNOWN}, **PYTHON_MODULES.where_free}


def union(*several: Iterable[Value]) -> Values:
    """Put values together without duplicates; too many of them become unknown."""
    merged = tuple(dict.fromkeys(value for values in several for value in values))
    if len(merged) <= MAX_VALUES:
        return merged
    paths = tuple(value for value in merged if isinstance(value, str))
    return (*paths, UNKNOWN_TEXT) if len(paths) < MAX_VALUES else (LOST,)


class Names:
    """What is known so far to be bound to names and to attributes."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._scopes: dict[Scope, dict[str, Values]] = {}
        self.attributes: dict[str, Values] = {}
        self._star_names = {path: names_of(path) for path in program.stars}

    def add(self, scope: Scope | None, name: str, values: Values) -> bool:
        """Add values to a name, or without a scope to an attribute; return whether any is new."""
        table = self.attributes if scope is None else self._scopes.setdefault(scope, {})
        earlier = table.get(name, ())
        if earlier == (LOST,):
            return False
        merged = union(earlier, values)
        table[name] = merged
        return merged != earlier

    def look_up(self, scope: Scope, name: str, place: Place) -> Values:
        """Return all that ``name`` may stand for, read at ``place`` in ``scope``."""
        candidates: list[Values] = []
        current: Scope | None = scope
        while current:
            if name in current.bound and (current is scope or not current.is_class):
                candidates.append(self._scopes.get(current, {}).get(name, ()))
                is_local = current.parent and not current.is_class
                if is_local and name not in self._program.nonlocals:
                    return union(*candidates)
            current = current.parent
        if not self._is_settled(name, place):
            candidates.append(self._ambient(name, is_bound=bool(candidates)))
        return union(*candidates)

    def is_free(self, scope: Scope, name: str) -> bool:
        """Whether neither the source nor common usage gives ``name`` a meaning."""
        current: Scope | None = scope
        while current:
            if name in current.bound:
                return False
            current = current.parent
        return name not in _AMBIENT and name not in _FREE and not self._program.stars

    def _is_settled(self, name: str, place: Place) -> bool:
        if name in self._program.deleted:
            return False
        ranges = self._program.module.definite.get(name, ())
        return any(since <= place <= until for since, until in ranges)

    def _ambient(self, name: str, *, is_bound: bool) -> Values:
        candidates = [_AMBIENT[name]] if name in _AMBIENT else []
        for module, names in self._star_names.items():
            if name in names or (is_known(module) and not candidates):
                candidates.append(member(module, name))
        if not candidates and not is_bound:
            candidates.append(_FREE.get(name, UNKNOWN))
        return tuple(candidates)
