"""What an agent asked in one run."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import OuterRef, Prefetch, Subquery

from dashboard.approvals.models import (
    VOTE_WITH,
    ApprovalQuerySet,
    ApprovalRequest,
    Grant,
    Outcome,
    View,
    Vote,
)
from dashboard.approvals.rules.history import these
from dashboard.approvals.rules.likeness import with_text

MOST_IN_A_STORY = 100
"""How many requests of a run are told together: the newest."""


@dataclass(frozen=True, slots=True)
class Story:
    """What an agent asked in one run, in order: the newest ones, out of ``total``."""

    approvals: list[ApprovalRequest]
    total: int


def story(agent_id: int, run_id: str) -> Story:
    """Return what an agent asked in a run, with all that its page needs."""
    in_run = ApprovalRequest.objects.filter(agent=agent_id, run_id=run_id)
    newest = in_run.order_by("-submitted_at", "-pk")[:MOST_IN_A_STORY]
    approvals = list(_told(these(newest)))
    total = len(approvals) if len(approvals) < MOST_IN_A_STORY else in_run.count()
    return Story(approvals[::-1], total)


def _told(approvals: ApprovalQuerySet) -> ApprovalQuerySet:
    votes = Vote.objects.select_related(*VOTE_WITH).defer("shown").order_by("id")
    grants = Grant.objects.select_related("made_by")
    first_view = View.objects.filter(approval=OuterRef("pk")).order_by("seen_at")
    return (
        with_text(approvals)
        .annotate(first_seen_at=Subquery(first_view.values("seen_at")[:1]))
        .select_related(
            "agent__webhook",
            "headline",
            "poll",
            "decision__grant__made_by",
            "recall__person",
        )
        .prefetch_related(
            Prefetch("outcomes", queryset=Outcome.objects.order_by("id")),
            Prefetch("votes", queryset=votes),
            Prefetch("grants_made", queryset=grants),
        )
    )
