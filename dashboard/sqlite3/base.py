"""SQLite's one writer, waited for in a queue instead of by asking again and again.

Whoever finds SQLite locked sleeps for up to 100 ms and asks again, in no order. With eight threads
that write, one in a hundred waited for two seconds. Here the threads of a process queue before
they begin a transaction that writes, first come, first served. SQLite's own waiting is left for
other processes.

And a file that is replaced while it is open is noticed. What is written to it then would be
written to a file that nobody finds any more, and SQLite itself does not always look.

And a new file is for this account alone, whichever command makes it. Where root does,
it is for the account that owns the folder.

And searches that ignore case ignore it in every script, as PostgreSQL's do: SQLite's own LIKE
knows the letters of ASCII alone.
"""

from __future__ import annotations

import os
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from django.db.backends.sqlite3 import base
from django.db.utils import OperationalError

from dashboard.owner import give_to_owner
from dashboard.sqlite3.like import is_like
from dashboard.sqlite3.turn import Turn

_TURNS: defaultdict[str, Turn] = defaultdict(Turn)
"""The turn of each file, by its name in the settings."""

_DEFAULT_TIMEOUT_S = 5.0  # sqlite3's own


class _File(NamedTuple):
    """Which file a name stands for."""

    device: int
    inode: int

    @classmethod
    def of(cls, name: str) -> _File | None:
        with suppress(OSError):
            status = os.stat(name)  # noqa: PTH116 - a Path costs more, and this is asked each time
            return cls(status.st_dev, status.st_ino)
        return None


_FILES: dict[str, _File] = {}
"""The file that this process opened first, by its name in the settings."""

_REPLACED = (
    "the file {} was replaced or removed while this program has it open. Nothing is written until "
    "it is back. To go on with another one, restart every program that uses it"
)


class DatabaseWrapper(base.DatabaseWrapper):
    """Begins to write when it is its turn, within the ``timeout`` of its options, in seconds."""

    # SQLite before 3.41 runs json_valid only in a schema that is trusted, and ours is not.
    data_type_check_constraints = {
        kind: check
        for kind, check in base.DatabaseWrapper.data_type_check_constraints.items()
        if kind != "JSONField"
    }

    transaction_mode: str | None  # of the options, once it is connected

    # Django's stubs leave out the methods that its own backends extend.
    _turn: Turn | None = None  # while it is this connection's

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Open the file, unless it is another one than this process had open before."""
        self._check_file()  # before an empty one is made
        if not self.is_in_memory_db():
            self._make_private_file()
        opened = super().get_new_connection(conn_params)
        opened.create_function("like", 3, is_like, deterministic=True)
        if not self.is_in_memory_db():
            file = _File.of(self._name)
            if file:
                _FILES.setdefault(self._name, file)
        return opened

    @property
    def _name(self) -> str:
        return str(self.settings_dict["NAME"])

    def was_replaced(self) -> bool:
        """Whether another file, or none, has the name of the one that this process has open."""
        file = _FILES.get(self._name)
        return file is not None and _File.of(self._name) != file

    def _check_file(self) -> None:
        if self.was_replaced():
            raise OperationalError(_REPLACED.format(self._name))

    def _make_private_file(self) -> None:
        # SQLite would let all accounts of the machine read the sessions in it, and gives what it
        # puts beside a file the rights of that file.
        with suppress(OSError):  # it is there, or SQLite says what is wrong
            file = os.path.realpath(self._name)  # a link may lead to none yet
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                give_to_owner(descriptor, Path(file).parent)
            finally:
                os.close(descriptor)

    def _commit(self) -> None:
        if self.connection is not None and self._turn is not None:
            self._check_file()
        super()._commit()  # type: ignore[misc]

    def _start_transaction_under_autocommit(self) -> None:
        self.ensure_connection()
        self._check_file()
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
