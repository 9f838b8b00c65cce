"""Who is on a request. It gives no right."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest, Assignment


def assignment_of(approval: ApprovalRequest) -> Assignment | None:
    """Return the assignment of a request if its person may still decide."""
    assignments = Assignment.objects.counting().filter(approval=approval)
    return assignments.select_related("person", "after").first()


def assigned_to(person: User, now: datetime) -> set[UUID]:
    """Requests that are assigned to a person."""
    assignments = Assignment.objects.counting().filter(person=person, approval__expires_at__gt=now)
    return set(assignments.values_list("approval", flat=True))
