"""Reads of requests, with what is shown beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from uuid import UUID

from django.db.models import Exists, Model, OuterRef, QuerySet, Value

from approval_client.wire import Kind
from dashboard.approvals.models import (
    VOTE_WITH,
    ApprovalQuerySet,
    ApprovalRequest,
    Edit,
    Grant,
    Inspection,
    Judgement,
    Outcome,
    RequestHeadline,
    Vote,
)
from dashboard.approvals.queries.hold import with_stop
from dashboard.clock import database_now
from dashboard.statements import Many, fetched, rows

_LATELY = 500  # requests


def whole(ids: Iterable[UUID]) -> list[ApprovalRequest]:
    """Return requests with everything that a page needs, in a fixed number of queries.

    Each is read with the moment of the read, ``clock.now_in``; with what stops all approving,
    ``hold.stop_in``; and with ``has_equal``, whether its run asked for the same another time.
    """
    approvals = _whole(list(ids))
    for name, (rows_of, key) in _BESIDE.items():
        having = [approval.pk for approval in approvals if vars(approval)[f"has_{name}"]]
        beside = defaultdict[UUID, list[Model]](list)
        for row in rows_of(having) if having else ():
            beside[getattr(row, key)].append(row)
        for approval in approvals:
            fetched(approval, name, beside[approval.pk])
    return approvals


def with_headlines(approvals: Sequence[ApprovalRequest]) -> Sequence[ApprovalRequest]:
    """Read the headlines of requests that ``whole`` read, in one query; few need them."""
    headlines = {row.approval_id: row for row in _headlines([request.pk for request in approvals])}
    for approval in approvals:
        ApprovalRequest.headline.related.set_cached_value(approval, headlines.get(approval.pk))
    return approvals


@rows(Many(ApprovalRequest.id))
def _headlines(ids: Iterable[UUID]) -> QuerySet[RequestHeadline]:
    return RequestHeadline.objects.filter(approval__id__among=ids).order_by()


@rows(Many(ApprovalRequest.id))
def _whole(ids: Iterable[UUID]) -> QuerySet[ApprovalRequest]:
    this = {"approval": OuterRef("pk")}
    same = {name: OuterRef(name) for name in ("agent", "digest", "run_id")}
    equal = ApprovalRequest.objects.filter(**same)
    joined = ApprovalRequest.objects.select_related(
        "agent__owner",
        "agent__webhook",
        "token__agent",
        "decision__decided_by",
        "decision__grant__made_by",
        "recall__person",
        "poll",
    )
    return joined.filter(pk__among=ids).annotate(
        has_edits=Exists(Edit.objects.filter(**this)),
        has_judgements=Value(value=True),
        has_outcomes=Exists(Outcome.objects.filter(**this)),
        has_votes=Exists(Vote.objects.filter(**this)),
        has_grants_made=Exists(Grant.objects.filter(made_from=OuterRef("pk"))),
        has_equal=Exists(equal.exclude(pk=OuterRef("pk"))),
        **with_stop(),
    )


@rows(Many(ApprovalRequest.id))
def _edits(ids: Iterable[UUID]) -> QuerySet[Edit]:
    edits = Edit.objects.filter(approval__id__among=ids).select_related("edited_by", "grounds")
    return edits.order_by("id")


def _judgements(ids: Iterable[UUID]) -> list[Judgement]:
    # Judgements share inspections, whose reports may be long.
    judgements = _judgements_alone(ids)
    inspections = {
        inspection.pk: inspection
        for inspection in _inspections({j.inspection_id for j in judgements})
    }
    for judgement in judgements:
        judgement.inspection = inspections[judgement.inspection_id]
    return judgements


@rows(Many(ApprovalRequest.id))
def _judgements_alone(ids: Iterable[UUID]) -> QuerySet[Judgement]:
    judgements = Judgement.objects.filter(approval__id__among=ids).select_related("grounds")
    return judgements.order_by("id")


@rows(Many(Inspection.id))
def _inspections(ids: Iterable[int]) -> QuerySet[Inspection]:
    return Inspection.objects.filter(pk__among=ids).order_by()


@rows(Many(ApprovalRequest.id))
def _outcomes(ids: Iterable[UUID]) -> QuerySet[Outcome]:
    return Outcome.objects.filter(approval__id__among=ids).order_by("id")


@rows(Many(ApprovalRequest.id))
def _votes(ids: Iterable[UUID]) -> QuerySet[Vote]:
    votes = Vote.objects.filter(approval__id__among=ids).select_related(*VOTE_WITH)
    return votes.order_by("id")


@rows(Many(ApprovalRequest.id))
def _grants_made(ids: Iterable[UUID]) -> QuerySet[Grant]:
    grants = Grant.objects.filter(made_from__id__among=ids).select_related("made_by")
    return grants.order_by("id")


_BESIDE: dict[str, tuple[Callable[[list[UUID]], Sequence[Model]], str]] = {
    "edits": (_edits, "approval_id"),
    "judgements": (_judgements, "approval_id"),
    "outcomes": (_outcomes, "approval_id"),
    "votes": (_votes, "approval_id"),
    "grants_made": (_grants_made, "made_from_id"),
}


def light() -> ApprovalQuerySet:
    """Requests as agents are told of them: an answer never repeats what was asked."""
    relations = ("decision__decided_by", "decision__edit", "recall__person")
    return ApprovalRequest.objects.select_related(*relations).defer(
        "content", "evidence", "objective"
    )


def waiting_for(seconds: int) -> int:
    """Return how many requests wait for that long."""
    at = database_now() - timedelta(seconds=seconds)
    return ApprovalRequest.objects.pending().filter(submitted_at__lte=at).count()


def seen_tools() -> list[str]:
    """Name the tools that agents asked to call lately, for people to pick from."""
    calls = ApprovalRequest.objects.filter(kind=Kind.TOOL_CALL).order_by("-submitted_at")
    return sorted(set(calls.values_list("capability", flat=True)[:_LATELY]))
