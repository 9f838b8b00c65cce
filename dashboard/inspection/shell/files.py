"""Commands of a shell that work on files: what they delete, write or run depends on arguments."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from dashboard.inspection import effects
from dashboard.inspection.findings import Severity
from dashboard.inspection.notes import FindingKind, doubt, names
from dashboard.inspection.shell.call import MAYBE_AN_OPTION, Handlers, ShellCall
from dashboard.inspection.shell.paths import writing
from dashboard.inspection.shell.words import Word

_SED_ADDRESS = r"(?:\d+(?:~\d+)?|\$|/(?:\\.|[^\\/\n])*+/I?)"
_SED_COMMAND = re.compile(
    rf"[\s;]*(?:{_SED_ADDRESS}(?:\s*,\s*[+~]?{_SED_ADDRESS})?\s*!?\s*)?"
    r"(?:s([/|#,@:!~%])(?:\\.|(?!\1)[^\\\n])*+\1(?:\\.|(?!\1)[^\\\n])*+\1[gpIiMm0-9]*"
    r"|[dDpPnNgGhHx=]|[qQl]\d*|:\w+|[bt]\s*\w*)[ \t]*(?:[;\n]|$)"
)
_SED_UNREAD = doubt(
    "cannot-be-followed",
    "sed-script",
    Severity.MEDIUM,
)
_AWK_STRING = re.compile(r'"(?:\\.|[^"\\\n])*+"|/[A-Za-z0-9_|.^$\\*+?()\[\]-]+/')
_AWK_RUNS = re.compile(r"\bsystem\b|(?<!\|)\|(?!\|)|@|\bgetline\b")
_AWK_WRITES = re.compile(r"\bprintf?\b[^;}\n]*>")
_AWK_OPTIONS = re.compile(r"-[Fv].*|--field-separator.*|--assign.*|--posix|--csv|-n|--")
_FIND_STARTS = {"-exec", "-execdir", "-ok", "-okdir"}
_FIND_WRITES = {"-fprint", "-fprint0", "-fprintf", "-fls"}
_TAR_RUNS = ("--to-command", "--checkpoint-action", "--use-compress-program", "--rsh-command")
_GIVES_ALL = re.compile(r"[0-7]?[0-7]{2}[2367]|[ugoa]*[oa][ugoa]*[+=][rwxXst]*w[rwxXst]*|\+w")
_SETS_ID = re.compile(r"[2-7][0-7]{3}|.*[+=][rwxX]*s[rwxXs]*")
_MAYBE_A_FOLDER = replace(MAYBE_AN_OPTION, severity=Severity.LOW)
_TRUNCATES = FindingKind("file-write", Severity.HIGH, "cuts-files")


def rm(call: ShellCall) -> None:
    """Judge ``rm``."""
    recursive = call.has_flag("rR", "--recursive")
    call.add(effects.DELETES_FOLDERS if recursive else effects.DELETES_FILES)


def find(call: ShellCall) -> None:
    """Judge ``find``, which deletes, writes and starts programs on demand."""
    for index, word in enumerate(call.args):
        if word.text == "-delete":
            call.add(effects.DELETES_FOUND_FILES if _only_files(call) else effects.DELETES_FOLDERS)
        elif word.text in _FIND_WRITES:
            call.add(effects.WRITES_FILE)
        elif word.text in _FIND_STARTS:
            call.runs(_until_end(call.args[index + 1 :]))
        elif word.opaque:
            call.add(MAYBE_AN_OPTION if index or not word.quoted else _MAYBE_A_FOLDER)


def _only_files(call: ShellCall) -> bool:
    """Whether nothing but files fits all of what ``find`` looks for."""
    texts = [word.text if word.known and not word.guessed else "" for word in call.args]
    if {"-o", "-or", ",", "!", "-not", "(", ")", ""} & set(texts):
        return False
    return any(pair in (("-type", "f"), ("-type", "l")) for pair in pairwise(texts))


def _until_end(words: tuple[Word, ...]) -> tuple[Word, ...]:
    texts = [word.text for word in words]
    ends = [texts.index(end) for end in (";", "+") if end in texts]
    return words[: min(ends, default=len(words))]


def dd(call: ShellCall) -> None:
    """Judge ``dd``."""
    for word in call.args:
        if word.text.startswith("of="):
            call.add(*writing(Word(word.text.removeprefix("of=")), call.shell.folder))
        elif word.opaque:
            call.add(effects.WRITES_DISK)


def copying(call: ShellCall) -> None:
    """Judge what puts files somewhere: its last operand, or the value of ``-t``."""
    operands = call.operands(values="tST", names=frozenset({"--target-directory", "--suffix"}))
    folder = call.option("t", "--target-directory")
    target = folder or (operands[-1] if operands else None)
    if target and call.name == "mv" and target.text == "/dev/null":
        call.add(effects.DELETES_FILES)
    written_places = list(writing(target, call.shell.folder)) if target else []
    call.add(*(written_places or [effects.WRITES_FILE]))


def every_operand(call: ShellCall) -> None:
    """Judge what writes each file that it names."""
    for word in call.operands():
        call.add(*writing(word, call.shell.folder))
        if word.process:
            call.add(effects.RUNS_COMMAND)


def truncate(call: ShellCall) -> None:
    """Judge ``truncate``."""
    call.add(_TRUNCATES)
    for word in call.operands(values="sr", names=frozenset({"--size", "--reference"})):
        call.add(*writing(word, call.shell.folder))


def chmod(call: ShellCall) -> None:
    """Judge ``chmod``."""
    modes = [word.text for word in call.args[:3]]
    wide = any(_GIVES_ALL.fullmatch(mode) or _SETS_ID.fullmatch(mode) for mode in modes)
    call.add(effects.OPENS_RIGHTS if wide else effects.CHANGES_RIGHTS)


def sed(call: ShellCall) -> None:
    """Judge ``sed``: its scripts can write files and run commands."""
    if call.has_flag("f", "--file"):
        call.add(effects.RUNS_PROGRAM)
        call.runs_output(call.option("f", "--file") or Word(""))
    if any(re.match(r"-[nErszu]*i|--in", flag) for flag in call.flags()):
        call.add(effects.WRITES_FILE, *writing((*call.args, Word("-"))[-2]))
    script_option = call.option("e", "--expression", "-ne", "-Ee", "-re", "-nEe", "-nre", "-ie")
    several = sum(re.match(r"-\w*e$|--e", flag) is not None for flag in call.flags()) > 1
    operands = call.operands(values="ef")
    script = script_option or (operands[0] if operands else Word(""))
    if several or not script.known or script.guessed or not _is_plain_sed(script.text):
        call.add(_SED_UNREAD)
    if script.fetched:
        call.add(effects.PIPES_TO_SHELL)


def _is_plain_sed(script: str) -> bool:
    position = 0
    while position < len(script.rstrip()):
        command = _SED_COMMAND.match(script, position)
        if not command:
            return False
        position = command.end()
    return True


def awk(call: ShellCall) -> None:
    """Judge ``awk``: its programs can write files and run commands."""
    for word in call.args:
        if word.text.startswith("-") and not _AWK_OPTIONS.fullmatch(word.text):
            call.add(effects.RUNS_PROGRAM)
    file = call.option("fE", "--file", "--exec")
    if file:
        call.runs_output(file)
    operands = call.operands(values="Fvfile", names=frozenset({"--field-separator", "--assign"}))
    if not operands:
        return
    program = operands[0]
    text = _AWK_STRING.sub('""', program.text)
    if not program.known or program.guessed:
        call.add(doubt("cannot-be-followed", "awk-program"))
    if program.fetched:
        call.add(effects.PIPES_TO_SHELL)
    if _AWK_RUNS.search(text):
        call.add(effects.RUNS_COMMAND)
    if _AWK_WRITES.search(text):
        call.add(effects.WRITES_FILE)


def tar(call: ShellCall) -> None:
    """Judge ``tar``."""
    letters = call.args[0].text if call.args else ""
    if call.has_flag("IF", *_TAR_RUNS) or call.has_opaque() or re.match("[a-z]*[IF]", letters):
        call.add(effects.RUNS_COMMAND)
    if call.has_flag("", "--remove-files", "--delete"):
        call.add(effects.DELETES_FILES)
    if not re.fullmatch(r"-?[a-wyzA-Z]*t[a-wyzA-Z]*|--list", letters):
        call.add(effects.WRITES_FILE)


def curl(call: ShellCall) -> None:
    """Judge ``curl``, which writes files on demand."""
    call.add(effects.USES_NETWORK)
    if call.asks_to_delete():
        call.add(effects.UNKNOWN_DESTROYS)
    for flag, value in pairwise((*call.args, Word(""))):
        if re.fullmatch(r"-[a-zA-Z#]*o|--output(?:-dir)?", flag.text):
            call.add(*writing(value, call.shell.folder))
        elif re.match(r"-[a-zA-Z#]*[oOcDK]|--(?:out|rem|dump|cook|conf|trace)", flag.text):
            call.add(effects.WRITES_FILE)


def wget(call: ShellCall) -> None:
    """Judge ``wget``, which writes a file unless told otherwise."""
    call.add(effects.USES_NETWORK)
    if call.asks_to_delete():
        call.add(effects.UNKNOWN_DESTROYS)
    call.add(*writing(call.option("O", "--output-document") or Word("a file")))


HANDLERS: Handlers = {
    rm: names("rm grm"),
    find: names("find gfind"),
    dd: names("dd"),
    copying: names("cp mv ln install"),
    every_operand: names("tee touch sponge mkdir"),
    truncate: names("truncate"),
    chmod: names("chmod"),
    sed: names("sed gsed"),
    awk: names("awk gawk mawk nawk"),
    tar: names("tar bsdtar gtar"),
    curl: names("curl"),
    wget: names("wget wget2"),
}
