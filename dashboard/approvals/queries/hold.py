"""Reads of whether approvals are on hold."""

from __future__ import annotations

from django.db.models import QuerySet

from dashboard.approvals.models import Hold
from dashboard.statements import rows


def active_hold() -> Hold | None:
    """The active hold, with the person who placed it, or None."""
    return _active_hold.first()


@rows()
def _active_hold() -> QuerySet[Hold]:
    return Hold.objects.select_related("placed_by").filter(active=True).order_by("id")[:1]


def is_held() -> bool:
    """Whether all approving is stopped now. It stays so while ``lock_for_judging`` is held."""
    return Hold.objects.filter(active=True).exists()
