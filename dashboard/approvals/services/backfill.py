"""Making what an older version did not keep: headlines of requests, and grounds of judgements.

Beside traffic, and in steps that may be stopped and begun again: what is made is only inserted,
and of two processes that make the same one inserts it. Until then a request is titled by its kind
and counts as of high severity, and of a judgement is shown what agents were told.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Manager, Model, Q, QuerySet

from approval_client.wire import Kind, Status
from dashboard.approvals.models import (
    ApprovalRequest,
    Edit,
    Judgement,
    JudgementGrounds,
    RequestHeadline,
)
from dashboard.approvals.rules.old_report import old_report
from dashboard.approvals.rules.old_trace import grounds_of_trace
from dashboard.approvals.services.headline import headline_row
from dashboard.approvals.services.judgement import grounds_row
from dashboard.policies.inspections import head

BATCH = 20
"""How many rows one step makes: a second's work at the most."""

_LOOKED_AT = 1_000
"""How many rows one step looks at for those that lack something."""


class BackfillPlace(NamedTuple):
    """How far a walk came among closed requests: all that are newer have a headline."""

    submitted_at: datetime
    id: UUID


class Backfill:
    """One walk through what an older version left: what is pending first, then the newest.

    Attributes:
        made: How many rows this walk made.
        is_over: Whether nothing was left. What older servers ask later is still found while it is
            pending.
    """

    def __init__(self) -> None:
        self.made = 0
        self.is_over = False
        self._place: BackfillPlace | None = None
        self._judgement: int | None = None

    def step(self) -> int:
        """Make the next rows; return how many."""
        sources: list[Callable[[], list[Any]]] = [_pending_headlines, _pending_grounds]
        if not self.is_over:
            sources += [self._headlines, _edits_headlines, self._grounds, _edits_grounds]
        rows: list[Model] = next(filter(None, (source() for source in sources)), [])
        if rows:
            manager: Manager[Any] = type(rows[0]).objects  # type: ignore[attr-defined]
            manager.bulk_create(rows, ignore_conflicts=True)
        self.made += len(rows)
        self.is_over = self.is_over or not rows
        return len(rows)

    def _headlines(self) -> list[RequestHeadline]:
        """Make those of the next closed requests without one, and remember where."""
        while looked_at := list(self._closed()[:_LOOKED_AT]):
            unfilled = [row for row in looked_at if row[2] is None][:BATCH]
            end = unfilled[-1] if len(unfilled) == BATCH else looked_at[-1]
            self._place = BackfillPlace(end[0], end[1])
            if unfilled:
                ids = [row[1] for row in unfilled]
                return [_headline(row) for row in ApprovalRequest.objects.filter(pk__in=ids)]
        return []

    def _closed(self) -> QuerySet[ApprovalRequest, tuple[datetime, UUID, int | None]]:
        closed = ApprovalRequest.objects.exclude(status=Status.PENDING)
        if self._place:
            at, pk = self._place
            closed = closed.filter(Q(submitted_at__lt=at) | Q(submitted_at=at, pk__lt=pk))
        ordered = closed.order_by("-submitted_at", "-pk")
        return ordered.values_list("submitted_at", "pk", "headline__pk")

    def _grounds(self) -> list[JudgementGrounds]:
        """Make those of the next judgements without any, the newest first."""
        while looked_at := list(self._judgements()[:_LOOKED_AT]):
            unfilled = [pk for pk, grounds in looked_at if grounds is None][:BATCH]
            self._judgement = unfilled[-1] if len(unfilled) == BATCH else looked_at[-1][0]
            if unfilled:
                judgements = Judgement.objects.select_related("approval").filter(pk__in=unfilled)
                return [_grounds(row, row.approval.kind) for row in judgements]
        return []

    def _judgements(self) -> QuerySet[Judgement, tuple[int, int | None]]:
        judgements = Judgement.objects.order_by("-pk")
        if self._judgement is not None:
            judgements = judgements.filter(pk__lt=self._judgement)
        return judgements.values_list("pk", "grounds__pk")


def left_to_backfill() -> int:
    """Count what is missing."""
    without = (
        ApprovalRequest.objects.filter(headline=None),
        Edit.objects.filter(headline=None),
        Judgement.objects.filter(grounds=None),
        Edit.objects.filter(grounds=None),
    )
    return sum(rows.count() for rows in without)


def _pending_headlines() -> list[RequestHeadline]:
    pending = ApprovalRequest.objects.pending().filter(headline=None)
    return [_headline(approval) for approval in pending.order_by("expires_at", "pk")[:BATCH]]


def _pending_grounds() -> list[JudgementGrounds]:
    # Their ids first: those are few, and a database may else walk through all judgements.
    ids = list(ApprovalRequest.objects.pending().values_list("pk", flat=True))
    pending = Judgement.objects.filter(grounds=None, approval__in=ids)
    newest = pending.select_related("approval").order_by("-pk")
    return [_grounds(judgement, judgement.approval.kind) for judgement in newest[:BATCH]]


def _edits_headlines() -> list[RequestHeadline]:
    return [
        headline_row(edit, head(Kind(edit.approval.kind), edit.content, old_report(edit.report)))
        for edit in _edits().filter(headline=None)[:BATCH]
    ]


def _edits_grounds() -> list[JudgementGrounds]:
    return [_grounds(edit, edit.approval.kind) for edit in _edits().filter(grounds=None)[:BATCH]]


def _edits() -> QuerySet[Edit]:
    return Edit.objects.select_related("approval").order_by("-pk")


def _headline(approval: ApprovalRequest) -> RequestHeadline:
    report = old_report(approval.inspections.latest("id").report)
    return headline_row(approval, head(Kind(approval.kind), approval.content, report))


def _grounds(of: Judgement | Edit, kind: str) -> JudgementGrounds:
    trace: Sequence[str] = [str(sentence) for sentence in json.loads(of.trace)]
    return grounds_row(of, grounds_of_trace(Kind(kind), of.effect, trace))
