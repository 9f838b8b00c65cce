"""What a Python source does, read from its syntax tree. Nothing is ever executed."""

from __future__ import annotations

import ast
import re
import warnings

from dashboard.inspection.findings import Finding, Severity
from dashboard.inspection.python.bindings import collect
from dashboard.inspection.python.judge import Judge
from dashboard.inspection.python.magics import without_magics
from dashboard.inspection.python.nested import Budget, Nested
from dashboard.inspection.python.notes import PythonNotes
from dashboard.inspection.python.values import Evaluator

_CODING = re.compile(r"[ \t\f]*#[^\n]{0,200}?coding[:=][ \t]*([-\w.]{1,60})")
_READ_ALIKE = frozenset(["utf-8", "utf8", "utf-8-sig", "ascii", "us-ascii"])


def inspect_python(source: str, *, block: int = 0) -> list[Finding]:
    """Say what ``source`` does, as far as reading it tells.

    It never raises. What cannot be read is one finding that says so, a doubt; so is each place
    where it cannot be told what is called.
    """
    return _inspect(source, 0, Budget(), block)


def _inspect(source: str, depth: int, budget: Budget, block: int = 0) -> list[Finding]:
    notes = PythonNotes(block)
    nested = Nested(_inspect, depth, budget)
    try:
        _coding(source, notes)
        tree = _parsed(source, notes, nested)
        program = collect(tree)
        Judge(program, Evaluator(program), notes, nested).run()
    except SyntaxError as error:
        return [*notes.findings(), _unread(block, error.lineno or 0, "This is not valid Python.")]
    except (ValueError, RecursionError, MemoryError, OverflowError):
        return [*notes.findings(), _unread(block, 0, "This Python cannot be parsed.")]
    return notes.findings()


def _parsed(source: str, notes: PythonNotes, nested: Nested) -> ast.Module:
    try:
        return _tree(source)
    except SyntaxError:
        plain = without_magics(source, notes, nested)
        if plain is None:
            raise
    tree = _tree(plain)
    _within_texts(source, plain, tree, notes)
    return tree


def _within_texts(source: str, plain: str, tree: ast.Module, notes: PythonNotes) -> None:
    """Notice magics that are no statements for Python: a text may end on such a line."""
    begun = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt)}
    lines = zip(re.split(r"\r\n|\r|\n", source), plain.split("\n"), strict=False)
    for number, (before, after) in enumerate(lines, 1):
        if before != after and after.strip() and number not in begun:
            place = ast.Pass(lineno=number, end_lineno=number)
            notes.doubt(place, "", "A magic line stands within a text", Severity.HIGH)


def _tree(source: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about escapes in texts; no business of ours
        return ast.parse(source)


def _coding(source: str, notes: PythonNotes) -> None:
    """Notice a source that asks to be read in another encoding, where it may say other things."""
    for index, line in enumerate(re.split(r"\r\n|\r|\n", source[:2000], maxsplit=2)[:2]):
        match = _CODING.match(line)
        if match and match[1].lower().replace("_", "-") not in _READ_ALIKE:
            line_node = ast.Pass(lineno=index + 1, end_lineno=index + 1)
            why = "This asks to be read in another encoding, where it may say something else"
            notes.doubt(line_node, "", why, Severity.HIGH)


def _unread(block: int, line: int, sentence: str) -> Finding:
    return Finding(
        "does-not-parse", Severity.HIGH, line, line, sentence, block=block, is_doubt=True
    )
