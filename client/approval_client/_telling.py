"""Telling the host that an agent waits for a person, and what was decided.

Whoever sits before a blocked agent would take it for hung, so by default one line with the link
goes to standard error. ``DASHBOARD_QUIET=1`` silences it, and ``on_pending`` takes its place.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from approval_client._answers import Answer
from approval_client._calls import Tell

Listener: TypeAlias = Callable[[Answer], object]
MAX_LINK = 500  # characters
_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86_400
_YES = {"1", "true", "yes", "on"}


@dataclass(frozen=True)
class Listeners:
    """Who is told. ``on_pending`` is called once a question that waits, ``on_decided`` at its end.

    What they raise is logged and changes nothing: an approval does not depend on who shows it.
    """

    on_pending: Listener | None = None
    on_decided: Listener | None = None

    def pending(self, answer: Answer) -> Tell:
        """Return how to tell that nobody has decided yet."""
        return Tell("on_pending", self.on_pending or announce, answer)

    def decided(self, answer: Answer) -> Tell:
        """Return how to tell who decided what, and when."""
        return Tell("on_decided", self.on_decided or _nobody, answer)


def announce(answer: Answer) -> None:
    """Write one line with the link to standard error, unless ``DASHBOARD_QUIET`` is set."""
    if os.environ.get("DASHBOARD_QUIET", "").strip().lower() in _YES:
        return
    left_s = (answer.expires_at - answer.now).total_seconds()
    link = "".join(c if c.isprintable() else "\ufffd" for c in answer.review_url[:MAX_LINK])
    with suppress(Exception):  # there may be no standard error, or nobody who reads it
        sys.stderr.write(f"Waiting for a person to decide, for {_span(left_s)} at most: {link}\n")
        sys.stderr.flush()


def _nobody(_: Answer) -> None:
    return


def _span(seconds: float) -> str:
    for unit_s, name in ((_DAY_S, "days"), (_HOUR_S, "hours"), (_MINUTE_S, "min")):
        if seconds >= 2 * unit_s:
            return f"{seconds / unit_s:.0f} {name}"
    return f"{max(0.0, seconds):.0f} s"
