"""Counts, shares and times of the answers in a period."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Any, NamedTuple

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import ExpressionWrapper, F, FloatField, Func, OuterRef, Subquery, Value
from django.db.models.expressions import Combinable
from django.db.models.sql.compiler import SQLCompiler

from approval_client.wire import Source, Status
from dashboard.approvals.models import ApprovalRequest, Decision, Judgement, View, Vote

QUICK_S = 1.0
"""An approval sooner than this after the page was in sight was not thought about."""

MOST_LINES_A_SECOND = 10
"""Nobody reads faster than this."""

IN_SIGHT_S = 1.0
"""How long a page is in sight before that is recorded."""

NO_RULE = ""
_ANSWERED_ALONE = (Source.POLICY, Source.GRANT)
_RULE = re.compile(r"Rule '(.*)' (?:asks for a review|approves|rejects)\b", re.DOTALL)
MOST = 100_000
"""How many requests are looked at: the newest of the period."""

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


class AskedRequest(NamedTuple):
    """One request of the period; times are seconds since it was asked.

    ``since_s`` is when that was, in seconds since the period began. ``limit_s`` is the time limit
    without what people added to it.
    """

    agent: str
    capability: str
    status: str
    source: str | None
    decided_by: str | None
    reason: str | None
    digest: str
    since_s: float
    waited_s: float | None
    viewed_s: float | None
    limit_s: float | None = None
    revision: int | None = None
    trace: str | None = None


class CountedVote(NamedTuple):
    """One person's vote; ``after_s`` is how long after the page was in sight."""

    id: int
    person: str
    reason: str
    became: str
    waited_s: float
    after_s: float | None
    lines: int | None

    @property
    def in_view_s(self) -> float | None:
        """How long the page was in view; None if that is not known."""
        return None if self.after_s is None else max(0.0, self.after_s) + IN_SIGHT_S

    @property
    def is_quick(self) -> bool:
        """Whether it came before anybody could have thought."""
        return self.after_s is not None and self.after_s < QUICK_S

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


@dataclass(slots=True)
class Tally:
    """Sums over requests.

    Attributes:
        asked: How many; ``of_people`` of them waited for a person.
        approved, rejected: What people answered.
        unseen: What expired without anybody having opened it.
        viewed_s, decided_s: How long until somebody saw one, and until somebody decided it.
        revisions: The policy revisions that were asked.
    """

    asked: int = 0
    of_people: int = 0
    approved: int = 0
    rejected: int = 0
    expired: int = 0
    unseen: int = 0
    viewed_s: list[float] = field(default_factory=list)
    decided_s: list[float] = field(default_factory=list)
    revisions: set[int] = field(default_factory=set)

    def add(self, one: AskedRequest) -> None:
        """Count one more."""
        self.asked += 1
        if one.revision is not None:
            self.revisions.add(one.revision)
        if one.source in _ANSWERED_ALONE:
            return
        self.of_people += 1
        if one.viewed_s is not None:
            self.viewed_s.append(one.viewed_s)
        if one.status == Status.EXPIRED:
            self.expired += 1
            self.unseen += one.viewed_s is None
        elif one.source == Source.REVIEWER and one.waited_s is not None:
            self.approved += one.status == Status.APPROVED
            self.rejected += one.status == Status.REJECTED
            self.decided_s.append(one.waited_s)

    @property
    def rate(self) -> float | None:
        """The share of approvals among what people decided."""
        return share(self.approved, self.approved + self.rejected)


@dataclass(slots=True)
class PersonTally:
    """Sums over the answers of one person."""

    approvals: int = 0
    rejections: int = 0
    quick: int = 0
    unread: int = 0
    overruled: int = 0
    reasons: int = 0
    waited_s: list[float] = field(default_factory=list)
    after_s: list[float] = field(default_factory=list)

    def add_approval(self, vote: CountedVote) -> None:
        """Count an approval; it is overruled if somebody else's rejection closed the request."""
        self.approvals += 1
        self.quick += vote.is_quick
        self.unread += vote.is_unread
        self.overruled += vote.became == Status.REJECTED
        self.reasons += bool(vote.reason.strip())
        self.waited_s.append(vote.waited_s)
        if vote.after_s is not None:
            self.after_s.append(max(0.0, vote.after_s))

    def add_rejection(self, one: AskedRequest) -> None:
        """Count a rejection."""
        self.rejections += 1
        self.reasons += bool((one.reason or "").strip())
        self.waited_s.append(one.waited_s or 0.0)

    @property
    def rate(self) -> float | None:
        """The share of approvals."""
        return share(self.approvals, self.approvals + self.rejections)


def share(part: int, whole: int) -> float | None:
    """Return ``part / whole``; None if ``whole`` is 0."""
    return part / whole if whole else None


def percentile(values: Sequence[float], percent: int) -> float | None:
    """Return the smallest value that ``percent`` of all do not exceed; None without values."""
    rank = math.ceil(len(values) * percent / 100)
    return sorted(values)[max(0, rank - 1)] if values else None


def tally(asked: Iterable[AskedRequest]) -> Tally:
    """Sum up requests."""
    total = Tally()
    for one in asked:
        total.add(one)
    return total


def by(key: Callable[[AskedRequest], str], asked: Iterable[AskedRequest]) -> dict[str, Tally]:
    """Sum up requests, those with the same key together."""
    found: dict[str, Tally] = defaultdict(Tally)
    for one in asked:
        found[key(one)].add(one)
    return dict(found)


def by_person(
    asked: Iterable[AskedRequest], counted: Iterable[CountedVote]
) -> dict[str, PersonTally]:
    """Sum up what each person answered."""
    found: dict[str, PersonTally] = defaultdict(PersonTally)
    for vote in counted:
        found[vote.person].add_approval(vote)
    for one in asked:
        if one.decided_by and one.status == Status.REJECTED and one.source == Source.REVIEWER:
            found[one.decided_by].add_rejection(one)
    return dict(found)


def disagreements(asked: Sequence[AskedRequest]) -> Iterator[str]:
    """Return the digests of whatever one person approved and another rejected."""
    first, mixed = dict[str, str](), dict[str, tuple[set[str], set[str]]]()
    by_people = [one for one in asked if one.source == Source.REVIEWER and one.decided_by]
    for one in by_people:
        if first.setdefault(one.digest, one.status) != one.status:
            mixed[one.digest] = (set(), set())
    for one in by_people:
        if one.digest in mixed:
            mixed[one.digest][one.status == Status.APPROVED].add(one.decided_by or "")
    return (digest for digest, (no, yes) in mixed.items() if len(yes | no) > 1)


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


def time_to_decision(asked: Iterable[AskedRequest]) -> Deciding:
    """Count decisions of people by how long they took, and the time limits beside them."""
    counts, limits = [0] * (len(EDGES_S) + 1), Counter[int]()
    of_people = expired = 0
    for one in asked:
        if one.source in _ANSWERED_ALONE:
            continue
        of_people += 1
        if one.limit_s is not None:
            limits[round(one.limit_s)] += 1
        if one.status == Status.EXPIRED:
            expired += 1
        elif one.source == Source.REVIEWER and one.waited_s is not None:
            counts[bisect_right(EDGES_S, one.waited_s)] += 1
    usual = [
        (limit_s, count)
        for limit_s, count in limits.most_common(MOST_LIMITS)
        if count >= of_people * _LEAST_SHARE_OF_A_LIMIT
    ]
    return Deciding(counts, expired, sorted(usual))


class WaitingHour(NamedTuple):
    """What was asked in one hour of one weekday, over the whole period.

    Attributes:
        asked: How many requests waited for a person until they were answered or expired.
        half_s: How long half of them waited at most; None if there are none.
    """

    asked: int
    half_s: float | None


def waiting_by_hour(
    asked: Iterable[AskedRequest], period: Period, zone: tzinfo
) -> list[list[WaitingHour]]:
    """Return the hours of each weekday in ``zone``, Monday first."""
    slots: dict[int, list[float]] = defaultdict(list)
    for one in asked:
        if one.source in (Source.REVIEWER, Source.DEADLINE) and one.waited_s is not None:
            slots[int(one.since_s // _SLOT_S)].append(one.waited_s)
    hours: list[list[list[float]]] = [[[] for _ in range(24)] for _ in range(7)]
    for slot, waits in slots.items():
        at = (period.since + timedelta(seconds=slot * _SLOT_S)).astimezone(zone)
        hours[at.weekday()][at.hour] += waits
    return [[WaitingHour(len(few), percentile(few, 50)) for few in day] for day in hours]


def became(one: AskedRequest) -> str:
    """Return which of ``OUTCOMES`` a request had."""
    if one.source in _ANSWERED_ALONE:
        return "alone"
    if one.source == Source.REVIEWER:
        return "approved" if one.status == Status.APPROVED else "rejected"
    return "expired" if one.status == Status.EXPIRED else "other"


def outcomes_by_day(
    asked: Iterable[AskedRequest], period: Period, days_each: int = 1
) -> list[dict[str, int]]:
    """Count outcomes in stretches of ``days_each`` days from the first day to the last one."""
    found = [dict.fromkeys(OUTCOMES, 0) for _ in range(stretches(period, days_each))]
    for one in asked:
        found[_stretch(one, len(found), days_each)][became(one)] += 1
    return found


def approvals_by_day(
    asked: Iterable[AskedRequest], period: Period, days_each: int = 1
) -> dict[str, list[int]]:
    """Count what people approved for each agent, in stretches of ``days_each`` days."""
    length = stretches(period, days_each)
    found: dict[str, list[int]] = defaultdict(lambda: [0] * length)
    for one in asked:
        if one.source == Source.REVIEWER and one.status == Status.APPROVED:
            found[one.agent][_stretch(one, length, days_each)] += 1
    return dict(found)


def stretches(period: Period, days_each: int) -> int:
    """Return how many stretches of ``days_each`` days a period has; the last may be shorter."""
    return math.ceil((period.until - period.since) / timedelta(days=days_each))


def _stretch(one: AskedRequest, length: int, days_each: int) -> int:
    return min(length - 1, int(one.since_s // (DAY_S * days_each)))


class Reading(NamedTuple):
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


def readings(yeses: Sequence[CountedVote]) -> list[Reading]:
    """Return approvals by time in view and lines shown, those at about the same place as one.

    The more there are, the wider a place is. What has no time or no lines is left out.
    """
    grain = _FINE if len(yeses) <= _FEW else _COARSE
    places: dict[tuple[int, int, bool], list[tuple[float, int, str]]] = defaultdict(list)
    for yes in yeses:
        seconds, lines = yes.in_view_s, yes.lines
        if seconds is not None and lines:
            across, up = round(math.log10(seconds) * grain), round(math.log10(lines) * grain)
            places[across, up, yes.is_fast].append((seconds, lines, yes.person))
    return [_reading(few, is_fast=fast) for (_, _, fast), few in sorted(places.items())]


def _reading(few: Sequence[tuple[float, int, str]], *, is_fast: bool) -> Reading:
    # One of them stands for all: a mean of fast ones might lie where none of them is.
    seconds, lines, person = sorted(few)[len(few) // 2]
    return Reading(seconds, lines, len(few), is_fast, person if len(few) == 1 else "")


@lru_cache(maxsize=4096)
def deciding_rule(trace: str | None) -> str:
    """Return the rule that the sentences of a judgement name as the one that decided.

    Where several speak, the last one did; where none does, the modes did.
    """
    named = [_RULE.match(str(sentence)) for sentence in json.loads(trace or "[]")]
    return next((found[1] for found in reversed(named) if found), NO_RULE)


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


class _Number(FloatField):  # type: ignore[type-arg] # no subscript while running
    """A number that is taken as the database gives it, which spares a call for each."""

    def get_internal_type(self) -> str:
        """Name no type that is converted."""
        return "Number"


def _passed(begin: Any, end: Any) -> Combinable:
    """How many seconds the second moment is after the first one."""
    return ExpressionWrapper(_Seconds(end) - _Seconds(begin), output_field=_Number())


def _limit() -> Combinable:
    """How long a request may wait, without the time that people added."""
    whole = _Seconds(F("expires_at")) - _Seconds(F("submitted_at"))
    return ExpressionWrapper(whole - F("extended_s"), output_field=_Number())


class _Seconds(_Written):
    """A moment in seconds; only differences mean anything. Far quicker than Django's own."""

    output_field = FloatField()
    on = {
        "sqlite": "(JULIANDAY(%(expressions)s) * 86400.0)",
        "postgresql": "EXTRACT(EPOCH FROM %(expressions)s)::float8",
    }


class _Lines(_Written):
    """How many lines a page says that it showed."""

    output_field = _Number()
    on = {
        "sqlite": "JSON_EXTRACT(%(expressions)s, '$.lines')",
        "postgresql": "((%(expressions)s)::jsonb ->> 'lines')::integer",
    }


def asked(period: Period, *, with_rules: bool) -> list[AskedRequest]:
    """Return what was asked in the period, the newest first, at most ``MOST``.

    What the policy said is read only ``with_rules``, because it is what takes longest.
    """
    last = Judgement.objects.filter(approval=OuterRef("pk")).order_by("-id")
    first_view = View.objects.filter(approval=OuterRef("pk")).order_by("seen_at")
    rows = ApprovalRequest.objects.filter(
        submitted_at__gte=period.since, submitted_at__lt=period.until
    ).values_list(
        "agent__name",
        "capability",
        "status",
        "decision__source",
        "decision__decided_by__username",
        "decision__reason",
        "digest",
        _passed(Value(period.since), F("submitted_at")),
        _passed(F("submitted_at"), F("decision__decided_at")),
        _passed(F("submitted_at"), Subquery(first_view.values("seen_at")[:1])),
        _limit(),
        *(Subquery(last.values(name)[:1]) for name in ("revision", "trace") if with_rules),
    )
    return [AskedRequest(*row) for row in rows.order_by("-submitted_at", "-pk")[:MOST]]


def counted_votes(period: Period) -> list[CountedVote]:
    """Return the votes for requests of the period, the newest first."""
    own = View.objects.filter(approval=OuterRef("approval"), person=OuterRef("person"))
    rows = Vote.objects.filter(
        approval__submitted_at__gte=period.since, approval__submitted_at__lt=period.until
    ).values_list(
        "pk",
        "person__username",
        "reason",
        "approval__status",
        _passed(F("approval__submitted_at"), F("voted_at")),
        _passed(Subquery(own.values("seen_at")[:1]), F("voted_at")),
        _Lines(F("shown")),
    )
    return [
        CountedVote._make(row) for row in rows.order_by("-approval__submitted_at", "-pk")[:MOST]
    ]


def votes(ids: Iterable[int]) -> dict[int, Vote]:
    """Look up some votes, with their requests."""
    found = Vote.objects.select_related("approval__agent", "person").defer(
        "shown", "approval__content", "approval__evidence", "approval__objective"
    )
    return found.in_bulk(list(ids))


def answers_to(digests: Iterable[str], period: Period) -> list[Decision]:
    """Return how people answered what has one of these digests, the newest first."""
    found = Decision.objects.filter(
        approval__digest__in=list(digests),
        approval__submitted_at__gte=period.since,
        approval__submitted_at__lt=period.until,
        source=Source.REVIEWER,
    )
    light = found.select_related("approval__agent", "decided_by").defer(
        "shown", "approval__content", "approval__evidence", "approval__objective"
    )
    return list(light.order_by("-decided_at")[: MOST_LISTED * MOST_LISTED])
