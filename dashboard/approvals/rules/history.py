"""All requests: filtered, by pages, and in batches for an export.

Pages continue after a place in the order, never after a count: what is asked meanwhile moves
nothing, and the thousandth page costs what the first one does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import OuterRef, Prefetch, Q, Subquery
from django.db.models.functions import Left, Right

from approval_client.wire import OutcomeState
from dashboard.approvals.models import ApprovalQuerySet, ApprovalRequest, Inspection, Outcome

BATCH = 200
"""How many rows of an export are held at once."""

ENDS = 8_000
"""How many characters from each end of a content are read for its one-line summary."""


def _reported(state: OutcomeState, field: str) -> Subquery:
    reported = Outcome.objects.filter(approval=OuterRef("pk"), state=state)
    return Subquery(reported.values(field)[:1])


EXPORTED: Mapping[str, str | Subquery] = {
    "id": "id",
    "agent": "agent__name",
    "run_id": "run_id",
    "kind": "kind",
    "capability": "capability",
    "digest": "digest",
    "asked_at": "submitted_at",
    "expires_at": "expires_at",
    "status": "status",
    "decided_digest": "decision__digest",
    "source": "decision__source",
    "decided_by": "decision__decided_by__username",
    "approved_by": "decision__counted",
    "reason": "decision__reason",
    "decided_at": "decision__decided_at",
    "valid_until": "decision__valid_until",
    "grant": "decision__grant",
    "policy_revision": "decision__judgement__revision",
    "started_at": _reported(OutcomeState.STARTED, "reported_at"),
    "finished_at": _reported(OutcomeState.FINISHED, "reported_at"),
    "exit_code": _reported(OutcomeState.FINISHED, "exit_code"),
    "error": _reported(OutcomeState.FINISHED, "error"),
}
"""The columns of an export, in their order, and where each one's value comes from."""


class HistoryPlace(NamedTuple):
    """Where a page ends: the moment and the id of its last request."""

    at: datetime
    id: UUID

    def __str__(self) -> str:
        """Write it for an address."""
        return f"{self.at.astimezone(UTC).isoformat()}_{self.id}"

    @classmethod
    def parse(cls, text: str) -> HistoryPlace:
        """Read it back.

        Raises:
            ValueError: The text is not a place.
        """
        at, _, ident = text.partition("_")
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is None:
            raise ValueError("A place names its zone.")
        return cls(moment.astimezone(UTC), UUID(ident))


@dataclass(frozen=True, kw_only=True, slots=True)
class HistoryFilter:
    """Which requests to list. Empty fields restrict nothing.

    Attributes:
        decided_by: The name of the person who decided.
        run: A text in the name of the run.
        since, until: Days on which it was asked, in UTC; both belong to it.
    """

    agent: str = ""
    kind: str = ""
    status: str = ""
    source: str = ""
    decided_by: str = ""
    run: str = ""
    since: date | None = None
    until: date | None = None


def matching(wanted: HistoryFilter) -> ApprovalQuerySet:
    """Requests that match, the newest first."""
    exactly = {
        "agent__name": wanted.agent,
        "kind": wanted.kind,
        "status": wanted.status,
        "decision__source": wanted.source,
        "decision__decided_by__username": wanted.decided_by,
        "run_id__icontains": wanted.run,
    }
    found = ApprovalRequest.objects.filter(**{name: v for name, v in exactly.items() if v})
    if wanted.since:
        found = found.filter(submitted_at__gte=_midnight(wanted.since))
    if wanted.until and wanted.until < date.max:
        found = found.filter(submitted_at__lt=_midnight(wanted.until + timedelta(days=1)))
    return found.order_by("-submitted_at", "-pk")


def page(wanted: HistoryFilter, after: HistoryPlace | None, size: int) -> list[ApprovalRequest]:
    """Return a page of requests with what a list shows, never a whole content."""
    outcomes = Outcome.objects.defer("output_head").order_by("id")
    newest_reports = Inspection.objects.filter(approval=OuterRef("pk")).order_by("-id")
    found = (
        these(_after(matching(wanted), after)[:size])
        .annotate(
            head=Left("content", ENDS),
            tail=Right("content", ENDS),
            report=Subquery(newest_reports.values("report")[:1]),
        )
        .defer("content", "evidence", "objective")
        .select_related("agent", "decision__decided_by")
        .prefetch_related(Prefetch("outcomes", queryset=outcomes))
    )
    return list(found)


def these(few: ApprovalQuerySet) -> ApprovalQuerySet:
    """Fetch these requests by their ids, newest first.

    The ids are selected in a query of their own: else the database would cut the content of every
    row that it sorts.
    """
    ids = list(few.values_list("pk", flat=True))
    return ApprovalRequest.objects.filter(pk__in=ids).order_by("-submitted_at", "-pk")


def asked_until(wanted: HistoryFilter, at: datetime) -> ApprovalQuerySet:
    """Requests of an export that begins at ``at``: none that is submitted while it runs."""
    return matching(wanted).filter(submitted_at__lte=at)


def batch(wanted: HistoryFilter, at: datetime, after: HistoryPlace | None) -> list[dict[str, Any]]:
    """Return the next rows of an export, empty at its end."""
    found = these(_after(asked_until(wanted, at), after)[:BATCH])
    rows = [dict(zip(EXPORTED, row, strict=True)) for row in found.values_list(*EXPORTED.values())]
    return [{**row, "approved_by": json.loads(row["approved_by"] or "[]")} for row in rows]


def place_of(row: dict[str, Any]) -> HistoryPlace:
    """Return where a row of an export stands."""
    return HistoryPlace(row["asked_at"], row["id"])


def _after(found: ApprovalQuerySet, place: HistoryPlace | None) -> ApprovalQuerySet:
    if place is None:
        return found
    older = Q(submitted_at__lt=place.at) | Q(submitted_at=place.at, pk__lt=place.id)
    # The first condition says no more, but an index can begin with it.
    return found.filter(older, submitted_at__lte=place.at)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
