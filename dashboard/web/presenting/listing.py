"""What a tab of the queue shows, as its address asks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dashboard.accounts.models import User
from dashboard.approvals import queries
from dashboard.approvals.models import ApprovalQuerySet
from dashboard.approvals.rules.queue import PersonalQueue, filtered, personal_queue
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
        mine: How much of that needs the reader, or was claimed by them, and is not put off.
        claimed: How much of that they are on.
        later: How much of that they put off.
        found: How much the filters leave.
        more: How much of that has no row.
    """

    filters: Filters
    rows: list[Row]
    waiting: int
    mine: int
    claimed: int
    later: int
    found: int

    @property
    def show(self) -> str:
        """Which tab is open."""
        return self.filters.show

    @property
    def here(self) -> int:
        """How much of what waits the reader did not put off."""
        return self.waiting - self.later

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
    own = personal_queue(person, now)
    waiting = queries.queue(now).count()
    if filters.show == "decided":
        shown = rows.rows(_decided(filters), person, now)
        found = len(shown)
    else:
        open_now = queries.queue(now).select_related("agent", "token", "poll")
        asked = filtered(_tab(open_now, filters, own), filters.narrowing)
        asked = asked.filter(pk__in=own.due) if filters.mine else asked
        shown = rows.rows(_ordered(asked, filters)[: rows.MOST], person, now)
        found = asked.count() if len(shown) == rows.MOST else len(shown)
    return Listing(
        filters=filters,
        rows=shown,
        waiting=waiting,
        mine=len(own.due),
        claimed=len(own.assigned),
        later=len(own.snoozed),
        found=found,
    )


def _tab(approvals: ApprovalQuerySet, filters: Filters, own: PersonalQueue) -> ApprovalQuerySet:
    if filters.show == "claimed":
        return approvals.filter(pk__in=own.assigned)
    if filters.show == "later":
        return approvals.filter(pk__in=own.snoozed)
    return approvals.exclude(pk__in=own.snoozed) if own.snoozed else approvals


def _ordered(approvals: ApprovalQuerySet, filters: Filters) -> ApprovalQuerySet:
    if not filters.by_risk:
        return approvals
    return approvals.alias(first=queries.gravest_rank()).order_by("-first", "expires_at", "pk")


def _decided(filters: Filters) -> ApprovalQuerySet:
    if not filters.narrows:
        return queries.lately_closed()
    closed = queries.among_the_latest(LOOKED_THROUGH)
    return queries.lately_closed(among=filtered(closed, filters.narrowing))
