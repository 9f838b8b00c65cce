"""Reads of what waits, and of what lists say of it."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet, Subquery, Value, prefetch_related_objects
from django.db.models.functions import Coalesce

from dashboard.approvals.models import (
    VOTE_WITH,
    ApprovalQuerySet,
    ApprovalRequest,
    Judgement,
    Tool,
    Vote,
)
from dashboard.clock import database_now
from dashboard.inspection.findings import Severity
from dashboard.statements import rows


def waiting(at: datetime | None = None) -> ApprovalQuerySet:
    """Requests that wait for a person, the one with the least time left first."""
    waiting = ApprovalRequest.objects.open(at or database_now())
    return waiting.select_related("agent", "poll").order_by("expires_at", "pk")


def gravest_rank() -> Coalesce:
    """The rank of the gravest severity that was found in a request, or -1.

    High where nothing was kept of it: nobody knows.
    """
    return Coalesce("headline__severity", Value(Severity.HIGH.rank))


def class_of_tool() -> Subquery:
    """The class of the tool that a request would call."""
    return Subquery(Tool.objects.filter(pk=OuterRef("tool")).values("tool_class"))


def last_demands() -> Subquery:
    """What the judgement that counts asks of the people who approve, as it is stored."""
    newest = Judgement.objects.filter(approval=OuterRef("pk")).order_by("-id")
    return Subquery(newest.values("demands")[:1])


def votes_for_open(at: datetime) -> dict[UUID, list[Vote]]:
    """Return all that says whose votes count for what waits, by request."""
    votes = _votes_for_open(at)
    prefetch_related_objects(votes, "person__groups")
    votes_by_request = defaultdict[UUID, list[Vote]](list)
    for vote in votes:
        votes_by_request[vote.approval_id].append(vote)
    return dict(votes_by_request)


def has_votes_for_open(at: datetime) -> Exists:
    """Whether anybody approved anything of what waits."""
    return Exists(Vote.objects.filter(approval__in=_open_ids(at)))


@rows(ApprovalRequest.expires_at)
def _votes_for_open(at: datetime) -> QuerySet[Vote]:
    votes = Vote.objects.select_related(*VOTE_WITH).filter(approval__in=_open_ids(at))
    return votes.defer("shown").order_by("id")


def _open_ids(at: datetime) -> QuerySet[ApprovalRequest, Any]:
    return ApprovalRequest.objects.open(at).order_by().values("pk")
