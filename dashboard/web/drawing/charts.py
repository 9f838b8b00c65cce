"""Charts: where each mark lies, and the sentence that it says on hover and focus. Pure.

Places are per cent of the drawing, counted from its top left corner, so that a chart fills any
width and its text keeps its size. What is drawn differs by shape, place or pattern before it
differs by colour. Templates write the SVG.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from dashboard.approvals.rules.insight import (
    DAY_S,
    EDGES_S,
    MOST_LINES_A_SECOND,
    OUTCOMES,
    Deciding,
    ReadingDot,
    WaitingHour,
)
from dashboard.web import times

_WHOLE = 100.0

_GAP = 0.16  # of a column stays free


class Tick(NamedTuple):
    """A place on an axis. A phone leaves out what ``is_minor``."""

    at: str
    words: str
    is_minor: bool = False


class BarPiece(NamedTuple):
    """A rectangle; ``name`` says how it is filled."""

    name: str
    x: str
    y: str
    width: str
    height: str


class ChartColumn(NamedTuple):
    """What one column of a chart shows: its place, its pieces and its sentence."""

    x: str
    width: str
    pieces: Sequence[BarPiece]
    says: str


def place(part: float) -> str:
    """Write a part of the whole as SVG does."""
    return f"{part * _WHOLE:.2f}".rstrip("0").rstrip(".") + "%"


class Scale(NamedTuple):
    """Whole numbers from 0 to ``top``, with a line at each of ``steps``."""

    top: int
    steps: Sequence[int]

    @property
    def ticks(self) -> list[Tick]:
        """The lines, from the bottom up."""
        return [Tick(place(1 - step / self.top), f"{step:,}") for step in self.steps]


_MOST_STEPS = 4


def scale(most: int) -> Scale:
    """Return round numbers that reach ``most``, at most five of them with the 0."""
    step = next(s for s in _round_numbers() if s * _MOST_STEPS >= most)
    top = max(1, math.ceil(most / step)) * step
    return Scale(top, range(0, top + 1, step))


def _round_numbers() -> Iterable[int]:
    power = 1
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10


# --- requests by day -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class DaysChart:
    """Requests by day, stacked by outcome."""

    columns: Sequence[ChartColumn]
    rows: Sequence[tuple[str, Sequence[int], int]]
    x_ticks: Sequence[Tick]
    y_ticks: Sequence[Tick]
    days_each: int


OUTCOME_WORDS = {
    "approved": "Approved",
    "rejected": "Rejected",
    "expired": "Expired",
    "alone": "No person asked",
    "other": "Waiting or withdrawn",
}

_MOST_DATES = 6


def days_chart(outcomes: Sequence[dict[str, int]], first: date, days_each: int) -> DaysChart:
    """Draw one column for each stretch of ``days_each`` days."""
    sums = [sum(counts.values()) for counts in outcomes]
    y_axis, width = scale(max(sums, default=0)), 1 / max(1, len(outcomes))
    days = [first + timedelta(days=number * days_each) for number in range(len(outcomes))]
    names = [_stretch(day, days_each) for day in days]
    every = math.ceil(len(outcomes) / _MOST_DATES)
    return DaysChart(
        columns=[
            ChartColumn(
                x=place(number * width),
                width=place(width),
                pieces=list(_stacked(counts, number, width, y_axis.top)),
                says=_says_outcomes(names[number], counts, sums[number]),
            )
            for number, counts in enumerate(outcomes)
        ],
        rows=[
            (name, [counts[outcome] for outcome in OUTCOMES], total)
            for name, counts, total in zip(names, outcomes, sums, strict=True)
        ],
        x_ticks=[
            Tick(place((number + 0.5) * width), _day(day))
            for number, day in enumerate(days)
            if number % every == 0
        ],
        y_ticks=y_axis.ticks,
        days_each=days_each,
    )


def _day(day: date) -> str:
    return f"{day.day} {day:%b}"


def _stretch(day: date, days_each: int) -> str:
    if days_each == 1:
        return f"{day:%a} {_day(day)} {day:%Y}"
    end_day = day + timedelta(days=days_each - 1)
    return f"{_day(day)} to {_day(end_day)} {end_day:%Y}"


def _stacked(counts: dict[str, int], number: int, width: float, top: int) -> Iterable[BarPiece]:
    y = 1.0
    for outcome in OUTCOMES:
        if counts[outcome]:
            height = counts[outcome] / top
            y -= height
            x = (number + _GAP / 2) * width
            yield BarPiece(outcome, place(x), place(y), place(width * (1 - _GAP)), place(height))


def _says_outcomes(name: str, counts: dict[str, int], total: int) -> str:
    parts = [f"{counts[o]:,} {OUTCOME_WORDS[o].lower()}" for o in OUTCOMES if counts[o]]
    if not parts:
        return f"{name}: no requests"
    return f"{name}: {total:,} request{'s' * (total != 1)}, {', '.join(parts)}"


# --- time to decision ----------------------------------------------------------------------------


class Limit(NamedTuple):
    """A time limit across the chart; ``top``, in pixels, keeps its label off the one before."""

    at: str
    words: str
    top: int
    is_left: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class DecisionChart:
    """How long people took to decide, with the time limits."""

    columns: Sequence[ChartColumn]
    rows: Sequence[tuple[str, int]]
    limits: Sequence[Limit]
    x_ticks: Sequence[Tick]
    y_ticks: Sequence[Tick]


_LONGEST_S = 30 * DAY_S  # no time limit is longer

_BARS = len(EDGES_S) + 1

_WIDTH = 1 / (_BARS + 1.5)  # half a bar is left free before what expired

_MAJOR = {1, 10, 60, 600, 3600, DAY_S}

_RIGHT = 0.3  # a label stands left of its line, where the lines before it are shorter


def decision_chart(found: Deciding) -> DecisionChart:
    """Draw a bar for each stretch of time, one for what expired, and a line for each limit."""
    y_axis = scale(max([*found.counts, found.expired]))
    names = [*(stretch_words(number) for number in range(_BARS)), "Expired, no answer"]
    counts = [*found.counts, found.expired]
    total = sum(found.counts)
    places = [number * _WIDTH for number in range(_BARS)] + [(_BARS + 0.5) * _WIDTH]
    says = [
        *(_says_decisions(*pair, total) for pair in zip(names, found.counts, strict=False)),
        f"Expired without an answer: {found.expired:,}",
    ]
    return DecisionChart(
        columns=[
            ChartColumn(
                x=place(x),
                width=place(_WIDTH),
                pieces=[_bar("expired" if n == _BARS else "decided", x, counts[n] / y_axis.top)],
                says=says[n],
            )
            for n, x in enumerate(places)
        ],
        rows=list(zip(names, counts, strict=True)),
        limits=[_limit(row, *limit) for row, limit in enumerate(found.limits)],
        x_ticks=[
            *(
                Tick(place((n + 1) * _WIDTH), _edge_tick(n), edge not in _MAJOR)
                for n, edge in enumerate(EDGES_S)
            ),
            Tick(place(places[-1] + _WIDTH / 2), "none"),
        ],
        y_ticks=y_axis.ticks,
    )


def edge_words(seconds: float) -> str:
    """Write a round length of time in its largest unit."""
    for size, unit in ((DAY_S, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"


def _edge_tick(number: int) -> str:
    """Name the unit only where another one begins."""
    words = edge_words(EDGES_S[number])
    value, _, unit = words.partition(" ")
    same = number and edge_words(EDGES_S[number - 1]).endswith(f" {unit}")
    return value if same else words


def stretch_words(number: int) -> str:
    """Write from when to when one bar goes."""
    if number == 0:
        return f"under {edge_words(EDGES_S[0])}"
    if number == len(EDGES_S):
        return f"{edge_words(EDGES_S[-1])} or more"
    return f"{edge_words(EDGES_S[number - 1])} to {edge_words(EDGES_S[number])}"


def _says_decisions(name: str, count: int, total: int) -> str:
    share = f", {count / total:.0%} of all" if count else ""
    return f"{name.capitalize()}: {count:,} decision{'s' * (count != 1)}{share}"


def _bar(name: str, x: float, height: float) -> BarPiece:
    gap = _WIDTH * _GAP / 2
    return BarPiece(
        name, place(x + gap), place(1 - height), place(_WIDTH * (1 - _GAP)), place(height)
    )


def decision_place(seconds: float) -> float:
    """Say where on the axis of the time to decision a length of time lies, as a part of it."""
    bar = bisect_right(EDGES_S, seconds)
    if bar == 0:
        return seconds / EDGES_S[0] * _WIDTH
    begin, *rest = EDGES_S[bar - 1 : bar + 1]
    end = rest[0] if rest else _LONGEST_S
    within = min(1.0, math.log(seconds / begin) / math.log(end / begin))
    return (bar + within) * _WIDTH


def _limit(row: int, seconds: int, count: int) -> Limit:
    at = decision_place(seconds)
    words = f"limit {times.length(seconds)} ({count:,})"
    return Limit(place(at), words, -8 - row * 16, at > _RIGHT)


# --- waiting by weekday and hour -----------------------------------------------------------------

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

LEVELS_S = (60, 300, 1800, 7200)
"""Up to where half of the requests of an hour wait, from the smallest square to the largest."""

_SIZES = (0.3, 0.46, 0.62, 0.78, 0.94)  # of a cell, in each direction


class HourCell(NamedTuple):
    """One hour of one weekday. ``level`` counts from 1; it is 0 where nothing was asked."""

    hit: BarPiece
    square: BarPiece
    level: int
    says: str
    words: str


@dataclass(frozen=True, kw_only=True, slots=True)
class HoursChart:
    """How long requests waited, by the weekday and hour at which they were asked."""

    cells: Sequence[HourCell]
    rows: Sequence[tuple[str, Sequence[HourCell]]]
    x_ticks: Sequence[Tick]
    y_ticks: Sequence[Tick]


def hours_chart(hours: Sequence[Sequence[WaitingHour]]) -> HoursChart:
    """Draw a square for each hour, larger and darker the longer requests waited."""
    grid = [
        [_hour(day, hour, wait) for hour, wait in enumerate(row)] for day, row in enumerate(hours)
    ]
    return HoursChart(
        cells=[cell for row in grid for cell in row],
        rows=[
            (f"{hour:02}:00", [grid[day][hour] for day in range(len(grid))])
            for hour in range(len(grid[0]))
        ],
        x_ticks=[
            Tick(place((hour + 0.5) / 24), f"{hour:02}", hour % 6 != 0) for hour in range(0, 24, 3)
        ],
        y_ticks=[Tick(place((n + 0.5) / 7), name[:3]) for n, name in enumerate(WEEKDAYS)],
    )


def level(seconds: float) -> int:
    """Say how large a square is, from 1 to 5."""
    return bisect_left(LEVELS_S, seconds) + 1


def _hour(day: int, hour: int, one: WaitingHour) -> HourCell:
    size = level(one.half_s) if one.half_s is not None else 0
    side = _SIZES[size - 1] if size else 0.1
    width, height = 1 / 24, 1 / 7
    x, y = (hour + (1 - side) / 2) * width, (day + (1 - side) / 2) * height
    name = f"{WEEKDAYS[day]} {hour:02}:00 to {(hour + 1) % 24:02}:00"
    half = "" if one.half_s is None else times.length(one.half_s)
    count = f"{one.asked:,} request{'s' * (one.asked != 1)}"
    return HourCell(
        hit=BarPiece("hit", place(hour * width), place(day * height), place(width), place(height)),
        square=BarPiece(
            f"level-{size}", place(x), place(y), place(width * side), place(height * side)
        ),
        level=size,
        says=f"{name}: half of {count} waited up to {half}" if half else f"{name}: no requests",
        words=f"{half} ({one.asked:,})" if half else "",
    )


def level_words() -> list[str]:
    """Write what each size of square means."""
    ends = [times.length(end) for end in LEVELS_S]
    return [f"up to {ends[0]}", *(f"{a} to {b}" for a, b in pairwise(ends)), f"over {ends[-1]}"]


# --- time in view against lines ------------------------------------------------------------------


class Dot(NamedTuple):
    """One approval, or several at the same place; a triangle if it is fast, else a disc."""

    x: str
    y: str
    radius: float
    is_fast: bool
    says: str


class ChartLine(NamedTuple):
    """A straight line."""

    x1: str
    y1: str
    x2: str
    y2: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadingChart:
    """Approvals by the time in view and the lines shown, both on scales of powers of ten.

    Attributes:
        limit: Where ten lines a second lie; above it are more.
        head: The stretches of time of the table.
        rows: Numbers of lines from and to, and how many approvals each stretch of time has.
    """

    dots: Sequence[Dot]
    limit: ChartLine
    x_ticks: Sequence[Tick]
    y_ticks: Sequence[Tick]
    head: Sequence[str]
    rows: Sequence[tuple[str, Sequence[int]]]


_SECONDS = (1, 10, 60, 600, 3600, 6 * 3600, DAY_S)

_REACHES_S = (*_SECONDS, 7 * DAY_S, 30 * DAY_S, 365 * DAY_S)

_LEAST_SECONDS, _LEAST_LINES = 60, 100

_RADIUS, _LARGEST = 4.0, 10.0


def reading_chart(readings: Sequence[ReadingDot]) -> ReadingChart:
    """Draw a dot for each approval."""
    right = _reach(_REACHES_S, max([_LEAST_SECONDS, *(dot.in_view_s for dot in readings)]))
    lines = [10**power for power in range(1, 10)]
    top = _reach(lines, max([_LEAST_LINES, *(dot.lines for dot in readings)]))
    end = min(right, top / MOST_LINES_A_SECOND)
    return ReadingChart(
        dots=[_dot(dot, right, top) for dot in sorted(readings, key=lambda one: -one.approvals)],
        limit=ChartLine(
            place(0),
            place(1 - _log(MOST_LINES_A_SECOND, top)),
            place(_log(end, right)),
            place(1 - _log(end * MOST_LINES_A_SECOND, top)),
        ),
        x_ticks=[Tick(place(_log(at, right)), edge_words(at)) for at in _REACHES_S if at <= right],
        y_ticks=[Tick(place(1 - _log(n, top)), f"{n:,}") for n in (1, *lines) if n <= top],
        head=[f"{edge_words(a)} to {edge_words(b)}" for a, b in pairwise(_SECONDS)]
        + [f"over {edge_words(_SECONDS[-1])}"],
        rows=_table(readings, [1, *(n for n in lines if n <= top)]),
    )


def _reach(steps: Sequence[int], value: float) -> int:
    return next((step for step in steps if step >= value), math.ceil(value))


def _log(value: float, top: float) -> float:
    return min(1.0, math.log(max(1.0, value)) / math.log(top))


def _dot(reading: ReadingDot, right: float, top: float) -> Dot:
    return Dot(
        x=place(_log(reading.in_view_s, right)),
        y=place(1 - _log(reading.lines, top)),
        radius=round(min(_LARGEST, _RADIUS + math.log2(reading.approvals)), 1),
        is_fast=reading.is_fast,
        says=_says_reading(reading),
    )


def _says_reading(reading: ReadingDot) -> str:
    lines = f"{reading.lines:,} line{'s' * (reading.lines != 1)}"
    about = f"in view {times.length(reading.in_view_s)}, {lines}"
    if reading.approvals > 1:
        return f"{reading.approvals:,} approvals: about {about}"
    return f"{about.capitalize()}, approved by {reading.person}"


def _table(
    readings: Sequence[ReadingDot], lines: Sequence[int]
) -> list[tuple[str, Sequence[int]]]:
    counts = [[0] * len(_SECONDS) for _ in lines[:-1]]
    for dot in readings:
        row = min(len(counts), bisect_right(lines, dot.lines)) - 1
        column = bisect_right(_SECONDS, dot.in_view_s) - 1
        counts[row][column] += dot.approvals
    ends = [f"{a:,} to {b - 1:,}" for a, b in pairwise(lines)]
    ends[-1] = f"{lines[-2]:,} or more"
    return list(zip(ends, counts, strict=True))


# --- approvals of an agent, small ----------------------------------------------------------------


class Sparkline(NamedTuple):
    """Bars without axes, 20 units high and 10 wide each."""

    path: str
    width: int
    most: int
    says: str


def sparkline(counts: Sequence[int], days_each: int) -> Sparkline:
    """Draw how many there were in each stretch of days."""
    most = max(counts, default=0)
    each = "a day" if days_each == 1 else f"in {days_each} days"
    bars = [
        f"M{number * 10 + 1} 20V{20 - max(1.5, 20 * count / most):.3g}h8V20z"
        for number, count in enumerate(counts)
        if count
    ]
    total, listed = sum(counts), ", ".join(map(str, counts))
    return Sparkline(
        "".join(bars),
        len(counts) * 10,
        most,
        f"{total:,} approved, at most {most:,} {each}: {listed}",
    )


# --- a run along time ----------------------------------------------------------------------------


class Stages(NamedTuple):
    """When what happened to one request. ``until`` is when it was over, or now."""

    asked: datetime
    seen: datetime | None
    decided: datetime | None
    started: datetime | None
    finished: datetime | None
    until: datetime


class TimelineRow(NamedTuple):
    """One request along the time of its run.

    ``…_by`` says by how many steps a mark is moved right, off the mark before it.
    """

    asked: str
    waits: BarPiece
    runs: BarPiece | None
    seen: str
    decided: str
    decided_by: int
    started: str
    started_by: int
    finished: str
    finished_by: int


class ChartGap(NamedTuple):
    """A stretch in which nothing happened, cut short."""

    x: str
    width: str
    says: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeline:
    """A run along time."""

    rows: Sequence[TimelineRow]
    ticks: Sequence[Tick]
    breaks: Sequence[ChartGap]


_LEAST_BREAK_S = 60.0

_LEAST_BREAK = 0.15  # of the time in which something happened

_BREAK, _ALL_BREAKS = 0.04, 0.4  # of the width

_NEAR = 0.05  # of the width: marks that are nearer than this are moved apart

_NEAR_WORDS = 0.22


class TimeAxis:
    """Puts moments on a line on which long stretches without anything are cut short."""

    def __init__(self, spans: Iterable[tuple[datetime, datetime]]) -> None:
        self._busy = _merged(spans)
        gaps = list(pairwise(self._busy))
        self.begin = self._busy[0][0]
        self.cuts = [(a[1], b[0]) for a, b in gaps]
        width = min(_BREAK, _ALL_BREAKS / max(1, len(self.cuts)))
        whole_s = sum((end - begin).total_seconds() for begin, end in self._busy) or 1.0
        points, x = list[tuple[float, float]](), 0.0
        for begin, end in self._busy:
            points.append((self._seconds(begin), x))
            x += (end - begin).total_seconds() / whole_s * (1 - width * len(self.cuts))
            points.append((self._seconds(end), x))
            x += width
        self._points = points

    def _seconds(self, at: datetime) -> float:
        return (at - self.begin).total_seconds()

    def place(self, at: datetime) -> float:
        """Return where a moment lies, from 0 to 1."""
        seconds = self._seconds(at)
        for (since, x), (until, end) in pairwise(self._points):
            if seconds <= until:
                part = (seconds - since) / (until - since) if until > since else 0.0
                return x + (end - x) * max(0.0, part)
        return self._points[-1][1]

    @property
    def ticks(self) -> list[Tick]:
        """Where each busy stretch begins, and round times after that, as far as there is room."""
        ticks, last_x = list[Tick](), -1.0
        for number, (begin, end) in enumerate(self._busy):
            room = (
                1.0 if number == len(self.cuts) else self.place(self.cuts[number][1]) - _NEAR_WORDS
            )
            for at in _round_times(begin, end, self.place(end) - self.place(begin)):
                x = self.place(at)
                if x - last_x >= _NEAR_WORDS and (at == begin or x <= room):
                    is_minor = bool(self.cuts) and at != begin
                    ticks.append(Tick(place(x), _after(self._seconds(at)), is_minor))
                    last_x = x
        return ticks


_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 6 * 3600, DAY_S)


def _round_times(begin: datetime, end: datetime, width: float) -> list[datetime]:
    whole_s = (end - begin).total_seconds()
    fitting = (s for s in _STEPS_S if whole_s and s / whole_s * width >= _NEAR_WORDS)
    step = next(fitting, math.ceil(whole_s) or 1)
    return [begin + timedelta(seconds=n * step) for n in range(int(whole_s // step) + 1)]


def _after(seconds: float) -> str:
    return "0" if not seconds else f"+{edge_or_length(seconds)}"


def edge_or_length(seconds: float) -> str:
    """Write a length of time shortly: in one unit where that is exact."""
    for size in (DAY_S, 3600, 60):
        if seconds >= size:
            return edge_words(seconds) if seconds % size == 0 else times.length(seconds)
    return edge_words(round(seconds, 1))


def _merged(spans: Iterable[tuple[datetime, datetime]]) -> list[tuple[datetime, datetime]]:
    """Join spans unless much time passes between them."""
    ordered = sorted(spans)
    busy = list[tuple[datetime, datetime]]()
    for begin, end in ordered:
        if busy and begin <= busy[-1][1]:
            busy[-1] = (busy[-1][0], max(end, busy[-1][1]))
        else:
            busy.append((begin, end))
    busy_s = sum((end - begin).total_seconds() for begin, end in busy)
    least_s = max(_LEAST_BREAK_S, busy_s * _LEAST_BREAK)
    joined = busy[:1]
    for begin, end in busy[1:]:
        if (begin - joined[-1][1]).total_seconds() < least_s:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((begin, end))
    return joined


def timeline(rows: Sequence[Stages]) -> Timeline:
    """Draw requests along the time of their run."""
    axis = TimeAxis((row.asked, max(row.asked, row.until)) for row in rows)
    return Timeline(
        rows=[_timeline_row(row, axis) for row in rows],
        ticks=axis.ticks,
        breaks=[
            ChartGap(
                place(axis.place(begin)),
                place(axis.place(end) - axis.place(begin)),
                f"Nothing for {times.length((end - begin).total_seconds())}",
            )
            for begin, end in axis.cuts
        ],
    )


def _timeline_row(row: Stages, axis: TimeAxis) -> TimelineRow:
    asked_x, ended = axis.place(row.asked), axis.place(row.decided or row.until)
    started = axis.place(row.started) if row.started else None
    finished = axis.place(row.finished) if row.finished else None
    decided_by = int(ended - asked_x < _NEAR)
    started_by = finished_by = 0
    if started is not None and started - ended < _NEAR:
        started_by = decided_by + 1
    if started is not None and finished is not None and finished - started < _NEAR:
        finished_by = started_by + 1
    return TimelineRow(
        asked=place(asked_x),
        waits=BarPiece("waits", place(asked_x), "", place(max(0.0, ended - asked_x)), ""),
        runs=None
        if started is None or finished is None or finished_by
        else BarPiece("runs", place(started), "", place(max(0.0, finished - started)), ""),
        seen=place(axis.place(row.seen)) if row.seen else "",
        decided=place(ended) if row.decided else "",
        decided_by=decided_by,
        started="" if started is None else place(started),
        started_by=started_by,
        finished="" if finished is None else place(finished),
        finished_by=finished_by,
    )
