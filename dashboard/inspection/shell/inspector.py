"""Inspects scripts for bash and its kin, by their syntax tree."""

from __future__ import annotations

import re

import tree_sitter
import tree_sitter_bash

from dashboard.inspection.findings import Finding
from dashboard.inspection.notes import Notes, doubt
from dashboard.inspection.shell.call import Call
from dashboard.inspection.shell.judge import judge
from dashboard.inspection.shell.scope import Scope, every
from dashboard.inspection.shell.trust import READ_DIFFERENTLY, check_text, check_tree
from dashboard.inspection.shell.walk import Walk
from dashboard.inspection.shell.words import as_source

MOST_NESTED = 3  # code in code in code
_BASH = tree_sitter.Language(tree_sitter_bash.language())
_TOO_NESTED = doubt("cannot-be-followed", "Holds code within code, too deep to follow.")
_GLUED = re.compile(r"[^\s\\]\\\r?\n(?=\S)|^[ \t]*\\\r?\n", re.MULTILINE)


def inspect_shell(source: str, *, block: int = 0) -> list[Finding]:
    """Return what a script does, or may do."""
    notes = Notes(block)
    with notes.at(1, source.count("\n") + 1):
        _Reading(notes).read(source)
    return notes.found


class _Reading:
    """Reads a script; code within it is read by another one, a level deeper."""

    def __init__(
        self, notes: Notes, level: int = 0, functions: frozenset[str] = frozenset()
    ) -> None:
        self.notes = notes
        self._level = level
        self._functions = functions

    def is_function(self, name: str) -> bool:
        """Whether the script has a function of this name."""
        return name in self._functions

    def judge(self, call: Call) -> None:
        """Write down what a command does."""
        judge(call)

    def read(self, text: str) -> None:
        """Read code on the lines that are being read."""
        if self._level > MOST_NESTED:
            self.notes.add(_TOO_NESTED)
            return
        inner = Notes()
        self._read(text, inner)
        if _GLUED.search(text):
            # The shell takes such a line end away; the grammar takes it for a blank.
            inner.add(READ_DIFFERENTLY)
            self._read(re.sub(r"\\\r?\n", "", text), inner)
        self.notes.adopt(inner.found)

    def _read(self, text: str, notes: Notes) -> None:
        check_text(text, notes)
        source = as_source(text.replace("\r\n", "\n").replace("\0", ""))
        root = tree_sitter.Parser(_BASH).parse(source).root_node
        scope = Scope(root)
        inner = _Reading(notes, self._level + 1, self._functions | scope.functions)
        for node, code in check_tree(every(root), source, notes):
            with notes.at(node.start_point.row + 1, node.end_point.row + 1):
                inner.read(code)
        Walk(inner, scope).over(root)
