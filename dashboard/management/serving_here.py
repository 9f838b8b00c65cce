"""Whether a server or a worker uses this data folder now."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from django.conf import settings

from dashboard.audit.heads import give_to_owner
from dashboard.management.preflight import CannotStart, make_data_dir


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
    path = Path(settings.DATA_DIR) / ".in-use"
    # Root may call this in a folder of the service's account, whose links it must not follow.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    give_to_owner(descriptor, path.parent)
    return os.fdopen(descriptor, "r+")
