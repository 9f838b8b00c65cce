"""Agents were seen waiting."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from dashboard.approvals.models import Poll


def note_polls(last_polled: Mapping[UUID, datetime]) -> None:
    """Remember when agents last waited: ``{approval id: moment}``, in one statement.

    Always in the order of the ids, so that two servers that note the same ones, or a verb that
    locks several, do not wait for each other.
    """
    polls = [Poll(approval_id=pk, last_polled_at=at) for pk, at in sorted(last_polled.items())]
    Poll.objects.bulk_create(
        polls,
        batch_size=500,
        update_conflicts=True,
        unique_fields=["approval"],
        update_fields=["last_polled_at"],
    )
