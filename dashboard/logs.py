"""What reaches the server's log: no link that still works, and no flood of one line."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from threading import Lock

MOST = 10
"""How often one message is written within ``WINDOW_S`` seconds."""
WINDOW_S = 60
_MOST_KEPT = 500  # messages that are counted at once
_LINK = re.compile(r"(/sign-in/)[\w%-]{8,}")


class Line(logging.Formatter):
    """A line without the secrets of sign-in links, wherever they stand in it, tracebacks too."""

    def format(self, record: logging.LogRecord) -> str:
        """Return what is written for ``record``."""
        return _LINK.sub(r"\1…", super().format(record))


class Sparing(logging.Filter):
    """Leaves out what is written again and again, and says how much that was.

    Messages are the same if they come from one logger and one place in the code, whatever they
    name. Only warnings and errors are counted.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._lock = Lock()
        self._counted: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether ``record`` is written, and add to it what was left out before it."""
        if record.levelno < logging.WARNING:
            return True
        key = (record.name, str(record.msg))
        with self._lock:
            since, count = self._counted.pop(key, (self._clock(), 0))
            left_out = 0
            if self._clock() - since >= WINDOW_S:
                left_out, since, count = max(count - MOST, 0), self._clock(), 0
            self._counted[key] = (since, count + 1)
            while len(self._counted) > _MOST_KEPT:
                del self._counted[next(iter(self._counted))]
        if left_out:
            _add(record, f"({left_out} more like this were left out.)")
        if count + 1 == MOST:
            _add(record, f"(More like this are left out for {WINDOW_S} s.)")
        return count < MOST


def _add(record: logging.LogRecord, words: str) -> None:
    record.msg, record.args = f"{record.getMessage()} {words}", ()
