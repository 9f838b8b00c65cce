"""The sums that the insight page reads, kept by a sweep that follows the closings."""

from __future__ import annotations

from datetime import date

from django.db import transaction
from django.db.models import Max, Min

from approval_client.wire import Source
from dashboard.approvals.models import (
    Closing,
    Decision,
    InsightDispute,
    InsightHead,
    InsightSum,
)
from dashboard.approvals.rules import insight as insight_rules
from dashboard.approvals.rules.insight import PARTS, Days, DaySums

BATCH = 200
"""How many closings one step adds to the sums: few enough to hold nobody up."""


def sum_up() -> int:
    """Add the next requests that were closed to the sums of their days; returns how many.

    The sums and how far they go are written in one transaction, so a crash between two steps
    neither loses a request nor counts it twice. Of several processes that do it at once, one
    writes and the others have done nothing.
    """
    head = insight_rules.head_seq()
    closings = Closing.objects.filter(seq__gt=head).order_by("seq")
    rows = list(closings.values_list("seq", "approval")[:BATCH])
    if not rows:
        return 0
    closed = insight_rules.these(approval_id for _, approval_id in rows)
    requests, votes = insight_rules.asked(closed), insight_rules.counted_votes(closed)
    digests = {request.digest for request in requests if request.source == Source.REVIEWER}
    disputes = _disputes(digests)
    sums = _with_stored(insight_rules.by_day(requests, votes))
    with transaction.atomic():
        InsightHead.objects.get_or_create(pk=1, defaults={"seq": 0})
        # Who moves it from where it was read has added to sums that nobody else changed.
        if not InsightHead.objects.filter(seq=head).update(seq=rows[-1][0]):
            return 0
        InsightSum.objects.bulk_create(
            sums,
            update_conflicts=True,
            unique_fields=["day", "part"],
            update_fields=["figures"],
        )
        InsightDispute.objects.bulk_create(
            disputes,
            update_conflicts=True,
            unique_fields=["digest"],
            update_fields=["first_at", "last_at"],
        )
    return len(rows)


def _with_stored(days: Days) -> list[InsightSum]:
    """Add what is stored to the sums of days, and return what to store instead."""
    stored = InsightSum.objects.filter(day__in=list(days))
    for day, part, figures in stored.values_list("day", "part", "figures"):
        days[day].add_stored(part, figures)
    return [row for day, sums in days.items() for row in _rows(day, sums)]


def _rows(day: date, sums: DaySums) -> list[InsightSum]:
    return [InsightSum(day=day, part=part, figures=sums.stored(part)) for part in PARTS]


def _disputes(digests: set[str]) -> list[InsightDispute]:
    disputed = insight_rules.disputed_among(digests)
    if not disputed:
        return []
    decisions = Decision.objects.filter(
        approval__digest__in=sorted(disputed), source=Source.REVIEWER
    )
    spans = decisions.order_by().values_list("approval__digest")
    return [
        InsightDispute(digest=digest, first_at=first_at, last_at=last_at)
        for digest, first_at, last_at in spans.annotate(
            first_at=Min("approval__submitted_at"), last_at=Max("approval__submitted_at")
        )
    ]
