"""Reads of who is on a request. It gives no right."""

from __future__ import annotations

from dashboard.approvals.models import ApprovalRequest, Assignment


def assignment_of(approval: ApprovalRequest) -> Assignment | None:
    """Return the assignment of a request if its person may still decide."""
    assignments = Assignment.objects.counting().filter(approval=approval)
    return assignments.select_related("person", "after").first()
