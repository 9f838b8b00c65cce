"""What a tab of the queue shows, as its address asks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from dashboard.accounts.models import User
from dashboard.approvals import queries
from dashboard.approvals.models import ApprovalQuerySet
from dashboard.approvals.narrowing import narrowed, need
from dashboard.web.presenting import rows
from dashboard.web.presenting.filters import Filters
from dashboard.web.presenting.rows import Row, Together

LOOKED_THROUGH = 1000
"""How many of the latest answers are looked through for what is asked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """What a tab of the queue shows.

    Attributes:
        waiting: What waits, whichever tab is open and whatever is left out of it.
        mine: How much of that needs the reader.
        found: How much the filters leave.
        more: How much of that has no row.
    """

    filters: Filters
    rows: list[Row]
    waiting: int
    mine: int
    found: int

    @property
    def show(self) -> str:
        """Which tab is open."""
        return self.filters.show

    @property
    def more(self) -> int:
        """How much there is without a row."""
        return self.found - len(self.rows)

    @property
    def groups(self) -> list[Together]:
        """The rows, those of one run together where they follow each other."""
        return rows.together(self.rows)


def listing(filters: Filters, person: User, now: datetime) -> Listing:
    """List what the address of the queue asks for."""
    needed = need(person, now)
    waiting = queries.queue(now).count()
    if filters.show == "decided":
        shown = rows.rows(_decided(filters), person, now)
        found = len(shown)
    else:
        asked = _waiting(filters, now, needed)
        shown = rows.rows(_ordered(asked, filters)[: rows.MOST], person, now)
        found = asked.count() if len(shown) == rows.MOST else len(shown)
    return Listing(filters=filters, rows=shown, waiting=waiting, mine=len(needed), found=found)


def _waiting(filters: Filters, now: datetime, needed: set[UUID]) -> ApprovalQuerySet:
    approvals = queries.with_votes(queries.queue(now))
    if filters.mine:
        approvals = approvals.filter(pk__in=needed)
    return narrowed(approvals, filters.narrowing)


def _ordered(approvals: ApprovalQuerySet, filters: Filters) -> ApprovalQuerySet:
    if not filters.by_risk:
        return approvals
    return approvals.alias(first=queries.gravest_rank()).order_by("-first", "expires_at", "pk")


def _decided(filters: Filters) -> ApprovalQuerySet:
    if not filters.narrows:
        return queries.lately_closed()
    closed = queries.among_the_latest(LOOKED_THROUGH)
    return queries.lately_closed(among=narrowed(closed, filters.narrowing))
