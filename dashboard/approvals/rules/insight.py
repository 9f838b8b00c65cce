"""Counts, shares and times of the answers in a period."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
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


class AskedRequest(NamedTuple):
    """One request of the period; times are seconds since it was asked.

    ``since_s`` is when that was, in seconds since the period began.
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
    def is_quick(self) -> bool:
        """Whether it came before anybody could have thought."""
        return self.after_s is not None and self.after_s < QUICK_S

    @property
    def is_unread(self) -> bool:
        """Whether it came before anybody could have read all the lines that were shown."""
        if self.after_s is None or self.lines is None:
            return False
        return self.lines > (max(0.0, self.after_s) + IN_SIGHT_S) * MOST_LINES_A_SECOND


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

    yeses: int = 0
    noes: int = 0
    quick: int = 0
    unread: int = 0
    overruled: int = 0
    reasons: int = 0
    waited_s: list[float] = field(default_factory=list)
    after_s: list[float] = field(default_factory=list)

    def add_yes(self, yes: CountedVote) -> None:
        """Count an approval; it is overruled if somebody else's rejection closed the request."""
        self.yeses += 1
        self.quick += yes.is_quick
        self.unread += yes.is_unread
        self.overruled += yes.became == Status.REJECTED
        self.reasons += bool(yes.reason.strip())
        self.waited_s.append(yes.waited_s)
        if yes.after_s is not None:
            self.after_s.append(max(0.0, yes.after_s))

    def add_no(self, one: AskedRequest) -> None:
        """Count a rejection."""
        self.noes += 1
        self.reasons += bool((one.reason or "").strip())
        self.waited_s.append(one.waited_s or 0.0)

    @property
    def rate(self) -> float | None:
        """The share of approvals."""
        return share(self.yeses, self.yeses + self.noes)


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
    asked: Iterable[AskedRequest], yeses: Iterable[CountedVote]
) -> dict[str, PersonTally]:
    """Sum up what each person answered."""
    found: dict[str, PersonTally] = defaultdict(PersonTally)
    for yes in yeses:
        found[yes.person].add_yes(yes)
    for one in asked:
        if one.decided_by and one.status == Status.REJECTED and one.source == Source.REVIEWER:
            found[one.decided_by].add_no(one)
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
        *(Subquery(last.values(name)[:1]) for name in ("revision", "trace") if with_rules),
    )
    return [AskedRequest(*row) for row in rows.order_by("-submitted_at", "-pk")[:MOST]]


def yeses(period: Period) -> list[CountedVote]:
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
