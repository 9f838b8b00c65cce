"""Findings about code in any language: by the inspector that reads it, or by a search."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from dashboard.inspection.characters import inspect_characters, inspect_look_alikes
from dashboard.inspection.dangers import Room, dangerous_lines
from dashboard.inspection.findings import Finding, Severity, Unseen
from dashboard.inspection.languages import our_spelling
from dashboard.inspection.notes import FindingKind, Notes, doubt, line_finder
from dashboard.inspection.python.inspector import inspect_python
from dashboard.inspection.secrets import inspect_secrets
from dashboard.inspection.shell.inspector import inspect_script
from dashboard.inspection.sql import inspect_sql
from dashboard.inspection.windows import inspect_windows

MAX_BYTES = 1 << 20  # of one block; of a larger one only its dangerous lines are read
_DIALECTS = {
    "postgresql": "postgres",
    "postgres": "postgres",
    "sqlite": "sqlite",
    "mysql": "mysql",
}
_TOO_LARGE = doubt("too-large", "too-large-searched")
_FAILED = doubt("inspection-failed", "inspection-failed")
_UNNAMED = doubt("not-inspected", "no-language")
_UNREAD = doubt("not-inspected", "language-not-inspected")
# Commands of Windows that agents also try in other shells, with one of their own switches.
_WINDOWS_LINE = re.compile(
    r"^[ \t]*(?:del|erase|rd|rmdir|format|deltree|reg|vssadmin|wmic|bcdedit|cipher|takeown)\b"
    r"[^\n]*?(?:[ \t]/[a-z]{1,3}\b|[ \t][a-z]:)[^\n]*",
    re.IGNORECASE | re.MULTILINE,
)
# Much of what people write can be parsed as SQL; what these begin cannot be meant otherwise.
_LIKE_SQL = re.compile(
    r"\b(?:drop|alter|truncate)\s+(?:table|database|schema|view|index|user|role)\b|"
    r"\bdelete\s+from\s|\bupdate\s+\S+\s+set\s|\bgrant\s.{1,200}\bto\s",
    re.IGNORECASE,
)
_LIKE_CODE = re.compile(r"[\n=;|&<>`$(/\\]|\s-")

log = logging.getLogger(__name__)

Inspector = Callable[..., list[Finding]]


def inspect_code(
    text: str, language: str | None = None, *, block: int = 0, folder: str = ""
) -> list[Finding]:
    """Return what ``text`` does when it is run, as far as reading tells; never raises.

    Args:
        language: As an agent spells it. What we do not read, or do not know, is a doubt.
        folder: Where a script is to run, ``""`` if that is not known.
    """
    around = inspect_text(text, block=block)
    if is_too_large(text):
        return [*around, _noted(_TOO_LARGE, block), *_dangers(text, language, block)]
    # A byte order mark at the start is part of the file and not of the code.
    inspect = _by_language(language)
    if folder and inspect is _inspect_script_and_lines:
        inspect = partial(_inspect_script_and_lines, folder=folder)
    findings = _guarded(inspect, text.removeprefix("\ufeff"), block)
    return [*findings, *(finding for finding in around if finding not in findings)]


def inspect_text(text: str, *, block: int = 0) -> list[Finding]:
    """Return what any text may hide: odd characters, and credentials."""
    findings = _guarded(inspect_characters, text, block)
    return [*findings, *_guarded(inspect_secrets, text, block)]


def inspect_words(text: str) -> list[Finding]:
    """Return the finding that words of a text look alike, or look like others; not where."""
    return _guarded(inspect_look_alikes, text, 0)


def skim_code(
    text: str, language: str | None = None, *, block: int = 0, room: Room | None = None
) -> list[Finding]:
    """Return what ``text`` hides and what its dangerous lines do. The rest of it is not read."""
    return [*inspect_text(text, block=block), *_dangers(text, language, block, room)]


def _dangers(
    text: str, language: str | None, block: int, room: Room | None = None
) -> list[Finding]:
    lines = dangerous_lines(text.removeprefix("\ufeff"), room)
    if not lines.strip("\n"):
        return []
    findings = _guarded(_by_language(language), lines, block)
    return [f for f in findings if f.severity.rank >= Severity.MEDIUM.rank and not f.is_doubt]


def search(text: str, *, block: int = 0) -> list[Finding]:
    """Return the grave findings that ``text`` would be, whatever language it is in.

    Nothing is vouched for: what no inspector recognises is not mentioned.
    """
    if not _LIKE_CODE.search(text):
        return []
    if is_too_large(text):
        text = dangerous_lines(text)
    readings = [inspect_python, _search_script, *([inspect_sql] if _LIKE_SQL.search(text) else [])]
    return list(
        dict.fromkeys(f for inspect in readings for f in sure(_guarded(inspect, text, block)))
    )


def inspect_shell(
    text: str, *, block: int = 0, is_code: bool = True, folder: str = ""
) -> list[Finding]:
    """Return what a script does, also by the Python that it runs.

    Args:
        is_code: Whether it is certainly a script. Prose is not read for commands in mid-sentence.
        folder: Where it is to run, ``""`` if that is not known.
    """
    return inspect_script(text, python=inspect_python, block=block, is_code=is_code, folder=folder)


def sure(findings: Iterable[Finding], least: Severity = Severity.HIGH) -> Iterator[Finding]:
    """Return what holds of a text that may be no code at all: mostly it is prose.

    That it does not parse is not a doubt then. That it was too much to be read is one.
    """
    for finding in findings:
        was_left = finding.unseen is Unseen.NOT_READ and finding.name != "does-not-parse"
        if was_left or (finding.severity.rank >= least.rank and not finding.is_doubt):
            yield finding


def is_too_large(text: str) -> bool:
    """Say whether a text is longer than what is inspected."""
    return _size(text) > MAX_BYTES


def _by_language(language: str | None) -> Inspector:
    ours = our_spelling(language)
    if ours == "sql":
        dialect = _DIALECTS.get((language or "").strip().lower())
        return lambda text, *, block: inspect_sql(text, block=block, dialect=dialect)
    unknown = _searcher(_UNREAD if language else _UNNAMED)
    return _INSPECTORS.get(ours, unknown)


def _searcher(said: FindingKind) -> Inspector:
    return lambda text, *, block: [_noted(said, block, text), *search(text, block=block)]


def _search_script(text: str, *, block: int) -> list[Finding]:
    return _inspect_script_and_lines(text, block=block, is_code=False)


def _inspect_script_and_lines(
    text: str, *, block: int, is_code: bool = True, folder: str = ""
) -> list[Finding]:
    findings = inspect_shell(text, block=block, is_code=is_code, folder=folder)
    line_of = line_finder(text)
    for match in _WINDOWS_LINE.finditer(text):
        line = line_of(match.start())
        for finding in inspect_windows(match[0].strip(), block=block):
            if not finding.is_doubt:
                findings.append(replace(finding, line=line, end_line=line))
    return list(dict.fromkeys(findings))


_INSPECTORS: dict[str, Inspector] = {
    "python": inspect_python,
    "bash": _inspect_script_and_lines,
    "batch": inspect_windows,
    "powershell": inspect_windows,
}


def _guarded(inspect: Inspector, text: str, block: int) -> list[Finding]:
    """Have a text inspected; whatever goes wrong is a finding as well."""
    try:
        return inspect(text, block=block)
    except (Exception, RecursionError) as error:  # noqa: BLE001 - silence would open the gate
        log.warning("An inspector failed: %s", type(error).__name__)
        return [_noted(_FAILED, block)]


def _noted(effect: FindingKind, block: int, text: str = "") -> Finding:
    notes = Notes(block)
    with notes.at(1 if text else 0, text.count("\n") + 1 if text else 0):
        notes.add(effect)
    return notes.found[0]


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
