"""What one statement of SQL does, by its syntax tree."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import expressions as exp

from dashboard.inspection.findings import Severity
from dashboard.inspection.notes import Effect, doubt, names
from dashboard.inspection.sql_conditions import always_true

HIGH, MEDIUM, LOW = Severity.HIGH, Severity.MEDIUM, Severity.LOW
_DROPS = Effect("sql-drop", HIGH, "Drops or empties tables, columns or more of a database.")
_DELETES = Effect("sql-delete", MEDIUM, "Deletes rows.")
_UPDATES = Effect("sql-update", MEDIUM, "Changes rows.")
_ALL_ROWS = Effect("sql-without-where", HIGH, "Deletes or changes every row of a table.")
_WRITES = Effect("sql-write", MEDIUM, "Writes to a database.")
_GRANTS = Effect("sql-grant", HIGH, "Changes who may do what in a database.")
_RUNS = Effect("process-execution", HIGH, "Has a database run a program on its machine.")
_WRITES_FILE = Effect("file-write", HIGH, "Has a database write a file on its machine.")
_READS_FILE = Effect("file-read", MEDIUM, "Has a database read a file on its machine.")
_REACHES = Effect("network", MEDIUM, "Has a database talk to another one.")
_SETTINGS = Effect("system-change", MEDIUM, "Changes how a database runs, or stops others' work.")
_UNSAFE_SCHEMA = Effect("sql-write", HIGH, "Lets statements write to the schema itself.")
_UNKNOWN = Effect("unknown-call", LOW, "Calls a function of the database that we do not know.")
_CODE = doubt("cannot-be-followed", "Runs or keeps code in a database, which no inspector reads.")
NOT_TYPED = doubt("cannot-be-followed", "Holds a statement whose effects we do not know.")

_READING: tuple[type[exp.Expr], ...] = (
    exp.Select, exp.SetOperation, exp.Subquery, exp.Values, exp.Table, exp.Describe, exp.Show,
    exp.Transaction, exp.Commit, exp.Rollback, exp.Use, exp.Semicolon, exp.Summarize, exp.From,
)  # fmt: skip
_WRITING: tuple[tuple[type[exp.Expr], Effect], ...] = (
    (exp.Drop, _DROPS), (exp.TruncateTable, _DROPS), (exp.Insert, _WRITES), (exp.Merge, _WRITES),
    (exp.LoadData, _WRITES), (exp.Into, _WRITES), (exp.Grant, _GRANTS), (exp.Revoke, _GRANTS),
    (exp.Attach, _WRITES_FILE), (exp.Detach, _WRITES), (exp.Kill, _SETTINGS),
    (exp.Comment, _WRITES), (exp.Cache, _WRITES), (exp.Uncache, _WRITES),
    (exp.Analyze, _WRITES), (exp.Refresh, _WRITES), (exp.Execute, _CODE),
    (exp.Export, _WRITES_FILE),
)  # fmt: skip
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
_BY_TYPE: dict[type[exp.Expr], tuple[Effect, ...]] = {}
_JUDGED = (exp.Delete, exp.Update, exp.Create, exp.Alter, exp.Copy, exp.Pragma, exp.Set)
_PLAIN_KINDS = names("TABLE VIEW INDEX SCHEMA DATABASE SEQUENCE TYPE DOMAIN MATERIALIZED")
_READ_ONLY_PRAGMA = re.compile(
    r"pragma\s+(?:\w+\.)?(?:(?:table_x?info|table_list|index_x?info|index_list|foreign_key_list"
    r"|foreign_key_check|integrity_check|quick_check)\b[^=]*|\w+)\s*",
    re.IGNORECASE,
)
_FUNCTIONS: tuple[tuple[str, Effect], ...] = (
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
_COMMANDS: tuple[tuple[str, tuple[Effect, ...]], ...] = (
    (_BEGINS, ()),
    (r"begin\b|end\b|start\b", (_CODE,)),
    (r"show\b|explain\b|use\b|describe\b|desc\b|help\b|print\b", ()),
    (r"vacuum\b.*\binto\b", (_WRITES_FILE,)),
    (
        r"(?:alter|create|drop)\s+(?:user|role|login|group|policy)\b|reassign\b|revoke\b",
        (_GRANTS,),
    ),
    (r"grant\b|set\s+(?:session\s+|local\s+)?(?:role|session\s+auth|password)", (_GRANTS,)),
    (r"drop\b|truncate\b", (_DROPS,)),
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
    (r"set\b", (Effect("unknown-call", LOW, "Changes a setting of its session."),)),
)
_MENTIONS: tuple[tuple[str, Effect], ...] = (
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
_BLANKED = re.compile(r"[^\n]")
_FILE_NAME = re.compile(r"[/\\]|\.(?:csv|parquet|json|db|sqlite)$", re.IGNORECASE)


def without_explain(text: str) -> str:
    """Return statements without what asks to explain them: some databases run them for it."""
    return _EXPLAIN.sub(
        lambda match: match[1] + _BLANKED.sub(" ", match[0][match.end(1) - match.start() :]), text
    )


def effects_of(tree: exp.Expr, source: str) -> Iterator[Effect]:
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
    if isinstance(tree, exp.Pragma):
        yield from _pragma(source)
        return
    for node in tree.walk():
        yield from _node(node, source)


def _node(node: exp.Expr, source: str) -> Iterator[Effect]:
    yield from _writing(type(node))
    if type(node) in _PLAIN_NODES:
        return
    match node:
        case exp.Delete() | exp.Update():
            yield from _rows(node)
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


def _writing(kind: type[exp.Expr]) -> tuple[Effect, ...]:
    """Return what every node of a type does; kept, because most nodes do nothing."""
    found = _BY_TYPE.get(kind)
    if found is None:
        found = tuple(effect for writing, effect in _WRITING if issubclass(kind, writing))
        _BY_TYPE[kind] = found
    return found


def _definition(node: exp.Create | exp.Alter) -> Iterator[Effect]:
    if isinstance(node, exp.Alter):
        yield _DROPS if any(node.find_all(exp.Drop)) else _WRITES
        return
    yield _WRITES
    if str(node.args.get("kind", "")).upper() not in _PLAIN_KINDS:
        yield _CODE


def _name(node: exp.Table | exp.Alias) -> Iterator[Effect]:
    if isinstance(node, exp.Table) and _FILE_NAME.search(node.name):
        yield _READS_FILE
    elif isinstance(node, exp.Alias) and node.alias.lower() == "shutdown":
        # Where statements need no semicolon between them this is one of its own.
        yield _SETTINGS


def _rows(node: exp.Delete | exp.Update) -> Iterator[Effect]:
    where = node.args.get("where")
    table = node.find(exp.Table)
    if where is None or always_true(where.this, table.name if table else ""):
        yield _ALL_ROWS
    yield _DELETES if isinstance(node, exp.Delete) else _UPDATES


def _pragma(source: str) -> Iterator[Effect]:
    if not _READ_ONLY_PRAGMA.fullmatch(source):
        yield _UNSAFE_SCHEMA if "writable_schema" in source.lower() else _SETTINGS


def _copy(source: str) -> Iterator[Effect]:
    if re.search(r"\bprogram\b", source, re.IGNORECASE):
        yield _RUNS
    elif re.search(r"\bto\s+(?!stdout)", source, re.IGNORECASE):
        yield _WRITES_FILE
    else:
        yield _WRITES


def _function(node: exp.Func) -> Iterator[Effect]:
    name = (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()
    package = node.parent.this.name.lower() if isinstance(node.parent, exp.Dot) else ""
    known = _BY_FUNCTION.get(name) or _BY_FUNCTION.get(package)
    if known:
        yield known
    elif any(text.startswith(_PACKAGES) for text in (name, package)):
        yield _CODE
    elif isinstance(node, exp.Anonymous):
        yield _UNKNOWN


def _command(source: str) -> Iterator[Effect]:
    """Say what a statement does that the parser took as mere text."""
    text = source.strip().lower()
    for pattern, effects in _COMMANDS:
        if re.match(pattern, text, re.DOTALL):
            yield from effects
            break
    else:
        yield NOT_TYPED
    yield from mentioned(source)


def may_act(source: str) -> bool:
    """Say whether text that nobody parsed has a word that does anything but read."""
    words = frozenset(re.findall(r"\w+", source.lower(), re.ASCII))
    return not _ACTING.isdisjoint(words) or any(word.startswith(_PACKAGES) for word in words)


def mentioned(source: str) -> Iterator[Effect]:
    """Say what stands in text that may be run, though nobody parsed it."""
    for pattern, effect in _MENTIONS:
        if re.search(pattern, source, re.IGNORECASE):
            yield effect
