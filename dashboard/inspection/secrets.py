"""Findings about credentials in content."""

from __future__ import annotations

import re

from dashboard.inspection.findings import Finding, Severity
from dashboard.inspection.knowledge import SECRETS
from dashboard.inspection.notes import Effect, Notes

_EACH = [(secret.what, re.compile(secret.find)) for secret in SECRETS.secrets if secret.find]


def inspect_secrets(text: str, *, block: int = 0) -> list[Finding]:
    """Return a finding for each line that holds what looks like a credential."""
    notes = Notes(block)
    for what, pattern in _EACH:
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            with notes.at(line, line):
                notes.add(Effect("credentials", Severity.MEDIUM, f"Holds what looks like {what}."))
    return notes.found
