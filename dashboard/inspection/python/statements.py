"""Notes what a node says by itself: imports, secrets in constants, telling names of functions."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from dashboard.inspection import control_system
from dashboard.inspection.findings import Severity
from dashboard.inspection.knowledge import CONTROL_SYSTEM, SECRETS
from dashboard.inspection.knowledge.loading import Deed
from dashboard.inspection.python.calls import QUIET
from dashboard.inspection.python.lookup import imported, is_harmful, is_known, member, referred
from dashboard.inspection.python.notes import CREDENTIALS, NETWORK, UNKNOWN_IMPORT, PythonNotes
from dashboard.inspection.python.scopes import Program
from dashboard.inspection.python.strings import MAX_TEXT

_ALL = Deed(UNKNOWN_IMPORT.name, Severity.MEDIUM)
_UNPICKLED = Deed("deserialisation", Severity.LOW)
_SECRET_FILES = re.compile(
    r"(?:\S*[/\\])?(?:\.ssh|\.aws|\.gnupg|\.kube|\.docker)(?:[/\\]\S*)?|"
    r"(?:\S*[/\\])?(?:id_rsa|id_ed25519|id_ecdsa|\.netrc|\.pgpass|\.git-credentials|\.npmrc|\.pypirc)|"
    r"(?:\S*/)?etc/(?:shadow|gshadow|sudoers)(?:/\S*)?|(?:\S*/)?proc/(?:self|\d+)/environ"
)
_SECRETS = re.compile("|".join(one.literal for one in SECRETS.secrets if one.literal))


class Statements:
    """Judges nodes that say by themselves what they do."""

    def __init__(self, program: Program, notes: PythonNotes) -> None:
        self._docstrings = program.docstrings
        self._notes = notes

    def handlers(self) -> dict[type[ast.AST], Callable[[Any], None]]:
        """Return what judges which kind of node."""
        return {
            ast.Constant: self._constant,
            ast.Import: self._import,
            ast.ImportFrom: self._import_from,
            ast.FunctionDef: self._function,
        }

    def _constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bytes):
            value = value.decode("latin-1")
        if not isinstance(value, str) or len(value) < 4 or id(node) in self._docstrings:  # noqa: PLR2004
            return
        if len(value) > MAX_TEXT:
            self._notes.doubt(node, "", "long-text", Severity.MEDIUM)
        self.secret(node, value)

    def secret(self, node: ast.expr, value: str) -> None:
        """Note a text that is a secret, or the name of a file that holds some."""
        if _SECRETS.search(value) or (len(value) < 300 and _SECRET_FILES.fullmatch(value)):  # noqa: PLR2004
            self._notes.add(node, CREDENTIALS, code="names-secret")

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._imported(node, imported(alias.name))

    def _import_from(self, node: ast.ImportFrom) -> None:
        module = imported(node.module or "")
        if node.level:
            self._notes.add(node, UNKNOWN_IMPORT)
            return
        self._imported(node, module)
        for alias in node.names:
            if alias.name == "*":
                if is_harmful(module) and not control_system.is_library(module):
                    self._notes.add(node, _ALL, module, "imports-all")
                continue
            path = member(module, alias.name)
            for deed in referred(path):
                if deed.check not in QUIET and not _only_brings(alias, deed):
                    self._notes.add(node, deed, f"{path}" if path.isascii() else "")

    def _imported(self, node: ast.stmt, module: str) -> None:
        if not is_known(module):
            self._notes.add(node, UNKNOWN_IMPORT, module[:60] if module.isascii() else "")
        elif module.startswith(("antigravity", "this.")):
            self._notes.add(node, NETWORK)

    def _function(self, node: ast.FunctionDef) -> None:
        if node.name in ("__reduce__", "__reduce_ex__", "__setstate__"):
            self._notes.add(node, _UNPICKLED, code="runs-when-read")


def _only_brings(alias: ast.alias, deed: Deed) -> bool:
    """Whether an import neither reads nor writes, and whoever calls the name later is seen.

    A name of its own for what writes is found here: in a kernel, nobody knows it in the next cell.
    """
    if deed in (control_system.READS, control_system.SERVES):
        return True
    if deed.name != control_system.WRITES.name or alias.asname not in (None, alias.name):
        return False
    return CONTROL_SYSTEM.ambient.get(alias.name, "").endswith(f".{alias.name}")
