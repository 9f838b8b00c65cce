"""Heads of the log in a second place: a file that is only ever added to, or a host.

A log that was rewritten together with the tables holds together. Only what somebody else kept
of it tells the difference.
"""

from __future__ import annotations

import errno
import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkstemp
from typing import NamedTuple

from django.conf import settings

from dashboard.owner import give_to_owner

_UNFINISHED = " (unfinished)"
_LINE = re.compile(r"(?:\S+ )?([0-9]{1,18}):([0-9a-f]{64})", re.ASCII)


class NoHead(ValueError):
    """A file of heads has a line that is not one."""


class Head(NamedTuple):
    """The end of the log at one moment."""

    seq: int
    hash: str

    def __str__(self) -> str:
        return f"{self.seq}:{self.hash}"

    @classmethod
    def parse(cls, text: str) -> Head | None:
        """Read a head as it is printed, perhaps with a moment before it."""
        match = _LINE.fullmatch(text)
        return cls(int(match[1]), match[2]) if match else None


def heads_file() -> Path | None:
    """The file that ``AUDIT_HEADS`` names, if it names one."""
    place = settings.AUDIT_HEADS
    return Path(place) if place and not is_address(place) else None


def is_address(text: str) -> bool:
    """Whether ``AUDIT_HEADS`` names a host and not a file."""
    return text.startswith(("https://", "http://"))


Heads = dict[int, set[str]]
"""Hashes by number. Of one number there is more than one where two heads differ."""


def kept_heads() -> Heads:
    """Return the heads that were kept in the file of ``AUDIT_HEADS``, by number.

    Raises:
        OSError: The file cannot be read. It is made when a server starts, so none is an error.
        NoHead: A line of it is not a head.
    """
    path = heads_file()
    return read_heads(path) if path else {}


def read_heads(path: Path) -> Heads:
    """Return the heads in a file, one a line. A line that was left unfinished does not count.

    Raises:
        OSError: The file cannot be read.
        NoHead: A line is not a head.
    """
    heads: Heads = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n")[:-1], start=1):
        head = Head.parse(line.strip())
        if head is None and line.endswith(_UNFINISHED):
            continue
        if head is None:
            raise NoHead(f"Line {number} of {path} is not a head.")
        add_head(heads, *head)
    return heads


def add_head(heads: Heads, seq: int, hash_: str) -> None:
    """Add a head to others. None replaces another one of the same number."""
    heads.setdefault(seq, set()).add(hash_)


def last_of(heads: Heads) -> Head | None:
    """The head of the highest number, or None. Two of one number that differ are none."""
    singles = [Head(seq, *hashes) for seq, hashes in heads.items() if len(hashes) == 1]
    return max(singles, default=None)


def keep_in_file(path: Path, head: Head) -> None:
    """Add a head to a file, and have it on the disk when this returns."""
    moment = datetime.now(UTC).isoformat(timespec="seconds")
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        # One write, so that the lines of several servers do not mix.
        line = f"{_after_the_rest(descriptor)}{moment} {head}\n".encode()
        if os.write(descriptor, line) != len(line):
            raise OSError(errno.ENOSPC, "Only a part of a head could be written", str(path))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class _Keeping:
    """What came of it when this process last kept a head: see ``keeping_problem``."""

    problem = ""


def note_keeping(problem: str) -> None:
    """Remember why a head could not be kept; empty once one is."""
    _Keeping.problem = problem


def keeping_problem() -> str:
    """Say why heads are not kept where ``AUDIT_HEADS`` says, as far as this process knows."""
    path = heads_file()
    if path and not os.access(path if path.exists() else path.parent, os.W_OK):
        return f"The file {path} cannot be written to."
    return _Keeping.problem if settings.AUDIT_HEADS else ""


def _after_the_rest(descriptor: int) -> str:
    # A crash or a full disk may have left the start of a line, which the next must not go on.
    size = os.fstat(descriptor).st_size
    is_whole = not size or os.pread(descriptor, 1, size - 1) == b"\n"
    return "" if is_whole else f"{_UNFINISHED}\n"


def beside() -> Path:
    """The file in the data folder that keeps the last head, so that an older database is found."""
    return Path(settings.DATA_DIR) / "audit_head"


def kept_beside() -> Head | None:
    """Return the head in the data folder, or None if none was kept there yet.

    Raises:
        OSError: The file cannot be read.
        NoHead: There is something else in it.
    """
    try:
        text = beside().read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        text = ""
    head = Head.parse(text.strip())
    if head is None:
        raise NoHead(f"The file {beside()} has no head of the audit log.")
    return head


def keep_beside(head: Head) -> None:
    """Replace the head in the data folder."""
    path = beside()
    # Of a name that nobody can have made a link of before.
    descriptor, new = mkstemp(prefix=f"{path.name}.", suffix=".new", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(f"{head}\n")
            file.flush()
            os.fsync(descriptor)
            give_to_owner(descriptor, path.parent)
        Path(new).replace(path)
    except BaseException:
        Path(new).unlink(missing_ok=True)
        raise


def as_json(head: Head) -> bytes:
    """What a host is sent."""
    body = {"dashboard": settings.PUBLIC_URL, "seq": head.seq, "hash": head.hash}
    return json.dumps(body).encode()
