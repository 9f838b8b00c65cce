"""Inspects scripts for bash and its kin, by their syntax tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import tree_sitter
import tree_sitter_bash

from dashboard.inspection import effects
from dashboard.inspection.findings import Finding
from dashboard.inspection.notes import Notes, doubt
from dashboard.inspection.shell.call import ShellCall, Stdin
from dashboard.inspection.shell.code import DATABASES
from dashboard.inspection.shell.judge import judge, may_tell
from dashboard.inspection.shell.scope import ShellScope, every
from dashboard.inspection.shell.trust import (
    NOT_PARSED,
    NUL,
    READ_DIFFERENTLY,
    as_plain_commands,
    check_text,
    check_tree,
)
from dashboard.inspection.shell.walk import WORDS_BEHIND, ShellWalk
from dashboard.inspection.shell.words import as_source
from dashboard.inspection.sql import mentioned

MOST_NESTED = 3  # code in code in code
_BASH = tree_sitter.Language(tree_sitter_bash.language())
_TOO_NESTED = doubt("too-nested", "code-too-deep")
_AMISS = {
    effect.code for effect in (NOT_PARSED, NUL, READ_DIFFERENTLY, WORDS_BEHIND, effects.KEYWORD)
}
"""What is said where the tree may not be what a shell would read."""

_PYTHON = re.compile(r"python|pypy", re.IGNORECASE)
_DATABASE = re.compile(rf"\b(?:{'|'.join(DATABASES)})\b")
_THROWN_AWAY = re.compile(r"(?<=[ \t])\d?>>?[ \t]*/dev/null[ \t]+(?=<<<)")
"""A redirection to nowhere, which the grammar cannot read before a text that is handed in."""

_GLUED = re.compile(r"[^\s\\]\\\r?\n(?=\S)|^[ \t]*\\\r?\n", re.MULTILINE)


ReadPython = Callable[[str], list[Finding]]


def inspect_script(
    source: str, *, python: ReadPython, block: int = 0, is_code: bool = True, folder: str = ""
) -> list[Finding]:
    """Return what a script does, or may do.

    Args:
        python: Says what Python does that the script runs.
        is_code: Whether it is certainly a script. Prose is not read for commands in mid-sentence.
        folder: Where it is to run, ``""`` if that is not known.
    """
    notes = Notes(block)
    with notes.at(1, source.count("\n") + 1):
        _Reading(notes, python, is_code=is_code, folder=folder).read(source)
    return notes.found


class _Reading:
    """Reads a script; code within it is read by another one, a level deeper."""

    def __init__(
        self,
        notes: Notes,
        python: ReadPython,
        level: int = 0,
        functions: frozenset[str] = frozenset(),
        *,
        is_code: bool = True,
        folder: str = "",
    ) -> None:
        self.notes = notes
        self.folder = folder
        self.read_python = python
        self._level = level
        self._functions = functions
        self._is_code = is_code

    def is_function(self, name: str) -> bool:
        """Whether the script has a function of this name."""
        return name in self._functions

    def judge(self, call: ShellCall) -> None:
        """Write down what a command does."""
        judge(call)

    def read(self, text: str, stdin: Stdin | None = None) -> None:
        """Read code on the lines that are being read; its commands read ``stdin``."""
        if self._level > MOST_NESTED:
            self.notes.add(_TOO_NESTED)
            return
        inner = Notes()
        self._read(text, inner, stdin)
        if _GLUED.search(text):
            # The shell takes such a line end away; the grammar takes it for a blank.
            inner.add(READ_DIFFERENTLY)
            self._read(re.sub(r"\\\r?\n", "", text), inner, stdin)
        self.notes.adopt(inner.found)

    def _read(self, text: str, notes: Notes, stdin: Stdin | None) -> None:
        check_text(text, notes)
        code = _THROWN_AWAY.sub("", text.replace("\r\n", "\n").replace("\0", ""))
        source = as_source(code)
        root = tree_sitter.Parser(_BASH).parse(source).root_node
        scope = ShellScope(root)
        inner = _Reading(
            notes,
            self.read_python,
            self._level + 1,
            self._functions | scope.functions,
            folder=self.folder,
        )
        for node, code in check_tree(every(root), source, notes):
            with notes.at(node.start_point.row + 1, node.end_point.row + 1):
                inner.read(code)
        ShellWalk(inner, scope).over(root, stdin)
        if any(finding.code in _AMISS for finding in notes.found):
            self._read_again(text, notes)

    def _read_again(self, text: str, notes: Notes) -> None:
        """Read what the tree may have lost: each line by itself, and all that may be a command."""
        lines = text.split("\n")
        if len(lines) > 1:
            for number, line in enumerate(lines, 1):
                if self._is_code or may_tell(line):
                    with notes.at(number, number):
                        notes.adopt(self._loosely(line))
        if not self._is_code:
            return
        with notes.at(1, len(lines)):
            for commands in as_plain_commands(text):
                notes.adopt(self._loosely(commands))
            if _PYTHON.search(text):  # perhaps in a here-document
                notes.adopt(finding for finding in self.read_python(text) if not finding.unseen)
            if _DATABASE.search(text):
                notes.add(*mentioned(text))

    def _loosely(self, text: str) -> Iterator[Finding]:
        """Return what a text does, whether or not all of it could be read."""
        loose = Notes()
        root = tree_sitter.Parser(_BASH).parse(as_source(text)).root_node
        with loose.at(1, text.count("\n") + 1):
            ShellWalk(_Reading(loose, self.read_python, self._level + 1), ShellScope(root)).over(
                root
            )
        return (finding for finding in loose.found if not finding.unseen)
