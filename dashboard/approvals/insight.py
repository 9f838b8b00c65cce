"""What was asked and answered in a period, for sums. Reads only, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import ExpressionWrapper, F, FloatField, Func, OuterRef, Subquery, Value
from django.db.models.expressions import Combinable
from django.db.models.sql.compiler import SQLCompiler

from approval_client.wire import Source
from dashboard.approvals.figures import Asked, Yes
from dashboard.approvals.models import ApprovalRequest, Decision, Judgement, View, Vote

MOST = 100_000
"""How many requests are looked at: the newest of the period."""

MOST_LISTED = 10


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


def asked(period: Period, *, with_rules: bool) -> list[Asked]:
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
    return [Asked(*row) for row in rows.order_by("-submitted_at", "-pk")[:MOST]]


def yeses(period: Period) -> list[Yes]:
    """Return who said yes to what was asked in the period, the newest first."""
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
    return [Yes._make(row) for row in rows.order_by("-approval__submitted_at", "-pk")[:MOST]]


def votes(ids: Iterable[int]) -> dict[int, Vote]:
    """Look up some yeses, with what they were said to."""
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
