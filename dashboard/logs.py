"""What reaches the server's log: no secret that still works, and no flood of one trouble."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from django.db import DatabaseError

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the HTTP request that is being answered; empty outside of one."""
WINDOW_S = 60
"""One trouble is written once within so many seconds."""
_MOST_KEPT = 500  # messages that are counted at once
_SECRETS = (
    (re.compile(r"(/sign-in/)[\w%-]{8,}"), r"\1…"),
    (re.compile(r"(dash_)[\w-]{20,}"), r"\1…"),  # an agent's token
    (re.compile(r"(Bearer )[\w.~+/=-]{8,}", re.IGNORECASE), r"\1…"),
)
_FORESEEN = (DatabaseError, OSError, TimeoutError)


class Line(logging.Formatter):
    """A line with the id of the request, and without secrets, wherever they stand in it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return what is written for ``record``, with its traceback."""
        request_id = REQUEST_ID.get()
        record.of_request = f" [{request_id}]" if request_id else ""
        return without_secrets(super().format(record))


class JsonLine(logging.Formatter):
    """The same as one JSON object a line. What was logged ``extra`` as ``fields`` stands in it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return what is written for ``record``."""
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        request_id = REQUEST_ID.get()
        if request_id:
            fields["request_id"] = request_id
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)
        # In the texts, before they are quoted: the quotes of JSON end no secret.
        return json.dumps(
            {
                name: without_secrets(value) if isinstance(value, str) else value
                for name, value in fields.items()
            }
        )


def without_secrets(text: str) -> str:
    """Cut what signs somebody in, or opens the API, out of a text."""
    for secret, replacement in _SECRETS:
        text = secret.sub(replacement, text)
    return text


def trouble(log: logging.Logger, what: str, error: BaseException) -> None:
    """Log that something failed and is tried again.

    A database or a network that is away is told in a line. Whatever nobody foresaw comes with its
    traceback.
    """
    if isinstance(error, _FORESEEN):
        words = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
        log.warning(f"{what} (%s).", words)  # noqa: G004 - what differs is another trouble
    else:
        log.error(f"{what}.", exc_info=error)  # noqa: G004 - the same


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
            now = self._clock()
            since, left_out = self._counted.pop(key, (now - WINDOW_S, 0))
            is_due = now - since >= WINDOW_S
            self._counted[key] = (now, 0) if is_due else (since, left_out + 1)
            while len(self._counted) > _MOST_KEPT:
                del self._counted[next(iter(self._counted))]
        if is_due and left_out:
            record.msg = f"{record.getMessage()} ({left_out} more like this were left out.)"
            record.args = ()
        return is_due
