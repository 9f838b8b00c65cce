"""What a Python source does, read from its syntax tree. Nothing is ever executed."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from dataclasses import replace

from dashboard.inspection.findings import Finding, Severity
from dashboard.inspection.notes import FindingKind, doubt
from dashboard.inspection.python.bindings import collect
from dashboard.inspection.python.context import Context
from dashboard.inspection.python.fragments import fragments
from dashboard.inspection.python.judge import Judge
from dashboard.inspection.python.magics import without_magics
from dashboard.inspection.python.nested import Budget, Nested
from dashboard.inspection.python.notes import PythonNotes
from dashboard.inspection.python.values import Evaluator
from dashboard.inspection.python_tree import parse

_CODING = re.compile(r"[ \t\f]*#[^\n]{0,200}?coding[:=][ \t]*([-\w.]{1,60})")
_LIMITS = re.compile(r"(?:f-string: )?too many")  # of Python's own parser, by what it says
_NOT_PYTHON = doubt("does-not-parse", "not-python")
_TOO_NESTED = doubt("too-nested", "python-too-nested")
_TOO_LARGE = doubt("too-large", "too-many-bad-lines")
_READ_ALIKE = frozenset(["utf-8", "utf8", "utf-8-sig", "ascii", "us-ascii"])


def inspect_python(source: str, *, block: int = 0) -> list[Finding]:
    """Return what ``source`` does, as far as reading it shows.

    It never raises. What cannot be read is one finding that says so, a doubt; so is each place
    where it cannot be told what is called.
    """
    return _inspect(source, 0, Budget(), block)


def _inspect(source: str, depth: int, budget: Budget, block: int = 0) -> list[Finding]:
    notes = PythonNotes(block)
    nested = Nested(_inspect, depth, budget)
    try:
        _coding(source, notes)
        _judge(_parsed(source, notes, nested), notes, nested)
    except SyntaxError as error:
        doubt = _TOO_NESTED if _LIMITS.match(error.msg) else _NOT_PYTHON
        _unread(doubt, error.lineno or 0, source, notes, nested)
    except (ValueError, OverflowError):
        _unread(_NOT_PYTHON, 0, source, notes, nested)
    except (RecursionError, MemoryError):
        _unread(_TOO_NESTED, 0, source, notes, nested)
    return notes.findings()


def _unread(
    doubt: FindingKind, line: int, source: str, notes: PythonNotes, nested: Nested
) -> None:
    """Note that a source is not read as a whole, and what its single lines do."""
    notes.put(doubt.finding(line, line))
    pieces = fragments(source)
    if not pieces.is_all:
        notes.put(_TOO_LARGE.finding())
    inner = PythonNotes(0)
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        _judge(parse(pieces.source), inner, nested)
    for finding in inner.findings():
        if not finding.is_doubt:
            line_of_start, line_of_end = (
                pieces.lines[n - 1] for n in (finding.line, finding.end_line)
            )
            notes.put(replace(finding, line=line_of_start, end_line=line_of_end))


def _judge(tree: ast.Module, notes: PythonNotes, nested: Nested) -> None:
    program = collect(tree)
    Judge(Context(program, Evaluator(program), notes, nested)).run()


def _parsed(source: str, notes: PythonNotes, nested: Nested) -> ast.Module:
    try:
        return parse(source)
    except SyntaxError:
        plain = without_magics(source, notes, nested)
        if plain is None:
            raise
    tree = parse(plain)
    _within_texts(source, plain, tree, notes)
    return tree


def _within_texts(source: str, plain: str, tree: ast.Module, notes: PythonNotes) -> None:
    """Note magic lines that Python does not take for statements: a text may end on one."""
    begun = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt)}
    lines = zip(re.split(r"\r\n|\r|\n", source), plain.split("\n"), strict=False)
    for number, (source_line, plain_line) in enumerate(lines, 1):
        if source_line != plain_line and plain_line.strip() and number not in begun:
            place = ast.Pass(lineno=number, end_lineno=number)
            notes.doubt(place, "", "magic-within-text", Severity.HIGH)


def _coding(source: str, notes: PythonNotes) -> None:
    """Note a source that asks for another encoding, in which it may say something else."""
    for index, line in enumerate(re.split(r"\r\n|\r|\n", source[:2000], maxsplit=2)[:2]):
        match = _CODING.match(line)
        if match and match[1].lower().replace("_", "-") not in _READ_ALIKE:
            line_node = ast.Pass(lineno=index + 1, end_lineno=index + 1)
            notes.doubt(line_node, "", "another-encoding", Severity.HIGH)
