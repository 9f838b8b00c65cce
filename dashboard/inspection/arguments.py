"""Findings about what a tool is called with: code among its arguments, and what the tool is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from dashboard.inspection import effects
from dashboard.inspection.code import (
    inspect_code,
    inspect_text,
    is_too_large,
    search,
    sure,
)
from dashboard.inspection.findings import Finding, Severity
from dashboard.inspection.knowledge import CONTROL_SYSTEM, SHELL_COMMANDS
from dashboard.inspection.languages import our_spelling
from dashboard.inspection.notes import FindingKind, Notes, doubt, names
from dashboard.inspection.parts import (
    WHOLE,
    Part,
    commands,
    folder,
    keys,
    parts_of_call,
    parts_of_texts,
    paths,
    variables,
    words,
)
from dashboard.inspection.shell.paths import holds_secrets, writing
from dashboard.inspection.shell.words import Word
from dashboard.inspection.shell.wrappers import assigning

_READS = re.compile(r"(?:ca|pv)get(?:_many)?|(?:read|get)_(?:channels?|pvs?)|(?:channel|pv)_read")
_WRITES = re.compile(
    r"(?:^|_)ca_?put|(?:write|set|put)_(?:pvs?|channels?)(?:_|$)|"
    r"(?:^|_)(?:pvs?|channels?|epics)_(?:write|set|put)"
)
_WRITES_CONTROL = FindingKind("control-system-write", Severity.HIGH, "tool-writes-control")
_READS_CONTROL = FindingKind("control-system-read", Severity.INFO, "tool-reads-control")
_FILES = names("file files directory directories dir folder folders path paths tree document")
_FOLDERS = names("directory directories dir folder folders tree")
_DELETES = names("delete remove unlink rm rmdir rmtree erase purge trash shred wipe")
_WRITES_FILES = names("""
    write create save edit append overwrite put touch move rename copy replace truncate mkdir
""")
_ORIGINS = names("source src")
_ONLY_NAMES = names("list ls stat exists glob info")
_UNNAMED = doubt(
    "not-inspected",
    "argument-without-language",
    Severity.MEDIUM,
)
_TOO_LARGE = doubt("too-large", "too-large-searched")
_NOT_READ = frozenset(["does-not-parse", "parsed-in-part", "inspection-failed", "too-large"])


def inspect_call(tool: str, arguments: Mapping[str, Any]) -> tuple[list[Finding], tuple[str, ...]]:
    """Return what a call does, and the languages of the code that it holds.

    A finding in a text has the number of that part as its block, and its lines there. What is
    about the tool, or about the name of an argument, is about the whole of it.
    """
    languages = dict[str, None]()
    findings = [*about_call(tool, arguments), *_in_names([tool, *keys(arguments)])]
    where = folder(arguments)
    for part in parts_of_call(tool, arguments):
        findings += _inspected(part)
        if where and part.is_code:
            findings += _secrets_in(where, part)
        if part.is_code:
            languages[our_spelling(part.language)] = None
            if part.also:
                languages[our_spelling(part.also)] = None
    return list(dict.fromkeys(findings)), tuple(languages)


def about_call(tool: str, arguments: Mapping[str, Any]) -> list[Finding]:
    """Return what a tool says by its name, and its arguments by theirs: commands in two, paths."""
    return [*_by_name(tool), *_on_files(tool, arguments), *_split(arguments)]


def inspect_texts(value: Any) -> list[Finding]:
    """Return what the texts in any JSON value may hide, or would do if they were run."""
    findings = _in_names(keys(value))
    for part in parts_of_texts(value):
        findings += _inspected(part)
    return list(dict.fromkeys(findings))


def _by_name(tool: str) -> list[Finding]:
    name = re.split(r"__|[./:]", tool)[-1].replace("-", "_")
    notes = Notes(WHOLE)
    with notes.at(0, 0):
        is_write = not {name, words(name)}.isdisjoint(CONTROL_SYSTEM.methods)
        if is_write or _WRITES.search(words(name)):
            notes.add(_WRITES_CONTROL)
        elif _READS.fullmatch(name) or _READS.fullmatch(words(name)):
            notes.add(_READS_CONTROL)
    return notes.found


def _on_files(tool: str, arguments: Mapping[str, Any]) -> list[Finding]:
    """Say what a tool does to the files that it is given, and which variables it is to set."""
    tool_words = words(re.split(r"__|[./:]", tool)[-1]).split("_")
    notes = Notes(WHOLE)
    with notes.at(0, 0):
        for name, value in variables(arguments):
            notes.add(*assigning(name, Word(value)))
        for key, text in paths(arguments):
            path = text.removeprefix("file://")
            subjects = key.split("_") if len(tool_words) == 1 else tool_words
            about_files = not _FILES.isdisjoint(subjects)
            if holds_secrets(path) and _ONLY_NAMES.isdisjoint(tool_words):
                notes.add(effects.READS_SECRETS)
            if about_files and tool_words[0] in _DELETES:
                notes.add(_deletes(tool_words, arguments))
            elif about_files and tool_words[0] in _WRITES_FILES and key not in _ORIGINS:
                notes.add(*writing(Word(path)))
    return notes.found


def _deletes(tool_words: list[str], arguments: Mapping[str, Any]) -> FindingKind:
    recursive = any(words(key) == "recursive" and value for key, value in arguments.items())
    deep = recursive or not _FOLDERS.isdisjoint(tool_words)
    return effects.DELETES_FOLDERS if deep else effects.DELETES_FILES


def _secrets_in(where: str, part: Part) -> list[Finding]:
    """Return that a command touches secrets, seen from the folder that it is to run in."""
    line = f"cd {shlex.quote(where)}; {part.text}"
    findings = inspect_code(line, "bash", block=part.number) if part.language == "bash" else []
    return [finding for finding in findings if finding.name == "credentials"]


def _in_names(texts: Iterable[str]) -> list[Finding]:
    notes = Notes(WHOLE)
    with notes.at(0, 0):
        for text in texts:
            notes.adopt(_read(Part(WHOLE, (), text, None, is_code=False)))
    return notes.found


def _inspected(part: Part) -> Iterator[Finding]:
    """Look into one part; what is about all of it is put on all of its lines."""
    line_count = part.text.count("\n") + 1
    for finding in _read(part):
        yield finding if finding.line else replace(finding, line=1, end_line=line_count)


def _read(part: Part) -> list[Finding]:
    if part.is_code and part.language and part.also:
        return _read_twice(part, part.language, part.also)
    if part.is_code and part.language:
        return inspect_code(part.text, part.language, block=part.number)
    findings = inspect_text(part.text, block=part.number)
    findings += search(part.text, block=part.number)
    if is_too_large(part.text):
        findings.append(_TOO_LARGE.finding(block=part.number))
    elif part.is_code and re.search(r"[\n=(;|]", part.text):
        findings.append(_UNNAMED.finding(block=part.number))
    elif part.is_code:
        findings += _if_run(part.text, part.number)
    return findings


def _read_twice(part: Part, language: str, also: str) -> list[Finding]:
    """Read a text in both languages that it may be in, since nobody here knows which one counts.

    Code of one hardly ever parses as the other. Where only one reading was possible, the other
    one tells what is sure, so that ordinary code is not in doubt.
    """
    languages = (language, also)
    readings = [inspect_code(part.text, each, block=part.number) for each in languages]
    was_read = [_was_read(*pair) for pair in zip(readings, languages, strict=True)]
    for index, reading in enumerate(readings):
        if was_read[1 - index] and not _NOT_READ.isdisjoint(f.name for f in reading):
            readings[index] = list(sure(reading, Severity.MEDIUM))
        elif was_read[1 - index] and our_spelling(languages[1 - index]) == "sql":
            # ``SELECT`` is no program that nobody knows.
            readings[index] = [f for f in reading if f.name != "unknown-call"]
    if our_spelling(also) == "python" and part.text.lstrip().startswith("-"):
        # What stands behind the name of the program, which is that of the tool.
        readings.append(_if_run(f"python {part.text}", part.number))
    return list(dict.fromkeys(chain.from_iterable(readings)))


def _was_read(findings: list[Finding], language: str) -> bool:
    """Whether a text is in a language. A shell takes any word for the name of a program."""
    is_shell = our_spelling(language) == "bash"
    amiss = _NOT_READ | {"unknown-call"} if is_shell else _NOT_READ
    return amiss.isdisjoint(finding.name for finding in findings)


def _split(arguments: Mapping[str, Any]) -> list[Finding]:
    """Look at commands whose program stands in one argument and whose words in another."""
    findings = [
        finding
        for text in commands(arguments, SHELL_COMMANDS.starters)
        for finding in _if_run(text, WHOLE)
    ]
    return [replace(finding, line=0, end_line=0) for finding in findings]


def _if_run(text: str, number: int) -> list[Finding]:
    """Return what a text would do as a command, where it may be none: only what is sure."""
    return list(sure(inspect_code(text, "bash", block=number), Severity.MEDIUM))
