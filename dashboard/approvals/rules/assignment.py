"""Who is on a request, who has it open, and who snoozed it. None of it is a right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest, Assignment, Snooze, Viewing


@dataclass(frozen=True, slots=True)
class Presence:
    """Who is on requests, who has them open and who snoozed them, by the requests' ids.

    Attributes:
        assignments: Who is on them.
        viewing: The names of others who have them open, and are not on them, in order.
        snoozed_until: When those come back that the reader snoozed.
    """

    assignments: dict[UUID, Assignment] = field(default_factory=dict)
    viewing: dict[UUID, list[str]] = field(default_factory=dict)
    snoozed_until: dict[UUID, datetime] = field(default_factory=dict)


def presence(ids: Collection[UUID], person: User, now: datetime) -> Presence:
    """Return who is assigned, viewing and snoozing, as ``person`` may see it, in three queries."""
    if not ids:
        return Presence()
    counting = (
        Assignment.objects.counting().filter(approval__in=ids).select_related("person", "after")
    )
    assignments = {assignment.approval_id: assignment for assignment in counting}
    fresh = Viewing.objects.fresh(now).filter(approval__in=ids).exclude(person=person)
    viewing = defaultdict[UUID, list[str]](list)
    for one in fresh.select_related("person").order_by("person__username"):
        assignment = assignments.get(one.approval_id)
        if assignment is None or assignment.person_id != one.person_id:
            viewing[one.approval_id].append(one.person.username)
    mine = Snooze.objects.holding(now).filter(person=person, approval__in=ids)
    return Presence(assignments, dict(viewing), dict(mine.values_list("approval", "until")))


def assignment_of(approval: ApprovalRequest) -> Assignment | None:
    """Return the assignment of a request if its person may still decide."""
    assignments = Assignment.objects.counting().filter(approval=approval)
    return assignments.select_related("person", "after").first()


def assigned_to(person: User, now: datetime) -> set[UUID]:
    """Requests that are assigned to a person."""
    assignments = Assignment.objects.counting().filter(person=person, approval__expires_at__gt=now)
    return set(assignments.values_list("approval", flat=True))
