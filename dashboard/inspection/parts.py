"""The texts within JSON: where each stands, what it is called, and which language it is in.

Decided once, for the inspectors that read the texts and for the page that draws them: a finding
names a part by its number, and the page finds the same part under it.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, count
from typing import Any, NamedTuple

from dashboard.inspection.languages import our_spelling
from dashboard.inspection.notes import names

_PERHAPS_SQL = "perhaps sql"
WHOLE = 0
"""The number of all of it. Parts are counted from 1."""

Place = tuple[str | int, ...]

_SHELL = names("command commands cmd bash shell shell_command argv args terminal_command cmdline")
_OF_SHELL = re.compile(
    r"(?:cli|shell|sh|bash|zsh|terminal|console|system|os|unix|linux|remote|ssh|exec|execute|run"
    r"|full|raw|build|test|start|stop|install|setup|init|entry|pre|post|aws|az|azure|gcloud|gsutil"
    r"|kubectl|helm|docker|podman|git|gh|npm|pnpm|yarn|pip|uv|terraform)_(?:command|cmd|cmdline)s?"
)
"""Names such as ``cli_command``."""

_RUN = names("scripts script hooks tasks run exec entrypoint")
"""Members of files in JSON, beside commands, under which stands what is run."""

_EDITOR_COMMANDS = names("view create str_replace insert undo_edit rename")
"""What an editor's tool is told to do with the file beside it, and no program."""

_EDITORS = names("edit editor str memory fs filesystem text file files")

_WORD_LISTS = names("command cmd argv args cmdline")  # one command, word by word
_PROGRAM = names("executable program binary exe command cmd")
_PERHAPS_PROGRAM = names("file name path target")
"""What may name a program, and names as often a file or a person: known ones only."""

_ITS_WORDS = names("arguments args argv argument_list parameters params flags options")
_LONGEST_LINE = 10_000  # characters; to read quotes in a longer word takes its square
_SUBCOMMANDS = ("command", "cmd", "subcommand")
_WORDS_OF_PROGRAM = _ITS_WORDS - names("parameters params options")
"""The same, where they belong to nothing but a program: a person has options as well."""

_ITS_TARGETS = names("target targets operand operands")
_PATHS = names("""
    path paths file files file_path filepath filename folder dir directory target destination dest
    source src from to uri target_file file_name absolute_path old_path new_path
""")
_SAYS: Mapping[str | int, bool] = {
    **dict.fromkeys(("true", "yes", "on", "1", 1), True),
    **dict.fromkeys(("false", "no", "off", "0", 0), False),
}
_FOLDER = names("cwd workdir working_directory working_dir")
_ENVIRONMENT = names("env envs environ environment env_vars environment_variables")
_SQL = names("sql query statement sql_query statements queries")
_PYTHON = names("python python_code py")
_CODE = names("code script source source_code snippet program cell")
_UNREAD = {
    name: language
    for language in ("javascript", "ruby", "perl", "php", "lua")
    for name in (language, f"{language}_code")
} | dict.fromkeys(["js", "js_code", "typescript"], "javascript")
"""The language of arguments that hold code which no inspector reads."""

_PERHAPS_JAVASCRIPT = names("function page_function expression evaluate eval")
_JAVASCRIPT = re.compile(
    r"\s*+(?:async\b\s*+)?(?:\([^()]{0,200}\)|[\w$]{1,60})\s*+=>"
    r"|.*?(?:\bfunction\b\s*+(?:[\w$*]++\s*+)?\(|\bfetch\s*+\("
    r"|\b(?:document|window|localStorage|navigator)\s*+[.\[])",
    re.DOTALL,
)
_JAVASCRIPT_ADDRESS = re.compile(r"\s*(?i:javascript):")

_LIKE_CODE = re.compile(r"[\n=(;{`]")
_NAMES_CODE = _SHELL | _SQL | _PYTHON | _CODE
_READ = names("python sql bash powershell batch")
_LANGUAGE = names("language lang runtime interpreter kernel")
_ALSO_LANGUAGE = names("""
    programming_language code_language script_language language_name language_id lang_id
    kernel_name kernelspec kernel_spec
""")
"""Names beside those of ``_LANGUAGE`` that say a language, whatever their value is."""

_PERHAPS_LANGUAGE = names("""
    cell_type code_type script_type source_type type syntax engine executor shell target_language
    source_language
""")
"""Names that say as often something else: they count where the value is a language we read."""

_ON_FILE = names("path file file_path filename file_name name entrypoint entry_point main")
_VERSION = re.compile(r"[-_ ]?[\d.]+(?:x|-dbg)?$")
_NO_CHOICE = names("auto default detect any none null code markdown raw")
_SEVERAL = "several languages"
"""What code is in of which more than two languages are said, or one that we do not know."""

_MOST_OPTIONS = 3  # objects in one another
_MOST_JSON = 20_000  # characters of a text that may be options in JSON
_ASIDE = names("cwd path file_path filename workdir working_directory description title timeout")
_TOOL_WORDS = {
    "python": names("python ipython jupyter notebook pandas repl python3"),
    "bash": names("bash shell sh terminal zsh ssh exec command cmd subprocess console"),
    "sql": names("sql db database postgres postgresql mysql sqlite snowflake bigquery"),
    "powershell": names("powershell pwsh"),
}
_SQL_CERTAIN = names("sql sql_query")
_SQL_START = re.compile(
    r"(?:\s|[(;]|--[^\n]*+\n|/\*.{0,2000}?\*/)*+(?:select|insert|update|delete|drop|alter|create|"
    r"truncate|grant|revoke|with|merge|explain|replace|call|copy|pragma|begin|do|exec|execute|set|"
    r"vacuum|attach)\b",
    re.IGNORECASE | re.DOTALL,
)
_ASKS = names("query queries")
"""Words of a tool that may ask a database, or a search engine, which takes no statements."""

_SEARCH = re.compile(r"[\s(+!-]*[A-Za-z_][\w.]*:(?![=:\s])[^;\n\\\\{}<]*")
"""What a search engine is asked, such as ``title:foo AND (bar OR baz)``, and no database."""

_ACTS = re.compile(
    r"(?i)\b(?:delete|drop|update|insert|alter|truncate|grant|revoke|create|exec|execute|call|merge|"
    r"replace|begin|declare|kill|shutdown|set|copy|load|attach|detach|rename|lock|use|do|deny|bulk|"
    r"backup|restore|xp_\w+|sp_\w+)\b"
)
_NAME = re.compile(r"[\w.-]*")
_SETS = re.compile(r"(?:^|[\s;,])([A-Za-z_]\w*)=(\S*)")
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


class Part(NamedTuple):
    """One text.

    Attributes:
        number: Which one, from 1; a finding has it as its block.
        place: The keys and positions that lead to it. Words of one command stand in a list: the
            place is that of the list, and the text is the command.
        language: What it is in, as far as anything tells; an agent's spelling perhaps.
        is_code: Whether it is taken for something that would be run.
        also: What it may be in as well: the name of an argument says one language, and the tool
            or a member beside it another one. None if they agree. Of more than two, or of one
            that we do not know, it is no language of ours.
        is_variable: Whether it is the value of a variable, which only its tool may run.
    """

    number: int
    place: Place
    text: str
    language: str | None
    is_code: bool
    also: str | None = None
    is_variable: bool = False


class _Found(NamedTuple):
    place: Place
    text: str
    language: str | None = None
    is_code: bool = False
    also: str | None = None
    is_variable: bool = False


def parts_of_call(tool: str, arguments: Mapping[str, Any]) -> list[Part]:
    """Return every text among the arguments of a tool, in the order of canonical JSON."""
    texts = _walk(arguments, _said_of(tool), "", ())
    is_edited = is_editor(tool) and any(paths(arguments))
    return _numbered(_edit(text) if is_edited else text for text in texts)


def parts_of_texts(value: Any) -> list[Part]:
    """Return every text in any JSON value, in the order of canonical JSON. None is code."""
    return _numbered(_texts(value, ()))


def keys(value: Any) -> Iterator[str]:
    """Return the names of all members, at any depth."""
    if isinstance(value, Mapping):
        for key in sorted(value):
            yield key
            yield from keys(value[key])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from keys(item)


def commands(value: Any, known: Collection[str]) -> Iterator[str]:
    """Return the commands whose program and whose words are two members of one object.

    Args:
        known: Programs that are meant wherever they are named, as by ``file``.
    """
    if isinstance(value, Mapping):
        spelled = {words(key): value[key] for key in sorted(value)}
        programs = [spelled[word] for word in spelled.keys() & _PROGRAM]
        has_words = not _WORDS_OF_PROGRAM.isdisjoint(spelled)
        for word in spelled.keys() & _PERHAPS_PROGRAM if has_words else ():
            program = spelled[word]
            if isinstance(program, str) and program.rpartition("/")[2] in known:
                programs.append(program)
        its_words = [spelled[word] for word in sorted(spelled.keys() & _ITS_WORDS)]
        lines = [_line(value) for value in its_words]
        targets = [_strings(spelled[word]) for word in sorted(spelled.keys() & _ITS_TARGETS)]
        if len(lines) + len(targets) > 1:
            texts = [_strings(value) for value in its_words]
            lines += [[*chain.from_iterable(each + targets)] for each in (lines, texts)]
        for program in programs:
            words_of_each = [line for line in lines if line and line != [program]]
            if isinstance(program, str):
                yield from (shlex.join([program, *line]) for line in words_of_each)
    inner = value.values() if isinstance(value, Mapping) else value
    if isinstance(inner, str) or not isinstance(inner, Iterable):
        return
    for item in inner:
        yield from commands(item, known)


def _line(value: Any) -> list[str]:
    """Return the words of a command, which may stand in one text."""
    if not isinstance(value, str):
        return _strings(value)
    if len(value) > _LONGEST_LINE:
        return value.split()
    try:
        return shlex.split(value)
    except ValueError:  # a quote is left open
        return value.split()


def command_of_tool(program: str, arguments: Mapping[str, Any], *, has_more: bool) -> str:
    """Return the command of a tool that is called as its program; empty if it has no words.

    Args:
        has_more: Whether the program has subcommands, which may stand as a command.
    """
    spelled = {words(key): value for key, value in sorted(arguments.items())}
    its_keys = [*(_SUBCOMMANDS if has_more else ()), *sorted(_ITS_WORDS), *sorted(_ITS_TARGETS)]
    line = [*chain.from_iterable(_line(spelled.get(key, [])) for key in its_keys)]
    return shlex.join(line if line[:1] == [program] else [program, *line]) if line else ""


def members(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Return all texts at any depth, each with the nearest name above it in one spelling."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping):
        for key in sorted(value):
            yield from members(value[key], words(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from members(item, name)


def switches(value: Any) -> Iterator[tuple[str, bool]]:
    """Return what members at any depth turn on or off, each with its name in one spelling."""
    if isinstance(value, Mapping):
        for key in sorted(value):
            inner = value[key]
            word = inner.strip().lower() if isinstance(inner, str) else inner
            if isinstance(word, str | int) and word in _SAYS:  # 1 and True are the same there
                yield words(key), _SAYS[word]
            else:
                yield from switches(inner)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from switches(item)


def paths(value: Any) -> Iterator[tuple[str, str]]:
    """Return what members at any depth name as files and folders, with their names."""
    if isinstance(value, Mapping):
        for key in sorted(value):
            if words(key) in _PATHS:
                yield from ((words(key), text) for text in _strings(value[key]))
            yield from paths(value[key])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from paths(item)


def folder(arguments: Mapping[str, Any]) -> str:
    """Return the folder that a call works in, ``""`` if it says none."""
    folders = (arguments[key] for key in sorted(arguments) if words(key) in _FOLDER)
    return next((value for value in folders if isinstance(value, str)), "")


def variables(value: Any) -> Iterator[tuple[str, str]]:
    """Return the variables that members for an environment set, at any depth."""
    if isinstance(value, Mapping):
        for key in sorted(value):
            inner = value[key]
            if words(key) not in _ENVIRONMENT:
                yield from variables(inner)
            elif isinstance(inner, Mapping):
                yield from ((name, str(inner[name])) for name in sorted(inner))
            else:
                yield from _listed(inner)
                for text in _strings(inner):
                    yield from ((m[1], m[2]) for m in _SETS.finditer(text))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from variables(item)


def _listed(value: Any) -> Iterator[tuple[str, str]]:
    """Return variables that are objects of a list, with a name and a value, as in Kubernetes."""
    for item in value if isinstance(value, list | tuple) else ():
        if isinstance(item, Mapping):
            spelled = {words(key): item[key] for key in sorted(item)}
            name = spelled.get("name", spelled.get("key"))
            if isinstance(name, str):
                yield name, str(spelled.get("value", ""))


def _strings(value: Any) -> list[str]:
    items = value if isinstance(value, list | tuple) else [value]
    return [item for item in items if isinstance(item, str)]


def words(name: str) -> str:
    """Return a name in one spelling: ``shellCommand`` and ``Shell-Command`` are the same."""
    return "_".join(_WORDS.findall(name)).lower()


def _numbered(found: Iterator[_Found]) -> list[Part]:
    return [Part(number, *part) for number, part in zip(count(1), found, strict=False)]


def _language_of(tool: str) -> str | None:
    tool_words = {word.lower() for word in _WORDS.findall(tool)}
    for language, its_words in _TOOL_WORDS.items():
        if not tool_words.isdisjoint(its_words):
            return language
    return None if tool_words.isdisjoint(_ASKS) else _PERHAPS_SQL


class _Around(NamedTuple):
    """What stands around a text, and above it.

    Attributes:
        language: What the tool, or the nearest member, says that code is in.
        claims: All that the tool and members say of it, in our spelling; ``""`` is a language that
            we do not know.
        in_environment: Whether it stands among the variables of an environment.
    """

    language: str | None
    claims: frozenset[str]
    in_environment: bool = False


def _said_of(tool: str) -> _Around:
    language = _language_of(tool)
    return _Around(language, frozenset(names(our_spelling(language))))


def _walk(value: Any, around: _Around, name: str, place: Place) -> Iterator[_Found]:
    """Walk through arguments.

    Args:
        around: What is said of the code in them.
        name: The nearest key above ``value``, in one spelling.
    """
    language = around.language
    if isinstance(value, str):
        is_variable = around.in_environment and name not in _NAMES_CODE
        text = _in_all(_found(place, value, language, name), name, around.claims)
        yield text._replace(is_variable=is_variable)
    elif isinstance(value, Mapping):
        spelled = {key: words(key) for key in sorted(value)}
        certain = [
            text
            for key, word in spelled.items()
            if word in _LANGUAGE
            for text in _chosen(value[key], is_certain=True)
        ]
        claims = around.claims | {our_spelling(spelling) for spelling in _spellings(value)}
        inner = next(filter(our_spelling, certain), language)
        for key, word in spelled.items():
            inside = around.in_environment or word in _ENVIRONMENT
            yield from _walk(value[key], _Around(inner, claims, inside), word, (*place, key))
    elif isinstance(value, list | tuple):
        is_line = name in _WORD_LISTS or _OF_SHELL.fullmatch(name) is not None
        if is_line and value and all(isinstance(item, str) for item in value):
            is_one = len(value) == 1 and language in (
                "sql",
                "python",
            )  # a statement, quoted by join
            line = value[0] if is_one else shlex.join(value)
            yield _in_all(_found(place, line, language, name), name, around.claims)
            return
        for index, item in enumerate(value):
            yield from _walk(item, around, name, (*place, index))


def _spellings(value: Any, depth: int = 0) -> Iterator[str]:
    """Return what the members of an object say of the language of the code beside them.

    Options count that stand in an object of their own, also as JSON in a text; not what stands
    beside other code.
    """
    if depth > _MOST_OPTIONS:
        return
    if isinstance(value, str) and value.lstrip().startswith("{") and len(value) <= _MOST_JSON:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return
    if not isinstance(value, Mapping):
        return
    for key in sorted(value):
        name, inner = words(key), value[key]
        yield from _said_by(name, inner)
        is_object = isinstance(inner, str | Mapping) and name not in _NAMES_CODE
        if is_object and not (isinstance(inner, Mapping) and _has_code(inner)):
            yield from _spellings(inner, depth + 1)


def _said_by(name: str, value: Any) -> Iterator[str]:
    if name in _LANGUAGE | _ALSO_LANGUAGE:
        yield from _chosen(value, is_certain=name != "runtime" or isinstance(value, str))
    elif name in _PERHAPS_LANGUAGE:
        yield from _chosen(value, is_certain=False)
    elif name in _ON_FILE and isinstance(value, str) and "." in value:
        yield from _chosen(value.rpartition(".")[2], is_certain=False)


def _has_code(value: Mapping[str, Any]) -> bool:
    return any(words(key) in _NAMES_CODE for key in value)


def _chosen(value: Any, *, is_certain: bool) -> Iterator[str]:
    """Return which languages a value says; what we do not know only where it is certainly one."""
    for spelling in _strings(value):
        language = _plain_language(spelling)
        if our_spelling(language) in _READ or (is_certain and language not in _NO_CHOICE):
            yield spelling if our_spelling(spelling) else language
    if is_certain and isinstance(value, int | float) and not isinstance(value, bool):
        yield _SEVERAL


def _plain_language(spelling: str) -> str:
    """Return a language without the folder of its program and its version: ``/bin/bash5``."""
    program = spelling.strip().lower().replace("\\", "/").rpartition("/")[2]
    return _VERSION.sub("", program.removesuffix(".exe")) or "none"


def _in_all(text: _Found, name: str, claims: frozenset[str]) -> _Found:
    """Return a text with what else it may be in by all that is said of it.

    A command may have a language beside it that is the one of the program it starts.
    """
    if not text.is_code:
        return text
    languages = {our_spelling(text.language)} | ({our_spelling(text.also)} if text.also else set())
    is_by_name = _is_command(name) or name in _SQL_CERTAIN
    rivals = {claim for claim in claims - languages if claim in _READ or not is_by_name}
    if not rivals or text.language is None:
        return text
    is_one = len(rivals) == 1 and text.also is None
    return text._replace(also=next(iter(rivals)) or _SEVERAL if is_one else _SEVERAL)


def _found(place: Place, text: str, language: str | None, name: str) -> _Found:
    if language == _PERHAPS_SQL:
        is_search = _SEARCH.fullmatch(text) and not _ACTS.search(text)
        language = None if is_search else "sql"
    if name in _ASIDE | _LANGUAGE | _ALSO_LANGUAGE:
        return _Found(place, text)
    if script := _script(name, text):
        return _named(place, text, script, language)
    if _is_command(name):
        shell = language if our_spelling(language) in ("powershell", "batch") else "bash"
        return _named(place, text, shell, language)
    if name in _SQL_CERTAIN or (_SQL_START.match(text) and (name in _SQL or language == "sql")):
        return _named(place, text, "sql", language)
    if language == "sql" and name not in _SQL and _NAME.fullmatch(text):
        return _Found(place, text)  # of a database or a table, perhaps; no statement is one word
    runs_in_page = name in _PERHAPS_JAVASCRIPT and _JAVASCRIPT.match(text) is not None
    is_code = name in _CODE or runs_in_page or (language is not None and bool(text.strip()))
    return _Found(place, text, language, is_code)


def _script(name: str, text: str) -> str | None:
    """Return the language that the name of a member, or the text itself, says it is in."""
    if name in _PYTHON:
        return "python"
    if _JAVASCRIPT_ADDRESS.match(text):
        return "javascript"
    return _UNREAD.get(name) if _LIKE_CODE.search(text) else None


def _is_command(name: str) -> bool:
    """Whether a member of that name holds a command, as ``command`` and ``cli_command`` do."""
    return name in _SHELL or _OF_SHELL.fullmatch(name) is not None


def holds_command(value: Any) -> bool:
    """Whether any member is a command or code, and no code of a currency or a coupon."""
    return any(
        _is_command(name) or (name in _CODE and not _NAME.fullmatch(text))
        for name, text in members(value)
    )


def run_texts(value: Any, *, is_run: bool = False) -> Iterator[str]:
    """Yield the texts of a file that whoever reads it runs, by the names above them."""
    if isinstance(value, str):
        yield from [value] if is_run else ()
    elif isinstance(value, Mapping):
        for key in sorted(value):
            name = words(key)
            inside = is_run or name in _RUN or _is_command(name)
            yield from run_texts(value[key], is_run=inside)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from run_texts(item, is_run=is_run)


def is_editor(tool: str) -> bool:
    """Whether a tool, by its name, works on files as it is told to by an argument."""
    return not _EDITORS.isdisjoint(words(tool).split("_"))


def _edit(text: _Found) -> _Found:
    """Return a text of an editor's tool: no command if it says what to do with a file."""
    is_told = text.place == ("command",) and text.text in _EDITOR_COMMANDS
    return _Found(text.place, text.text) if is_told else text


def _named(place: Place, text: str, language: str | None, other: str | None) -> _Found:
    """Return a text whose name tells its language, and what else tells ``other``.

    What no inspector reads, such as JavaScript, is what a program runs that the command starts.
    """
    is_other = our_spelling(other) in _READ and our_spelling(other) != our_spelling(language)
    return _Found(place, text, language, is_code=True, also=other if is_other else None)


def is_name(text: str) -> bool:
    """Whether a text is one word, such as the name of an operation or of a table."""
    return _NAME.fullmatch(text.strip()) is not None


def is_statement(text: str) -> bool:
    """Whether a text may be a statement for a database, by a word in it."""
    return (_SQL_START.match(text) or _ACTS.search(text)) is not None


def _texts(value: Any, place: Place) -> Iterator[_Found]:
    if isinstance(value, str):
        yield _Found(place, value)
    elif isinstance(value, Mapping):
        for key in sorted(value):
            yield from _texts(value[key], (*place, key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _texts(item, (*place, index))
