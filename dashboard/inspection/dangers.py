"""Which lines of a text that is too much to be read name something dangerous.

The other lines are left out, and all keep their numbers. What is left can be read quickly. Nothing
is vouched for, and a line within a longer text is read as if it would run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from dashboard.inspection.findings import Severity
from dashboard.inspection.knowledge import (
    CONTROL_SYSTEM,
    LIBRARIES,
    SHELL_COMMANDS,
    STANDARD_LIBRARY,
)
from dashboard.inspection.knowledge.loading import Deed
from dashboard.inspection.notes import FindingKind, names

MOST_LINES = 400
MOST_CHARACTERS = 1 << 15
MOST_TEXTS = 2_000


@dataclass(slots=True)
class Room:
    """How much may still be read, of all texts of a content together."""

    lines: int = MOST_LINES
    characters: int = MOST_CHARACTERS
    texts: int = MOST_TEXTS

    @property
    def is_left(self) -> bool:
        """Whether anything more may be read."""
        return min(self.lines, self.characters, self.texts) > 0

    def take(self, line: str) -> None:
        """Use what a line takes."""
        self.lines -= 1
        self.characters -= len(line)


_LONGEST = (
    1000  # characters of a line; of a longer one the first part with a dangerous word is kept
)
_WORD = re.compile(r"[A-Za-z_]\w{1,60}")
_IMPORTS = re.compile(r"[ \t]*(?:import|from)[ \t]+\w")
_STATEMENTS = names("""
    drop truncate delete update insert grant revoke alter merge replace attach copy call
""")


def _dangerous(least: Severity) -> frozenset[str]:
    tables = (STANDARD_LIBRARY.calls, LIBRARIES.calls, LIBRARIES.methods, CONTROL_SYSTEM.methods)
    functions = (
        path.rpartition(".")[2] for table in tables for path in _grave(table.items(), least)
    )
    programs = _grave(SHELL_COMMANDS.commands.items(), least)
    words = chain(functions, programs, CONTROL_SYSTEM.commands, SHELL_COMMANDS.starters)
    return frozenset(words) | _STATEMENTS | {word.upper() for word in _STATEMENTS}


def _grave(
    items: Iterable[tuple[str, tuple[Deed | FindingKind, ...]]], least: Severity
) -> Iterator[str]:
    for name, effects in items:
        if any(effect.severity.rank >= least.rank for effect in effects):
            yield name


_GRAVEST = _dangerous(Severity.HIGH)
_GRAVE = _dangerous(Severity.MEDIUM)


def dangerous_lines(text: str, room: Room | None = None) -> str:
    """Return a text in which all lines but the dangerous ones, and imports, are empty.

    The gravest come first, as many as there is ``room`` for; without one, for this text alone.
    """
    room = Room() if room is None else room
    room.texts -= 1
    lines = text.split("\n")
    rows: dict[int, str] = {}
    for words in (_GRAVEST, _GRAVE):
        for number, line in enumerate(lines):
            if not room.is_left:
                break
            part = "" if number in rows else _dangerous_part(line, words)
            if part:
                rows[number] = part
                room.take(part)
    for number, line in enumerate(lines):
        if number not in rows and len(line) <= _LONGEST and _IMPORTS.match(line) and room.is_left:
            rows[number] = line
            room.take(line)
    return "\n".join(rows.get(number, "") for number in range(len(lines)))


def _dangerous_part(line: str, words: frozenset[str]) -> str:
    """Return the first part of a line that has one of the words; mostly it is the whole line."""
    for start in range(0, len(line) or 1, _LONGEST):
        part = line[start : start + _LONGEST]
        if not words.isdisjoint(_WORD.findall(part)):
            return part.strip()
    return ""
