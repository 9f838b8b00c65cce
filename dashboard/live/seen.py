"""Who was seen asking, collected in memory and written in bulk every few seconds."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from threading import Lock
from uuid import UUID

from dashboard.accounts import tokens
from dashboard.approvals.services import note_polls


class LastSeen:
    """Remembers last polls and last uses of tokens until they are flushed."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._polls: dict[UUID, datetime] = {}
        self._tokens: dict[int, datetime] = {}

    def polled(self, approval_ids: Iterable[UUID]) -> None:
        """Note that agents wait for these requests now."""
        now = datetime.now(UTC)
        with self._lock:
            self._polls.update(dict.fromkeys(approval_ids, now))

    def token_used(self, token_id: int) -> None:
        """Note that a token opened the API now."""
        with self._lock:
            self._tokens[token_id] = datetime.now(UTC)

    def flush(self) -> None:
        """Write down what was collected."""
        with self._lock:
            polls, self._polls = self._polls, {}
            used, self._tokens = self._tokens, {}
        try:
            if polls:
                note_polls(polls)
            polls = {}
            if used:
                tokens.note_use(dict(sorted(used.items())))  # in one order: no deadlock
            used = {}
        finally:  # what could not be written is written the next time
            with self._lock:
                self._polls = {**polls, **self._polls}
                self._tokens = {**used, **self._tokens}


seen = LastSeen()
"""The collector of this process."""
