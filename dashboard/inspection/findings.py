"""What an inspection found: names, severities and sentences of ours, never of the agent's."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self

INSPECTOR_VERSION = "2"
"""Kept with every report; raise it whenever an inspector finds something else than before."""


class Severity(StrEnum):
    """How much a finding matters, from the least to the most."""

    INFO = "info"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        """0 for ``INFO`` to 3 for ``HIGH``."""
        return list(Severity).index(self)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the content does or may do.

    Attributes:
        name: Which one, such as ``"process-execution"``; stable, for policies to name.
        line: The first line, from 1, within its block; 0 means the whole of it.
        end_line: The last line.
        sentence: What it does, in one sentence of ours.
        block: Which block of the content, from 0.
        is_doubt: Whether this says that something could not be read or followed. What is in
            doubt is never approved without a person.
    """

    name: str
    severity: Severity
    line: int
    end_line: int
    sentence: str
    block: int = 0
    is_doubt: bool = False

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what ``asdict`` wrote."""
        return cls(**{**data, "severity": Severity(data["severity"])})


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that one inspection found.

    Attributes:
        languages: The language of each block of code, in our spelling; ``""`` where it is not
            known. Empty where the content holds no code.
        inspector: The version that looked.
    """

    findings: tuple[Finding, ...] = ()
    languages: tuple[str, ...] = ()
    inspector: str = INSPECTOR_VERSION

    @property
    def highest(self) -> Severity | None:
        """The greatest severity of all findings, None if there is none."""
        return max((f.severity for f in self.findings), key=lambda s: s.rank, default=None)

    @property
    def has_doubts(self) -> bool:
        """Whether anything could not be read or followed."""
        return any(finding.is_doubt for finding in self.findings)

    @property
    def names(self) -> frozenset[str]:
        """The names of all findings."""
        return frozenset(finding.name for finding in self.findings)

    def to_json(self) -> str:
        """Write the text that is stored."""
        return json.dumps(asdict(self), separators=(",", ":"), sort_keys=True)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read what ``to_json`` wrote."""
        data = json.loads(text)
        return cls(
            findings=tuple(Finding.from_dict(finding) for finding in data["findings"]),
            languages=tuple(data["languages"]),
            inspector=data["inspector"],
        )


def in_doubt(name: str, sentence: str, languages: Iterable[str] = ()) -> Report:
    """Report that an inspection came to nothing: one high finding that says why."""
    finding = Finding(name, Severity.HIGH, 0, 0, sentence, is_doubt=True)
    return Report((finding,), tuple(languages))
