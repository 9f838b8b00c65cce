"""Commands of a shell that start another command, and where that one begins."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from dashboard.inspection import effects
from dashboard.inspection.knowledge import SHELL_COMMANDS, SHELL_WRAPPERS
from dashboard.inspection.knowledge.loading import Wrapper
from dashboard.inspection.notes import FindingKind, names
from dashboard.inspection.secrets import SECRET_NAME
from dashboard.inspection.shell.call import (
    NOT_CONSTANT,
    Handlers,
    ShellCall,
    Stdin,
    names_input,
    takes_value,
)
from dashboard.inspection.shell.paths import is_elsewhere, writing
from dashboard.inspection.shell.words import PLACEHOLDER, UNKNOWN, Word

_ASSIGNMENT = re.compile(r"\w+=", re.ASCII)
_TIMETABLE_VALUE = re.compile(r"(\w+)\s*=", re.ASCII)
HARMLESS_VALUES = {
    "LESS": re.compile(r"[-ABCEFGIJKLMNQRSUVWXYZabcdefghijlmnqrsuvwxyz0-9 ]*"),
    "PYTHONWARNINGS": re.compile(r"(?:[a-z]*(?::[^:,.]*){0,2},?)*"),
}
"""Values of variables that otherwise make a program run code, and do not so."""

_WRITTEN_TO = names("LESSHISTFILE PYTHONPYCACHEPREFIX")
_SETTINGS = names(
    "HOME XDG_CONFIG_HOME XDG_CONFIG_DIRS GIT_DIR GIT_COMMON_DIR GIT_WORK_TREE KUBECONFIG"
)
"""Variables that name a folder or a file whose settings may name programs."""

_SHOWS = names("env genv")
_RUNS_LINES = {"", "{}", "sh -c", "sh -c {}", "bash -c", "bash -c {}"}
_LISTS_JOBS = re.compile(r"(?:-u [^- ]\S* )?-l(?: -u [^- ]\S*)?")
_JOB = re.compile(r"\s*(?:@\w+|(?:[^\s#]\S*\s+){4}\S+)\s+(.+)")
"""A line of a timetable: when, then what."""

_LINE_ENDS = re.compile(r"(?<!\\)%")
"""What cron takes for the end of a line; the command reads what stands behind the first."""


def wrap(call: ShellCall) -> None:
    """Judge a command that starts another one: both of them."""
    wrapper = SHELL_WRAPPERS.wrappers[call.name]
    call.add(*wrapper.effects)
    if call.name == "time" and (target := call.option("o", "--output")):
        call.add(*writing(target, call.shell.folder))
    rest, assigned = _command(call, wrapper)
    for word in assigned:
        name, _, value = word.text.partition("=")
        call.add(*assigning(name, replace(word, text=value)))
    if not rest:
        call.add(*wrapper.runs_alone)
        if call.name in _SHOWS and not call.has_flag("", "--help", "--version", "--split-string"):
            shows_environment(call)
        if effects.GAINS_RIGHTS in wrapper.effects:
            reads_input(call)
    elif "xargs" in call.name:
        _run_by_xargs(call, rest)
    else:
        call.runs(rest)
        if effects.RUNS_PROGRAM in wrapper.effects:  # its options are many
            call.runs_named(rest)


def _command(call: ShellCall, wrapper: Wrapper) -> tuple[list[Word], list[Word]]:
    """Return the words of the wrapped command and the variables set for it."""
    words, assigned, skip = list(call.args), list[Word](), wrapper.skip
    if wrapper.skips_first and words and words[0].text.startswith("-"):
        skip = 0
    while words:
        word = words.pop(0)
        if word.text == "--":
            continue
        if word.text.startswith("-"):
            split = re.match(r"-\w*S|--split", word.text) if "env" in call.name else None
            if split:
                call.reads_joined(_split_string(word, words))
                return [], assigned
            if takes_value(word.text, wrapper.letters, wrapper.options) and words:
                words.pop(0)
        elif _ASSIGNMENT.match(word.text):
            assigned.append(word)
        elif skip:
            skip -= 1
        else:
            return [word, *words], assigned
    return [], assigned


def _split_string(option: Word, rest: list[Word]) -> list[Word]:
    attached = re.sub(r"^(?:-\w*?S|--[\w-]*=?)", "", option.text)
    return [Word(attached, guessed=option.guessed), *rest] if attached else rest


def _run_by_xargs(call: ShellCall, rest: list[Word]) -> None:
    """Judge what xargs starts. It adds words that nobody knows, so none may make the code."""
    place = call.option("I", "--replace")
    replaced = place.text if place and place.text else "{}"
    is_program = rest[0].text != "command"  # a builtin, which xargs cannot start
    piped = call.stdin is not None and call.stdin.piped
    argument = Word(UNKNOWN, fetched=is_program and piped)
    words = [
        argument
        if word.text == replaced
        else replace(word, text=word.text.replace(replaced, UNKNOWN))
        for word in rest
    ]
    call.runs(words if any(UNKNOWN in word.text for word in words) else [*words, argument])


def assigning(name: str, value: Word | None = None) -> tuple[FindingKind, ...]:
    """Say what giving a value to a variable does beyond the script itself.

    Args:
        name: The variable, or a part of it, as ``PATH[0]`` is.
        value: What it is given, as far as that is known.
    """
    name = name.partition("[")[0]
    text = value.text if value and value.known and not value.guessed else UNKNOWN
    if name in SHELL_COMMANDS.search_paths:
        return (effects.CHANGES_PATH,)
    loads = name.startswith(("LD_", "DYLD_", "GIT_CONFIG", "BASH_FUNC"))
    if loads or name in SHELL_COMMANDS.loading:
        harmless = HARMLESS_VALUES.get(name)
        return () if harmless and harmless.fullmatch(text) else (effects.LOADS_CODE,)
    if name in SHELL_COMMANDS.history:
        return (effects.HIDES_TRACES,)
    return tuple(_leading(name, text))


def _leading(name: str, path: str) -> Iterator[FindingKind]:
    """Say what a variable does that names a file or a place."""
    if name.startswith("GIT_TRACE") or name in _WRITTEN_TO:
        if is_elsewhere(path):
            yield from writing(Word(path.replace(UNKNOWN, "a")))
    elif name in _SETTINGS and is_elsewhere(path):
        yield effects.SETTINGS_ELSEWHERE
    elif name == "DOCKER_HOST" and not path.startswith("unix://"):
        yield effects.USES_NETWORK


def shows_environment(call: ShellCall) -> None:
    """Say that a command prints all variables, unless what is let through is no secret."""
    if not (call.line_filter and not SECRET_NAME.search(call.line_filter)):
        call.add(effects.SHOWS_SECRETS)


def command(call: ShellCall) -> None:
    """Judge ``command``: with ``-v`` it only says what a name stands for."""
    if not (call.args and re.fullmatch("-p?[vV]", call.args[0].text)):
        call.runs(call.rest())


def watch(call: ShellCall) -> None:
    """Judge ``watch``, which hands its words, joined, to a shell."""
    call.reads_joined(call.rest(values="nqs", names=frozenset({"--interval"})))


def flock(call: ShellCall) -> None:
    """Judge ``flock``: a file to lock, then a command, or code for a shell after ``-c``."""
    code = call.option("c", "--command")
    if code:
        call.reads(code)
    else:
        call.runs(call.rest(1, values="wE", names=frozenset({"--timeout", "--wait"})))


def su(call: ShellCall) -> None:
    """Judge ``su`` and its kin, which hand code to a shell of somebody else."""
    call.add(effects.GAINS_RIGHTS)
    reads_input(call)
    code = call.option("c", "--command", "--session-command")
    if code:
        call.reads(code)
    elif call.name == "runuser":
        call.runs(call.rest(values="ugGs", names=frozenset({"--user", "--group"})))


def reads_input(call: ShellCall) -> None:
    """Read what a shell that a command starts is given to read."""
    if call.stdin and call.stdin.text:
        call.reads(Word(call.stdin.text))
    elif call.stdin:
        call.add(effects.PIPES_TO_SHELL)


def later(call: ShellCall) -> None:
    """Judge ``at`` and ``batch``, which read code for later."""
    call.add(effects.STAYS_BEHIND, effects.RUNS_PROGRAM)
    reads_input(call)


def crontab(call: ShellCall) -> None:
    """Judge ``crontab``: its commands are read where they are written here."""
    if _LISTS_JOBS.fullmatch(" ".join(word.text for word in call.args)):
        return
    operands = call.operands(values="u")
    if not call.args and not call.stdin:
        return
    if call.has_flag("r"):
        call.add(effects.DELETES_FILES)
    call.add(effects.STAYS_BEHIND)
    if any(word.process for word in operands):
        call.add(effects.PIPES_TO_SHELL)
    elif call.stdin and all(map(names_input, operands)):
        if call.stdin.fetched:
            call.add(effects.PIPES_TO_SHELL)
        _read_timetable(call, call.stdin.text)


def _read_timetable(call: ShellCall, text: str | None) -> None:
    if text is None or UNKNOWN in text:
        call.add(NOT_CONSTANT)
    for line in (text or "").split("\n"):
        if value := _TIMETABLE_VALUE.match(line.strip()):
            call.add(*assigning(value[1]))
        elif job := _JOB.match(line):
            command, _, stdin = _LINE_ENDS.sub("\n", job[1]).partition("\n")
            call.shell.read(
                command.replace(UNKNOWN, PLACEHOLDER), Stdin(stdin, piped=False) if stdin else None
            )


def script(call: ShellCall) -> None:
    """Judge ``script``, which writes down what a shell or a command shows."""
    call.add(effects.WRITES_FILE)
    code = call.option("c", "--command")
    if code:
        call.reads(code)
    else:
        call.add(effects.RUNS_PROGRAM)


def parallel(call: ShellCall) -> None:
    """Judge ``parallel``, whose words and input both become code for a shell."""
    call.add(NOT_CONSTANT)
    words = call.rest(values="jnNSIa", names=frozenset({"--jobs"}))
    if words:
        call.reads_joined(words)
    if " ".join(word.text for word in words) in _RUNS_LINES:
        call.runs_output(None)


def capsh(call: ShellCall) -> None:
    """Judge ``capsh``, which gives what stands after its dashes to bash."""
    call.add(effects.GAINS_RIGHTS)
    texts = [word.text for word in call.args]
    if "--" in texts:
        call.runs([Word("bash"), *call.args[texts.index("--") + 1 :]])
    else:
        call.add(effects.RUNS_COMMAND)


HANDLERS: Handlers = {
    wrap: SHELL_WRAPPERS.wrappers.keys(),
    command: names("command"),
    watch: names("watch"),
    flock: names("flock"),
    su: names("su runuser sg"),
    script: names("script"),
    later: names("at batch"),
    crontab: names("crontab"),
    parallel: names("parallel"),
    capsh: names("capsh"),
}
