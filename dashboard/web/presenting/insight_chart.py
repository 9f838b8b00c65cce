"""How the days of a period went, as bars. The table of days says the same, in numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import NamedTuple

from dashboard.approvals.rules.insight import AskedRequest, Period
from dashboard.wire import Source, Status

HEIGHT, WIDTH, GAP = 100, 10, 2
MOST_BARS = 92
_DAY = timedelta(days=1)
_ORDER = ("approved", "rejected", "expired", "alone", "other")


class Part(NamedTuple):
    """A piece of a bar, in units of the drawing."""

    name: str
    x: int
    y: float
    height: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Chart:
    """Bars from the first day to the last one; ``days`` of them in each.

    Attributes:
        most: How many requests the highest bar stands for.
    """

    parts: list[Part]
    width: int
    days: int
    most: int
    first: str
    last: str


def chart(asked: Iterable[AskedRequest], period: Period) -> Chart:
    """Draw what was asked on each day, by what became of it."""
    length = (period.until - period.since) // _DAY
    days = max(1, ceil(length / MOST_BARS))
    bars = [dict.fromkeys(_ORDER, 0) for _ in range(ceil(length / days))]
    for one in asked:
        bars[min(len(bars) - 1, int(one.since_s // (86_400 * days)))][_became(one)] += 1
    most = max((sum(bar.values()) for bar in bars), default=0)
    return Chart(
        parts=[part for x, bar in enumerate(bars) for part in _stacked(x, bar, most)],
        width=len(bars) * WIDTH,
        days=days,
        most=most,
        first=f"{period.since:%Y-%m-%d}",
        last=f"{period.until - _DAY:%Y-%m-%d}",
    )


def _became(one: AskedRequest) -> str:
    if one.source in (Source.POLICY, Source.GRANT):
        return "alone"
    if one.source == Source.REVIEWER:
        return "approved" if one.status == Status.APPROVED else "rejected"
    return "expired" if one.status == Status.EXPIRED else "other"


def _stacked(number: int, bar: dict[str, int], most: int) -> Iterable[Part]:
    y = float(HEIGHT)
    for name in _ORDER:
        if bar[name]:
            height = round(bar[name] / most * HEIGHT, 2)
            y = round(y - height, 2)
            yield Part(name, number * WIDTH + GAP // 2, y, height)
