"""Whether a path lies in a folder, and whether an address leads to a host. Pure, and strict.

Three answers: True and False are certain, None means that it cannot be told. A path or an address
is read only in the one spelling that every program reads in the same way. The rest cannot be told:
``..``, ``~``, wildcards and variables of a shell, escapes, hidden characters, letters that look
like others, blanks below the folder, what may be a second path, address or command, a user or a
password in an address. Of an address, only its path is looked at for ``..``, ``//`` and escapes
of them: what a server does with the query is not seen. Links within a folder are not seen here,
but for those that the system makes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from urllib.parse import unquote

from dashboard.inspection.hidden import hidden_characters

LONGEST = 4096
Place = Callable[[str], bool | None]

_UNCLEAR_IN_PATH = re.compile(
    r"[\x00-\x1f\x7f*?\[\]{}$`'\"|<>;&!]|%(?:u?[0-9A-Fa-f]{2}|[^%/\\]+%)"
)
_SECOND_PATH = re.compile(r"[\s,:=@#](?:[/\\~.-]|[A-Za-z]:[\\/])")
_LINKS_OF_THE_SYSTEM = frozenset(["root", "cwd", "exe", "fd", "map_files", "task"])
_BLANK = re.compile(r"\s")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_WINDOWS_NAME = re.compile(r"[^\\/:*?\"<>|\x00-\x1f]*[^\\/:*?\"<>|\x00-\x1f. ]")
_WINDOWS_DEVICE = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(?:\..*)?")
_SHORT_NAME = re.compile(r"~\d")  # PROGRA~1
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = rf"{_LABEL}(?:\.{_LABEL})*"
_ADDRESS = re.compile(
    rf"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{{0,30}})://)?(?P<host>{_HOST})(?::(?P<port>\d{{1,5}}))?"
    r"(?P<rest>[/?#][!-\[\]-~]*)?"
)
_USER_TO_SOME = re.compile(r"[?#][^/]*@")  # old programs take what follows for the host
_SECOND_ADDRESS = re.compile(r"[,;|](?:[A-Za-z][A-Za-z0-9+.-]*:|//|[A-Za-z0-9-]+\.[A-Za-z]{2})")
_SIGN_OF_SHELL = re.compile(r"[`|<>{}\"]|\$(?![a-z]+=)|(?<![?&])\$")
"""A shell would run a command there, or put in a variable: ``$IFS`` is a blank. Only addresses of
OData have ``?$filter=`` and the like."""

_SECOND_COMMAND = re.compile(
    r"'|[;&](?!\$?[\w.~%\[\]-]+=)|&[^=&]*%[a-z_(][^%=&]*%|&(?:del|erase|rd|rmdir|cmd|powershell|pwsh"
    r"|mshta|rundll32|regsvr32|certutil|bitsadmin|schtasks|taskkill|shutdown|wmic|cscript|wscript"
    r"|msiexec|diskpart|takeown|icacls|reg|xcopy|robocopy)(?:\.exe)?=",
    re.IGNORECASE,
)
"""What a shell may take for more than an address; not ``&c=d`` and ``;jsessionid=1``. That of
Windows takes ``=`` for a blank, so ``&rmdir=/s`` is a command there."""

_ODD_PATH = re.compile(r"(?:^|/)\.\.(?:[/;]|$)|//|[\\\x00-\x1f\x7f]")
_OF_WEB = frozenset(["http", "https", "ws", "wss"])
_SCHEMES = frozenset(["http", "https", "ws", "wss", "ftp", "ftps", "sftp", "ssh"])
_NUMBERS = re.compile(r"(?:0[xX][0-9A-Fa-f]+|\d+)(?:\.(?:0[xX][0-9A-Fa-f]+|\d+))*")
_DOTTED = re.compile(r"(?:0|[1-9]\d{0,2})(?:\.(?:0|[1-9]\d{0,2})){3}")
_WANTED = re.compile(rf"(?:\*\.)?{_HOST}(?::\d{{1,5}})?")


def within(folders: Iterable[str]) -> Place:
    """Return a test for whether a path lies in one of the folders, or is one of them.

    Args:
        folders: Absolute paths, as ``problem_with_folder`` allows them.
    """
    return _any_of([_within(folder) for folder in folders])


def host_is(hosts: Iterable[str]) -> Place:
    """Return a test for whether an address, or a bare host, leads to one of the hosts.

    A port in the address has to stand in the wanted host too, as in ``example.org:8443``.

    Args:
        hosts: Names such as ``example.org``; ``*.example.org`` is every host below that one.
    """
    return _any_of([_host_is(host) for host in hosts])


def problem_with_folder(text: str) -> str:
    """Say why a text is not a folder that paths can be compared with; empty if it is."""
    if not 0 < len(text) <= LONGEST:
        return f"A folder is a text of 1 to {LONGEST} characters."
    parts = _parts(text)
    if parts is None or _SECOND_PATH.search("/".join(parts)):
        return (
            f"{text!r} is not a plain absolute path. Write it as in /srv/repo or C:\\repo, "
            "without '..', '~', '*' and variables."
        )
    return ""


def problem_with_host(text: str) -> str:
    """Say why a text is not a host that addresses can be compared with; empty if it is."""
    if len(text) > LONGEST or not _WANTED.fullmatch(text):
        return (
            f"{text!r} is not a host. Write it as in docs.example.org, *.example.org or "
            "localhost:8080, without a path. Write other letters as xn--…"
        )
    host = text.removeprefix("*.").partition(":")[0]
    if _NUMBERS.fullmatch(host) and not _is_dotted(host):
        return f"{text!r} is not an address in dotted numbers, such as 192.0.2.1."
    return ""


def folder_implies(folder: str, other: str) -> bool:
    """Say whether every path in ``folder`` certainly lies in ``other`` too."""
    return _within(other)(folder) is True and _within(other)(f"{folder}/x") is True


def host_implies(host: str, other: str) -> bool:
    """Say whether every address of ``host`` is certainly one of ``other`` too."""
    name, pattern = host.lower(), other.lower()
    if name == pattern:
        return True
    return pattern.startswith("*.") and name.removeprefix("*.").endswith(pattern[1:])


def _any_of(places: list[Place]) -> Place:
    def is_at(text: str) -> bool | None:
        verdicts = [place(text) for place in places]
        return True if True in verdicts else None if None in verdicts else False

    return is_at


def _within(folder: str) -> Place:
    prefix = _parts(folder) or ("",)
    spelling = _alike(prefix)
    place = "/" + "/".join(prefix).removeprefix("//").casefold()

    def is_within(text: str) -> bool | None:
        parts = _parts(text)
        if parts is None or (prefix[0] == "/") != (parts[0] == "/"):
            return None
        if parts[: len(prefix)] == prefix:
            # A program that splits at blanks takes the rest for another path, wherever that is.
            below = "/".join(parts[len(prefix) :])
            is_one = not _SECOND_PATH.search(below) and not any(map(str.isspace, below))
            return True if is_one else None
        if _stands_later(place, "/".join(parts).casefold()):
            return None
        # Some disks take names for the same that differ in case or in how letters are composed.
        return None if _alike(parts)[: len(spelling)] == spelling else False

    return is_within


def _parts(text: str) -> tuple[str, ...] | None:
    """Return the root and the names of an absolute path, None if it cannot be told for certain."""
    has_drive = _DRIVE.match(text) is not None
    if len(text) > LONGEST or _UNCLEAR_IN_PATH.search(text) or not _is_plain(text):
        return None
    return _windows_parts(text) if has_drive else _unix_parts(text)


def _stands_later(place: str, text: str) -> bool:
    """Whether a second path after the first one is there: /srv/a:/etc, or /srv/a -o/etc."""
    blank = _BLANK.search(text)
    if blank and text.find(place, blank.start()) != -1:
        return True
    return any(sign + place in text for sign in ",:=@#")


def _windows_parts(text: str) -> tuple[str, ...] | None:
    names = re.split(r"[\\/]+", text[3:].rstrip("\\/")) if text[3:] else []
    return (text[0].upper(), *names) if all(map(_is_windows_name, names)) else None


def _unix_parts(text: str) -> tuple[str, ...] | None:
    if not text.startswith("/") or text.startswith("//") or "\\" in text:
        return None
    names = [name for name in text.split("/") if name not in ("", ".")]
    if any(name == ".." or name.startswith("~") for name in names) or _is_link(names):
        return None
    return ("/", *names)


def _is_link(names: list[str]) -> bool:
    """Whether a path leads through a link that the system makes to another place."""
    is_of_process = names[:1] == ["proc"] and not _LINKS_OF_THE_SYSTEM.isdisjoint(names)
    return is_of_process or names[:2] == ["dev", "fd"]


def _is_windows_name(name: str) -> bool:
    if _WINDOWS_DEVICE.fullmatch(name) or _SHORT_NAME.search(name):
        return False
    return _WINDOWS_NAME.fullmatch(name) is not None


def _is_plain(text: str) -> bool:
    """Say whether no letter of a text is hidden, or is one that a program may read as another."""
    if text.isascii():
        return True
    if unicodedata.normalize("NFC", text) != text or hidden_characters(text):
        return False
    for character in text:
        category = unicodedata.category(character)
        if category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") or (
            category == "Zs" and character != " "
        ):
            return False
        if not character.isascii() and unicodedata.normalize("NFKC", character) != character:
            return False
        if character in "\u2215\u2044\u29f8\u29f5\u2216\ufe68\u2024\ufe52\u3002\u0589":
            return False
    return True


def _alike(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(unicodedata.normalize("NFC", part.casefold()) for part in parts)


def _host_is(wanted: str) -> Place:
    host, _, port = wanted.lower().partition(":")
    below = host.startswith("*.")
    name = host.removeprefix("*")

    def is_host(text: str) -> bool | None:
        match = _ADDRESS.fullmatch(text) if len(text) <= LONGEST else None
        if match is None:
            return None
        rest, scheme = match["rest"] or "", (match["scheme"] or "https").lower()
        if _SIGN_OF_SHELL.search(rest):
            return None
        is_one = _is_plain_rest(rest, scheme)
        found_host, found_port = match["host"].lower(), match["port"] or ""
        if _NUMBERS.fullmatch(found_host) and not _is_dotted(found_host):
            return None  # 127.1 and 2130706433 are 127.0.0.1 to many programs
        if scheme not in _SCHEMES:
            return None  # of which nobody knows what its host is for
        is_named = (
            found_host.endswith(name) and found_host != name if below else found_host == host
        )
        if not is_named:
            return False if is_one or name not in rest.lower() else None
        return True if found_port == port and is_one else None

    return is_host


def _is_plain_rest(rest: str, scheme: str) -> bool:
    """Whether what stands behind a host leads no program to another one, or to a second word."""
    path = unquote(unquote(re.split(r"[?#]", rest)[0]))
    is_option = path.startswith("/-") and scheme not in _OF_WEB
    return not (
        is_option
        or _ODD_PATH.search(path)
        or _SECOND_COMMAND.search(rest)
        or _USER_TO_SOME.match(rest)
        or _SECOND_ADDRESS.search(rest)
    )


def _is_dotted(host: str) -> bool:
    return bool(_DOTTED.fullmatch(host)) and all(int(part) < 256 for part in host.split("."))  # noqa: PLR2004 - a byte
