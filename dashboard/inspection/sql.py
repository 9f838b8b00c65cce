"""Inspects SQL, by its syntax tree, in the dialects that it may be written in."""

from __future__ import annotations

import logging
import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import combinations, starmap
from typing import NamedTuple

from sqlglot import ErrorLevel
from sqlglot import expressions as exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from dashboard.inspection.findings import Finding, Severity
from dashboard.inspection.notes import FindingKind, Notes, doubt, line_finder, names

# The parser logs what it cannot read, with the text. That is a finding and nothing for a log.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL + 1)

MOST_LEVELS = 200
"""How deep a statement may be nested. The parser reaches it on every Python that we support."""

DIALECTS = ("postgres", "mysql", "sqlite", "tsql")
_AMBIGUOUS = re.compile(r"[\\#$`\[]|--\S|/\*.*/\*", re.DOTALL)
_EXECUTABLE_COMMENT = re.compile(r"/\*M?!\d*+(.*?)\*/", re.DOTALL)
_CLIENT_COMMAND = re.compile(r"^[ \t]*(?:\\\S.*|\.[a-z]\w*\b.*)$", re.MULTILINE)
_CLIENT_RUNS = re.compile(
    r"\s*(?:\\!|\\copy\b.*\bprogram\b|\\[go]\S*\s*\||\.(?:shell|system)\b)", re.IGNORECASE
)
_TEMPLATE = re.compile(r"\{\{|\}\}")
_CLIENT_RUNS_LATER = re.compile(r"\\!|\\g\w*\s*\||\\gexec\b")
_NOT_PARSED = "not-sql"
_TEMPLATED = doubt("parsed-in-part", "sql-template")
_READ_DIFFERENTLY = "dialects-differ"
_TOO_NESTED = doubt("too-nested", "sql-too-nested")
_HIDDEN_COMMENT = doubt("cannot-be-followed", "comment-that-runs")
_CLIENT = doubt("cannot-be-followed", "client-command")
_CLIENT_PROGRAM = FindingKind("process-execution", Severity.HIGH, "client-runs-program")

HIGH, MEDIUM, LOW = Severity.HIGH, Severity.MEDIUM, Severity.LOW
_DROPS = FindingKind("sql-drop", HIGH, "drops-tables")
_DROPS_DEFINITION = FindingKind("sql-drop", HIGH, "drops-definition")
_DELETES = FindingKind("sql-delete", MEDIUM, "deletes-rows")
_UPDATES = FindingKind("sql-update", MEDIUM, "changes-rows")
_ALL_ROWS = FindingKind("sql-without-where", HIGH, "changes-every-row")
_WRITES = FindingKind("sql-write", MEDIUM, "writes-to-database")
_GRANTS = FindingKind("sql-grant", HIGH, "changes-database-rights")
_RUNS = FindingKind("process-execution", HIGH, "database-runs-program")
_WRITES_FILE = FindingKind("file-write", HIGH, "database-writes-file")
_READS_FILE = FindingKind("file-read", MEDIUM, "database-reads-file")
_REACHES = FindingKind("network", MEDIUM, "database-reaches-out")
_SETTINGS = FindingKind("system-change", MEDIUM, "changes-database-settings")
_UNSAFE_SCHEMA = FindingKind("sql-write", HIGH, "writes-schema")
_UNKNOWN = FindingKind("unknown-call", LOW, "unknown-database-function")
_CODE = doubt("cannot-be-followed", "code-in-database")
NOT_TYPED = doubt("cannot-be-followed", "unknown-statement")

_DELETES_IN_MERGE = re.compile(r"(?i)\bthen\s+delete\b")
_READING: tuple[type[exp.Expr], ...] = (
    exp.Select, exp.SetOperation, exp.Subquery, exp.Values, exp.Table, exp.Describe, exp.Show,
    exp.Transaction, exp.Commit, exp.Rollback, exp.Use, exp.Semicolon, exp.Summarize, exp.From,
)  # fmt: skip
_WRITING: tuple[tuple[type[exp.Expr], FindingKind], ...] = (
    (exp.TruncateTable, _DROPS), (exp.Insert, _WRITES), (exp.Merge, _WRITES),
    (exp.LoadData, _WRITES), (exp.Into, _WRITES), (exp.Grant, _GRANTS), (exp.Revoke, _GRANTS),
    (exp.Attach, _WRITES_FILE), (exp.Detach, _WRITES), (exp.Kill, _SETTINGS),
    (exp.Comment, _WRITES), (exp.Cache, _WRITES), (exp.Uncache, _WRITES),
    (exp.Analyze, _WRITES), (exp.Refresh, _WRITES), (exp.Execute, _CODE),
    (exp.Export, _WRITES_FILE),
)  # fmt: skip
_WITHOUT_ROWS = names("INDEX VIEW TRIGGER FUNCTION PROCEDURE SEQUENCE CONSTRAINT")
_PLAIN_NODES = {
    exp.Identifier,
    exp.Column,
    exp.Literal,
    exp.Star,
    exp.Null,
    exp.Boolean,
    exp.EQ,
    exp.From,
}
_BY_TYPE: dict[type[exp.Expr], tuple[FindingKind, ...]] = {}
_JUDGED = (exp.Delete, exp.Update, exp.Create, exp.Alter, exp.Copy, exp.Pragma, exp.Set, exp.Drop)
_PLAIN_KINDS = names("TABLE VIEW INDEX SCHEMA DATABASE SEQUENCE TYPE DOMAIN MATERIALIZED")
_READ_ONLY_PRAGMA = re.compile(
    r"pragma\s+(?:\w+\.)?(?:(?:table_x?info|table_list|index_x?info|index_list|foreign_key_list"
    r"|foreign_key_check|integrity_check|quick_check)\b[^=]*|\w+)\s*",
    re.IGNORECASE,
)
_FUNCTIONS: tuple[tuple[str, FindingKind], ...] = (
    ("xp_cmdshell sys_exec sys_eval load_extension shell system pg_execute_server_program", _RUNS),
    ("lo_export writefile edit pg_file_write dumpfile", _WRITES_FILE),
    (
        (
            "pg_read_file pg_read_binary_file pg_ls_dir pg_stat_file lo_import load_file "
            "readfile read_csv read_csv_auto read_parquet read_json read_text read_blob glob "
            "fsdir bfilename file pg_ls_logdir pg_ls_waldir"
        ),
        _READS_FILE,
    ),
    (
        (
            "dblink dblink_exec dblink_connect dblink_send_query openrowset opendatasource "
            "openquery http_get http_post http url s3 remote mysql postgresql utl_http "
            "utl_inaddr httpuritype net_http_post"
        ),
        _REACHES,
    ),
    (
        (
            "pg_terminate_backend pg_cancel_backend pg_reload_conf pg_rotate_logfile "
            "set_config pg_switch_wal pg_promote pg_create_restore_point "
            "pg_drop_replication_slot kill pg_advisory_lock pg_sleep sleep benchmark"
        ),
        _SETTINGS,
    ),
    ("setval nextval lo_unlink lo_create lo_put pg_notify", _WRITES),
    ("query_to_xml cursor_to_xml database_to_xml execute_immediate eval ts_stat", _CODE),
)
_BY_FUNCTION = {name: effect for text, effect in _FUNCTIONS for name in text.split()}
_BEGINS = (
    r"(?:begin|start)(?:\s+(?:tran\w*|work|deferred|immediate|exclusive|isolation|level|read|only"
    r"|write|committed|uncommitted|repeatable|serializable|not|deferrable|,))*\s*$|end\s*$"
)
_COMMANDS: tuple[tuple[str, tuple[FindingKind, ...]], ...] = (
    (_BEGINS, ()),
    (r"begin\b|end\b|start\b", (_CODE,)),
    (r"show\b|explain\b|use\b|describe\b|desc\b|help\b|print\b", ()),
    (r"vacuum\b.*\binto\b", (_WRITES_FILE,)),
    (
        r"(?:alter|create|drop)\s+(?:user|role|login|group|policy)\b|reassign\b|revoke\b",
        (_GRANTS,),
    ),
    (r"grant\b|set\s+(?:session\s+|local\s+)?(?:role|session\s+auth|password)", (_GRANTS,)),
    (
        (
            r"drop\s+(?:view|index|trigger|function|procedure|sequence|rule|statistics"
            r"|operator|cast|collation|conversion|synonym)\b(?!.*\bcascade\b)"
        ),
        (_DROPS_DEFINITION,),
    ),
    (r"drop\b|truncate\b|create\s+or\s+replace\s+(?:\w+\s+){0,3}table\b", (_DROPS,)),
    (r"vacuum\b|analyze\b|reindex\b|cluster\b|optimize\b|checkpoint\b|refresh\b", (_WRITES,)),
    (r"alter\s+system\b|shutdown\b|kill\b|reset\b|flush\b|purge\b|set\s+global", (_SETTINGS,)),
    (r"do\b|exec\b|execute\b|call\b|prepare\b|declare\b|while\b|if\b", (_CODE,)),
    (r"load\b|install\b", (_RUNS,)),
    (r"backup\b|unload\b|export\b", (_WRITES_FILE,)),
    (r"replace\b|rename\b|import\b|restore\b|lock\b|handler\b", (_WRITES,)),
    (r"alter\b.*\bdrop\b", (_DROPS,)),
    (r"alter\b.*\bowner\s+to\b", (_GRANTS,)),
    (r"alter\b|create\b", (_WRITES, NOT_TYPED)),
    (r"listen\b|unlisten\b|discard\b|fetch\b|close\b|savepoint\b|release\b", ()),
    (r"set\b", (FindingKind("unknown-call", LOW, "changes-session"),)),
)
_MENTIONS: tuple[tuple[str, FindingKind], ...] = (
    (r"\b(?:drop|truncate)\s+\w", _DROPS),
    (r"\bdelete\s+from\b", _DELETES),
    (r"\bupdate\s+\S+\s+set\b", _UPDATES),
    (r"\b(?:grant|revoke)\s+\w", _GRANTS),
    (r"\binsert\s+into\b", _WRITES),
    (r"\bxp_cmdshell\b|\bprogram\s*['$]", _RUNS),
    (r"\bfrom\s*['\"`][^'\"`]*[/\\.]", _READS_FILE),
)
_PACKAGES = ("xp_", "sp_", "dbms_", "utl_", "lo_")
_ACTING = _BY_FUNCTION.keys() | names(
    "alter attach backup begin call checkpoint cluster comment copy create declare delete detach "
    "do drop exec execute export flush grant handler import insert install into kill load lock "
    "merge optimize pragma prepare purge reassign refresh reindex rename replace reset restore "
    "revoke set shutdown truncate unload update upsert vacuum while"
)
_OUT_FILE = re.compile(r"\binto\s+(?:outfile|dumpfile)\b", re.IGNORECASE)
_COMMENT = re.compile(r"/\*(?:(?!\*/).)*+\*/", re.DOTALL)
_GAP = r"(?:\s|/\*(?:(?!\*/)[\s\S])*+\*/|--[^\n]*+\n)"
_EXPLAIN = re.compile(
    rf"(?:^|(?<=;))({_GAP}*+)(?:explain|describe|desc)\b"
    rf"(?:{_GAP}*+\([^()]*\)|{_GAP}++(?:query\s+plan|analy[sz]e|verbose|extended|format\s*=\s*\w+)\b)*"
    rf"(?={_GAP}*+(?:select|with|insert|update|delete|merge|create|values|replace|truncate|drop)\b)",
    re.IGNORECASE,
)
_BREAK = re.compile(r"\n")
_BLANKED = re.compile(r"[^\n]")
_FILE_NAME = re.compile(r"[/\\]|\.(?:csv|parquet|json|db|sqlite)$", re.IGNORECASE)

_TESTS = (exp.EQ, exp.GTE, exp.LTE, exp.NullSafeEQ)
_LIKES = (exp.Like, exp.ILike, exp.SimilarTo, exp.RegexpLike)
_ANYTHING = re.compile(r"%+|\^?(?:\.[*+]?)?\$?")
_COMPARED = 8
_OPPOSITES = ({exp.EQ, exp.NEQ}, {exp.GT, exp.LTE}, {exp.LT, exp.GTE})
_DIFFERENCES = (exp.NEQ, exp.GT, exp.LT)
_CHAINS = (exp.Binary, exp.SetOperation)
_VARYING = (exp.Column, exp.Subquery, exp.Exists, exp.Placeholder)

_Known = dict[tuple[tuple[TokenType, str], ...], tuple[FindingKind, ...]]
"""What statements do that some dialect understood, by their tokens.

What is made of the same tokens hides nothing from another dialect, and is not read again.
"""


class _Part(NamedTuple):
    """One statement: its lines, and what it does."""

    lines: tuple[int, int]
    effects: tuple[FindingKind, ...]


class _SqlReading(NamedTuple):
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
    line_of = line_finder(source)
    for match in _CLIENT_COMMAND.finditer(source):
        row = line_of(match.start())
        with notes.at(row, row):
            notes.add(_CLIENT_PROGRAM if _CLIENT_RUNS.match(match[0]) else _CLIENT)
    return _CLIENT_COMMAND.sub("", source)


def _inspect(text: str, dialect: str | None, notes: Notes) -> None:
    ambiguous = dialect is None and _AMBIGUOUS.search(text) is not None
    readings = []
    effects_by_statement: _Known = {}
    for name in (dialect,) if dialect else DIALECTS:
        readings.append(_read(text, name, effects_by_statement))
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
                # What one dialect merely fails to read, another one has read: unless it was too
                # deep, for then it may be a mere comment in the other.
                is_read_elsewhere = understood and not reading.whole
                dropped = (e for e in part.effects if e.is_doubt and e is not _TOO_NESTED)
                left_out = set(dropped) if is_read_elsewhere else set()
                notes.add(*(e for e in part.effects if e not in left_out))


def _unparsed(text: str, code: str) -> FindingKind:
    """Say that SQL does not parse. It hides nothing where all of its words only read."""
    return doubt("does-not-parse" if may_act(text) else "parsed-in-part", code)


def _read(text: str, dialect: str, known: _Known) -> _SqlReading:
    reader = Dialect.get_or_raise(dialect)
    try:
        statements = list(_statements(reader.tokenize(text)))
    except SqlglotError:
        return _SqlReading((), whole=False, split=False)
    # The lines that tokens name are wrong after some of them; their places are right.
    breaks = [match.start() for match in _BREAK.finditer(text)]
    parts, whole = list[_Part](), True
    for tokens in statements:
        key = tuple((token.token_type, token.text) for token in tokens)
        effects = known.get(key)
        if effects is None:
            source = text[tokens[0].start : tokens[-1].end + 1]
            try:
                tree, understood = _parse(reader, tokens, text)
            except RecursionError:
                effects, understood = (_TOO_NESTED, *mentioned(source)), False
            else:
                effects = tuple(effects_of(tree, source)) if tree is not None else ()
                understood = understood and NOT_TYPED not in effects
            whole &= understood
            if understood:
                known[key] = effects
        start, end = (bisect_left(breaks, at) + 1 for at in (tokens[0].start, tokens[-1].end))
        parts.append(_Part((start, end), effects))
    return _SqlReading(tuple(parts), whole)


def _parse(reader: Dialect, tokens: list[Token], text: str) -> tuple[exp.Expr | None, bool]:
    """Return a statement's tree, if there is one, and whether all of it was understood.

    Raises:
        RecursionError: It is nested deeper than the parser or we read.
    """
    # Warnings are kept by the parser; an exception would lose what was understood.
    parser = reader.parser(error_level=ErrorLevel.WARN)
    try:
        trees = parser.parse(tokens, text)
    except RecursionError:
        raise
    except Exception:  # noqa: BLE001 - it also stumbles over what it warned of
        return None, False
    tree = trees[0] if trees else None
    if tree is None:
        return None, False
    if _is_too_nested(tree):
        raise RecursionError
    return tree, not parser.errors


def _is_too_nested(tree: exp.Expr) -> bool:
    """Whether a statement is nested deeper than we read.

    A chain of operators is one level, however long: a condition may have thousands of parts.
    """
    waiting = [(tree, 1)]
    while waiting:
        node, level = waiting.pop()
        if level > MOST_LEVELS:
            return True
        chained = node.this if isinstance(node, _CHAINS) else None
        waiting += [(child, level + (child is not chained)) for child in node.iter_expressions()]
    return False


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


def without_explain(text: str) -> str:
    """Return statements without what asks to explain them: some databases run them for it."""
    return _EXPLAIN.sub(
        lambda match: match[1] + _BLANKED.sub(" ", match[0][match.end(1) - match.start() :]), text
    )


def effects_of(tree: exp.Expr, source: str) -> Iterator[FindingKind]:
    """Yield what a statement does, with everything within it; ``source`` is its own text."""
    source = _COMMENT.sub(" ", source)
    if not isinstance(tree, (*_READING, *_JUDGED, *(kind for kind, _ in _WRITING))):
        # A statement that the parser has no word for is for it a command, or an expression.
        yield from _command(source)
        return
    if isinstance(tree, exp.Transaction):
        yield from _command(source)
    if _OUT_FILE.search(source):
        yield _WRITES_FILE
    if isinstance(tree, exp.Merge) and _DELETES_IN_MERGE.search(source):
        yield _DELETES
    if isinstance(tree, exp.Pragma):
        yield from _pragma(source)
        return
    for node in tree.walk():
        yield from _node(node, source)


def _node(node: exp.Expr, source: str) -> Iterator[FindingKind]:
    yield from _writing(type(node))
    if type(node) in _PLAIN_NODES:
        return
    match node:
        case exp.Delete() | exp.Update():
            yield from _rows(node)
        case exp.Drop():
            yield _dropped(node)
        case exp.Insert() if node.args.get("overwrite"):
            yield _DROPS
        case exp.Create() | exp.Alter():
            yield from _definition(node)
        case exp.Copy():
            yield from _copy(source)
        case exp.Set() | exp.Command():
            yield from _command(source)
        case exp.Func():
            yield from _function(node)
        case exp.Table() | exp.Alias():
            yield from _name(node)


def _writing(kind: type[exp.Expr]) -> tuple[FindingKind, ...]:
    """Return what every node of a type does; kept, because most nodes do nothing."""
    effects = _BY_TYPE.get(kind)
    if effects is None:
        effects = tuple(effect for writing, effect in _WRITING if issubclass(kind, writing))
        _BY_TYPE[kind] = effects
    return effects


def _definition(node: exp.Create | exp.Alter) -> Iterator[FindingKind]:
    if isinstance(node, exp.Alter):
        if not node.find(exp.Drop):  # what it drops is judged where the walk comes to it
            yield _WRITES
        return
    kind = str(node.args.get("kind", "")).upper()
    yield _DROPS if kind == "TABLE" and node.args.get("replace") else _WRITES
    if kind not in _PLAIN_KINDS:
        yield _CODE


def _dropped(node: exp.Drop) -> FindingKind:
    """Say whether rows go with what is dropped. With what hangs on it, nobody knows."""
    kind = str(node.args.get("kind") or "").upper()
    has_rows = node.args.get("cascade") or node.args.get("materialized")
    is_definition = kind in _WITHOUT_ROWS and not has_rows
    return _DROPS_DEFINITION if is_definition else _DROPS


def _name(node: exp.Table | exp.Alias) -> Iterator[FindingKind]:
    if isinstance(node, exp.Table) and _FILE_NAME.search(node.name):
        yield _READS_FILE
    elif isinstance(node, exp.Alias) and node.alias.lower() == "shutdown":
        # Where statements need no semicolon between them this is one of its own.
        yield _SETTINGS


def _rows(node: exp.Delete | exp.Update) -> Iterator[FindingKind]:
    where = node.args.get("where")
    table = node.find(exp.Table)
    if where is None or always_true(where.this, table.name if table else ""):
        yield _ALL_ROWS
    yield _DELETES if isinstance(node, exp.Delete) else _UPDATES


def _pragma(source: str) -> Iterator[FindingKind]:
    if not _READ_ONLY_PRAGMA.fullmatch(source):
        yield _UNSAFE_SCHEMA if "writable_schema" in source.lower() else _SETTINGS


def _copy(source: str) -> Iterator[FindingKind]:
    if re.search(r"\bprogram\b", source, re.IGNORECASE):
        yield _RUNS
    elif re.search(r"\bto\s+(?!stdout)", source, re.IGNORECASE):
        yield _WRITES_FILE
    else:
        yield _WRITES


def _function(node: exp.Func) -> Iterator[FindingKind]:
    name = (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()
    package = node.parent.this.name.lower() if isinstance(node.parent, exp.Dot) else ""
    effect = _BY_FUNCTION.get(name) or _BY_FUNCTION.get(package)
    if effect:
        yield effect
    elif any(text.startswith(_PACKAGES) for text in (name, package)):
        yield _CODE
    elif isinstance(node, exp.Anonymous):
        yield _UNKNOWN


def _command(source: str) -> Iterator[FindingKind]:
    """Say what a statement does that the parser took as mere text."""
    text = source.strip().lower()
    for pattern, effects in _COMMANDS:
        if re.match(pattern, text, re.DOTALL):
            yield from effects
            if effects == (_DROPS_DEFINITION,):
                source = re.sub(r"\bdrop\b", "", source, count=1, flags=re.IGNORECASE)
            break
    else:
        yield NOT_TYPED
    yield from mentioned(source)


def may_act(source: str) -> bool:
    """Say whether text that nobody parsed has a word that does anything but read."""
    words = frozenset(re.findall(r"\w+", source.lower(), re.ASCII))
    return not _ACTING.isdisjoint(words) or any(word.startswith(_PACKAGES) for word in words)


def mentioned(source: str) -> Iterator[FindingKind]:
    """Say what stands in text that may be run, though nobody parsed it."""
    for pattern, effect in _MENTIONS:
        if re.search(pattern, source, re.IGNORECASE):
            yield effect


def always_true(condition: exp.Expr | None, table: str) -> bool:
    """Whether a condition holds for every row of a table, as far as it shows."""
    inner = _whole(condition)
    match inner:
        case exp.Or():
            # Flat, because a condition may have thousands of parts.
            parts = list(inner.flatten())
            pairs = combinations(parts[:_COMPARED], 2)
            return any(always_true(c, table) for c in parts) or any(starmap(_exclude, pairs))
        case exp.And():
            return all(always_true(c, table) for c in inner.flatten())
        case exp.Not():
            different = _whole(inner.this)
            equal = isinstance(different, _DIFFERENCES) and _is_same(*_sides(different))
        case _:
            equal = _test_holds(inner, table)
    return equal or inner.find(*_VARYING) is None


def _test_holds(test: exp.Expr, table: str) -> bool:
    match test:
        case exp.Between():
            return bool(test.this == test.args["low"] == test.args["high"])
        case exp.In():
            return test.this in test.expressions or _is_whole(test.args.get("query"), table)
        case exp.Exists():
            return test.find(exp.Where) is None
        case exp.EQ(expression=exp.Any(this=query)):
            return _is_whole(query, table)
        case _ if isinstance(test, _LIKES):
            return _ANYTHING.fullmatch(_sides(test)[1].name) is not None
        case _:
            return isinstance(test, _TESTS) and _is_same(*_sides(test))


def _sides(test: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    return _whole(test.this), _whole(test.args.get("expression"))


def _whole(part: exp.Expr | None) -> exp.Expr:
    """Return an expression without parentheses; what did not parse may have none."""
    inner = part.unnest() if part is not None else None
    return exp.Null() if inner is None else inner


def _is_same(left: exp.Expr, right: exp.Expr) -> bool:
    """Whether two expressions are the same, or name the same column with and without its table."""
    if isinstance(left, exp.Column) and isinstance(right, exp.Column):
        tables = {left.table.lower(), right.table.lower()}
        return left.name.lower() == right.name.lower() and (len(tables) == 1 or "" in tables)
    return bool(left == right)


def _exclude(left: exp.Expr, right: exp.Expr) -> bool:
    """Whether one of two conditions holds wherever the other does not."""
    pair = _whole(left), _whole(right)
    sides = [(c.this, c.args.get("expression")) for c in pair]
    opposites = {type(condition) for condition in pair} in _OPPOSITES
    if all(isinstance(condition, exp.Is) for condition in pair):
        opposites = len({bool(condition.args.get("negate")) for condition in pair}) > 1
    if opposites:
        return sides[0] == sides[1]
    negated = ((a, b) for a, b in (pair, pair[::-1]) if isinstance(a, exp.Not))
    return any(_whole(a.this) == b for a, b in negated)


def _is_whole(query: exp.Expr | None, table: str) -> bool:
    """Whether a query returns every row of a table."""
    source = query.find(exp.Table) if query else None
    narrows = query.find(exp.Where, exp.Join, exp.Limit, exp.Having) if query else None
    return source is not None and narrows is None and source.name == table
