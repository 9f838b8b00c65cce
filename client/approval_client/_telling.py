"""Telling the host that an agent waits for a person, and what was decided.

Whoever sits before a blocked agent would take it for hung, so by default one line with the link
goes to standard error, and another one at the end. ``DASHBOARD_QUIET=1`` silences both, and
``on_pending`` takes their place.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from approval_client._answers import Answer
from approval_client._calls import MAX_LINK, Tell, one_line, plain
from approval_client.wire import Status

Listener: TypeAlias = Callable[[Answer], object]
MAX_NAME = 100
MAX_REASON = 200
_ENDS = {
    Status.APPROVED: "Approved",
    Status.REJECTED: "Rejected",
    Status.EXPIRED: "Nobody decided in time",
    Status.CANCELLED: "Withdrawn",
}
_BY_A_PERSON = {Status.REJECTED, Status.CANCELLED}
_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86_400
_YES = {"1", "true", "yes", "on"}


@dataclass(frozen=True)
class Listeners:
    """Who is told. ``on_pending`` is called once a question that waits, ``on_decided`` at its end.

    What they raise is logged and changes nothing: an approval does not depend on who shows it. In
    place of a listener that fails, the usual line is written.
    """

    on_pending: Listener | None = None
    on_decided: Listener | None = None

    def pending(self, answer: Answer) -> Tell:
        """Return how to tell that nobody has decided yet."""
        return Tell("on_pending", self.on_pending or announce, answer, announce)

    def decided(self, answer: Answer, pending: Tell | None) -> Tell:
        """Return how to tell who decided what, and when.

        Args:
            pending: How it was told that it waits: whoever read that line waits for this one.
        """
        was_written = pending and (self.on_pending is None or pending.has_failed)
        usual = announce_end if was_written else _nobody
        instead = announce_end if pending else _nobody
        return Tell("on_decided", self.on_decided or usual, answer, instead)


def announce(answer: Answer) -> None:
    """Write one line with the link to standard error, unless ``DASHBOARD_QUIET`` is set."""
    left_s = (answer.expires_at - answer.now).total_seconds()
    _write(f"Waiting for a person to decide, for {_span(left_s)} at most: {_link(answer)}")


def announce_end(answer: Answer) -> None:
    """Write one line that says how it ended, and why, unless ``DASHBOARD_QUIET`` is set."""
    _write(f"{ended(answer)}{_why_not(answer)}: {_link(answer)}")


def ended(answer: Answer) -> str:
    """Say in a few words how a request ended, and by whom."""
    name = plain(answer.decision.decided_by, MAX_NAME) if answer.decision else ""
    by = f" by {name}" if name else ""
    return f"{_ENDS.get(answer.status, 'Decided')}{by}"


def _why_not(answer: Answer) -> str:
    if answer.decision is None or answer.status not in _BY_A_PERSON:
        return ""
    reason = one_line(answer.decision.reason, MAX_REASON)
    return f" ({reason})" if reason else ""


def _link(answer: Answer) -> str:
    return plain(answer.review_url, MAX_LINK)


def _write(line: str) -> None:
    if os.environ.get("DASHBOARD_QUIET", "").strip().lower() in _YES:
        return
    with suppress(Exception):  # there may be no standard error, or nobody who reads it
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def _nobody(_: Answer) -> None:
    return


def _span(seconds: float) -> str:
    for unit_s, name in ((_DAY_S, "days"), (_HOUR_S, "hours"), (_MINUTE_S, "min")):
        if seconds >= 2 * unit_s:
            return f"{seconds / unit_s:.0f} {name}"
    return f"{max(0.0, seconds):.0f} s"
