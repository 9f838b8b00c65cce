"""Making what an older version did not keep of its requests: their headlines.

Beside traffic, and in steps that may be stopped and begun again: what is made is only inserted,
and of two processes that make the same one inserts it. Until then a request is titled by its kind
and counts as of high severity.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db.models import Q, QuerySet

from approval_client.wire import Kind, Status
from dashboard.approvals.models import ApprovalRequest, Edit, RequestHeadline
from dashboard.approvals.rules.old_report import with_codes
from dashboard.approvals.services.headline import headline_row
from dashboard.policies.inspecting import headed_again

BATCH = 20
"""How many rows one step makes: a second's work at the most."""

_LOOKED_AT = 1_000
"""How many requests one step looks at for those that have no headline."""


class Place(NamedTuple):
    """How far a backfill came among what is closed: all that is newer has a headline."""

    submitted_at: datetime
    id: UUID


class Backfill:
    """One walk through what an older version left, pending requests first, then the newest.

    Attributes:
        made: How many headlines this walk made.
        is_over: Whether all that was there has one. What older servers ask later is still found
            while it is pending.
    """

    def __init__(self) -> None:
        self.made = 0
        self.is_over = False
        self._place: Place | None = None

    def step(self) -> int:
        """Make the next headlines; return how many."""
        rows = list(self._next())
        RequestHeadline.objects.bulk_create(rows, ignore_conflicts=True)
        self.made += len(rows)
        return len(rows)

    def _next(self) -> Iterator[RequestHeadline]:
        pending = ApprovalRequest.objects.pending().filter(headline=None)
        requests = list(pending.order_by("expires_at", "pk")[:BATCH])
        edits = list[Edit]()
        if not requests and not self.is_over:
            requests = self._closed()
            edits = [] if requests else list(_edits()[:BATCH])
            self.is_over = not requests and not edits
        for approval in requests:
            report = approval.inspections.latest("id").report
            yield _row(approval, approval.kind, approval.content, report)
        for edit in edits:
            yield _row(edit, edit.approval.kind, edit.content, edit.report)

    def _closed(self) -> list[ApprovalRequest]:
        """Find the next closed requests without one, and remember where."""
        while True:
            looked_at = list(self._left()[:_LOOKED_AT])
            if not looked_at:
                return []
            missing = [row for row in looked_at if row[2] is None][:BATCH]
            last = missing[-1] if len(missing) == BATCH else looked_at[-1]
            self._place = Place(last[0], last[1])
            if missing:
                ids = [row[1] for row in missing]
                return list(ApprovalRequest.objects.filter(pk__in=ids))

    def _left(self) -> QuerySet[ApprovalRequest, tuple[datetime, UUID, int | None]]:
        closed = ApprovalRequest.objects.exclude(status=Status.PENDING)
        if self._place:
            at, pk = self._place
            closed = closed.filter(Q(submitted_at__lt=at) | Q(submitted_at=at, pk__lt=pk))
        ordered = closed.order_by("-submitted_at", "-pk")
        return ordered.values_list("submitted_at", "pk", "headline__pk")


def left_to_backfill() -> int:
    """Count the requests and edits without a headline."""
    return ApprovalRequest.objects.filter(headline=None).count() + _edits().count()


def _edits() -> QuerySet[Edit]:
    return Edit.objects.filter(headline=None).select_related("approval").order_by("pk")


def _row(of: ApprovalRequest | Edit, kind: str, content: str, report: str) -> RequestHeadline:
    return headline_row(of, headed_again(Kind(kind), content, with_codes(report)))
