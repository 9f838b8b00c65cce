"""Findings about what a tool is called with: code among its arguments, and what the tool is."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
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
from dashboard.inspection.knowledge import (
    CONTROL_SYSTEM,
    SHELL_COMMANDS,
    SHELL_OPTIONS,
)
from dashboard.inspection.languages import our_spelling
from dashboard.inspection.notes import FindingKind, Notes, doubt, line_finder, names
from dashboard.inspection.parts import (
    WHOLE,
    Part,
    command_of_tool,
    commands,
    folder,
    is_editor,
    is_name,
    is_statement,
    keys,
    parts_of_call,
    parts_of_texts,
    paths,
    run_texts,
    variables,
    words,
)
from dashboard.inspection.protections import asked_without
from dashboard.inspection.services import asked_of_services
from dashboard.inspection.shell.code import without_questions
from dashboard.inspection.shell.judge import is_known
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
_WRITES_BY_NAME = FindingKind("file-write", Severity.LOW, "tool-writes-files")
"""Of low severity, unlike a script's: to write a file is all that such a tool is for."""

_FILES = names("file files directory directories dir folder folders path paths tree document")
_FOLDERS = names("directory directories dir folder folders tree")
_DELETES = names("delete remove unlink rm rmdir rmtree erase purge trash shred wipe")
_WRITES_FILES = names("""
    write create save edit append overwrite put touch move rename copy replace truncate mkdir
    insert str
""")
_PUSHES = names("push commit")
"""What is done to files of a repository, where the name of a tool says so."""

_PATCH = re.compile(
    r"^[ \t]*+\*\*\* (?:(Add|Update|Delete) File|Move to):[ \t]*+(\S[^\r\n]{0,4096})"
    r"|^--- [^\n]{1,4096}\n\+\+\+ (?:b/)?([^\t\r\n]{1,4096})|^(?:rename|copy) to ([^\r\n]{1,4096})"
    r"|^(deleted file mode )",
    re.MULTILINE,
)
"""What a patch says of a file, as agents write it or as ``diff`` does."""

_IS_PATCH = re.compile(r"^(?:[ \t]*+\*\*\* Begin Patch|--- \S|diff --git )", re.MULTILINE)
_PATCHES = names("patch apply diff")
_TAKES_FROM = re.compile(r"_(?:from|in|at|on|of|by|to|into|for|with)_")
_MANNERS = names("recursive recursively all tool force contents s")
"""Last words of the name of a tool that only say how it does what it does."""

_STORES = names("disk storage system bucket server host workspace project repo repository sandbox")
_NO = names("false no off 0 none")
_ORIGINS = names("source src from old_path")
_ONLY_NAMES = names("list ls stat exists glob info")
_UNNAMED = doubt(
    "not-inspected",
    "argument-without-language",
    Severity.MEDIUM,
)
_TOO_LARGE = doubt("too-large", "too-large-searched")
_NOT_PARSED = frozenset(["does-not-parse", "parsed-in-part"])
_NOT_READ = _NOT_PARSED | {"inspection-failed", "too-large"}
_HIDES = re.compile(r"\"\"\"|'''|#")
"""What one language takes for the end of its code, or for a string, and another one does not."""

_SQL_COMMENT = re.compile(r"--|/\*")
_FIRST_COMMAND = re.compile(r"\s*([\w./-]+)(?:[ \t]+[\w./~\"'$-]|\s*\Z)")
_NOTHING = names(
    ": true false type import print exec return del not match case lambda assert raise"
)
"""Commands that do nothing, and words that Python knows as well."""

_NEWER_STRING = re.compile(r"(?i)\b(?:t|rt|tr)['\"]")
_QUERY = re.compile(r"(?i)\s*(?:select|insert|update|delete|with)\s")
_COMPUTES = re.compile(r"[$`?]|[<>]\(")
_EXPANDS = re.compile("[$`]")
_FOR_PROGRAM = re.compile(r"\s*(?:--?[A-Za-z]|[^\s'\"()=;#]+\.pyw?(?:\s|\Z))")
"""What stands behind the name of Python: its options, or a file."""

_JSON = re.compile(r"\ufeff?\s*[{\[]")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.*|\S+", re.DOTALL)
_LEAVES_QUOTES = re.compile(r"['\"]\s{0,20}(?:[;|&`\n]|\$\()")
"""Where a shell that puts an address in quotes finds their end, and a command behind it."""


def inspect_call(tool: str, arguments: Mapping[str, Any]) -> tuple[list[Finding], tuple[str, ...]]:
    """Return what a call does, and the languages of the code that it holds.

    A finding in a text has the number of that part as its block, and its lines there. What is
    about the tool, or about the name of an argument, is about the whole of it.
    """
    languages = dict[str, None]()
    findings = [*about_call(tool, arguments), *_in_names([tool, *keys(arguments)])]
    where = folder(arguments)
    for part in parts_of_call(tool, arguments):
        findings += _inspected(part, where)
        if part.is_code:
            languages[our_spelling(part.language)] = None
            if part.also:
                languages[our_spelling(part.also)] = None
    return list(dict.fromkeys(findings)), tuple(languages)


def about_call(tool: str, arguments: Mapping[str, Any]) -> list[Finding]:
    """Return what a tool says by its name, and its arguments by theirs: commands in two, paths."""
    return [
        *_by_name(tool),
        *_on_files(tool, arguments),
        *_in_patches(tool, arguments),
        *asked_of_services(tool, arguments),
        *asked_without(tool, arguments),
        *_split(tool, arguments),
    ]


def inspect_texts(value: Any) -> list[Finding]:
    """Return what the texts in any JSON value may hide, or would do if they were run."""
    findings = _in_names(keys(value))
    for part in parts_of_texts(value):
        findings += _inspected(part)
    return list(dict.fromkeys(findings))


def _own_name(tool: str) -> str:
    """Return the name of a tool without that of its server."""
    return re.split(r"__|[./:]", tool)[-1]


def _by_name(tool: str) -> list[Finding]:
    name = _own_name(tool).replace("-", "_")
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
    tool_words = words(_own_name(tool)).split("_")
    if verb := _verb_of_editor(tool, arguments):
        tool_words = [verb, "file"]
    pushes = tool_words[0] in _PUSHES and tool_words[-1] in _FILES
    writes = tool_words[0] in _WRITES_FILES or pushes
    notes, kinds = Notes(WHOLE), list[FindingKind]()
    with notes.at(0, 0):
        for name, value in variables(arguments):
            notes.add(*assigning(name, Word(value)))
        for key, path in _seen_paths(arguments):
            about_files = _is_about_files(key.split("_"), tool_words)
            if holds_secrets(path) and _ONLY_NAMES.isdisjoint(tool_words):
                notes.add(effects.READS_SECRETS)
            if about_files and tool_words[0] in _DELETES:
                notes.add(_deletes(tool_words, arguments))
            elif about_files and writes and key not in _ORIGINS:
                kinds += _writes(path)
        if writes and not kinds and _is_about_files([], tool_words):
            # Whatever its paths are called; so one that is allowed again has the same findings.
            kinds.append(_WRITES_BY_NAME)
        notes.add(*kinds)
    return notes.found


def _verb_of_editor(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return what an editor's tool is told to do, as ``create`` in its command; else nothing."""
    if not is_editor(tool):
        return ""
    spelled = {words(key): value for key, value in sorted(arguments.items())}
    values = [spelled.get(name) for name in ("command", "operation", "action", "op", "mode")]
    verbs = [words(value).partition("_")[0] for value in values if isinstance(value, str)]
    return next((verb for verb in verbs if verb in _WRITES_FILES | _DELETES), "")


def _in_patches(tool: str, arguments: Mapping[str, Any]) -> list[Finding]:
    """Say what patches do to files, on the lines that say so."""
    is_for_patches = not _PATCHES.isdisjoint(words(_own_name(tool)).split("_"))
    if not is_for_patches and _PATCHES.isdisjoint(map(words, keys(arguments))):
        return []
    findings = list[Finding]()
    for part in parts_of_call(tool, arguments):
        keys_above = {words(key) for key in part.place if isinstance(key, str)}
        is_patch = is_for_patches or not _PATCHES.isdisjoint(keys_above)
        if is_patch and _IS_PATCH.search(part.text):
            findings += _patched(part)
    return findings


def _patched(part: Part) -> list[Finding]:
    notes, line_of = Notes(part.number), line_finder(part.text)
    for match in _PATCH.finditer(part.text):
        verb, path = match[1], (match[2] or match[3] or match[4] or "").strip('" \t\r')
        line = line_of(match.end() - 1)
        with notes.at(line, line):
            if verb == "Delete" or match[5] or path == "/dev/null":
                notes.add(effects.DELETES_FILES)
            else:
                notes.add(*_writes(path))
    return notes.found


def _seen_paths(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Return the paths that a tool is given, as seen from the folder that it works in."""
    where = folder(arguments)
    for key, text in paths(arguments):
        path = text.removeprefix("file://")
        if where and path[:1] != "~":
            path = posixpath.normpath(posixpath.join(where, path))
        yield key, path


def _is_about_files(key_words: list[str], tool_words: list[str]) -> bool:
    """Whether files are what a tool acts on, and not a part of the name of something else.

    ``delete_file`` and ``remove_files_from_disk`` do, ``remove_folder_icon`` and
    ``remove_file_from_cart`` do not.
    """
    if len(tool_words) == 1:
        return not _FILES.isdisjoint(key_words)
    names_of_tool = tool_words[1:]
    while names_of_tool[1:] and names_of_tool[-1] in _MANNERS:
        names_of_tool.pop()
    subjects = [each.split("_") for each in _TAKES_FROM.split("_".join(names_of_tool))]
    is_file = subjects[0][-1] in _FILES
    return is_file and all(each[-1] in _FILES | _STORES for each in subjects[1:])


def _writes(path: str) -> Iterator[FindingKind]:
    """Say what a tool does that writes a file: more than its name says only in some places."""
    for effect in writing(Word(path)):
        yield _WRITES_BY_NAME if effect is effects.WRITES_FILE else effect


def _deletes(tool_words: list[str], arguments: Mapping[str, Any]) -> FindingKind:
    recursive = any(
        words(key) == "recursive" and value and str(value).strip().lower() not in _NO
        for key, value in arguments.items()
    )
    deep = recursive or not _FOLDERS.isdisjoint(tool_words)
    return effects.DELETES_FOLDERS if deep else effects.DELETES_FILES


def _in_names(texts: Iterable[str]) -> list[Finding]:
    notes = Notes(WHOLE)
    with notes.at(0, 0):
        for text in texts:
            notes.adopt(_read(Part(WHOLE, (), text, None, is_code=False)))
    return notes.found


def _inspected(part: Part, where: str = "") -> Iterator[Finding]:
    """Look into one part, which may be run in a folder.

    What is about all of it is put on all of its lines.
    """
    line_count = part.text.count("\n") + 1
    for finding in _read(part, where):
        yield finding if finding.line else replace(finding, line=1, end_line=line_count)


def _read(part: Part, where: str = "") -> list[Finding]:
    if part.is_code and part.language and part.also:
        return _read_twice(part, (part.language, part.also), where)
    if part.is_code and part.language:
        findings = inspect_code(part.text, part.language, block=part.number, folder=where)
        # The value of a variable is seldom the name of a program that nobody knows.
        is_value = part.is_variable
        return [f for f in findings if not (is_value and _is_unknown(f))]
    findings = inspect_text(part.text, block=part.number)
    findings += search(part.text, block=part.number)
    if _LEAVES_QUOTES.search(part.text) and _ADDRESS.fullmatch(part.text):
        findings += search(re.sub("['\"]", "", part.text), block=part.number)
    if is_too_large(part.text):
        findings.append(_TOO_LARGE.finding(block=part.number))
    elif not part.is_code and _JSON.match(part.text):
        findings += _in_json(part)
    elif part.is_code and re.search(r"[\n=(;|]", part.text):
        findings.append(_UNNAMED.finding(block=part.number))
    elif part.is_code:
        findings += _if_run(part.text, part.number)
    return findings


def _in_json(part: Part) -> Iterator[Finding]:
    """Look into what a file in JSON has run, such as the scripts of a ``package.json``."""
    try:  # numbers of any length are read: what is run stands beside them
        value = json.loads(part.text.removeprefix("\ufeff"), parse_int=str, parse_float=str)
        texts = [*run_texts(value)]
    except (ValueError, RecursionError):
        return
    for text in texts:
        for finding in search(text, block=part.number):
            yield replace(finding, line=0, end_line=0)


def _read_twice(part: Part, languages: tuple[str, str], where: str) -> list[Finding]:
    """Read a text in both languages that it may be in, since nobody here knows which one counts.

    What the name of the argument says is kept, and the other reading adds to it. Taken away is
    only that one of them could not be parsed, where the text is certainly in the other: code of
    one hardly ever parses as the other.
    """
    text, number, (language, also) = part.text, part.number, languages
    reading = inspect_code(text, language, block=number, folder=where)
    if our_spelling(also) == "python" and _FOR_PROGRAM.match(text):
        return list(dict.fromkeys([*reading, *_for_program(text, number)]))
    if our_spelling(also) == "sql" and _is_no_statement(text):
        return reading
    second_reading = inspect_code(_asked(text, also), also, block=number, folder=where)
    if not our_spelling(also):
        return list(dict.fromkeys([*reading, *second_reading]))
    is_plain = not _HIDES.search(text) and not (
        "sql" in (our_spelling(language), our_spelling(also)) and _SQL_COMMENT.search(text)
    )
    was_read, was_read_second = _was_read(reading, language), _was_read(second_reading, also)
    if is_plain and was_read_second and _may_be(text, also):
        reading = [f for f in reading if not _is_of_other(f, text, also)]
    if is_plain and was_read and not was_read_second and _may_be(text, language):
        second_reading = list(sure(second_reading, Severity.MEDIUM))
    elif was_read and our_spelling(also) == "bash":
        # ``SELECT`` is no program that nobody knows.
        second_reading = [f for f in second_reading if f.name != "unknown-call"]
    return list(dict.fromkeys([*reading, *second_reading]))


def _for_program(text: str, number: int) -> list[Finding]:
    """Read what stands behind the name of Python, which is that of the tool; as code too."""
    of_program = inspect_code(f"python {text}", "bash", block=number)
    of_code = inspect_code(text, "python", block=number)
    is_plain = not _HIDES.search(text) and not _NEWER_STRING.search(text)
    if is_plain and _was_read(of_program, "bash"):
        of_code = list(sure(of_code, Severity.MEDIUM))
    return [*of_program, *of_code]


def _is_no_statement(text: str) -> bool:
    """Whether a text is the name of something in a database, or of a method of the tool."""
    return is_name(text) and not is_statement(text)


def _asked(text: str, language: str) -> str:
    """Return the statements for a database, without what only its client answers."""
    return without_questions(text) if our_spelling(language) == "sql" else text


def _may_be(text: str, language: str) -> bool:
    """Whether a text that an inspector could read is certainly in that language.

    A text that begins with a string is as well a command of a shell. A shell takes nearly all for
    names of programs; that the first one is known, and has a word behind it, tells, unless a
    string follows that only a newer Python reads.
    """
    if our_spelling(language) != "bash":
        return not text.lstrip().startswith(("'", '"'))
    match = _FIRST_COMMAND.match(text)
    return (
        match is not None
        and match[1] not in _NOTHING
        and is_known(match[1])
        and not _NEWER_STRING.search(text)
    )


def _is_of_other(finding: Finding, text: str, other: str) -> bool:
    """Whether a finding only says that a text in another language is not in this one."""
    if _is_unknown(finding):
        return True
    if finding.name in _NOT_PARSED:
        return not _EXPANDS.search(text)
    is_query = our_spelling(other) == "sql" and _QUERY.match(text) and not _COMPUTES.search(text)
    return bool(is_query) and finding.name == "cannot-be-followed"


def _is_unknown(finding: Finding) -> bool:
    """Whether nothing but the name of a program is unknown; one that destroys is graver."""
    return finding.name == "unknown-call" and finding.severity is Severity.LOW


def _was_read(findings: list[Finding], language: str) -> bool:
    """Whether a text is in a language. A shell takes any word for the name of a program."""
    is_shell = our_spelling(language) == "bash"
    amiss = _NOT_READ | {"unknown-call"} if is_shell else _NOT_READ
    return amiss.isdisjoint(finding.name for finding in findings)


def _split(tool: str, arguments: Mapping[str, Any]) -> list[Finding]:
    """Look at commands whose program stands in one argument and whose words in another.

    The program may also be what the tool is called, and its subcommand what stands as a command.
    """
    program = _own_name(tool)
    texts = [*commands(arguments, SHELL_COMMANDS.starters)]
    if is_known(program) and "program" not in arguments:
        has_more = program == "git" or program in SHELL_OPTIONS.subcommands
        texts.append(command_of_tool(program, arguments, has_more=has_more))
    findings = [finding for text in dict.fromkeys(texts) for finding in _if_run(text, WHOLE)]
    return [replace(finding, line=0, end_line=0) for finding in findings]


def _if_run(text: str, number: int) -> list[Finding]:
    """Return what a text would do as a command, where it may be none: only what is sure."""
    return list(sure(inspect_code(text, "bash", block=number), Severity.MEDIUM))
