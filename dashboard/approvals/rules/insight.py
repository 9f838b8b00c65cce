"""Counts, shares and times of the answers in a period.

Nothing here is counted from all rows of a period: a background sweep adds each closed request to
the sums of the day on which it was asked (``services.insight``). A page reads those, and counts
only what is pending and what was closed since. Sums of a few rows and of stored days are made by
the same functions, so they are the same figures.

Times are kept to two digits, such as 4.2 s or 1,300 s, so that sums stay small.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import Any, NamedTuple, Self
from uuid import UUID

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import (
    ExpressionWrapper,
    F,
    FloatField,
    Func,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Subquery,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Length
from django.db.models.sql.compiler import SQLCompiler

from approval_client.wire import Source, Status
from dashboard.approvals.models import (
    ApprovalQuerySet,
    ApprovalRequest,
    Closing,
    Decision,
    InsightDispute,
    InsightHead,
    InsightSum,
    Judgement,
    View,
    Vote,
)
from dashboard.policies.evaluate import SAYING, Effect
from dashboard.policies.judgements.grounds import Grounds, Says

QUICK_S = 2.0
"""An approval of what was in view for less than this was not thought about."""

MOST_LINES_A_SECOND = 10
"""Nobody reads faster than this."""

_LEAST_S = 0.5
IN_SIGHT_S = 1.0
"""How long a page is in sight before that is recorded."""

NO_RULE = ""
_ANSWERED_ALONE = (Source.POLICY, Source.GRANT)
MOST = 5_000
"""How many requests are counted one by one: the newest that no sum has yet."""

MOST_DISPUTES = 500

MOST_LISTED = 10

DAY_S = 86_400

EDGES_S = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 14_400, DAY_S)
"""Where one bar of the time to decision ends and the next one begins. An edge belongs to the bar
that it begins; the first bar begins at 0, and the last one has no end."""

MOST_LIMITS = 3

_LEAST_SHARE_OF_A_LIMIT = 0.05

OUTCOMES = ("approved", "rejected", "expired", "alone", "other")
"""What became of a request: ``alone`` is answered without a person, ``other`` waits or was
withdrawn."""

_SLOT_S = 900  # every zone is whole quarters of an hour away from UTC

_FEW = 500

_FINE, _COARSE = 24, 8  # places in each power of ten

_EXACT_LIMIT_S = 3600  # longer time limits are said in minutes

WHOLE, PERSON, WAITS, PLACES = "whole", "person", "waits", "places"
PARTS = (WHOLE, PERSON, WAITS, PLACES, "agent", "capability", "rule")
"""The parts of a day's sums: all of it, by what it is told apart, and what two charts need."""

LARGE = {WAITS, PLACES}
MOST_OF_LARGE = 600_000
"""How many characters of the large parts are read: the newest days of a period."""


class AskedRequest(NamedTuple):
    """One request; times are seconds since it was asked.

    ``viewed_s`` is the first view before it was decided. ``limit_s`` is the time limit without
    what people added to it.
    """

    id: UUID
    agent: str
    capability: str
    status: str
    source: str | None
    decided_by: str | None
    reason: str | None
    digest: str
    asked_at: datetime
    waited_s: float | None
    viewed_s: float | None
    limit_s: float | None = None
    revision: int | None = None
    grounds: str | None = None
    effect: str | None = None


class CountedVote(NamedTuple):
    """One person's vote.

    Attributes:
        after_s: How long after the page was first in sight; None if that is not known.
        seen_s: How long the lines were in view, by the page: those that were in view together
            count once, others each. None if it did not say.
    """

    id: int
    person: str
    reason: str
    became: str
    asked_at: datetime
    waited_s: float
    after_s: float | None
    lines: int | None
    seen_s: float | None = None

    @property
    def in_view_s(self) -> float | None:
        """How long the content was in view; None if that is not known."""
        if self.after_s is None:
            return None
        longest_s = max(0.0, self.after_s) + IN_SIGHT_S
        if self.seen_s is None:
            return longest_s
        return min(longest_s, max(self.seen_s, _LEAST_S))  # whole seconds are told

    @property
    def is_quick(self) -> bool:
        """Whether it came before anybody could have thought."""
        return self.in_view_s is not None and self.in_view_s < QUICK_S

    @property
    def is_unread(self) -> bool:
        """Whether it came before anybody could have read all the lines that were shown."""
        if self.in_view_s is None or self.lines is None:
            return False
        return self.lines > self.in_view_s * MOST_LINES_A_SECOND

    @property
    def is_fast(self) -> bool:
        """Whether it is quick or unread."""
        return self.is_quick or self.is_unread


Times = Counter[str]
"""How often each length of time occurred, to two digits, such as ``4.2e+00`` seconds."""


def rounded(seconds: float) -> str:
    """Write a length of time to two digits."""
    return f"{max(0.0, seconds):.1e}"


@dataclass(slots=True)
class _Sums:
    """What is counted, and can be added to what was counted elsewhere."""

    def merge(self, other: Self) -> None:
        """Add the sums of others."""
        for name in self.__dataclass_fields__:
            more, own_sum = getattr(other, name), getattr(self, name)
            if isinstance(more, int):
                setattr(self, name, own_sum + more)
            elif more:
                own_sum.update(more)  # a counter adds

    def to_json(self) -> dict[str, Any]:
        """Return what is not nothing."""
        sums = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: value for name, value in sums.items() if value}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Self:
        """Read it back."""
        sums = cls()
        for name, value in said.items():
            if isinstance(value, int):
                setattr(sums, name, value)
            else:
                getattr(sums, name).update(value)
        return sums


@dataclass(slots=True)
class Tally(_Sums):
    """Sums over requests.

    Attributes:
        asked: How many; ``of_people`` of them waited for a person.
        by_policy, by_grant: What was answered without one.
        approved, rejected: What people answered; ``reasons`` of them have one.
        unseen: What expired without anybody having opened it.
        viewed_s, decided_s: How long until somebody saw one, and until somebody decided it.
        revisions: The policy revisions that were asked.
    """

    asked: int = 0
    of_people: int = 0
    by_policy: int = 0
    by_grant: int = 0
    approved: int = 0
    rejected: int = 0
    reasons: int = 0
    expired: int = 0
    unseen: int = 0
    viewed_s: Times = field(default_factory=Counter)
    decided_s: Times = field(default_factory=Counter)
    revisions: Counter[str] = field(default_factory=Counter)

    def add(self, request: AskedRequest) -> None:
        """Count one more."""
        self.asked += 1
        if request.revision is not None:
            self.revisions[str(request.revision)] += 1
        if request.source in _ANSWERED_ALONE:
            self.by_policy += request.source == Source.POLICY
            self.by_grant += request.source == Source.GRANT
            return
        self.of_people += 1
        if request.viewed_s is not None:
            self.viewed_s[rounded(request.viewed_s)] += 1
        if request.status == Status.EXPIRED:
            self.expired += 1
            self.unseen += request.viewed_s is None
        elif request.source == Source.REVIEWER and request.waited_s is not None:
            self.approved += request.status == Status.APPROVED
            self.rejected += request.status == Status.REJECTED
            self.reasons += bool((request.reason or "").strip())
            self.decided_s[rounded(request.waited_s)] += 1

    @property
    def rate(self) -> float | None:
        """The share of approvals among what people decided."""
        return share(self.approved, self.approved + self.rejected)

    @property
    def outcomes(self) -> dict[str, int]:
        """How many had each of ``OUTCOMES``."""
        by_rules = self.asked - self.of_people
        counts = (self.approved, self.rejected, self.expired, by_rules)
        return dict(zip(OUTCOMES, (*counts, self.asked - sum(counts)), strict=True))


@dataclass(slots=True)
class Whole(Tally):
    """Sums over all requests of a day.

    Attributes:
        bars: How many decisions each bar of ``EDGES_S`` holds, by its number.
        limits: The time limits in seconds, and how many had each.
    """

    bars: Counter[str] = field(default_factory=Counter)
    limits: Counter[str] = field(default_factory=Counter)

    def add(self, request: AskedRequest) -> None:
        """Count one more."""
        Tally.add(self, request)  # slots leave no class for super()
        if request.source in _ANSWERED_ALONE:
            return
        if request.limit_s is not None:
            exact = request.limit_s <= _EXACT_LIMIT_S
            self.limits[
                str(round(request.limit_s) if exact else round(request.limit_s / 60) * 60)
            ] += 1
        if request.source == Source.REVIEWER and request.waited_s is not None:
            self.bars[str(bisect_right(EDGES_S, request.waited_s))] += 1


@dataclass(slots=True)
class Waits(_Sums):
    """How long requests waited that were asked in one quarter of an hour of a day."""

    times: Times = field(default_factory=Counter)


class _Dots(dict[str, list[Any]]):
    """Approvals by time in view and lines: how many, and the quickest of them as it was."""

    def update(self, more: Mapping[str, list[Any]]) -> None:  # type: ignore[override]
        """Add the approvals of others; one of them stands for all, never a mean of them."""
        if not self:
            dict.update(self, more)
            return
        for place, reading in more.items():
            if own_dot := self.get(place):
                self[place] = [own_dot[0] + reading[0], *min(own_dot[1:], reading[1:])]
            else:
                self[place] = reading


@dataclass(slots=True)
class Places(_Sums):
    """Where the approvals of one person stand in the chart of time in view and lines shown.

    Attributes:
        unknown: How many have no time, or no lines.
    """

    unknown: int = 0
    dots: _Dots = field(default_factory=_Dots)

    def add(self, vote: CountedVote) -> None:
        """Add one approval."""
        seconds, lines = vote.in_view_s, vote.lines
        if seconds is None or not lines:
            self.unknown += 1
            return
        place = _place(seconds, lines, _FINE, is_fast=vote.is_fast)
        self.dots.update({place: [1, round(seconds, 3), lines]})


@dataclass(slots=True)
class PersonTally(_Sums):
    """Sums over the answers of one person.

    Attributes:
        fast: How many approvals are quick or unread.
        newest: The newest of these, by the number of the vote: when it was asked, for how long it
            was in view, and how many lines there were.
    """

    approvals: int = 0
    rejections: int = 0
    quick: int = 0
    unread: int = 0
    overruled: int = 0
    reasons: int = 0
    fast: int = 0
    waited_s: Times = field(default_factory=Counter)
    after_s: Times = field(default_factory=Counter)
    newest: dict[str, Sequence[Any]] = field(default_factory=dict)

    def add_approval(self, vote: CountedVote) -> None:
        """Count an approval; it is overruled if somebody else's rejection closed the request."""
        self.approvals += 1
        self.quick += vote.is_quick
        self.unread += vote.is_unread
        self.overruled += vote.became == Status.REJECTED
        self.reasons += bool(vote.reason.strip())
        self.waited_s[rounded(vote.waited_s)] += 1
        if vote.after_s is not None:
            self.after_s[rounded(vote.after_s)] += 1
        if vote.is_fast:
            self.fast += 1
            asked_at = vote.asked_at.astimezone(UTC).isoformat(timespec="microseconds")
            self.newest[str(vote.id)] = (asked_at, vote.in_view_s, vote.lines)

    def add_rejection(self, request: AskedRequest) -> None:
        """Count a rejection."""
        self.rejections += 1
        self.reasons += bool((request.reason or "").strip())
        self.waited_s[rounded(request.waited_s or 0.0)] += 1

    @property
    def rate(self) -> float | None:
        """The share of approvals."""
        return share(self.approvals, self.approvals + self.rejections)

    def to_json(self) -> dict[str, Any]:
        """Return what is not nothing, and of what is fast the newest alone."""
        self.newest = dict(newest_fast(self.newest))
        return _Sums.to_json(self)


FastVote = tuple[str, Sequence[Any]]
"""The number of a vote, and what ``PersonTally.newest`` says of it."""


def newest_fast(figures: Mapping[str, Sequence[Any]]) -> list[FastVote]:
    """Return the newest of fast approvals, the newest first."""
    return sorted(figures.items(), key=lambda one: (one[1][0], int(one[0])), reverse=True)[
        :MOST_LISTED
    ]


def share(part: int, whole: int) -> float | None:
    """Return ``part / whole``; None if ``whole`` is 0."""
    return part / whole if whole else None


def percentile(times: Mapping[str, int], percent: int) -> float | None:
    """Return the shortest time that ``percent`` of all do not exceed; None without times."""
    rank = math.ceil(sum(times.values()) * percent / 100)
    for seconds, count in sorted((float(text), count) for text, count in times.items()):
        rank -= count
        if rank <= 0:
            return seconds
    return None


_MADE_OF: Mapping[str, type[_Sums]] = {
    WHOLE: Whole,
    PERSON: PersonTally,
    WAITS: Waits,
    PLACES: Places,
}


class DaySums:
    """The sums of what was asked on one day, or on several: by part, and by the names in it."""

    def __init__(self) -> None:
        self.whole = Whole()
        self.people = defaultdict[str, PersonTally](PersonTally)
        self.waits = defaultdict[str, Waits](Waits)
        self.places = defaultdict[str, Places](Places)
        self.groups: dict[str, dict[str, Tally]] = {
            part: defaultdict(Tally) for part in PARTS if part not in _MADE_OF
        }

    def add(self, request: AskedRequest, parts: Collection[str] = PARTS) -> None:
        """Count a request, in some of the parts."""
        self.whole.add(request)
        if (
            request.decided_by
            and request.status == Status.REJECTED
            and request.source == Source.REVIEWER
        ):
            self.people[request.decided_by].add_rejection(request)
        if request.source in (Source.REVIEWER, Source.DEADLINE) and request.waited_s is not None:
            at = request.asked_at.astimezone(UTC)
            slot = (at.hour * 3600 + at.minute * 60) // _SLOT_S
            self.waits[str(slot)].times[rounded(request.waited_s)] += 1
        for part, sums in self.groups.items():
            if part in parts:
                sums[_name(request, part)].add(request)

    def add_vote(self, vote: CountedVote) -> None:
        """Count an approval."""
        self.people[vote.person].add_approval(vote)
        self.places[vote.person].add(vote)

    def merge(self, other: DaySums, *parts: str) -> None:
        """Add parts of the sums of another day."""
        for part in parts:
            own_sums = self.part(part)
            for name, sums in other.part(part).items():
                own_sums[name].merge(sums)

    def part(self, part: str) -> Mapping[str, Any]:
        """Return the sums of one part, by name."""
        sums_by_part: dict[str, Mapping[str, Any]] = {
            PERSON: self.people,
            WAITS: self.waits,
            PLACES: self.places,
        }
        if part == WHOLE:
            return {"": self.whole}
        return sums_by_part[part] if part in sums_by_part else self.groups[part]

    def add_stored(self, part: str, figures: str) -> None:
        """Add sums as they are kept."""
        kind, own_sums = _MADE_OF.get(part, Tally), self.part(part)
        for name, figure in json.loads(figures).items():
            own_sums[name].merge(kind.from_json(figure))

    def stored(self, part: str) -> str:
        """Return the sums of one part as they are kept."""
        figures = {name: sums.to_json() for name, sums in self.part(part).items()}
        return json.dumps(figures, separators=(",", ":"))


def _name(request: AskedRequest, part: str) -> str:
    return (
        deciding_rule(request.grounds, request.effect)
        if part == "rule"
        else str(getattr(request, part))
    )


Days = defaultdict[date, DaySums]


def by_day(
    asked: Iterable[AskedRequest],
    votes: Iterable[CountedVote],
    parts: Collection[str] = PARTS,
    into: Days | None = None,
) -> Days:
    """Sum up requests and votes by the day, in UTC, on which was asked."""
    days = Days(DaySums) if into is None else into
    for request in asked:
        days[request.asked_at.astimezone(UTC).date()].add(request, parts)
    for vote in votes:
        days[vote.asked_at.astimezone(UTC).date()].add_vote(vote)
    return days


def together(days: Mapping[date, DaySums], *parts: str) -> DaySums:
    """Sum up parts of days."""
    total = DaySums()
    for day in days.values():
        total.merge(day, *parts)
    return total


class Deciding(NamedTuple):
    """How long people took to decide.

    Attributes:
        counts: How many decisions each bar of ``EDGES_S`` holds.
        expired: How many requests nobody answered in time.
        limits: The usual time limits in seconds, each with how many requests had it.
    """

    counts: list[int]
    expired: int
    limits: list[tuple[int, int]]


def time_to_decision(whole: Whole) -> Deciding:
    """Return decisions of people by how long they took, and the time limits beside them."""
    counts = [whole.bars[str(number)] for number in range(len(EDGES_S) + 1)]
    usual = [
        (int(limit_s), count)
        for limit_s, count in sorted(whole.limits.items(), key=_most_first)[:MOST_LIMITS]
        if count >= whole.of_people * _LEAST_SHARE_OF_A_LIMIT
    ]
    return Deciding(counts, whole.expired, sorted(usual))


def _most_first(counted: tuple[str, int]) -> tuple[int, int]:
    return -counted[1], int(counted[0])


class WaitingHour(NamedTuple):
    """What was asked in one hour of one weekday, over the whole period.

    Attributes:
        asked: How many requests waited for a person until they were answered or expired.
        half_s: How long half of them waited at most; None if there are none.
    """

    asked: int
    half_s: float | None


def waiting_by_hour(days: Mapping[date, DaySums], zone: tzinfo) -> list[list[WaitingHour]]:
    """Return the hours of each weekday in ``zone``, Monday first."""
    hours = [[Times() for _ in range(24)] for _ in range(7)]
    for day, sums in days.items():
        for slot, waits in sums.waits.items():
            passed = timedelta(seconds=int(slot) * _SLOT_S)
            at = (_midnight(day) + passed).astimezone(zone)
            hours[at.weekday()][at.hour].update(waits.times)
    return [[WaitingHour(few.total(), percentile(few, 50)) for few in row] for row in hours]


def outcomes_by_day(
    days: Mapping[date, DaySums], period: Period, days_each: int = 1
) -> list[dict[str, int]]:
    """Count outcomes in stretches of ``days_each`` days from the first day to the last one."""
    counters = [Counter(dict.fromkeys(OUTCOMES, 0)) for _ in range(stretches(period, days_each))]
    for day, sums in days.items():
        counters[_stretch(day, period, days_each)].update(sums.whole.outcomes)
    return [dict(counts) for counts in counters]


def approvals_by_day(
    days: Mapping[date, DaySums], period: Period, days_each: int = 1
) -> dict[str, list[int]]:
    """Count what people approved for each agent, in stretches of ``days_each`` days."""
    length = stretches(period, days_each)
    approvals: dict[str, list[int]] = defaultdict(lambda: [0] * length)
    for day, sums in days.items():
        for agent, tally in sums.groups["agent"].items():
            if tally.approved:
                approvals[agent][_stretch(day, period, days_each)] += tally.approved
    return dict(approvals)


def stretches(period: Period, days_each: int) -> int:
    """Return how many stretches of ``days_each`` days a period has; the last may be shorter."""
    return math.ceil((period.until - period.since) / timedelta(days=days_each))


def _stretch(day: date, period: Period, days_each: int) -> int:
    return (day - period.since.astimezone(UTC).date()).days // days_each


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


class ReadingDot(NamedTuple):
    """One approval, or several at about the same place: how long in view, and how many lines.

    Attributes:
        is_fast: Whether each of them is quick or unread; no place holds both kinds.
        person: Who it was, if it is one.
    """

    in_view_s: float
    lines: int
    approvals: int
    is_fast: bool
    person: str


def readings(places: Mapping[str, Places]) -> list[ReadingDot]:
    """Return approvals by time in view and lines shown, those at about the same place as one.

    The more there are, the wider a place is. What has no time or no lines is left out.
    """
    few = sum(dot[0] for place_sums in places.values() for dot in place_sums.dots.values()) <= _FEW
    dots, whose = _Dots(), dict[str, str]()
    for person, place_sums in places.items():
        for fine, (count, seconds, lines) in place_sums.dots.items():
            is_fast = fine.endswith("fast")
            place = fine if few else _place(seconds, lines, _COARSE, is_fast=is_fast)
            dots.update({place: [count, seconds, lines]})
            whose[place] = person
    return [
        ReadingDot(
            seconds, lines, count, place.endswith("fast"), whose[place] if count == 1 else ""
        )
        for place, (count, seconds, lines) in sorted(dots.items(), key=lambda one: one[1][1:])
    ]


def _place(seconds: float, lines: int, grain: int, *, is_fast: bool) -> str:
    """Name a place in the chart; no place holds fast approvals and others."""
    across, up = round(math.log10(seconds) * grain), round(math.log10(lines) * grain)
    return f"{across} {up}{' fast' if is_fast else ''}"


@lru_cache(maxsize=4096)
def deciding_rule(grounds: str | None, effect: str | None) -> str:
    """Return the rule that a judgement rests on, as the page of the request names it.

    Where several had the effect, the last of them decided. Where none had, as with a doubt, it is
    the rule that says what the review takes; else no rule.
    """
    try:
        judgement_grounds = Grounds.from_json(grounds or "")
    except (KeyError, TypeError, ValueError):
        return NO_RULE
    had = judgement_grounds.saying(*SAYING[Effect(effect)]) if effect else []
    added = judgement_grounds.saying(Says.DEMANDS)
    return next(reversed(had or added), NO_RULE)


class Period(NamedTuple):
    """From a moment until before another."""

    since: datetime
    until: datetime


class _Written(Func):
    """A function that each database writes in its own way."""

    on: dict[str, str]

    def as_sql(  # type: ignore[override] # the other arguments are among the extra
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **extra: Any
    ) -> Any:
        return super().as_sql(compiler, connection, template=self.on[connection.vendor], **extra)


class _DatabaseNumber(FloatField):  # type: ignore[type-arg] # no subscript while running
    """A number that is taken as the database gives it, which spares a call for each."""

    def get_internal_type(self) -> str:
        """Name no type that is converted."""
        return "Number"


def _passed(begin: Any, end: Any) -> Combinable:
    """How many seconds the second moment is after the first one."""
    return ExpressionWrapper(_Seconds(end) - _Seconds(begin), output_field=_DatabaseNumber())


def _limit() -> Combinable:
    """How long a request may wait, without the time that people added."""
    whole = _Seconds(F("expires_at")) - _Seconds(F("submitted_at"))
    return ExpressionWrapper(whole - F("extended_s"), output_field=_DatabaseNumber())


class _Seconds(_Written):
    """A moment in seconds; only differences mean anything. Far quicker than Django's own."""

    output_field = FloatField()
    on = {
        "sqlite": "(JULIANDAY(%(expressions)s) * 86400.0)",
        "postgresql": "EXTRACT(EPOCH FROM %(expressions)s)::float8",
    }


class _Lines(_Written):
    """How many lines a page says that it showed."""

    output_field = _DatabaseNumber()
    on = {
        "sqlite": "JSON_EXTRACT(%(expressions)s, '$.lines')",
        "postgresql": "((%(expressions)s)::jsonb ->> 'lines')::integer",
    }


class _SeenSeconds(_Written):
    """How many seconds a page says that what it showed was in view, span by span."""

    output_field = _DatabaseNumber()
    on = {
        "sqlite": "(SELECT SUM(JSON_EXTRACT(value, '$[2]')) FROM "
        "JSON_EACH(%(expressions)s, '$.in_view.spans'))",
        "postgresql": "(SELECT SUM((span ->> 2)::integer)::float8 FROM "
        "JSONB_ARRAY_ELEMENTS((%(expressions)s)::jsonb #> '{in_view,spans}') AS span)",
    }


class PeriodSums(NamedTuple):
    """The sums of a period.

    Attributes:
        days: By day; only the parts that were asked for.
        disputed: Digests of contents about which people disagreed in the period.
        behind: Since when decisions are missing in the sums, because a sweep has not come to them
            and they are too many for a page; None if none is missing.
        is_cut: More than ``MOST`` are pending, and only those that last longest are counted.
        charts_since: The first day of the large parts; None if it is the first of the period.
    """

    days: Days
    disputed: list[str]
    behind: datetime | None = None
    is_cut: bool = False
    charts_since: date | None = None


_ATTEMPTS = 5  # a sweep takes a second or more between two steps


def found_in(period: Period, *parts: str) -> PeriodSums:
    """Sum up a period: what is stored, what is pending, and what was closed since."""
    for _ in range(_ATTEMPTS):
        head = head_seq()
        figures = _found_in(period, parts, head)
        if head_seq() == head:
            break
        # A sweep stored something meanwhile, which would be counted twice.
    return figures


def _found_in(period: Period, parts: Collection[str], head: int) -> PeriodSums:
    days = Days(DaySums)
    stored = InsightSum.objects.filter(
        day__gte=period.since.astimezone(UTC).date(), day__lt=period.until.astimezone(UTC).date()
    )
    charts_since = _first_of_large(stored)
    large = Q(part__in=LARGE.intersection(parts), day__gte=charts_since or period.since)
    rows_of_sums = stored.filter(large | Q(part__in=set(parts) - LARGE))
    for day, part, figures in rows_of_sums.values_list("day", "part", "figures"):
        days[day].add_stored(part, figures)
    # In this order: what is closed in between is in both, and counted once.
    waiting = ApprovalRequest.objects.pending().order_by("-expires_at")[: MOST + 1]
    with_rules = "rule" in parts
    pending = asked(waiting, with_rules=with_rules)
    newest = Closing.objects.filter(seq__gt=head).order_by("-seq")
    rest = list(newest.values_list("approval", flat=True)[: MOST + 1])
    closed = these(rest[:MOST])
    # By their ids: what was closed in between is in both.
    requests = {
        request.id: request for request in (*pending[:MOST], *asked(closed, with_rules=with_rules))
    }
    votes_by_id = {vote.id: vote for some in (waiting, closed) for vote in counted_votes(some)}
    rows = [request for request in requests.values() if _is_in(request, period)]
    votes = [vote for vote in votes_by_id.values() if _is_in(vote, period)]
    digests = {request.digest for request in rows if request.source == Source.REVIEWER}
    return PeriodSums(
        days=by_day(rows, votes, parts, into=days),
        disputed=_disputed_in(period, disputed_among(digests)),
        behind=_after(head) if len(rest) > MOST else None,
        is_cut=len(pending) > MOST,
        charts_since=charts_since,
    )


def _first_of_large(stored: QuerySet[InsightSum]) -> date | None:
    """Return from which day on the large parts can be read; None if it is every day."""
    sizes = stored.filter(part__in=LARGE).order_by("-day")
    room = MOST_OF_LARGE
    since: date | None = None
    day: date
    for day, size in sizes.values_list("day", Length("figures")):
        room -= size
        if room < 0:
            return since or day
        since = day
    return None


def _is_in(row: AskedRequest | CountedVote, period: Period) -> bool:
    return period.since <= row.asked_at < period.until


def head_seq() -> int:
    """Return the closing up to which all are in the sums; 0 before the first."""
    return InsightHead.objects.values_list("seq", flat=True).first() or 0


def _after(head: int) -> datetime | None:
    first_closing = Closing.objects.filter(seq__gt=head).order_by("seq").first()
    return first_closing.decided_at if first_closing else None


def these(ids: Iterable[UUID]) -> ApprovalQuerySet:
    """Requests by their ids."""
    return ApprovalRequest.objects.filter(pk__in=list(ids)).order_by()


_OF_JUDGEMENT = ("revision", "grounds__facts", "effect")


def asked(requests: ApprovalQuerySet, *, with_rules: bool = True) -> list[AskedRequest]:
    """Read requests. What the policy said is read only ``with_rules``: it takes longest."""
    newest = Judgement.objects.filter(approval=OuterRef("pk")).order_by("-id")
    first_view = View.objects.filter(approval=OuterRef("pk")).order_by("seen_at")
    rows = requests.values_list(
        "pk",
        "agent__name",
        "capability",
        "status",
        "decision__source",
        "decision__decided_by__username",
        "decision__reason",
        "digest",
        "submitted_at",
        _passed(F("submitted_at"), F("decision__decided_at")),
        _passed(F("submitted_at"), Subquery(first_view.values("seen_at")[:1])),
        _limit(),
        *(Subquery(newest.values(name)[:1]) for name in _OF_JUDGEMENT if with_rules),
    )
    return [_of_its_time(AskedRequest(*row)) for row in rows]


def _of_its_time(request: AskedRequest) -> AskedRequest:
    """Leave out a view after the decision, which had no part in it."""
    late = (
        request.viewed_s is not None
        and request.waited_s is not None
        and request.viewed_s > request.waited_s
    )
    return request._replace(viewed_s=None) if late else request


def counted_votes(requests: ApprovalQuerySet) -> list[CountedVote]:
    """Read the votes for requests."""
    own_views = View.objects.filter(approval=OuterRef("approval"), person=OuterRef("person"))
    rows = Vote.objects.filter(approval__in=requests.values("pk")).values_list(
        "pk",
        "person__username",
        "reason",
        "approval__status",
        "approval__submitted_at",
        _passed(F("approval__submitted_at"), F("voted_at")),
        _passed(Subquery(own_views.values("seen_at")[:1]), F("voted_at")),
        _Lines(F("shown")),
        _SeenSeconds(F("shown")),
    )
    return [CountedVote._make(row) for row in rows.order_by()]


def disputed_among(digests: Collection[str]) -> set[str]:
    """Return which contents people rejected at one time and approved at another, ever."""
    decisions = Decision.objects.filter(source=Source.REVIEWER).order_by()
    disputed = set(digests)
    for status in (Status.REJECTED, Status.APPROVED):
        if disputed:
            such = decisions.filter(approval__digest__in=sorted(disputed), status=status)
            disputed = set(such.values_list("approval__digest", flat=True).distinct())
    return disputed


def _disputed_in(period: Period, more: Collection[str]) -> list[str]:
    """Return what people disagreed about in a period: of what ever was disputed, the newest."""
    disputes = InsightDispute.objects.filter(last_at__gte=period.since, first_at__lt=period.until)
    digests = [
        *more,
        *disputes.order_by("-last_at").values_list("digest", flat=True)[:MOST_DISPUTES],
    ]
    if not digests:
        return []
    answers = _answers_to(digests, period).values_list(
        "approval__digest", "decided_by__username", "status"
    )
    return list(disagreements(answers.order_by("-decided_at")[: MOST_LISTED * MOST]))


def disagreements(answers: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """Return the digests of whatever one person approved and another rejected.

    Each answer is a digest, a person and a status.
    """
    mixed: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for digest, person, status in answers:
        mixed[digest][status].add(person)
    for digest, people_by_status in mixed.items():
        if len(people_by_status) > 1 and len(set().union(*people_by_status.values())) > 1:
            yield digest


def votes(ids: Iterable[int]) -> dict[int, Vote]:
    """Look up some votes, with their requests."""
    rows = Vote.objects.select_related("person").prefetch_related(_with_titles()).defer("shown")
    return rows.in_bulk(list(ids))


def answers_to(digests: Iterable[str], period: Period) -> list[Decision]:
    """Return how people answered what has one of these digests, the newest first."""
    light = (
        _answers_to(digests, period)
        .select_related("decided_by")
        .prefetch_related(_with_titles())
        .defer("shown")
    )
    return list(light.order_by("-decided_at")[: MOST_LISTED * MOST_LISTED])


def _with_titles() -> Prefetch[str, ApprovalQuerySet, str]:
    approvals = ApprovalRequest.objects.select_related("agent", "headline")
    return Prefetch("approval", approvals.defer("content", "evidence", "objective").order_by())


def _answers_to(digests: Iterable[str], period: Period) -> QuerySet[Decision]:
    return Decision.objects.filter(
        approval__digest__in=list(digests),
        approval__submitted_at__gte=period.since,
        approval__submitted_at__lt=period.until,
        source=Source.REVIEWER,
    )
