"""Reads of remembered approvals."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Prefetch

from dashboard.approvals.models import Decision, Grant, GrantQuerySet

LATEST_ANSWERS = 5
"""How many of the requests that a grant answered are named with it."""


def grants_in_force(at: datetime) -> GrantQuerySet:
    """Grants in force, the newest first."""
    return _told(Grant.objects.in_force(at)).order_by("-made_at")


def grants_over(at: datetime, limit: int = 50) -> GrantQuerySet:
    """Grants that were ended, ran out or are used up, the newest first."""
    in_force = Grant.objects.in_force(at).values("pk")
    # By their numbers, which are in the order of their making, so that none has to be sorted.
    return _told(Grant.objects.exclude(pk__in=in_force)).order_by("-pk")[:limit]


def _told(grants: GrantQuerySet) -> GrantQuerySet:
    decisions = Decision.objects.order_by("-decided_at").only("approval_id", "decided_at", "grant")
    return grants.select_related("agent", "made_by", "ended_by").prefetch_related(
        Prefetch("answered", queryset=decisions[:LATEST_ANSWERS], to_attr="latest")
    )
