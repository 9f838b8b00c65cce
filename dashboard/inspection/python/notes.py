"""The findings about one Python source while they are being made."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from dashboard.inspection.findings import Finding, Severity, gravest
from dashboard.inspection.knowledge.loading import Deed
from dashboard.inspection.notes import FindingKind, doubt

UNFOLLOWED = "cannot-be-followed"
NETWORK = Deed("network", Severity.MEDIUM)
UNKNOWN_CALL = Deed("unknown-call", Severity.LOW)
UNKNOWN_DESTROYS = Deed("unknown-call", Severity.MEDIUM, code="unknown-library-destroys")
SERVICE_DESTROYS = Deed("unknown-call", Severity.MEDIUM, code="service-destroys")
UNKNOWN_IMPORT = Deed("unknown-import", Severity.LOW)
CREDENTIALS = Deed("credentials", Severity.MEDIUM)
MAX_FINDINGS = 200
_MAX_WRITTEN = 60
_MAX_LINKS = 12


class PythonNotes:
    """Findings by name and line: of two that say the same about a line, the graver is kept."""

    def __init__(self, block: int) -> None:
        self._block = block
        self._found: dict[tuple[str, int], Finding] = {}

    def add(self, node: ast.AST, deed: Deed, about: str = "", code: str = "") -> None:
        """Note what the code at ``node`` does.

        Args:
            about: What is called, as it is written there.
            code: What is said of it, if the usual sentence of such a finding does not say it.
        """
        start = getattr(node, "lineno", 0)
        end = getattr(node, "end_lineno", 0) or start
        effect = FindingKind(deed.name, deed.severity, code or deed.code or deed.name, about)
        self.put(effect.finding(start, end))

    def doubt(
        self, node: ast.AST, about: str, code: str, severity: Severity = Severity.MEDIUM
    ) -> None:
        """Note that something at ``node`` cannot be followed."""
        self.add(node, Deed(UNFOLLOWED, severity), about, code)

    def put(self, finding: Finding) -> None:
        """Note a finding that is complete but for its block."""
        key = (finding.name, finding.line)
        earlier = self._found.get(key)
        if earlier is None or finding.severity.rank > earlier.severity.rank:
            self._found[key] = replace(finding, block=self._block)

    def adopt(self, node: ast.AST, findings: Iterable[Finding]) -> None:
        """Note what was found in a text that the code at ``node`` holds."""
        start = getattr(node, "lineno", 0)
        end = getattr(node, "end_lineno", 0) or start
        for finding in findings:
            self.put(replace(finding, line=start, end_line=end))

    def findings(self) -> list[Finding]:
        """Return what was noted in the order of lines; of too many, the gravest."""
        ordered = sorted(self._found.values(), key=lambda f: (f.line, f.name))
        if len(ordered) <= MAX_FINDINGS:
            return ordered
        noted = sorted(gravest(ordered, MAX_FINDINGS), key=lambda f: (f.line, f.name))
        more = doubt("too-many-findings", "more-findings-of-python")
        return [*noted, more.finding(block=self._block)]


def written(node: ast.AST | None) -> str:
    """Return how something is called in the source, if that shows as it is."""
    parts: list[str] = []
    for _ in range(_MAX_LINKS):
        if isinstance(node, ast.Attribute):
            parts.append(f".{node.attr}")
            node = node.value
        elif isinstance(node, ast.Call):
            parts.append("(...)")
            node = node.func
        elif isinstance(node, ast.Subscript):
            parts.append("[...]")
            node = node.value
        else:
            break
    if isinstance(node, ast.Name):
        parts.append(node.id)
    text = "".join(reversed(parts))[-_MAX_WRITTEN:]
    return text.lstrip(".") if text.isascii() and text.isprintable() else ""
