"""SQLite's one writer, waited for in a queue instead of by asking again and again.

Whoever finds SQLite locked sleeps for up to 100 ms and asks again, in no order. With eight threads
that write, one in a hundred waited for two seconds. Here the threads of a process queue before
they begin a transaction that writes, first come, first served. SQLite's own waiting is left for
other processes.
"""

from __future__ import annotations

from collections import defaultdict

from django.db.backends.sqlite3 import base
from django.db.utils import OperationalError

from dashboard.sqlite3.turn import Turn

_TURNS: defaultdict[str, Turn] = defaultdict(Turn)
"""The turn of each file, by its name in the settings."""

_DEFAULT_TIMEOUT_S = 5.0  # sqlite3's own


class DatabaseWrapper(base.DatabaseWrapper):
    """Begins to write when it is its turn, within the ``timeout`` of its options, in seconds."""

    transaction_mode: str | None  # of the options, once it is connected

    # Django's stubs leave out the methods that its own backends extend.
    _turn: Turn | None = None  # while it is this connection's

    def _start_transaction_under_autocommit(self) -> None:
        self.ensure_connection()
        if self.transaction_mode in ("IMMEDIATE", "EXCLUSIVE"):
            self._take_turn()
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._give_turn()
            raise

    def _set_autocommit(self, autocommit: bool) -> None:  # noqa: FBT001 - Django's
        # So a transaction ends, however it does, unless the connection is closed in it.
        try:
            super()._set_autocommit(autocommit)  # type: ignore[misc]
        finally:
            if autocommit:
                self._give_turn()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]
        finally:
            self._give_turn()

    def _take_turn(self) -> None:
        turn = _TURNS[str(self.settings_dict["NAME"])]
        within_s = float(self.settings_dict["OPTIONS"].get("timeout", _DEFAULT_TIMEOUT_S))
        if self._turn is None and not turn.take(within_s):
            raise OperationalError("database is locked by other threads of this process")
        self._turn = turn

    def _give_turn(self) -> None:
        turn, self._turn = self._turn, None
        if turn is not None:
            turn.give()
