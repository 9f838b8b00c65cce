"""The files that a command line names: what they are, and whether they still are.

Each is read once, and what is told of it comes from that one reading.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CHUNK = 1 << 20
MAX_SHOWN = 100_000  # bytes of one file that are shown; the dashboard takes 1 MiB for all
_LANGUAGES = {".py": "python", ".sh": "bash", ".bash": "bash", ".sql": "sql", ".ps1": "powershell"}


class NotShown(Exception):
    """A command would read what people are not shown. The message says what to do."""


@dataclass(frozen=True, kw_only=True)
class NamedFile:
    """One file, as it was when it was read. ``problem`` says why it was not."""

    path: str
    sha256: str = ""
    size: int = 0
    problem: str = ""
    head: bytes = b""

    def told(self, *, shown: bool) -> dict[str, Any]:
        """Return what is asked about it; its text too where that is to be shown."""
        if self.problem:
            return {"path": self.path, "problem": self.problem}
        fields: dict[str, Any] = {"path": self.path, "sha256": self.sha256, "bytes": self.size}
        language = _LANGUAGES.get(Path(self.path).suffix, "")
        return fields | (text_of(self.head, language) if shown else {})


def text_of(head: bytes, language: str) -> dict[str, Any]:
    """Return a text as people are shown it; nothing if it is none, or too long for that.

    Args:
        head: The first ``MAX_SHOWN`` bytes and one more, where there are so many.
        language: What it is written in, where its name or whoever reads it says so.
    """
    try:
        text = head.decode()
    except UnicodeDecodeError:
        return {}
    if len(head) > MAX_SHOWN or "\0" in text:
        return {}
    language = language or _of_first_line(text)
    # Apart from the rest, which would otherwise be read as code of that language too.
    return {"shown": {"language": language, "code": text} if language else {"text": text}}


def named_files(words: Sequence[str]) -> list[NamedFile]:
    """Read every file that a word names, each once. Of a device or a socket nothing is read.

    A word may hold a name behind ``=`` or ``@``, as in ``--config=path``, ``if=path`` and
    ``--data=@path``, or right behind an option of one letter: ``-fpath``.

    Raises:
        NotShown: One is a pipe, which can give anything once the command was approved.
    """
    names = dict.fromkeys(name for word in words for name in _names(word))
    return [file for name in names if (file := _read(name)) is not None]


def changed(before: Sequence[NamedFile], words: Sequence[str]) -> list[str]:
    """Return the names of the files that are not what they were, or that came or went.

    Raises:
        NotShown: One is a pipe now.
    """
    then = {file.path: file for file in before}
    now = {file.path: file for file in named_files(words)}
    return [name for name in (then | now) if then.get(name) != now.get(name)]


def _names(word: str) -> Iterator[str]:
    parts = [word, word.partition("=")[2]]
    if word.startswith("-") and not word.startswith("--"):
        parts.append(word[2:])
    for part in parts:
        yield part
        yield part.partition("@")[2]


def _read(name: str) -> NamedFile | None:
    try:
        state = Path(name).stat() if name else None
    except (OSError, ValueError):  # there is no such thing, or a word that can be no name
        return None
    if state is None or stat.S_ISDIR(state.st_mode) or _gives_nothing(state):
        return None
    if stat.S_ISFIFO(state.st_mode):
        raise NotShown(
            f"{name} is a pipe, and people are not shown what comes from it. Write that to a file "
            "and name the file."
        )
    if not stat.S_ISREG(state.st_mode):
        kind = "socket" if stat.S_ISSOCK(state.st_mode) else "device"
        return NamedFile(path=name, problem=f"It is a {kind}, which can give anything.")
    try:
        return _digested(name)
    except OSError as error:
        return NamedFile(path=name, problem=f"It could not be read ({type(error).__name__}).")


def _gives_nothing(state: os.stat_result) -> bool:
    return stat.S_ISCHR(state.st_mode) and state.st_rdev == Path(os.devnull).stat().st_rdev


def _digested(name: str) -> NamedFile:
    hasher, size, head = hashlib.sha256(), 0, b""
    # Should it have become a pipe since, opening it must not wait for a writer.
    descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        while chunk := file.read(_CHUNK):
            head = head or chunk[: MAX_SHOWN + 1]
            size += len(chunk)
            hasher.update(chunk)
    return NamedFile(path=name, sha256=hasher.hexdigest(), size=size, head=head)


def _of_first_line(text: str) -> str:
    first_line = text.partition("\n")[0]
    if not first_line.startswith("#!"):
        return ""
    return "python" if "python" in first_line else "bash" if "sh" in first_line else ""
