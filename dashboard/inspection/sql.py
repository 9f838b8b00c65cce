"""Inspects SQL, by its syntax tree, in the dialects that it may be written in."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import NamedTuple

from sqlglot import ErrorLevel
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.expressions import Expr
from sqlglot.tokenizer_core import Token, TokenType

from dashboard.inspection.findings import Finding, Severity
from dashboard.inspection.notes import Effect, Notes, doubt
from dashboard.inspection.sql_statements import (
    NOT_TYPED,
    effects_of,
    may_act,
    mentioned,
    without_explain,
)

# The parser logs what it cannot read, with the text. That is a finding and nothing for a log.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL + 1)

DIALECTS = ("postgres", "mysql", "sqlite", "tsql")
_AMBIGUOUS = re.compile(r"[\\#$`\[]|--\S|/\*.*/\*", re.DOTALL)
_EXECUTABLE_COMMENT = re.compile(r"/\*M?!\d*+(.*?)\*/", re.DOTALL)
_CLIENT_COMMAND = re.compile(r"^[ \t]*(?:\\\S.*|\.[a-z]\w*\b.*)$", re.MULTILINE)
_CLIENT_RUNS = re.compile(
    r"\s*(?:\\!|\\copy\b.*\bprogram\b|\\[go]\S*\s*\||\.(?:shell|system)\b)", re.IGNORECASE
)
_TEMPLATE = re.compile(r"\{\{|\}\}")
_CLIENT_RUNS_LATER = re.compile(r"\\!|\\g\w*\s*\||\\gexec\b")
_NOT_PARSED = "Is not SQL in any dialect that we read."
_TEMPLATED = doubt("parsed-in-part", "Is a template, which was read as if it were filled in.")
_READ_DIFFERENTLY = "Means one thing in one dialect of SQL and cannot be read in another."
_HIDDEN_COMMENT = doubt(
    "cannot-be-followed", "Holds a comment that some databases run as a statement."
)
_CLIENT = doubt(
    "cannot-be-followed", "Holds a command for a database client, which no inspector reads."
)
_CLIENT_PROGRAM = Effect(
    "process-execution", Severity.HIGH, "Has a database client run a program on this machine."
)


_Known = dict[tuple[tuple[TokenType, str], ...], tuple[Effect, ...]]
"""What statements do that some dialect understood, by their tokens.

What is made of the same tokens hides nothing from another dialect, and is not read again.
"""


class _Part(NamedTuple):
    """One statement: its lines, and what it does."""

    lines: tuple[int, int]
    effects: tuple[Effect, ...]


class _Reading(NamedTuple):
    """What one dialect makes of a text.

    Attributes:
        whole: Whether it understood all of it.
        split: Whether it could at least tell the statements apart.
    """

    parts: tuple[_Part, ...]
    whole: bool
    split: bool = True


def inspect_sql(source: str, *, block: int = 0, dialect: str | None = None) -> list[Finding]:
    """Return what statements do, or may do.

    Args:
        dialect: The database that they are for, as the parser spells it. None tries several.
    """
    notes = Notes(block)
    with notes.at(1, source.count("\n") + 1):
        text = without_explain(_without_client_commands(source, notes))
        _inspect(text, dialect, notes)
        if _EXECUTABLE_COMMENT.search(text):
            notes.add(_HIDDEN_COMMENT)
            _inspect(_EXECUTABLE_COMMENT.sub(r" \1 ", text), dialect, notes)
    return notes.found


def _without_client_commands(source: str, notes: Notes) -> str:
    for match in _CLIENT_COMMAND.finditer(source):
        row = source.count("\n", 0, match.start()) + 1
        with notes.at(row, row):
            notes.add(_CLIENT_PROGRAM if _CLIENT_RUNS.match(match[0]) else _CLIENT)
    return _CLIENT_COMMAND.sub("", source)


def _inspect(text: str, dialect: str | None, notes: Notes) -> None:
    ambiguous = dialect is None and _AMBIGUOUS.search(text) is not None
    readings = []
    known: _Known = {}
    for name in (dialect,) if dialect else DIALECTS:
        readings.append(_read(text, name, known))
        if readings[-1].whole and not ambiguous:
            readings = readings[-1:]
            break
    understood = any(reading.whole for reading in readings)
    if not understood and _TEMPLATE.search(text):
        notes.add(_TEMPLATED)
        _inspect(_TEMPLATE.sub(" ", text), dialect, notes)
        return
    if not understood:
        notes.add(_unparsed(text, _NOT_PARSED), *mentioned(text))
        notes.add(*([_CLIENT_PROGRAM] if _CLIENT_RUNS_LATER.search(text) else []))
    elif not all(reading.split for reading in readings):
        notes.add(_unparsed(text, _READ_DIFFERENTLY))
    for reading in readings:
        for part in reading.parts:
            with notes.at(*part.lines):
                # What one dialect merely fails to read, another one has read.
                other = understood and not reading.whole
                notes.add(*(e for e in part.effects if not (other and e.is_doubt)))


def _unparsed(text: str, sentence: str) -> Effect:
    """Say that SQL does not parse. It hides nothing where all of its words only read."""
    return doubt("does-not-parse" if may_act(text) else "parsed-in-part", sentence)


def _read(text: str, dialect: str, known: _Known) -> _Reading:
    reader = Dialect.get_or_raise(dialect)
    try:
        statements = list(_statements(reader.tokenize(text)))
    except SqlglotError:
        return _Reading((), whole=False, split=False)
    parts, whole = list[_Part](), True
    for tokens in statements:
        key = tuple((token.token_type, token.text) for token in tokens)
        effects = known.get(key)
        if effects is None:
            tree, understood = _parse(reader, tokens, text)
            source = text[tokens[0].start : tokens[-1].end + 1]
            effects = tuple(effects_of(tree, source)) if tree is not None else ()
            understood = understood and NOT_TYPED not in effects
            whole &= understood
            known |= {key: effects} if understood else {}
        parts.append(_Part((tokens[0].line, tokens[-1].line), effects))
    return _Reading(tuple(parts), whole)


def _parse(reader: Dialect, tokens: list[Token], text: str) -> tuple[Expr | None, bool]:
    # Warnings are kept by the parser; an exception would lose what was understood.
    parser = reader.parser(error_level=ErrorLevel.WARN)
    try:
        trees = parser.parse(tokens, text)
    except Exception:  # noqa: BLE001 - it also stumbles over what it warned of
        return None, False
    tree = trees[0] if trees else None
    return tree, not parser.errors and tree is not None


def _statements(tokens: list[Token]) -> Iterator[list[Token]]:
    statement: list[Token] = []
    for token in tokens:
        if token.token_type is not TokenType.SEMICOLON:
            statement.append(token)
        elif statement:
            yield statement
            statement = []
    if statement:
        yield statement
