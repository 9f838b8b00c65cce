"""Whether a server or a worker uses this data folder now."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from django.conf import settings

from dashboard.management.preflight import CannotStart, make_data_dir
from dashboard.owner import open_for_owner


@contextmanager
def in_use() -> Iterator[None]:
    """Keep the data folder from being restored while a server or a worker runs.

    Raises:
        CannotStart: It is being restored now, or cannot be written to.
    """
    make_data_dir()
    with _opened() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotStart(
                "Nothing was started. The database is being restored. Start again when that ends."
            ) from None
        yield


@contextmanager
def alone() -> Iterator[bool]:
    """Give whether no server and no worker runs here; none starts meanwhile."""
    with _opened() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def _opened() -> TextIO:
    return open_for_owner(Path(settings.DATA_DIR) / ".in-use")
