"""Figures of what was asked and decided, for whoever watches the server."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Count, Min, OuterRef, Q, Subquery

from approval_client.wire import Source
from dashboard.approvals.models import ApprovalRequest, Closing, Outcome, Recall, View
from dashboard.clock import database_now

WAITS_S = (1, 5, 15, 30, 60, 300, 900, 1800, 3600, 14_400, 86_400)
"""Upper bounds of the histograms of how long somebody waited, in seconds."""
AGES = {"under 1 min": 60, "under 10 min": 600, "under 1 h": 3600}
"""How old a pending request is, in seconds at the most; what is older is ``OLDER``."""
OLDER = "1 h or more"
_BATCH = 5000
_READS_FOR_S = 1.0


class Pending(NamedTuple):
    """What waits for an answer: how many by kind and age, and the age of the oldest in seconds."""

    counts: dict[tuple[str, str], int]
    oldest_s: float


def pending() -> Pending:
    """Count what waits for an answer now."""
    now = database_now()
    open_requests = ApprovalRequest.objects.open(now).order_by()
    younger = {
        f"younger_{seconds}": Count("pk", filter=Q(submitted_at__gt=_before(now, seconds)))
        for seconds in AGES.values()
    }
    rows: Any = open_requests.values("kind").annotate(
        **younger, every=Count("pk"), oldest=Min("submitted_at")
    )
    counts: dict[tuple[str, str], int] = {}
    oldest_s = 0.0
    for row in rows:
        count = 0
        for age, seconds in AGES.items():
            counts[row["kind"], age] = row[f"younger_{seconds}"] - count
            count = row[f"younger_{seconds}"]
        counts[row["kind"], OLDER] = row["every"] - count
        oldest_s = max(oldest_s, (now - row["oldest"]).total_seconds())
    return Pending(counts, oldest_s)


class Waits:
    """A histogram of seconds, as Prometheus has them."""

    def __init__(self) -> None:
        self.counts, self.sum = [0] * (len(WAITS_S) + 1), 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(WAITS_S, seconds)] += 1
        self.sum += seconds


def outcomes() -> dict[str, int]:
    """Count what agents reported: started, finished, and ended with an error."""
    failed = Count("pk", filter=~Q(error=""))
    rows = Outcome.objects.order_by().values("state").annotate(every=Count("pk"), failed=failed)
    counts = dict.fromkeys(("started", "finished", "failed"), 0)
    for row in rows:
        counts[row["state"]] = row["every"] - row["failed"]
        counts["failed"] += row["failed"]
    return counts


class Tally:
    """All that was ever decided, counted on from where this process stood.

    So every process has the same totals, and reads each row once. The first time it may take
    more than one look to count all: ``left`` is how many were not counted yet.
    """

    def __init__(self) -> None:
        self.decided: Counter[tuple[str, str]] = Counter()
        self.recalled = 0
        self.until_viewed, self.until_decided = Waits(), Waits()
        self.left = 0
        self._closing = 0

    def read_on(self) -> None:
        """Count what came since, for a second at the most."""
        ends_at = time.monotonic() + _READS_FOR_S
        is_whole = False
        while not is_whole and time.monotonic() < ends_at:
            is_whole = not self._read_closings()
        self.recalled = Recall.objects.count()
        self.left = 0 if is_whole else Closing.objects.filter(seq__gt=self._closing).count()

    def _read_closings(self) -> bool:
        views = View.objects.filter(approval=OuterRef("approval")).order_by()
        first_view = views.values("approval").annotate(at=Min("seen_at")).values("at")
        rows = (
            Closing.objects.filter(seq__gt=self._closing)
            .order_by("seq")
            .values_list(
                "seq",
                "approval__decision__status",
                "approval__decision__source",
                "approval__submitted_at",
                "decided_at",
                Subquery(first_view),
            )[:_BATCH]
        )
        batch = list(rows)
        for row in batch:
            self._closing, status, source, asked_at, decided_at, viewed_at = row
            self.decided[status, source] += 1
            if viewed_at:
                self.until_viewed.add(_seconds(asked_at, viewed_at))
            if source == Source.REVIEWER:
                self.until_decided.add(_seconds(asked_at, decided_at))
        return len(batch) == _BATCH


def _before(now: datetime, seconds: int) -> datetime:
    return now - timedelta(seconds=seconds)


def _seconds(since: datetime, until: datetime) -> float:
    return max(0.0, (until - since).total_seconds())
