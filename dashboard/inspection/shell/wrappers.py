"""Commands of a shell that start another command, and where that one begins."""

from __future__ import annotations

import re
from typing import NamedTuple

from dashboard.inspection.notes import Effect, names
from dashboard.inspection.shell import tables
from dashboard.inspection.shell.call import NOT_CONSTANT, Call, takes_value
from dashboard.inspection.shell.paths import writing
from dashboard.inspection.shell.words import UNKNOWN, Word

_ASSIGNMENT = re.compile(r"\w+=", re.ASCII)


class Wrapper(NamedTuple):
    """How a command names the one that it starts.

    Attributes:
        values: The letters of its options that take the next argument.
        names: The names of such options.
        skip: How many operands come before the command.
        effects: What it does by itself.
        runs_alone: What it does when it names no command.
    """

    values: str = ""
    names: frozenset[str] = frozenset()
    skip: int = 0
    effects: tuple[Effect, ...] = ()
    runs_alone: tuple[Effect, ...] = ()


def _wrapper(
    values: str = "",
    names: str = "",
    *,
    skip: int = 0,
    effects: tuple[Effect, ...] = (),
    runs_alone: tuple[Effect, ...] = (),
) -> Wrapper:
    return Wrapper(values, frozenset(names.split()), skip, effects, runs_alone)


_AS_OTHER = (tables.GAINS_RIGHTS,)
_BEHIND = (tables.STAYS_BEHIND,)
_RUNS = (tables.RUNS_PROGRAM,)
_USER_NAMES = "--user --group --host --prompt --chdir --chroot --role --type --other-user"
WRAPPERS = {
    "sudo": _wrapper("ughpCrtTUDR", _USER_NAMES, effects=_AS_OTHER),
    "doas": _wrapper("uC", effects=_AS_OTHER),
    "run0": _wrapper("u", _USER_NAMES, effects=_AS_OTHER),
    "gosu": _wrapper(skip=1, effects=_AS_OTHER),
    "su-exec": _wrapper(skip=1, effects=_AS_OTHER),
    "setpriv": _wrapper(effects=_AS_OTHER),
    "chroot": _wrapper(skip=1, effects=_AS_OTHER),
    "unshare": _wrapper("SGw", effects=_AS_OTHER, runs_alone=_RUNS),
    "nsenter": _wrapper("tSG", "--target", effects=_AS_OTHER, runs_alone=_RUNS),
    "nice": _wrapper("n", "--adjustment"),
    "ionice": _wrapper("cnpPu", "--class --classdata"),
    "chrt": _wrapper("TPD", skip=1),
    "taskset": _wrapper(skip=1),
    "numactl": _wrapper("CmNip"),
    "nohup": _wrapper(effects=_BEHIND),
    "setsid": _wrapper(effects=_BEHIND),
    "daemonize": _wrapper("aceElopu", effects=_BEHIND),
    "coproc": _wrapper(effects=_BEHIND),
    "systemd-run": _wrapper("upEMH", "--unit --property --setenv --on-calendar", effects=_BEHIND),
    "time": _wrapper("fo", "--format --output"),
    "timeout": _wrapper("ks", "--kill-after --signal", skip=1),
    "gtimeout": _wrapper("ks", "--kill-after --signal", skip=1),
    "stdbuf": _wrapper("ioe", "--input --output --error"),
    "builtin": _wrapper(),
    "exec": _wrapper("a"),
    "busybox": _wrapper(),
    "toybox": _wrapper(),
    "setarch": _wrapper(skip=1),
    "linux32": _wrapper(),
    "linux64": _wrapper(),
    "strace": _wrapper("aeEIobpPsSuUX", "--output --trace", effects=_RUNS),
    "ltrace": _wrapper("aAeFlnosuwx", effects=_RUNS),
    "caffeinate": _wrapper("tw"),
    "fakeroot": _wrapper("lsib"),
    "eatmydata": _wrapper(),
    "faketime": _wrapper("fp", skip=1),
    "torsocks": _wrapper("Pu"),
    "proxychains": _wrapper("f"),
    "proxychains4": _wrapper("f"),
    "rlwrap": _wrapper(),
    "unbuffer": _wrapper(),
    "dbus-run-session": _wrapper(),
    "systemd-inhibit": _wrapper(),
    "cpulimit": _wrapper("lpe"),
    "cgexec": _wrapper("g"),
    "firejail": _wrapper(),
    "bwrap": _wrapper(effects=_RUNS),
    "proot": _wrapper("rbwk", effects=_RUNS),
    "xvfb-run": _wrapper("nspfew"),
    "catchsegv": _wrapper(),
    "pkexec": _wrapper("u", "--user", effects=_AS_OTHER),
    "env": _wrapper("uC", "--unset --chdir"),
    "genv": _wrapper("uC", "--unset --chdir"),
    "xargs": _wrapper("InPLdEsa", "--max-args --max-procs --delimiter --replace --arg-file"),
    "gxargs": _wrapper("InPLdEsa", "--max-args --max-procs --delimiter --replace --arg-file"),
}


def wrap(call: Call) -> None:
    """Judge a command that starts another one: both of them."""
    wrapper = WRAPPERS[call.name]
    call.add(*wrapper.effects)
    if call.name == "time" and (target := call.option("o", "--output")):
        call.add(*writing(target))
    rest, assigned = _command(call, wrapper)
    for word in assigned:
        call.add(*assigning(word.text.partition("=")[0]))
    if not rest:
        call.add(*wrapper.runs_alone)
        if tables.GAINS_RIGHTS in wrapper.effects:
            reads_input(call)
    elif "xargs" in call.name:
        _run_by_xargs(call, rest)
    else:
        call.runs(rest)


def _command(call: Call, wrapper: Wrapper) -> tuple[list[Word], list[Word]]:
    """Return the words of the wrapped command and the variables set for it."""
    words, assigned, skip = list(call.args), list[Word](), wrapper.skip
    while words:
        word = words.pop(0)
        if word.text == "--":
            continue
        if word.text.startswith("-"):
            split = re.match(r"-\w*S|--split", word.text) if "env" in call.name else None
            if split:
                call.reads_joined(_split_string(word, words))
                return [], assigned
            if takes_value(word.text, wrapper.values, wrapper.names) and words:
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


def _run_by_xargs(call: Call, rest: list[Word]) -> None:
    """Judge what xargs starts. It adds words that nobody knows, so none may make the code."""
    place = call.option("I", "--replace")
    replaced = place.text if place and place.text else "{}"
    known = [
        Word(word.text.replace(replaced, UNKNOWN), quoted=word.quoted, guessed=word.guessed)
        for word in rest
    ]
    call.runs(known if any(UNKNOWN in word.text for word in known) else [*known, Word(UNKNOWN)])


def assigning(name: str) -> tuple[Effect, ...]:
    """Say what giving a value to a variable does beyond the script itself."""
    if name in _SEARCH_PATHS:
        return (tables.CHANGES_PATH,)
    if name in _LOADING or name.startswith(("LD_", "DYLD_", "GIT_CONFIG", "BASH_FUNC")):
        return (tables.LOADS_CODE,)
    return (tables.HIDES_TRACES,) if name in _HISTORY else ()


_SEARCH_PATHS = names("PATH PYTHONPATH PERL5LIB RUBYLIB NODE_PATH CLASSPATH CDPATH")
_LOADING = names(
    "BASH_ENV ENV PROMPT_COMMAND PS0 PS1 PS2 PS4 PYTHONSTARTUP PYTHONHOME PYTHONINSPECT PERL5OPT "
    "PERL5DB RUBYOPT NODE_OPTIONS JAVA_TOOL_OPTIONS _JAVA_OPTIONS GIT_SSH GIT_SSH_COMMAND "
    "GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_ASKPASS GIT_EXEC_PATH "
    "GIT_PROXY_COMMAND SSH_ASKPASS PAGER MANPAGER LESSOPEN LESSCLOSE EDITOR VISUAL BROWSER SHELL "
    "GCONV_PATH SHELLOPTS BASHOPTS TAR_OPTIONS RSYNC_RSH PYTHONBREAKPOINT SUDO_ASKPASS "
    "MAKEFLAGS RSH CVS_RSH SYSTEMD_PAGER VIMINIT EXINIT"
)
_HISTORY = names("HISTFILE HISTSIZE HISTFILESIZE HISTCONTROL HISTIGNORE")


def command(call: Call) -> None:
    """Judge ``command``: with ``-v`` it only says what a name stands for."""
    if not (call.args and re.fullmatch("-p?[vV]", call.args[0].text)):
        call.runs(call.rest())


def watch(call: Call) -> None:
    """Judge ``watch``, which hands its words, joined, to a shell."""
    call.reads_joined(call.rest(values="nqs", names=frozenset({"--interval"})))


def flock(call: Call) -> None:
    """Judge ``flock``: a file to lock, then a command, or code for a shell after ``-c``."""
    code = call.option("c", "--command")
    if code:
        call.reads(code)
    else:
        call.runs(call.rest(1, values="wE", names=frozenset({"--timeout", "--wait"})))


def su(call: Call) -> None:
    """Judge ``su`` and its kin, which hand code to a shell of somebody else."""
    call.add(tables.GAINS_RIGHTS)
    reads_input(call)
    code = call.option("c", "--command", "--session-command")
    if code:
        call.reads(code)
    elif call.name == "runuser":
        call.runs(call.rest(values="ugGs", names=frozenset({"--user", "--group"})))


def reads_input(call: Call) -> None:
    """Read what a shell that a command starts is given to read."""
    if call.stdin and call.stdin.text:
        call.reads(Word(call.stdin.text))
    elif call.stdin:
        call.add(tables.PIPES_TO_SHELL)


def later(call: Call) -> None:
    """Judge ``at`` and ``batch``, which read code for later."""
    call.add(tables.STAYS_BEHIND, tables.RUNS_PROGRAM)
    reads_input(call)


def script(call: Call) -> None:
    """Judge ``script``, which writes down what a shell or a command shows."""
    call.add(tables.WRITES_FILE)
    code = call.option("c", "--command")
    if code:
        call.reads(code)
    else:
        call.add(tables.RUNS_PROGRAM)


def parallel(call: Call) -> None:
    """Judge ``parallel``, whose words and input both become code for a shell."""
    call.add(NOT_CONSTANT)
    call.reads_joined(call.rest(values="jnNSIa", names=frozenset({"--jobs"})))


HANDLERS = {
    **dict.fromkeys(WRAPPERS, wrap),
    "command": command,
    "watch": watch,
    "flock": flock,
    **dict.fromkeys(["su", "runuser", "sg"], su),
    "script": script,
    **dict.fromkeys(["at", "batch"], later),
    "parallel": parallel,
}
