"""How many files this process may have open, and how many connections fit into that."""

from __future__ import annotations

import resource
from typing import NamedTuple

from dashboard.management.preflight import CannotStart

MOST_FILES = 65_536
RESERVED = 128
"""Files for all that is no connection: database, inspectors, Redis, webhooks, logs, pages."""
FEWEST = 200
_WAITING = 3 / 4  # of all connections; the rest is for people, questions and outcomes
_FILES_EACH = 5 / 4  # one in eight may be sending a large body, which takes two files more
_REMEDY = "raise the limit with LimitNOFILE= in a systemd unit, or `ulimit -n` in a shell"


class Fits(NamedTuple):
    """How many open files, connections and waiting agents fit into this process."""

    files: int
    connections: int
    waits: int


def make_room(waits: int) -> Fits:
    """Raise the limit of open files, and say what fits, with ``waits`` agents at the most.

    Raises:
        CannotStart: Too few files may be open.
    """
    files = _raise_limit()
    fit = int((files - RESERVED) / _FILES_EACH)
    connections = min(fit, max(round(waits / _WAITING), 1000))
    if files < FEWEST:
        raise CannotStart(
            f"Nothing was started. This process may open {files:,} files and needs {FEWEST:,} at "
            f"least: {_REMEDY}."
        )
    return Fits(files, connections, min(waits, int(connections * _WAITING)))


def few_fit(fits: Fits, wanted: int) -> str:
    """Say that fewer agents can wait than the settings allow, and what to do about it."""
    return (
        f"{fits.waits:,} agents can wait here at a time, not {wanted:,} (WAITS_PER_PROCESS), "
        f"because this process may open {fits.files:,} files. For more, {_REMEDY}.\n"
    )


def _raise_limit() -> int:
    """Raise it for this process alone, as far as it may, and return what it is then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return most
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    except (OSError, ValueError):  # macOS has another limit beside this one
        return soft
    return most
