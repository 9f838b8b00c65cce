"""What the inspectors write down while they read: findings, each put on the lines being read."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from dashboard.inspection.findings import DOUBTS, UNSEEN, Finding, Severity, doubt_name
from dashboard.inspection.sentences import SENTENCES


@dataclass(frozen=True, slots=True)
class FindingKind:
    """A finding without its place. The inspectors' tables are made of these.

    Raises:
        ValueError: There is no sentence for ``code``.
    """

    name: str
    severity: Severity
    code: str
    about: str = ""

    def __post_init__(self) -> None:
        """Refuse what nobody could be told."""
        if self.code not in SENTENCES:
            raise ValueError(f"SENTENCES has no sentence for {self.code!r}.")

    @property
    def is_doubt(self) -> bool:
        """Whether it says that something could not be read or followed."""
        return UNSEEN.get(self.name) in DOUBTS

    def finding(self, line: int = 0, end_line: int = 0, block: int = 0) -> Finding:
        """Put it on lines; without any it is about the whole."""
        return Finding(
            self.name, self.severity, line, end_line, self.code, block, about=self.about
        )


def doubt(name: str, code: str, severity: Severity = Severity.HIGH) -> FindingKind:
    """Say that something could not be read or followed."""
    return FindingKind(doubt_name(name), severity, code)


def names(text: str) -> frozenset[str]:
    """Return the names in a text, for tables that are written as one."""
    return frozenset(text.split())


FINDINGS = frozenset(UNSEEN) | names("""
    background-job control-characters control-system-read control-system-write credentials
    deserialisation disk-write dynamic-code file-delete file-read file-write folding-characters
    hidden-text invisible-characters look-alike-characters network pipe-to-shell privilege-change
    process-execution recursive-delete row-of-blanks sql-delete sql-drop sql-grant sql-update
    sql-without-where sql-write system-change text-direction tool-schema-changed
    unknown-characters unusual-blanks
""")
"""The names of all findings. The tables may name no other."""


def line_finder(text: str) -> Callable[[int], int]:
    """Return a function from the position of a character to the line it stands on, from 1."""
    ends: list[int] = []

    def line_of(position: int) -> int:
        if not ends:
            ends.extend(match.start() for match in re.finditer("\n|\\Z", text))
        return bisect_left(ends, position) + 1

    return line_of


class Notes:
    """The findings about one block, in the order in which they were made, each only once."""

    def __init__(self, block: int = 0) -> None:
        self._block = block
        self._lines = (1, 1)
        self._found: dict[Finding, None] = {}

    @property
    def found(self) -> list[Finding]:
        """Everything that was noted so far."""
        return list(self._found)

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last of the lines that are being read."""
        return self._lines

    @contextmanager
    def at(self, first: int, last: int) -> Iterator[None]:
        """Put what is noted meanwhile on these lines."""
        outer_lines, self._lines = self._lines, (first, last)
        try:
            yield
        finally:
            self._lines = outer_lines

    def add(self, *effects: FindingKind) -> None:
        """Note effects on the lines that are being read."""
        for effect in effects:
            self._found[effect.finding(*self._lines, self._block)] = None

    def adopt(self, findings: Iterable[Finding]) -> None:
        """Note what another inspection found in text that stands on the lines being read.

        Lines are counted within that text, which may have been written in fewer: nothing is put
        outside of the lines that are being read.
        """
        start, until = self._lines
        for finding in findings:
            lines = [min(max(start + line - 1, start), until) for line in _lines(finding)]
            self._found[replace(finding, block=self._block, line=lines[0], end_line=lines[1])] = (
                None
            )


def _lines(finding: Finding) -> tuple[int, int]:
    return finding.line, max(finding.line, finding.end_line)
