"""What it means to write to a path, or to touch it at all."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache

from dashboard.inspection.effects import READS_SECRETS, WRITES_DISK, WRITES_FILE
from dashboard.inspection.findings import Severity
from dashboard.inspection.notes import FindingKind
from dashboard.inspection.shell.words import UNKNOWN, Word

_HARMLESS = re.compile(r"/dev/(?:null|stdin|stdout|stderr|tty|zero|full|fd/\d+)|-")
_DISKS = re.compile(
    r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|dm-|md\d|loop|r?disk|mapper/|mem|kmem|port|mtd|sr\d|nbd|zd)"
)
_NETWORK = re.compile(r"/dev/(?:tcp|udp)/")
_SYSTEM = re.compile(
    r"/(?:etc|boot|sys|proc|usr|bin|sbin|lib\w*|opt|root|var/spool|var/lib|dev|Library|System)(?:/|$)"
    r"|(?:.*/)?(?:\.ssh|\.git/hooks|\.config/(?:autostart|systemd)|LaunchAgents|cron\.\w+)/"
    r"|(?:.*/)?\.(?:bashrc|bash_profile|bash_login|bash_aliases|bash_logout|profile|zshrc|zshenv"
    r"|zprofile|zlogin|kshrc|cshrc|xprofile|xinitrc|pam_environment|gitconfig|npmrc|pypirc|netrc"
    r"|vimrc|inputrc|pythonrc\w*|condarc)$"
    r"|(?:.*/)?(?:authorized_keys|sudoers|crontab|\.git/config|sitecustomize\.py|usercustomize\.py)$"
)
_RUNS_LATER = re.compile(
    r"(?:.*/)?(?:\.github/(?:workflows|actions)(?:/.*)?|\.gitlab-ci\.ya?ml|\.circleci(?:/.*)?"
    r"|Jenkinsfile|azure-pipelines\.ya?ml|\.travis\.yml|\.drone\.yml|\.husky(?:/.*)?"
    r"|\.pre-commit-config\.yaml|lefthook\.ya?ml|\.envrc|\.vscode/(?:tasks|settings|launch)\.json"
    r"|\.devcontainer(?:/.*)?|\.devcontainer\.json|\.mcp\.json|\.(?:cursor|vscode)/mcp\.json"
    r"|claude_desktop_config\.json|\.claude\.json|\.(?:claude|gemini)/settings[^/]*\.json"
    r"|\.(?:claude|gemini|codex)/(?:hooks|commands|agents|skills|plugins|extensions)(?:/.*)?"
    r"|\.codex/config\.toml)$"
)
"""What a build server, an editor, a hook or an agent's host runs or obeys by itself."""

_INSTRUCTS = re.compile(
    r"(?:.*/)?(?:(?:CLAUDE(?:\.local)?|AGENTS|GEMINI|SKILL)\.md|\.cursorrules|\.cursor/rules/.+"
    r"|\.windsurfrules|\.clinerules|\.github/copilot-instructions\.md)$"
)
_SECRETS = re.compile(
    r"(?:^|.*[/=:@])(?:\.ssh/(?:id_\w+|identity|.*\.pem)|id_(?:rsa|dsa|ecdsa|ed25519)|\.netrc|_netrc"
    r"|\.aws/credentials|\.pgpass|\.my\.cnf|\.git-credentials|\.docker/config\.json|\.npmrc|\.pypirc"
    r"|\.kube/config|\.config/gh/hosts\.yml|\.config/gcloud/.*|\.gnupg/.*|\.env(?:\.\w+)?"
    r"|etc/g?shadow-?|master\.passwd|[\w.-]+\.(?:pem|p12|pfx|keystore|kdbx)|proc/[^/\s]+/environ"
    r"|credentials\.json|\.vault-token|\.password-store/.*)$"
)
_SECRET_FOLDERS = re.compile(r"(?:.*/)?\.(?:ssh|aws|gnupg|password-store)(?:/[*.]*)?$")
_SECRET_FILES = (
    ("etc", "shadow"),
    (".ssh", "id_rsa"),
    (".ssh", "id_ed25519"),
    (".aws", "credentials"),
    ("", ".netrc"),
    ("", ".env"),
    ("", ".pgpass"),
    ("", ".git-credentials"),
    ("", "key.pem"),
)
_EXAMPLES = re.compile(r"(?:.*[/:])?\.env\.(?:example|sample|template|dist)$")
_PATTERN = re.compile(r"[*?\[{]")
_WRITES_SYSTEM = FindingKind("system-change", Severity.HIGH, "writes-system-folder")
_CONNECTS = FindingKind("network", Severity.HIGH, "connects-program")
_WRITES_WHAT_RUNS = FindingKind("file-write", Severity.HIGH, "writes-what-runs")
_WRITES_INSTRUCTIONS = FindingKind("file-write", Severity.MEDIUM, "writes-instructions")
_DEPTH = 6
"""So many of the last parts of a path tell whether it usually holds credentials."""

_READING_OPERATORS = {"<", "<&", "<&-", ">&-"}


def writing(target: Word, folder: str = "") -> Iterator[FindingKind]:
    """Say what writing to a path does, as it is seen from a folder."""
    is_inside = folder and target.text and target.text[0] not in "-/~"
    text = posixpath.join(folder, target.text) if is_inside else target.text
    path = re.sub(r"^/{2,}|^(?:\.\./)+", "/", posixpath.normpath(text))
    if _NETWORK.match(path):
        yield _CONNECTS
    elif _DISKS.match(path):
        yield WRITES_DISK
    elif _SYSTEM.match(path) and not _HARMLESS.fullmatch(path):
        yield _WRITES_SYSTEM
    elif _RUNS_LATER.match(path):
        yield _WRITES_WHAT_RUNS
    elif _INSTRUCTS.match(path):
        yield _WRITES_INSTRUCTIONS
    elif not _HARMLESS.fullmatch(path):
        yield WRITES_FILE


def touching(words: Iterable[Word], folder: str = "") -> Iterator[FindingKind]:
    """Say what the mere naming of some paths tells, seen from a folder."""
    for word in words:
        is_inside = folder and word.text and word.text[0] not in "-/~"
        if _NETWORK.match(word.text):
            yield _CONNECTS
        elif holds_secrets(word.text) or (is_inside and holds_secrets(seen(folder, word.text))):
            yield READS_SECRETS


def seen(folder: str, path: str) -> str:
    """Return a path as it is seen from a folder, as much of it as tells what it holds."""
    joined = posixpath.normpath(posixpath.join(folder, path))
    return "/".join(joined.split("/")[-_DEPTH:])


def is_elsewhere(path: str) -> bool:
    """Whether a path leads out of the folder that a script works in, or may do so."""
    return path.startswith(("/", "~", UNKNOWN)) or ".." in path.split("/")


@lru_cache(maxsize=4096)
def holds_secrets(path: str) -> bool:
    """Whether a path, or one that a pattern stands for, usually holds credentials."""
    if _EXAMPLES.match(path):
        return False
    if _SECRETS.match(path) or _SECRET_FOLDERS.match(path):
        return True
    return _PATTERN.search(path) is not None and any(map(_may_be_secret, _alternatives(path)))


def _alternatives(path: str) -> Iterator[str]:
    """Yield what one pair of braces stands for, else the path."""
    start, _, rest = path.partition("{")
    inside, closed, end = rest.partition("}")
    yield from (start + choice + end for choice in inside.split(",")) if closed else [path]


def _may_be_secret(pattern: str) -> bool:
    if _SECRETS.match(pattern):
        return True
    *folders, name = pattern.split("/")
    # A bare star stands for too much to mean these.
    return re.search("[a-z]{2}", name) is not None and any(
        fnmatchcase(secret, name)
        and (not (folders and folder) or fnmatchcase(folder, folders[-1]))
        for folder, secret in _SECRET_FILES
    )


def redirecting(operator: str, target: Word, folder: str = "") -> Iterator[FindingKind]:
    """Say what a redirection does in a folder."""
    yield from touching([target], folder)
    if operator in _READING_OPERATORS:
        return
    if operator == ">&" and re.fullmatch(r"\d+-?", target.text):
        return
    if not _NETWORK.match(target.text):
        yield from writing(target, folder)


def is_input(operator: str) -> bool:
    """Whether a redirection gives a command something to read."""
    return operator in {"<", "<&", "<>"}
