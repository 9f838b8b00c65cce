"""Findings about credentials that are written down in content."""

from __future__ import annotations

import re

from dashboard.inspection.findings import Finding, Severity
from dashboard.inspection.notes import Effect, Notes

_PATTERNS = {
    "a private key": r"-----BEGIN (?:[A-Z]+ ){0,2}PRIVATE KEY",
    "an access key of AWS": r"A[KS]IA(?<=\bA[KS]IA)[0-9A-Z]{16}\b",
    "a token of GitHub": r"g(?<=\bg)(?:h[pousr]_[A-Za-z0-9]{36}|ithub_pat_[A-Za-z0-9_]{60})",
    "a token of GitLab": r"glpat-(?<=\bglpat-)[A-Za-z0-9_-]{20}",
    "a token of Slack": r"xox(?<=\bxox)[abprs]-[A-Za-z0-9-]{10}",
    "a key of Google": r"AIza(?<=\bAIza)[0-9A-Za-z_-]{35}",
    "a key of a model's provider": r"sk-(?<=\bsk-)(?:ant-|proj-)?[A-Za-z0-9_-]{20}",
    "a key of Stripe": r"k_live_(?<=\b[rs]k_live_)[A-Za-z0-9]{16}",
    "a token of Hugging Face": r"hf_(?<=\bhf_)[A-Za-z0-9]{30}",
    "a signed token (JWT)": r"eyJ(?<=\beyJ)[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10}",
    "a password in an address": r"://[^\s:/@'\"{}$<>]{1,100}:[^\s:/@'\"{}$<>]{3,100}@",
    "a password": (
        r"(?i:passw(?:or)?d|passphrase|secret|api_?key|access_?key|auth_?token)[\"']?\s{0,3}[:=]"
        r"\s{0,3}[\"'](?![{$<%])[^\s\"']{8,200}[\"']"
    ),
}
_EACH = [(what, re.compile(pattern)) for what, pattern in _PATTERNS.items()]


def inspect_secrets(text: str, *, block: int = 0) -> list[Finding]:
    """Return a finding for each line that holds what looks like a credential."""
    notes = Notes(block)
    for what, pattern in _EACH:
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            with notes.at(line, line):
                notes.add(Effect("credentials", Severity.MEDIUM, f"Holds what looks like {what}."))
    return notes.found
