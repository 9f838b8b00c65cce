"""Commands of a shell that run code: what they are given is inspected as the code that it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from dashboard.inspection import effects
from dashboard.inspection.knowledge import SHELL_COMMANDS
from dashboard.inspection.notes import doubt, names
from dashboard.inspection.secrets import SECRET_NAME
from dashboard.inspection.shell.call import (
    NOT_CONSTANT,
    Handlers,
    ShellCall,
    Stdin,
    beginnings,
    lines_of,
    names_input,
)
from dashboard.inspection.shell.paths import writing
from dashboard.inspection.shell.words import PLACEHOLDER, UNKNOWN, Word
from dashboard.inspection.shell.wrappers import assigning, shows_environment
from dashboard.inspection.sql import inspect_sql

_JQ_ENVIRONMENT = re.compile(r"(?:(?<![\w.$])env\b(?!\s*:)|\$ENV\b)(?:\.(\w+)|\[\"(\w+)\"\])?")
_JQ_STRINGS = re.compile(rf"{_JQ_ENVIRONMENT.pattern}|\"(?:[^\"\\]|\\.)*\"")
"""The same, or a string, so that what stands in one is not taken for a name."""

_JQ_VALUES = {
    **dict.fromkeys(names("--arg --argjson --slurpfile --rawfile --argfile"), 2),
    **dict.fromkeys(names("--indent -L --library-path"), 1),
}
"""Options of jq by how many words behind them are their values."""

_PS_ENVIRONMENT = re.compile(r"[a-df-zA-Z]*e[a-zA-Z]*")
_PS_VALUES = re.compile(
    r"-[A-Za-z]*[CGUgpqstuoO]|--(?:pid|ppid|user|group|format|sort|tty|[a-z]*id)"
)
"""Options of ps whose value may be the next word."""

_SQL_UNKNOWN = doubt("cannot-be-followed", "statements-not-known")
_SQL_SHELL = re.compile(
    r"^\s*(?:\\!|\.(?:shell|system|load|output|once|import|read|save)\b)", re.MULTILINE
)
_SHELL_VALUES = frozenset({"--rcfile", "--init-file"})
_OTHER_GRAMMAR = {"fish", "csh", "tcsh", "rc"}
_SUBSCRIPT_CODE = doubt(
    "cannot-be-followed",
    "builtin-with-code",
)
_SETS_VARIABLES = {"read", "printf", "mapfile", "readarray", "getopts"}
_TESTS_OTHERWISE = re.compile(
    r"-[pco].*|--(?:rootdir|confcut|config|override|basetemp|junit|pdb|debug|paste|report-log).*"
)
_INLINE = re.compile(r"-[a-zA-Z0-9]*[eErRnpi].*|--(?:eval|print|execute).*|eval|-c")
_CODE_OPTION = re.compile(
    r"-[acdlnpstuvwFSTUWX0-9]*[eE].*|--(?:eval|print|execute).*|eval|-c", re.DOTALL
)
"""The options of interpreters that hold code, so that what they read is no code."""

_CODE_OPTIONS = {
    "php": re.compile(r"-[rRBE].*|--(?:run|process-\w+)", re.DOTALL),
    "node": re.compile(r"-[ep].*|--(?:eval|print).*", re.DOTALL),
    "ruby": re.compile(r"-[acdlnpsvwSUW0-9]*e.*", re.DOTALL),
}
_TIMES = re.compile(
    r"-[pvh]*[pvhsnru]|-[nr]\d+|-u\w+|--(?:setup|number|repeat|unit|process|verbose)"
)
_TAKE_VALUES = names("-I -r -E -C -cp -d --require --import --loader --execution --class-path")
_VERSION_FLAGS = {"--version", "-V", "--help", "-h", "-v"}


def shell(call: ShellCall) -> None:
    """Judge ``sh`` and its kin: code after ``-c``, a script, or what they read."""
    if call.name in _OTHER_GRAMMAR:
        call.add(effects.NOT_INSPECTED)
    words = list(call.args)
    is_code = from_input = False
    while words and re.match("[-+].", words[0].text) and words[0].text != "--":
        flag = words.pop(0).text
        is_code |= bool(re.match("-[a-zA-Z]*c", flag))
        from_input |= bool(re.match("-[a-zA-Z]*s", flag))
        if flag in _SHELL_VALUES or re.fullmatch("[-+][a-zA-Z]*[oO]", flag):
            if flag in _SHELL_VALUES:
                call.add(effects.RUNS_PROGRAM)
                call.runs_output(words[0] if words else Word(""))
            words[:1] = []
    words = words[1:] if words and words[0].text == "--" else words
    if is_code:
        call.reads(words[0] if words else Word(UNKNOWN))
    elif words and not from_input and not names_input(words[0]):
        _script(call, words[0])
    else:
        _input(call, call.shell.read)


def _script(call: ShellCall, script: Word) -> None:
    call.add(effects.PIPES_TO_SHELL if script.process else effects.RUNS_PROGRAM)
    if not script.known and not script.process:
        call.add(NOT_CONSTANT)


def _input(call: ShellCall, reader: Callable[[str], None]) -> None:
    """Judge what an interpreter reads from its input."""
    stdin = call.stdin or Stdin(None, piped=False)
    call.runs_output(None)
    if stdin.text is None:
        call.add(*([] if stdin.piped else [NOT_CONSTANT]))
        return
    if UNKNOWN in stdin.text:
        call.add(NOT_CONSTANT)
    with call.shell.notes.at(*lines_of(call, stdin)):
        reader(stdin.text.replace(UNKNOWN, PLACEHOLDER))


def evaluate(call: ShellCall) -> None:
    """Judge ``eval``, which joins its words and reads them as code."""
    call.add(effects.DYNAMIC_CODE)
    call.reads_joined(call.args)


def trap(call: ShellCall) -> None:
    """Judge ``trap``: code for later, then signals."""
    words = call.rest()
    if len(words) > 1:
        call.reads(words[0])


def source(call: ShellCall) -> None:
    """Judge ``source``: a file that is read as if it stood here."""
    call.add(effects.RUNS_PROGRAM)
    if any(word.process or names_input(word) for word in call.args):
        call.add(effects.PIPES_TO_SHELL)


def alias(call: ShellCall) -> None:
    """Judge ``alias``: code under a name."""
    for word in call.args:
        name, equals, _ = word.text.partition("=")
        if equals:
            call.reads(replace(word, text=word.text.removeprefix(f"{name}=")))


def naming(call: ShellCall) -> None:
    """Judge builtins that take names of variables, and run code in a name's subscript."""
    texts = [word.text for word in call.args]
    if any("$(" in text or "`" in text for text in texts):
        call.add(_SUBSCRIPT_CODE)
    callback = call.option("C") if call.name in {"mapfile", "readarray"} else None
    if callback:
        call.reads(callback)
    for text in texts if call.name in _SETS_VARIABLES else ():
        call.add(*assigning(text.removeprefix("-v")))


def python(call: ShellCall) -> None:
    """Judge ``python``: code after ``-c``, a module, a script, or what it reads."""
    words = list(call.args)
    while words and words[0].text.startswith("-") and words[0].text not in {"-", "--"}:
        option = words.pop(0)
        flag = option.text
        if flag in {"--version", "-V", "-VV", "--help", "-h"}:
            return
        inline = re.fullmatch(r"-[bBdEiIOPqsSuvx]*([cm])(.*)", flag, re.DOTALL)
        if inline:
            attached = replace(option, text=inline[2])
            code = attached if inline[2] else (words[0] if words else Word(UNKNOWN))
            _python_inline(call, inline[1], code, words[0 if inline[2] else 1 :])
            return
        if re.fullmatch("-[WX]|--check-hash-based-pycs", flag):
            words[:1] = []
    if words and not names_input(words[0]):
        _script(call, words[0])
    else:
        _input(call, lambda text: _read_python(call, text))


def _python_inline(call: ShellCall, option: str, code: Word, rest: list[Word]) -> None:
    if option == "m":
        _module(call, code, rest)
        return
    _python_code(call, code)


def _module(call: ShellCall, module: Word, rest: list[Word]) -> None:
    if module.text in {"this", "calendar", "tokenize", "ast", "dis"}:
        return
    if module.text == "json.tool":
        files = replace(call, args=tuple(rest)).operands(names=frozenset({"--indent"}))
        for word in files[1:]:
            call.add(*writing(word, call.shell.folder))
    elif module.text == "timeit":
        _timed(call, rest)
    elif module.text in {"pip", "pytest", "jupyter", "ensurepip"}:
        call.runs([module, *rest])
    else:
        call.add(effects.RUNS_PROGRAM)
        for word in rest or ([Word("-")] if module.text in {"code", "IPython"} else []):
            if word.process or names_input(word):
                call.runs_output(word)


def _timed(call: ShellCall, words: list[Word]) -> None:
    """Read what is timed with what sets it up, which share their names."""
    statements = [word for word in words if not word.text.startswith("-")]
    options = (word.text for word in words if word.text.startswith("-"))
    if not all(map(_TIMES.fullmatch, options)):
        call.add(effects.RUNS_PROGRAM)  # code may stand in an option
    code = Word(
        "\n".join(word.text for word in statements),
        guessed=any(word.guessed for word in statements),
        fetched=any(word.fetched for word in statements),
    )
    _python_code(call, code)


def _python_code(call: ShellCall, code: Word) -> None:
    if not code.known or code.guessed:
        call.add(NOT_CONSTANT)
    if code.fetched:
        call.add(effects.PIPES_TO_SHELL)
    _read_python(call, code.text.replace(UNKNOWN, "_unknown_"))


def _read_python(call: ShellCall, text: str) -> None:
    call.shell.notes.adopt(call.shell.read_python(text))


def pytest(call: ShellCall) -> None:
    """Judge ``pytest``: the tests of a project, unless options load code from elsewhere."""
    call.add(effects.RUNS_TESTS)
    # ``-p no:name`` switches a plugin off, every other ``-p`` loads one.
    joined = " ".join(word.text for word in call.args).replace("-p no:", "no:")
    if call.has_opaque() or any(_TESTS_OTHERWISE.match(text) for text in joined.split()):
        call.add(effects.RUNS_PROGRAM)


def other_interpreter(call: ShellCall) -> None:
    """Judge interpreters of languages that nobody inspects here."""
    texts = [word.text for word in call.args]
    if texts and all(text in _VERSION_FLAGS for text in texts):
        return
    code, program = _code_or_program(call)
    reads_input = not code and (program is None or names_input(program))
    is_shown = reads_input or any(map(_INLINE.fullmatch, texts))
    call.add(effects.NOT_INSPECTED if is_shown else effects.RUNS_PROGRAM)
    if not code:
        call.runs_output(program)
    elif any(word.fetched for word in code):
        call.add(effects.PIPES_TO_SHELL)


def _code_or_program(call: ShellCall) -> tuple[list[Word], Word | None]:
    """Return the option that holds code with the word after it, or else what names the program.

    Options behind the program are its own.
    """
    option = _CODE_OPTIONS.get(call.name, _CODE_OPTION)
    words = list(call.args)
    while words:
        word = words.pop(0)
        if option.fullmatch(word.text):
            return [word, *words[:1]], None
        if word.text == "--":
            return [], words[0] if words and call.name != "php" else None
        if word.text == "-" or not word.text.startswith("-"):
            return [], word
        if word.text in _TAKE_VALUES:
            del words[:1]
    return [], None


_SQL_OPTIONS = {
    "psql": ("postgres", "c", ("--command",), ("f", "--file")),
    "mysql": ("mysql", "e", ("--execute",), ("", "--init-command")),
    "mariadb": ("mysql", "e", ("--execute",), ("", "--init-command")),
    "clickhouse-client": ("clickhouse", "q", ("--query",), ("", "--queries-file")),
    "sqlcmd": ("tsql", "qQ", ("--query",), ("i", "--input-file")),
    "duckdb": ("duckdb", "c", ("-cmd",), ("", "-init")),
    "trino": ("trino", "", ("--execute",), ("f", "--file")),
    "cqlsh": ("postgres", "e", ("--execute",), ("f", "--file")),
    "bq": ("bigquery", "", (), ("", "")),
    "sqlite3": ("sqlite", "", ("-cmd",), ("", "-init")),
    "pgcli": ("postgres", "c", (), ("", "")),
    "mycli": ("mysql", "e", ("--execute",), ("", "")),
    "litecli": ("sqlite", "e", ("--execute",), ("", "")),
    "snowsql": ("snowflake", "q", ("--query",), ("f", "--filename")),
    "hive": ("hive", "e", (), ("f", "-f")),
    "beeline": ("hive", "e", (), ("f", "-f")),
    "spark-sql": ("spark", "e", (), ("f", "-f")),
    "impala-shell": ("hive", "q", ("--query",), ("f", "--query_file")),
    "presto": ("presto", "", ("--execute",), ("f", "--file")),
}


_SQL_WRITES = {
    "psql": ("oL", beginnings("--output") + beginnings("--log-file", 4)),
    "mysql": ("", beginnings("--tee", 4)),
    "mariadb": ("", beginnings("--tee", 4)),
    "sqlcmd": ("o", ("--output-file",)),
}
"""Options of clients that name a file to write."""

_CLIENT_ASKS = {
    "psql": re.compile(
        r"^[ \t]*\\(?:d[a-zA-Z]*[S+]{0,2}|l\+?|list\+?|z|s[fv]\+?|conninfo|encoding|x|timing|dt|q)"
        r"(?:[ \t]+[\w.*?+\"-]+)*[ \t]*;?[ \t]*$",
        re.MULTILINE,
    ),
    "sqlite3": re.compile(
        r"^\.(?:tables?|schema|fullschema|index(?:es)?|indices|databases|headers?|mode|show|help"
        r"|version|dbinfo|stats|timer|width|nullvalue|separator|bail|changes|echo|eqp|quit|exit)"
        r"(?:[ \t]+[\w.%,-]+)*[ \t]*$",
        re.MULTILINE,
    ),
}
"""Commands of clients that show something or say how; no word of theirs can begin another one."""


def without_questions(text: str) -> str:
    """Return statements without what the clients of databases only show."""
    for asks in _CLIENT_ASKS.values():
        text = asks.sub("", text)
    return text


_SQL_RUNS = re.compile(r"--(?:pag|pl|defaults-(?:file|extra)).*")
"""Options of clients that name a program, a library or a file of options."""

DATABASES = tuple(_SQL_OPTIONS)


def database(call: ShellCall) -> None:
    """Judge the clients of databases: the statements they are given or read."""
    dialect, letters, names, (file_letter, file_name) = _SQL_OPTIONS[call.name]
    long_names = [part for name in names for part in beginnings(name)]
    statements = list(call.values(letters, *long_names))
    letters_of_files, names_of_files = _SQL_WRITES.get(call.name, ("", ()))
    for file in call.values(letters_of_files, *names_of_files):
        call.add(*writing(file, call.shell.folder))
    if any(_SQL_RUNS.fullmatch(word.text) for word in call.args):
        call.add(effects.RUNS_COMMAND)
    if call.name in {"sqlite3", "duckdb", "bq"}:
        statements.extend(call.operands(values=letters, names=frozenset({"-cmd", "-init"}))[1:])
    if call.option(file_letter, file_name) or call.has_opaque():
        call.add(_SQL_UNKNOWN)
    elif not statements:
        _database_input(call, dialect)
    for statement in statements:
        if not statement.known or statement.guessed:
            call.add(_SQL_UNKNOWN)
        _read_sql(call, statement.text.replace(UNKNOWN, "NULL"), dialect)


def _database_input(call: ShellCall, dialect: str) -> None:
    text = call.stdin.text if call.stdin else None
    if text is None or UNKNOWN in text:
        call.add(_SQL_UNKNOWN)
    if text is not None and call.stdin:
        with call.shell.notes.at(*lines_of(call, call.stdin)):
            _read_sql(call, text.replace(UNKNOWN, "NULL"), dialect)


def _read_sql(call: ShellCall, text: str, dialect: str) -> None:
    if _SQL_SHELL.search(text):
        call.add(effects.RUNS_COMMAND)
        return
    asks = _CLIENT_ASKS.get(call.name)
    statements = asks.sub("", text) if asks else text
    if statements.strip() or not text.strip():
        call.shell.notes.adopt(inspect_sql(statements, dialect=dialect))


def environment(call: ShellCall) -> None:
    """Judge what prints variables: ``printenv``, and ``set`` where it sets nothing."""
    variables = call.operands()
    if call.name == "set" and call.args:
        return
    if not variables:
        shows_environment(call)
    elif any(not word.known or SECRET_NAME.search(word.text) for word in variables):
        call.add(effects.SHOWS_SECRETS)


def jq(call: ShellCall) -> None:
    """Judge ``jq``, whose programs can read the environment."""
    program = _jq_program(call)
    # What is computed within a string, and a comment, may have quotes of their own.
    has_plain_strings = "\\(" not in program and "#" not in program
    pattern = _JQ_STRINGS if has_plain_strings else _JQ_ENVIRONMENT
    for match in pattern.finditer(program):
        name = match[1] or match[2]
        if not match[0].startswith('"') and (not name or SECRET_NAME.search(name)):
            call.add(effects.SHOWS_SECRETS)


def _jq_program(call: ShellCall) -> str:
    """Return the first word that is no option, nor the value of one: the program."""
    words = list(call.args)
    while words:
        word = words.pop(0)
        if word.text == "--":
            return words[0].text if words else ""
        if not word.text.startswith("-") or word.text == "-" or word.text.startswith("-env"):
            return word.text
        del words[: _JQ_VALUES.get(word.text, 0)]
    return ""


def ps(call: ShellCall) -> None:
    """Judge ``ps``, which shows the environment of others where a word without dash asks."""
    for previous, word in pairwise([Word(""), *call.args]):
        if _PS_ENVIRONMENT.fullmatch(word.text) and not _PS_VALUES.fullmatch(previous.text):
            call.add(effects.SHOWS_SECRETS)


def redis(call: ShellCall) -> None:
    """Judge ``redis-cli``."""
    words = {word.text.lower() for word in call.args}
    erasing = {"flushall", "flushdb", "shutdown", "config", "eval", "module", "replicaof"}
    call.add(effects.CHANGES_SYSTEM if words & erasing else effects.USES_NETWORK)


HANDLERS: Handlers = {
    shell: names(
        "sh bash dash zsh ksh mksh ash fish rbash csh tcsh yash posh sash rc osh lksh oksh"
    ),
    evaluate: names("eval"),
    trap: names("trap"),
    source: names("source ."),
    alias: names("alias"),
    naming: names("let test [ printf read unset mapfile readarray wait getopts"),
    python: names("python pypy micropython"),
    pytest: names("pytest py.test"),
    other_interpreter: SHELL_COMMANDS.interpreters,
    database: _SQL_OPTIONS.keys(),
    redis: names("redis-cli"),
    environment: names("printenv set"),
    jq: names("jq"),
    ps: names("ps"),
}
