"""What the tests ask of an inspection: the names that it gives to what some Python does."""

from __future__ import annotations

from dashboard.inspection.findings import Finding, Severity
from dashboard.inspection.python.inspector import inspect_python


def names(source: str) -> set[str]:
    """Return the names of all findings about ``source``."""
    return {finding.name for finding in inspect_python(source)}


def grave(source: str) -> set[str]:
    """Return the names of the findings of at least medium severity."""
    return {f.name for f in inspect_python(source) if f.severity.rank >= Severity.MEDIUM.rank}


def the(name: str, source: str) -> Finding:
    """Return the one finding of that name."""
    [found] = [finding for finding in inspect_python(source) if finding.name == name]
    return found


def doubts(source: str) -> list[str]:
    """Return the codes of the findings that say what could not be followed."""
    return [finding.code for finding in inspect_python(source) if finding.is_doubt]
