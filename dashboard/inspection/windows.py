"""Looks for dangers in commands of Windows: batch files and PowerShell.

There is no well-maintained parser for them, so every inspection ends with a doubt. Words are
looked for wherever they stand in a line, without the marks that both shells ignore within a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dashboard.inspection.findings import Finding
from dashboard.inspection.knowledge import WINDOWS
from dashboard.inspection.notes import Notes, doubt

_NOT_INSPECTED = doubt(
    "not-inspected",
    "windows-not-inspected",
)
_GLUED = re.compile(r"([a-z][\w.-]*)((?:/[a-z?]+)+)")  # rd/s/q
_IGNORED = re.compile(r"[`^\"'](?=\S)|(?<=\S)[`^\"']")
_WORDS = re.compile(r"[^\s(),;|&<>{}]+")
_WRITES = re.compile(r"(?<![=>-])>++\s*+(?!\$?null\b|nul\b|&)[^\s>]")


def inspect_windows(source: str, *, block: int = 0) -> list[Finding]:
    """Return the dangers that stand in commands of Windows, and the doubt about the rest."""
    notes = Notes(block)
    if source.strip():
        with notes.at(1, source.count("\n") + 1):
            notes.add(_NOT_INSPECTED)
    for number, line in enumerate(_continued(source).split("\n"), start=1):
        with notes.at(number, number):
            _inspect_line(line, notes)
    return notes.found


def _continued(source: str) -> str:
    """Join lines that go on in the next one, and keep their number."""
    return re.sub(r"[`^]\r?\n", " ", source) if re.search(r"[`^]\r?\n", source) else source


def _inspect_line(line: str, notes: Notes) -> None:
    words = frozenset(_words(_IGNORED.sub("", line.lower())))
    if _WRITES.search(line.lower()):
        words |= {">"}
    names = words | {word.rpartition("\\")[2].removesuffix(".exe") for word in words}
    for row in WINDOWS.commands:
        if not row.names.isdisjoint(names) and _has_flag(row.begins, words):
            notes.add(*row.effects)

    for pattern, effects in WINDOWS.patterns:
        if re.search(pattern, line, re.IGNORECASE):
            notes.add(*effects)


def _words(line: str) -> Iterator[str]:
    for word in _WORDS.findall(line):
        plain = word.lstrip("@")
        yield plain
        if glued := _GLUED.fullmatch(plain):
            yield glued[1]
            yield from (f"/{flag}" for flag in glued[2].split("/")[1:])


def _has_flag(pattern: str, words: frozenset[str]) -> bool:
    return not pattern or any(re.match(pattern, word) for word in words)
