"""All requests: filtered, by pages, and in batches for an export.

Pages continue after a place in the order, never after a count: what is asked meanwhile moves
nothing, and the thousandth page costs what the first one does. No statement reads more than a few
thousand requests, however few of all fit a filter: a page says how far back it has looked, and on
SQLite nobody can commit while somebody reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Case, F, OuterRef, Prefetch, Q, Subquery, When

from approval_client.wire import OutcomeState
from dashboard.accounts.models import Agent
from dashboard.approvals.models import ApprovalQuerySet, ApprovalRequest, Outcome

BATCH = 200
"""How many rows of an export are held at once."""

LOOKED_THROUGH = 20_000
"""How many requests a page looks through at most for those that fit its filter."""

_STEP = 4_000


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
    "taken_back_by": "recall__person__username",
    "taken_back_at": "recall__taken_back_at",
    "taken_back_because": "recall__reason",
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
        tool: The name of the tool that is called, whatever its schema.
        decided_by: The name of the person who decided.
        run: A text in the name of the run.
        since, until: Days on which it was asked, in UTC; both belong to it.
    """

    agent: str = ""
    kind: str = ""
    tool: str = ""
    status: str = ""
    source: str = ""
    decided_by: str = ""
    run: str = ""
    since: date | None = None
    until: date | None = None


def matching(history_filter: HistoryFilter) -> ApprovalQuerySet:
    """Requests that match, the newest first."""
    return _begun(history_filter).filter(**_fitting(history_filter))


def _begun(history_filter: HistoryFilter) -> ApprovalQuerySet:
    """The part of a filter that an index finds in order, so that nothing else need be read."""
    approvals = ApprovalRequest.objects.order_by("-submitted_at", "-pk")
    if history_filter.agent:
        agent = (
            Agent.objects.filter(name=history_filter.agent).values_list("pk", flat=True).first()
        )
        approvals = approvals.filter(agent=agent) if agent else approvals.none()
    if history_filter.since:
        approvals = approvals.filter(submitted_at__gte=_midnight(history_filter.since))
    if history_filter.until and history_filter.until < date.max:
        approvals = approvals.filter(
            submitted_at__lt=_midnight(history_filter.until + timedelta(days=1))
        )
    return approvals


def _fitting(history_filter: HistoryFilter) -> dict[str, str]:
    """The part of a filter for which each request has to be looked at."""
    fitting = {
        "kind": history_filter.kind,
        "tool__name": history_filter.tool,
        "status": history_filter.status,
        "decision__source": history_filter.source,
        "decision__decided_by__username": history_filter.decided_by,
        "run_id__icontains": history_filter.run,
    }
    return {name: value for name, value in fitting.items() if value}


class HistoryPage(NamedTuple):
    """Some requests, the newest first.

    Attributes:
        older: Where the next page begins; None if this is the last one.
        looked_to: The page ends before it is full, because it looked through ``LOOKED_THROUGH``
            requests; the oldest of them was asked then.
    """

    rows: list[ApprovalRequest]
    older: HistoryPlace | None
    looked_to: datetime | None


def page(wanted: HistoryFilter, after: HistoryPlace | None, size: int) -> HistoryPage:
    """Return a page of requests with what a list shows, never a whole content."""
    among = _begun(wanted)
    ids, end = _look(among, wanted, after, size + 1, LOOKED_THROUGH)
    is_full = len(ids) > size
    rows = _for_a_list(ids[:size])
    if is_full:
        return HistoryPage(rows, HistoryPlace(rows[-1].submitted_at, rows[-1].pk), None)
    return HistoryPage(rows, end, end.at if end else None)


def _look(
    among: ApprovalQuerySet,
    history_filter: HistoryFilter,
    place: HistoryPlace | None,
    size: int,
    most: int | None,
) -> tuple[list[UUID], HistoryPlace | None]:
    """Look through requests until ``size`` of them fit or ``most`` were looked at.

    Returns:
        What fits, and the last place that was looked at if there may be more behind it.
    """
    fits = Q(**_fitting(history_filter))
    # What fits is asked for of each row in order, and is no condition: a database that takes it
    # for one may go through all of an agent, or of a person, and sort that.
    fitting_id = Case(When(fits, then=F("pk"))) if fits else F("pk")
    fitting_ids: dict[UUID, None] = {}
    looked, count = 0, size
    while True:
        step = _after(among, place)[:count]
        ids = list(step.annotate(fits=fitting_id).values_list("fits", flat=True))
        fitting_ids.update(dict.fromkeys(pk for pk in ids if pk))
        looked += len(ids)
        if len(fitting_ids) >= size or len(ids) < count:
            return list(fitting_ids)[:size], None
        # If something was asked in between, this is a little before the end of the step. What is
        # then seen twice is counted once.
        place = HistoryPlace(*step.values_list("submitted_at", "pk")[count - 1])
        if most and looked >= most:
            return list(fitting_ids), place
        count = min(count * 8, _STEP, most - looked if most else _STEP)


def _for_a_list(ids: Sequence[UUID]) -> list[ApprovalRequest]:
    outcomes = Outcome.objects.defer("output_head").order_by("id")
    approvals = (
        _in_order(ids)
        .defer("content", "evidence", "objective")
        .select_related("agent", "headline", "decision__decided_by", "recall__person")
        .prefetch_related(Prefetch("outcomes", queryset=outcomes))
    )
    return list(approvals)


def these(few: ApprovalQuerySet) -> ApprovalQuerySet:
    """Fetch these requests by their ids, newest first.

    The ids are selected in a query of their own: else the database would cut the content of every
    row that it sorts.
    """
    return _in_order(list(few.values_list("pk", flat=True)))


def _in_order(ids: Sequence[UUID]) -> ApprovalQuerySet:
    return ApprovalRequest.objects.filter(pk__in=ids).order_by("-submitted_at", "-pk")


def asked_until(history_filter: HistoryFilter, at: datetime) -> ApprovalQuerySet:
    """Requests of an export that begins at ``at``: none that is submitted while it runs."""
    return matching(history_filter).filter(submitted_at__lte=at)


def batch(
    history_filter: HistoryFilter, at: datetime, place: HistoryPlace | None
) -> list[dict[str, Any]]:
    """Return the next rows of an export, empty at its end."""
    among = _begun(history_filter).filter(submitted_at__lte=at)
    approvals = _in_order(_look(among, history_filter, place, BATCH, most=None)[0])
    rows = [
        dict(zip(EXPORTED, row, strict=True)) for row in approvals.values_list(*EXPORTED.values())
    ]
    return [{**row, "approved_by": json.loads(row["approved_by"] or "[]")} for row in rows]


def place_of(row: dict[str, Any]) -> HistoryPlace:
    """Return where a row of an export stands."""
    return HistoryPlace(row["asked_at"], row["id"])


def _after(approvals: ApprovalQuerySet, place: HistoryPlace | None) -> ApprovalQuerySet:
    if place is None:
        return approvals
    older = Q(submitted_at__lt=place.at) | Q(submitted_at=place.at, pk__lt=place.id)
    # The first condition says no more, but an index can begin with it.
    return approvals.filter(older, submitted_at__lte=place.at)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
