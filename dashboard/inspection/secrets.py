"""Findings about credentials in content."""

from __future__ import annotations

import re

from dashboard.inspection.findings import Finding, Severity
from dashboard.inspection.knowledge import SECRETS
from dashboard.inspection.notes import FindingKind, Notes, line_finder
from dashboard.inspection.sentences import SENTENCES

SECRET_NAME = re.compile(r"(?i)key|token|secret|passw|pwd|credential|auth")
"""What the name of a variable has in it if its value is a secret."""

_EACH = [
    # A house's own kinds of secrets have no sentence of their own.
    (secret.name if secret.name in SENTENCES else "credentials", re.compile(secret.find))
    for secret in SECRETS.secrets
    if secret.find
]


def inspect_secrets(text: str, *, block: int = 0) -> list[Finding]:
    """Return a finding for each line that holds what looks like a credential."""
    notes = Notes(block)
    line_of = line_finder(text)
    for code, pattern in _EACH:
        for match in pattern.finditer(text):
            line = line_of(match.start())
            with notes.at(line, line):
                notes.add(FindingKind("credentials", Severity.MEDIUM, code))
    return notes.found
