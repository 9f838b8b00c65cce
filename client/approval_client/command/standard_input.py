"""What a command would read from its standard input: shown and bound like the rest, or empty.

A pipe can give anything once a command was approved, so none is passed on: what comes from one is
read before people are asked, and the command gets just these bytes. A terminal stays what it is.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import select
import stat
import struct
import sys
import tempfile
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from approval_client.command.files import MAX_SHOWN, NotShown, text_of
from approval_client.wire import MAX_BODY_BYTES

_INPUT = 0
_LANGUAGES = {"bash": "bash", "sh": "bash", "dash": "bash", "zsh": "bash", "psql": "sql"}
_NOT_SHOWN = (
    "Something comes from standard input, which people are not shown and the command would not "
    "get. Pass --stdin to have it shown and handed on, or end the line with </dev/null."
)


@dataclass(frozen=True, kw_only=True)
class StandardInput:
    """What the command gets: a terminal, or these bytes, which are mostly none."""

    is_terminal: bool = False
    content: bytes | None = None

    def told(self, program: str) -> Any:
        """Return what is asked about it, its text too; ``program`` is what would read it."""
        if self.content is None:
            return "terminal" if self.is_terminal else "none"
        digest = hashlib.sha256(self.content).hexdigest()
        fields: dict[str, Any] = {"sha256": digest, "bytes": len(self.content)}
        return fields | text_of(self.content[: MAX_SHOWN + 1], _language_of(program))

    def make_sure(self) -> None:
        """Make sure, just before the command runs, that nothing came which it would not get.

        Raises:
            NotShown: Something did.
        """
        if self.content is None and not self.is_terminal and _has_some():
            raise NotShown(_NOT_SHOWN)

    @contextmanager
    def opened(self) -> Iterator[int | None]:
        """Give the command's standard input; None for ours."""
        if self.is_terminal:
            yield None
            return
        with tempfile.TemporaryFile() as file:
            file.write(self.content or b"")
            file.seek(0)
            yield file.fileno()


def read(*, is_asked_for: bool) -> StandardInput:
    """Return what the command gets.

    Args:
        is_asked_for: Read all of our standard input for it.

    Raises:
        NotShown: Something comes, and it was not asked for, or is larger than what is sent.
    """
    if is_asked_for:
        content = sys.stdin.buffer.read(MAX_BODY_BYTES + 1)
        if len(content) > MAX_BODY_BYTES:
            raise NotShown(
                f"Standard input is larger than the limit of {MAX_BODY_BYTES:,} bytes. Write it "
                "to a file and name that."
            )
        return StandardInput(content=content)
    if os.isatty(_INPUT):
        return StandardInput(is_terminal=True)
    if _has_some():
        raise NotShown(_NOT_SHOWN)
    return StandardInput()


def _has_some() -> bool:
    try:
        mode = os.fstat(_INPUT).st_mode
        if stat.S_ISREG(mode):
            return os.fstat(_INPUT).st_size > os.lseek(_INPUT, 0, os.SEEK_CUR)
        if stat.S_ISCHR(mode) or not select.select([_INPUT], [], [], 0)[0]:
            return False
        waiting = fcntl.ioctl(_INPUT, termios.FIONREAD, struct.pack("i", 0))
    except OSError:  # it is closed
        return False
    return bool(struct.unpack("i", waiting)[0])


def _language_of(program: str) -> str:
    name = Path(program).name
    return "python" if name.startswith("python") else _LANGUAGES.get(name, "")
