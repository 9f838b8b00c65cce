"""Commands of a shell with subcommands, and those that reach other machines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from dashboard.inspection import effects
from dashboard.inspection.findings import Severity
from dashboard.inspection.knowledge import GIT, SHELL_OPTIONS, VERBS
from dashboard.inspection.notes import FindingKind, names
from dashboard.inspection.shell.call import (
    MAYBE_AN_OPTION,
    NOT_CONSTANT,
    Handlers,
    ShellCall,
    beginnings,
    names_input,
    takes_value,
)
from dashboard.inspection.shell.paths import is_elsewhere, writing
from dashboard.inspection.shell.statements import read_statements
from dashboard.inspection.shell.words import PLACEHOLDER, UNKNOWN, Word

_GIT_FORCES = r"-[a-z]*f|--force.*|--mirror|--delete|-d|--prune|\+.*|:.+"
_GIT_HIDES = re.compile(
    r"(?:rebase (?:-[irkqvnmpf]*x|--ex)|grep -[aiIvwhHlLnrsqcopWEGFPz]*O"
    r"|clone (?:-[lsqvn46]*[uc]|--co|--u)|ls-remote --u|push --e|\S+ ext::"
    r"|\S+ --(?:upl|rece|exe|op)).*"
)
_GIT_DRIVERS = re.compile(r"--(?:ext-d|textc).*")
"""Options by which programs that the settings name show what has changed, as some do anyway."""

_GIT_ONLY_SHOWS = r"-[dfxXq]*n[dfxXqn]*|--dry-run"
_SECRETS = re.compile(r"(?:[\w.,-]+,)?secrets?(?:[,./]|$)")
_NAMES_ONLY = re.compile(
    r"wide|name|custom-columns=(?:\w+:\.(?:metadata\.(?:name|namespace|creationTimestamp)|type|kind)"
    r"(?:,|$))+"
)
_GIT_FOLDERS = names("-C --git-dir --work-tree")
_GIT_SETS = re.compile(r"-c|--config-env.*|--exec-path=.*")
_REWRITES = FindingKind("network", Severity.HIGH, "rewrites-repository")
_GROUPED = names("container image")
_MANAGED = (["volume"], ["network"])
_MAKES = (["create"], ["connect"], ["disconnect"])
_SETS_UP = replace(effects.CHANGES_SYSTEM, severity=Severity.MEDIUM)
_STARTS_CONTAINERS = names("docker podman nerdctl")
_CLUSTERS = names("kubectl oc")
_RUNS_SCRIPTS = names("deno bun uv")
_ASKS_PIP = re.compile(
    r"[^-].*|-[oulevq]+|--(?:outdated|uptodate|local|user|editable|pre|format|not-required|verbose"
    r"|include-editable|exclude-editable|exclude|files|all|quiet|no-color|isolated"
    r"|disable-pip-version-check)(?:=.*)?"
)
_READS_NO_COMMAND = re.compile(
    r"(?:(?:-(?:no\w*|sta|mta|l|login|i|interactive)|-(?:ex\w*|ep|w\w*|o\w*|inp\w*|v\w*) \S+"
    r"|/(?![ckr])\S+)(?: |$))*",
    re.IGNORECASE,
)
"""Options of a shell of Windows after which it reads its commands."""

_CONTAINER_ESCAPES = re.compile(
    r"--(?:privileged|pid|ipc|uts|cap-add|device|security-opt|userns)\b|--net(?:work)?=host"
    r"|.*docker\.sock"
    r"|(?:-v|--volume=|--mount=)?(?:.*(?:source|src)=)?/(?:etc|root|proc|sys|dev)?/?[:,]"
)
_ABOUT_ITSELF = names("config configure login logout completion help version")
_TELLS = names("--help --dry-run --dryrun")
_DESTROYS = names("rb rmdirs deletefile deletion down")
"""Words of such programs alone, beside those that say it anywhere."""

_KEEPS = names("""
    create deploy show describe list ls get run cp mv ssh scp exec execute update set add put apply
    start logs log status view export import scale rollout clone checkout restore sync push pull
    upload download publish tail connect open up preview plan diff new init copy copyto move
    invoke call query scan search submit resize rename attach detach enable disable restart browse
    history get-credentials
""")
"""What is asked for by these deletes nothing, and names follow."""

_PLAIN_VERBS = names("delete destroy remove rm purge terminate")
_BEGIN_WITH_VERB = names("""
    firebase sls serverless wrangler vercel netlify fly flyctl pulumi cdk sam eb supabase
    databricks
""")
_MOST_WORDS = 100  # that are looked through for what is asked
_UNSEEN = Word(UNKNOWN)
"""What stands behind those."""

_STAGES = names("alpha beta")
"""Of a program's own words, which stand before the service."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_:][A-Za-z0-9]+)*")
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")
_ENCODED = {"-encodedcommand", "-enc", "-ec", "-e"}


def subcommands(call: ShellCall) -> None:
    """Judge a command by the first of its subcommands."""
    table = SHELL_OPTIONS.subcommands[call.name]
    words = call.rest(values="", names=table.values)
    if call.name in _RUNS_SCRIPTS:
        _runs_script(call, words)
    if not words:
        return
    if call.name in _STARTS_CONTAINERS and words[0].text in _GROUPED and words[1:]:
        words = words[1:]  # `docker container run` is `docker run`
    if _sets_up(call, words):
        call.add(_SETS_UP)
        return
    if table.starts and any(re.match(table.starts, word.text) for word in call.args):
        call.add(effects.RUNS_PROGRAM)
    for option in table.options:
        if any(re.match(option.pattern, word.text) for word in call.args):
            call.add(option.effect)
    effects_of_word = table.effects.get(words[0].text, table.otherwise)
    call.add(*effects_of_word)
    if effects_of_word == table.otherwise or effects.RUNS_PROGRAM in effects_of_word:
        call.runs_named(words[1:])

    texts = [word.text for word in call.args] if call.name in {"pip", "pip3"} else []
    if not effects_of_word and not all(map(_ASKS_PIP.fullmatch, texts)):
        call.add(effects.RUNS_PROGRAM)  # `--python` starts another one, `--log` writes


def _runs_script(call: ShellCall, words: Sequence[Word]) -> None:
    """Say so where a program for scripts reads one: ``deno``, ``bun -``, ``uv run --with x -``."""
    if call.name != "uv" and (not words or names_input(words[0])):
        call.runs_output(None)
    elif words and words[0].text == "run":
        for previous, word in pairwise(words):
            if word.process or names_input(word):
                call.runs_output(word)
            if not word.text.startswith("-") and not previous.text.startswith("-"):
                return  # it is the program, and the rest is for it


def _sets_up(call: ShellCall, words: Sequence[Word]) -> bool:
    """Whether a network or a volume for containers is only made, or lent to one of them."""
    texts = [word.text for word in words[:2]]
    return call.name in _STARTS_CONTAINERS and texts[:1] in _MANAGED and texts[1:] in _MAKES


def containers(call: ShellCall) -> None:
    """Judge ``docker`` and its kin, which may reach out of what they start."""
    subcommands(call)
    host = call.option("H", "--host")
    if host and not host.text.startswith("unix://"):
        call.add(effects.USES_NETWORK)
    if any(_CONTAINER_ESCAPES.match(word.text) for word in call.args):
        call.add(effects.LEAVES_CONTAINER)


def cluster(call: ShellCall) -> None:
    """Judge ``kubectl``, which prints what secrets hold where it prints all of them."""
    subcommands(call)
    table = SHELL_OPTIONS.subcommands[call.name]
    texts = [word.text for word in call.operands(values="no", names=table.values)]
    form = call.option("o", *beginnings("--output", 5), *beginnings("--template", 5))
    about_secrets = any(_SECRETS.match(text) for text in texts[1:])
    if texts[:1] == ["get"] and about_secrets and form and not _NAMES_ONLY.fullmatch(form.text):
        call.add(effects.SHOWS_SECRETS)


def asking(call: ShellCall) -> None:
    """Judge a program that asks a service, such as ``aws``: whether that deletes something."""
    call.add(effects.USES_NETWORK)
    if call.asks_to_delete():
        call.add(effects.UNKNOWN_DESTROYS)
    if _only_tells(call):
        return
    read_statements(call)
    for word in _first_words(call):
        if word.opaque or not word.known:
            call.add(MAYBE_AN_OPTION)
        if not _verbs(word).isdisjoint(VERBS.destroying | _DESTROYS) or _mirrors(call, word):
            call.add(effects.DELETES_SERVICES)


def _mirrors(call: ShellCall, word: Word) -> bool:
    """Whether a copy deletes there what is not here."""
    if word.text == "rsync":
        return call.has_flag("d", "--delete")
    return word.text == "sync" and (call.name == "rclone" or call.has_flag("", "--delete"))


def _first_words(call: ShellCall) -> Iterator[Word]:
    """Yield the words that may say what is asked, until one does that deletes nothing.

    What stands behind an option that is not known may be its value: then it ends nothing. Nor does
    what may be the name of a service, such as ``deploy`` and ``logs``, before a plain ``delete``.
    """
    room, option = SHELL_OPTIONS.asking[call.name], ""
    is_first = call.name not in _BEGIN_WITH_VERB
    words = [word for word in call.args if word.text not in _STAGES]
    ends = [index for index, word in enumerate(words) if word.text in _PLAIN_VERBS]
    for index, word in enumerate(words[:_MOST_WORDS]):
        text = word.text
        if text.startswith("-"):
            option = "" if "=" in text else text
        elif option in SHELL_OPTIONS.asking_values:
            option = ""
        else:
            yield word
            is_verb = text in _KEEPS and not is_first and not option
            if is_verb and index >= max(ends, default=0):
                return
            room, is_first = room - (not option), False
            if not room:
                return
            option = ""
    if words[_MOST_WORDS:]:
        yield _UNSEEN


def _verbs(word: Word) -> set[str]:
    """Return the words in a word, such as those of ``delete-bucket`` and ``DeleteInstance``."""
    if not _NAME.fullmatch(word.text):
        return set()
    return {text.lower() for text in _WORDS.findall(word.text)}


def _only_tells(call: ShellCall) -> bool:
    """Whether a program is asked about itself, or what it would do.

    A word before the last may be an option that takes it for its value.
    """
    if not call.args or call.args[0].text in _ABOUT_ITSELF:
        return True
    words = (Word(""), *call.args)
    tells = [
        word.text
        for option, word in pairwise(words)
        if word.known and not option.text.startswith("-")
    ]
    if call.name == "aws":
        return "--dryrun" in tells or tells[-1:] == ["help"] == [words[-1].text]
    return tells[-1:] == [words[-1].text] and words[-1].text in _TELLS


def git(call: ShellCall) -> None:
    """Judge ``git``."""
    words = list(call.args)
    while words and words[0].text.startswith("-"):
        text = words.pop(0).text
        if _GIT_SETS.fullmatch(text):
            call.add(effects.RUNS_COMMAND)
        folder = words[0].text if text in _GIT_FOLDERS and words else text.partition("=")[2]
        if text.partition("=")[0] in _GIT_FOLDERS and is_elsewhere(folder):
            call.add(effects.SETTINGS_ELSEWHERE)
        if takes_value(text, "", GIT.values):
            words[:1] = []
    if not words or words[0].opaque:
        call.add(*([MAYBE_AN_OPTION] if words else []))
        return
    _git_subcommand(call, words[0].text, words[1:])


def _git_subcommand(call: ShellCall, name: str, words: list[Word]) -> None:
    texts = [word.text for word in words]
    if any(word.opaque for word in words):
        call.add(MAYBE_AN_OPTION)
    if any(_GIT_HIDES.fullmatch(f"{name} {text}") for text in texts):
        call.add(effects.RUNS_COMMAND)
    if any(map(_GIT_DRIVERS.fullmatch, texts)):
        call.add(effects.RUNS_PROGRAM)
    if any(text.startswith("--output") for text in texts):
        call.add(effects.WRITES_FILE)
    if name in GIT.reads or _only_lists(name, texts):
        return
    erases = GIT.erases.get(name)
    if erases is not None and (not erases or any(re.fullmatch(erases, text) for text in texts)):
        call.add(effects.DELETES_FILES)
    elif name in GIT.runs or "foreach" in texts:
        call.add(effects.RUNS_COMMAND)
        call.runs_named(words)
    elif name in GIT.network:
        forced = name == "push" and any(re.fullmatch(_GIT_FORCES, text) for text in texts)
        call.add(_REWRITES if forced else effects.USES_NETWORK)
    else:
        call.add(effects.WRITES_FILE)


def _only_lists(name: str, texts: list[str]) -> bool:
    """Whether a subcommand that can change something is only asked to list."""
    listing = GIT.lists.get(name)
    if listing is None or not texts:
        return listing is not None and name not in {"stash", "clean"}
    if name == "clean":
        options = [text for text in texts if text.startswith("-")]
        return any(re.fullmatch(_GIT_ONLY_SHOWS, text) for text in options) and all(
            re.fullmatch(listing, text) for text in options
        )
    if name == "remote" and texts[0] == "show" and texts[1:] and "-n" not in texts:
        return False  # it asks the other machine
    words = [texts[0], *(text for text in texts if text.startswith("-"))]
    return all(re.fullmatch(listing, text) for text in words)


def ssh(call: ShellCall) -> None:
    """Judge ``ssh``: the words after the host are code for a shell there."""
    call.add(effects.USES_NETWORK)
    if any(re.match("-o|-F", flag) for flag in call.flags()):
        call.add(effects.RUNS_PROGRAM)
    remote = call.rest(1, values="BbcDEeFIiJLlmOopQRSWw")
    if remote:
        call.reads_joined(remote)
    elif call.stdin:
        call.add(effects.PIPES_TO_SHELL if call.stdin.piped else NOT_CONSTANT)
        if call.stdin.text:
            call.shell.read(call.stdin.text.replace(UNKNOWN, PLACEHOLDER))


def rsync(call: ShellCall) -> None:
    """Judge ``rsync`` and ``scp``, which may reach other machines, delete and run commands."""
    operands = call.operands(
        values="eoPiFcSJl", names=frozenset({"--rsh", "--exclude", "--include"})
    )
    if call.name == "scp" or any(":" in word.text for word in operands):
        call.add(effects.USES_NETWORK)
    if any(flag.startswith(("--delete", "--del", "--remove-source")) for flag in call.flags()):
        call.add(effects.DELETES_FOLDERS)
    if call.option("eoS", "--rsh", "--rsync-path"):
        call.add(effects.RUNS_COMMAND)
    call.add(*(writing(operands[-1], call.shell.folder) if operands else ()))


def windows(call: ShellCall) -> None:
    """Judge the shells of Windows, called from this one."""
    from dashboard.inspection.windows import inspect_windows  # noqa: PLC0415 - rarely needed

    words = [word.text for word in call.args]
    if not words:  # it reads commands
        call.add(effects.PIPES_TO_SHELL if call.stdin else effects.RUNS_PROGRAM)
    elif names_input(call.args[-1]) or _READS_NO_COMMAND.fullmatch(" ".join(words)):
        call.runs_output(None)
    if any(word.fetched for word in call.args):
        call.add(effects.PIPES_TO_SHELL)
    if any(not word.known or word.guessed for word in call.args):
        call.add(NOT_CONSTANT)
    while words and re.fullmatch(r"[-/][a-zA-Z:]+", words[0]) and words[0].lower() not in _ENCODED:
        words.pop(0)
    call.shell.notes.adopt(inspect_windows(" ".join(words).replace(UNKNOWN, "")))


HANDLERS: Handlers = {
    subcommands: SHELL_OPTIONS.subcommands.keys() - _STARTS_CONTAINERS - _CLUSTERS,
    cluster: _CLUSTERS,
    containers: _STARTS_CONTAINERS,
    asking: SHELL_OPTIONS.asking.keys(),
    git: names("git"),
    ssh: names("ssh autossh"),
    rsync: names("rsync scp"),
    windows: names("cmd powershell pwsh"),
}
