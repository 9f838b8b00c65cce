"""What the judges of one Python source share: what its names mean, and where findings go."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from dashboard.inspection import control_system
from dashboard.inspection.findings import Finding, Severity
from dashboard.inspection.knowledge import CONTROL_SYSTEM, PYTHON_MODULES
from dashboard.inspection.knowledge.loading import Deed
from dashboard.inspection.python.elsewhere import Elsewhere, origins
from dashboard.inspection.python.names import Values
from dashboard.inspection.python.nested import Nested
from dashboard.inspection.python.notes import PythonNotes, written
from dashboard.inspection.python.places import Places
from dashboard.inspection.python.scopes import Program
from dashboard.inspection.python.values import Evaluator


class Context:
    """One source whose names are followed.

    Attributes:
        libraries: Those of control systems that it is known to use by now.
        uses_database: Whether a text that it executes is SQL for certain.
    """

    def __init__(
        self, program: Program, evaluator: Evaluator, notes: PythonNotes, nested: Nested
    ) -> None:
        self.program = program
        self.evaluator = evaluator
        self.notes = notes
        self.nested = nested
        self.libraries = CONTROL_SYSTEM.libraries & program.imports
        self.uses_database = not PYTHON_MODULES.databases.isdisjoint(program.imports)
        self._places = Places(program, evaluator)
        self._elsewhere = Elsewhere(program, evaluator.names)

    def speaks_to(self, called: Values) -> None:
        """Remember the libraries of control systems among what is called."""
        for path in called:
            if isinstance(path, str) and control_system.is_library(path):
                self.libraries |= {path.partition(".")[0].removesuffix("()")}

    def note(self, node: ast.AST, deed: Deed, path: str = "") -> None:
        """Note a deed of what is named or called at ``node``."""
        about = written(node.func if isinstance(node, ast.Call) else node)
        if path and path[0] not in "?<!" and about and about.replace("(...)", "()") != path:
            about = f"{about} ({path})"
        if deed.name == "file-write" and isinstance(node, ast.Call):
            for kind in self._places.written(node):  # says more, and stands first
                self.notes.add(node, Deed(kind.name, kind.severity), about, kind.code)
        self.notes.add(node, deed, about)

    def doubt(self, node: ast.AST, code: str, severity: Severity = Severity.MEDIUM) -> None:
        """Note that what is called at ``node`` cannot be followed."""
        about = written(node.func if isinstance(node, ast.Call) else node)
        self.notes.doubt(node, about, code, severity)

    def adopt(self, node: ast.AST, findings: Iterable[Finding]) -> None:
        """Note what was found in a text that is run at ``node``."""
        self.notes.adopt(node, findings)

    def may_write(self, path: str) -> bool:
        """Whether a method of an unknown object may write to a control system."""
        method = path.rpartition(".")[2]
        return bool(self.libraries) and control_system.may_write(method, self.libraries)

    def is_from_elsewhere(self, root: ast.AST) -> bool:
        """Whether an expression may come from objects that the source did not make."""
        return any(map(self._elsewhere.may_be, origins(root)))
