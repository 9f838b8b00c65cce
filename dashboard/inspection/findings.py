"""What an inspection found, as facts. ``sentences`` says them in words."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self

INSPECTOR_VERSION = "14"
"""Kept with every report. Raise it whenever an inspector finds something else than before, and
with every change to the tables of knowledge, which ``tests/inspection/test_knowledge.py`` sees."""


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


class Unseen(StrEnum):
    """What an inspection could not see, from the most to the least."""

    NOT_READ = "not_read"
    """Nobody looked at it, so it may hold anything."""
    NOT_FOLLOWED = "not_followed"
    """It was looked at, and what happens there cannot be told."""
    UNKNOWN = "unknown"
    """It calls something by a name whose effects are not known here."""


UNSEEN = {
    "ambiguous-fence": Unseen.NOT_READ,
    "does-not-parse": Unseen.NOT_READ,
    "inspection-failed": Unseen.NOT_READ,
    "too-large": Unseen.NOT_READ,
    "too-nested": Unseen.NOT_READ,
    "too-slow": Unseen.NOT_READ,
    "cannot-be-followed": Unseen.NOT_FOLLOWED,
    "not-inspected": Unseen.NOT_FOLLOWED,
    "parsed-in-part": Unseen.NOT_FOLLOWED,
    "too-many-findings": Unseen.NOT_FOLLOWED,
    "unknown-call": Unseen.UNKNOWN,
    "unknown-import": Unseen.UNKNOWN,
}
"""The kind of each finding that says what was not seen, by name. Every doubt is listed here."""

DOUBTS = frozenset({Unseen.NOT_READ, Unseen.NOT_FOLLOWED})
"""What is never approved without a person, whatever a rule says."""


_WRITTEN = frozenset({"name", "severity", "line", "end_line", "code", "block"})


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the content does or may do.

    Attributes:
        name: Which one, such as ``"process-execution"``; stable, for policies to name.
        line: The first line, from 1, within its block; 0 means the whole of it.
        end_line: The last line.
        code: What it says: one of ``sentences.SENTENCES``, more exact than the name.
        block: Which block of the content, from 0.
        about: What it is about, such as a function that is called; the agent wrote it.
        kept: The whole sentence, in a report that was kept before there were codes.
    """

    name: str
    severity: Severity
    line: int
    end_line: int
    code: str
    block: int = 0
    about: str = ""
    kept: str = ""

    @property
    def unseen(self) -> Unseen | None:
        """What this says was not seen; None for what the content does or may do."""
        return UNSEEN.get(self.name)

    @property
    def is_doubt(self) -> bool:
        """Whether this says that something could not be read or followed."""
        return self.unseen in DOUBTS

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what ``to_dict`` wrote, also when a finding was kept as a sentence."""
        fields = {"code": "", **data, "severity": Severity(data["severity"])}
        if "sentence" in fields:
            fields["kept"] = fields.pop("sentence")
        if fields.pop("is_doubt", False) and fields["name"] not in UNSEEN:
            fields["name"] = "inspection-failed"  # the strictest reading of a name from elsewhere
        return cls(**fields)

    def to_dict(self) -> dict[str, Any]:
        """Return what is stored; what is empty is left out."""
        return {name: value for name, value in asdict(self).items() if value or name in _WRITTEN}


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
    def unseen(self) -> frozenset[Unseen]:
        """All that the inspection could not see."""
        return frozenset(finding.unseen for finding in self.findings if finding.unseen)

    @property
    def has_doubts(self) -> bool:
        """Whether anything could not be read or followed."""
        return not self.unseen.isdisjoint(DOUBTS)

    @property
    def is_unread(self) -> bool:
        """Whether the inspection came to nothing, so that not even the languages are known."""
        return not self.languages and any(
            f.unseen is Unseen.NOT_READ and (f.block, f.line) == (0, 0) for f in self.findings
        )

    @property
    def names(self) -> frozenset[str]:
        """The names of all findings."""
        return frozenset(finding.name for finding in self.findings)

    def to_json(self) -> str:
        """Write the text that is stored."""
        findings = [finding.to_dict() for finding in self.findings]
        report = {
            "findings": findings,
            "languages": self.languages,
            "inspector": self.inspector,
        }
        return json.dumps(report, separators=(",", ":"), sort_keys=True)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read what ``to_json`` wrote."""
        data = json.loads(text)
        return cls(
            findings=tuple(Finding.from_dict(finding) for finding in data["findings"]),
            languages=tuple(data["languages"]),
            inspector=data["inspector"],
        )


def gravest(findings: Iterable[Finding], most: int) -> list[Finding]:
    """Return the gravest findings, at least one of each name so that no rule misses one."""
    ordered = sorted(findings, key=lambda finding: -finding.severity.rank)
    of_each_name = {finding.name: finding for finding in reversed(ordered)}
    rest = (finding for finding in ordered if of_each_name[finding.name] is not finding)
    return [*of_each_name.values(), *rest][:most]


def in_doubt(name: str, code: str, languages: Iterable[str] = ()) -> Report:
    """Report that an inspection came to nothing: one high finding that says why."""
    finding = Finding(doubt_name(name), Severity.HIGH, 0, 0, code)
    return Report((finding,), tuple(languages))


def doubt_name(name: str) -> str:
    """Return a name that says that something could not be read or followed.

    Raises:
        ValueError: ``UNSEEN`` does not say which of the two.
    """
    if UNSEEN.get(name) not in DOUBTS:
        raise ValueError(f"UNSEEN does not say whether {name!r} was not read or not followed.")
    return name
