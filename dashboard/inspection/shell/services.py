"""Commands of a shell with subcommands, and those that reach other machines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dashboard.inspection.findings import Severity
from dashboard.inspection.notes import Effect, names
from dashboard.inspection.shell import tables
from dashboard.inspection.shell.call import MAYBE_AN_OPTION, NOT_CONSTANT, Call, takes_value
from dashboard.inspection.shell.options import SUBCOMMANDS
from dashboard.inspection.shell.paths import writing
from dashboard.inspection.shell.words import PLACEHOLDER, UNKNOWN, Word

_GIT_READS = names(
    "status log diff show blame rev-parse ls-files describe shortlog ls-tree cat-file rev-list "
    "for-each-ref count-objects whatchanged version help merge-base name-rev show-ref diff-tree "
    "fsck check-ignore grep var diff-index cherry show-branch check-attr"
)
_GIT_NETWORK = names("push pull fetch clone ls-remote submodule remote send-email")
_GIT_RUNS = names(
    "bisect filter-branch difftool mergetool hook maintenance daemon config credential shell "
    "instaweb web--browse upload-pack receive-pack gui citool"
)
_GIT_LISTS = {
    "branch": r"-[avrl]+|--(?:list|all|remotes|show-current|merged|no-merged|contains).*",
    "tag": r"-[ln]\d*|--(?:list|contains).*",
    "remote": r"-v|--verbose|show|get-url",
    "stash": r"list|show",
    "config": r"-l|--(?:list|get.*|show-origin)|list|get",
    "worktree": r"list",
    "submodule": r"status|summary",
    "reflog": r"show|exists",
    "notes": r"list|show",
}
_GIT_ERASES = {
    "clean": "",
    "rm": "",
    "reset": r"--(?:hard|merge|keep)",
    "checkout": r"-[a-z]*f|--force|--|\.",
    "switch": r"-[a-z]*f|--(?:force|discard).*",
    "restore": "",
    "branch": r"-[a-zA-Z]*[dD].*|--delete",
    "tag": r"-[a-z]*d|--delete",
    "stash": r"drop|clear",
    "worktree": r"remove|prune",
    "gc": "",
    "prune": "",
    "reflog": r"expire|delete",
    "update-ref": "",
}
_GIT_FORCES = r"-[a-z]*f|--force.*|--mirror|--delete|-d|--prune|\+.*|:.+"
_GIT_HIDES = re.compile(
    r"(?:rebase -x|grep -O|clone -u|clone (?:-c|--config)|\S+ ext::"
    r"|\S+ --(?:upload-pack|receive-pack|exec|open-files)).*"
)
_GIT_SETS = re.compile(r"-c|--config-env.*|--exec-path=.*")
_GIT_VALUES = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"})
_REWRITES = Effect(
    "network", Severity.HIGH, "Overwrites or deletes what others see of a repository."
)
_CONTAINER_ESCAPES = re.compile(
    r"--(?:privileged|pid|ipc|uts|cap-add|device|security-opt|userns)\b|--net(?:work)?=host"
    r"|.*docker\.sock"
    r"|(?:-v|--volume=|--mount=)?(?:.*(?:source|src)=)?/(?:etc|root|proc|sys|dev)?/?[:,]"
)
_ESCAPES = Effect(
    "privilege-change", Severity.HIGH, "Starts a container that reaches far into its machine."
)
_ENCODED = {"-encodedcommand", "-enc", "-ec", "-e"}
STARTERS = names(
    "rm dd sh bash zsh dash ksh python perl ruby node eval sudo su find chmod curl wget shutdown "
    "reboot mkfs psql mysql sqlite3 caput kill"
)


def subcommands(call: Call) -> None:
    """Judge a command by the first of its subcommands."""
    known = SUBCOMMANDS[call.name]
    words = call.rest(values="", names=known.values)
    if not words:
        return
    effects = known.effects.get(words[0].text, known.otherwise)
    call.add(*effects)
    if effects == known.otherwise or tables.RUNS_PROGRAM in effects:
        look_inside(call, words[1:])


def containers(call: Call) -> None:
    """Judge ``docker`` and its kin, which may reach out of what they start."""
    subcommands(call)
    if any(_CONTAINER_ESCAPES.match(word.text) for word in call.args):
        call.add(_ESCAPES)


def look_inside(call: Call, words: Sequence[Word]) -> None:
    """Judge the words from the first one that names a program that we know to start or destroy."""
    for index, word in enumerate(words):
        if word.text.rpartition("/")[2] in STARTERS:
            call.runs(words[index:])
            return


def git(call: Call) -> None:
    """Judge ``git``."""
    words = list(call.args)
    while words and words[0].text.startswith("-"):
        text = words.pop(0).text
        if _GIT_SETS.fullmatch(text):
            call.add(tables.RUNS_COMMAND)
        if takes_value(text, "", _GIT_VALUES):
            words[:1] = []
    if not words or words[0].opaque:
        call.add(*([MAYBE_AN_OPTION] if words else []))
        return
    _git_subcommand(call, words[0].text, words[1:])


def _git_subcommand(call: Call, name: str, words: list[Word]) -> None:
    texts = [word.text for word in words]
    if any(word.opaque for word in words):
        call.add(MAYBE_AN_OPTION)
    if any(_GIT_HIDES.fullmatch(f"{name} {text}") for text in texts):
        call.add(tables.RUNS_COMMAND)
    if any(text.startswith("--output") for text in texts):
        call.add(tables.WRITES_FILE)
    if name in _GIT_READS or _only_lists(name, texts):
        return
    erases = _GIT_ERASES.get(name)
    if erases is not None and (not erases or any(re.fullmatch(erases, text) for text in texts)):
        call.add(tables.DELETES_FILES)
    elif name in _GIT_RUNS or "foreach" in texts:
        call.add(tables.RUNS_COMMAND)
        look_inside(call, words)
    elif name in _GIT_NETWORK:
        forced = name == "push" and any(re.fullmatch(_GIT_FORCES, text) for text in texts)
        call.add(_REWRITES if forced else tables.USES_NETWORK)
    else:
        call.add(tables.WRITES_FILE)


def _only_lists(name: str, texts: list[str]) -> bool:
    """Whether a subcommand that can change something is only asked to list."""
    listing = _GIT_LISTS.get(name)
    if listing is None or not texts:
        return listing is not None and name != "stash"
    asked = [texts[0], *(text for text in texts if text.startswith("-"))]
    return all(re.fullmatch(listing, text) for text in asked)


def ssh(call: Call) -> None:
    """Judge ``ssh``: the words after the host are code for a shell there."""
    call.add(tables.USES_NETWORK)
    if any(re.match("-o|-F", flag) for flag in call.flags()):
        call.add(tables.RUNS_PROGRAM)
    remote = call.rest(1, values="BbcDEeFIiJLlmOopQRSWw")
    if remote:
        call.reads_joined(remote)
    elif call.stdin:
        call.add(tables.PIPES_TO_SHELL if call.stdin.piped else NOT_CONSTANT)
        if call.stdin.text:
            call.shell.read(call.stdin.text.replace(UNKNOWN, PLACEHOLDER))


def rsync(call: Call) -> None:
    """Judge ``rsync`` and ``scp``, which may reach other machines, delete and run commands."""
    operands = call.operands(
        values="eoPiFcSJl", names=frozenset({"--rsh", "--exclude", "--include"})
    )
    if call.name == "scp" or any(":" in word.text for word in operands):
        call.add(tables.USES_NETWORK)
    if any(flag.startswith(("--delete", "--del", "--remove-source")) for flag in call.flags()):
        call.add(tables.DELETES_FOLDERS)
    if call.option("eoS", "--rsh", "--rsync-path"):
        call.add(tables.RUNS_COMMAND)
    call.add(*(writing(operands[-1]) if operands else ()))


def windows(call: Call) -> None:
    """Judge the shells of Windows, called from this one."""
    from dashboard.inspection.windows import inspect_windows  # noqa: PLC0415 - rarely needed

    words = [word.text for word in call.args]
    while words and re.fullmatch(r"[-/][a-zA-Z:]+", words[0]) and words[0].lower() not in _ENCODED:
        words.pop(0)
    call.shell.notes.adopt(inspect_windows(" ".join(words).replace(UNKNOWN, "")))


HANDLERS = {
    **dict.fromkeys(SUBCOMMANDS, subcommands),
    **dict.fromkeys(["docker", "podman", "nerdctl"], containers),
    "git": git,
    **dict.fromkeys(["ssh", "autossh"], ssh),
    **dict.fromkeys(["rsync", "scp"], rsync),
    **dict.fromkeys(["cmd", "powershell", "pwsh"], windows),
}
