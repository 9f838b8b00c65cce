"""Running what was approved: the command writes where we do, and gets the signals sent to us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any

from approval_client._calls import MAX_TEXT
from approval_client.command.codes import Code

_PASSED_ON = (
    *(signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT),
    *(signal.SIGUSR1, signal.SIGUSR2),
)
_OF_THE_KEYBOARD = (signal.SIGINT, signal.SIGQUIT)
_DRAIN_S = 2.0  # for output that was written before the end
_CHUNK = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How it ended. ``exit_code`` is as a shell would say it: 128 and more for a signal."""

    exit_code: int
    duration_s: float
    error: str = ""
    output_head: str = ""


def run(
    words: Sequence[str], executable: str, *, stdin: int | None = None, capture: bool
) -> Ending:
    """Run a command to its end.

    Args:
        words: Its arguments, the name it is called by first; exactly these.
        executable: The file that is run.
        stdin: The descriptor that it reads from; ours if None.
        capture: Send its output through here, to keep the beginning. It then has no terminal.
    """
    began = time.monotonic()
    head = _Head()
    streams: dict[str, Any] = {"stdin": stdin}
    if capture:
        streams |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with _signals_passed_on() as to:
        try:
            process = subprocess.Popen(words, executable=executable, **streams)  # noqa: S603 - what was approved
        except (OSError, ValueError) as error:
            message = f"It could not be started: {error}"
            return Ending(exit_code=Code.CANNOT_RUN, duration_s=0.0, error=message)
        to(process)
        copying = [_copy(process.stdout, 1, head), _copy(process.stderr, 2, head)]
        code = process.wait()
        for thread in filter(None, copying):
            thread.join(_DRAIN_S)
    return Ending(
        exit_code=code if code >= 0 else 128 - code,
        duration_s=time.monotonic() - began,
        error="" if code >= 0 else f"It was ended by {_name_of(-code)}.",
        output_head=head.text(),
    )


def _name_of(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # Python has no name for most real-time signals
        return f"signal {number}"


class _Head:
    """The first of what was written, to either stream."""

    def __init__(self) -> None:
        self._found = bytearray()
        self._lock = threading.Lock()

    def add(self, chunk: bytes) -> None:
        with self._lock:
            self._found += chunk[: max(0, 4 * MAX_TEXT - len(self._found))]

    def text(self) -> str:
        return self._found.decode("utf-8", "replace")[:MAX_TEXT]


def _copy(stream: IO[bytes] | None, descriptor: int, head: _Head) -> threading.Thread | None:
    if stream is None:
        return None
    thread = threading.Thread(target=_copy_all, args=(stream, descriptor, head), daemon=True)
    thread.start()
    return thread


def _copy_all(stream: IO[bytes], descriptor: int, head: _Head) -> None:
    with stream, suppress(OSError):  # nobody reads on: closing the pipe tells the command
        while chunk := os.read(stream.fileno(), _CHUNK):
            head.add(chunk)
            while chunk:
                chunk = chunk[os.write(descriptor, chunk) :]


@contextmanager
def _signals_passed_on() -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Pass on what is sent to this process; what comes before the command is there waits."""
    early: list[int] = []
    running: list[subprocess.Popen[bytes]] = []

    def pass_on(number: int, _: object) -> None:
        if not running:
            early.append(number)
        elif number not in _OF_THE_KEYBOARD or not _has_the_keyboard():
            running[0].send_signal(number)

    def to(process: subprocess.Popen[bytes]) -> None:
        running.append(process)
        for number in early:
            process.send_signal(number)

    old_handlers = {number: signal.signal(number, pass_on) for number in _PASSED_ON}
    try:
        yield to
    finally:
        for number, handler in old_handlers.items():
            signal.signal(number, handler)


def _has_the_keyboard() -> bool:
    """Say whether a terminal's Ctrl-C reaches the command by itself, being in its foreground."""
    for stream in (sys.__stdin__, sys.__stdout__, sys.__stderr__):
        with suppress(OSError, ValueError, AttributeError):
            if stream is not None and os.tcgetpgrp(stream.fileno()) == os.getpgrp():
                return True
    return False
