"""Marks beside lines of code: they stand in the gutter, where no content can put anything."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mark:
    """What is said beside one line.

    Attributes:
        severity: The highest of what was found in the line.
        finding: The number of the finding that its sign leads to.
        words: What a screen reader says for the sign; empty where a finding only goes on.
    """

    severity: str
    finding: int
    words: str


def line_id(block: int, line: int) -> str:
    """Name a line of the page; blocks count from 0, lines from 1."""
    return f"line-{block}-{line}"


def finding_id(number: int) -> str:
    """Name a finding of the page."""
    return f"finding-{number}"
