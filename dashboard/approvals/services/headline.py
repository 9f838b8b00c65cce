"""Keeping what lists say of a request, or of an edit."""

from __future__ import annotations

from dashboard.approvals.models import ApprovalRequest, Edit, RequestHeadline
from dashboard.inspection.headline import Headline
from dashboard.statements import insert


def insert_headline(of: ApprovalRequest | Edit, headline: Headline) -> RequestHeadline:
    """Save the headline of a request or an edit that has a row."""
    return insert(headline_row(of, headline))


def headline_row(of: ApprovalRequest | Edit, headline: Headline) -> RequestHeadline:
    """Return the headline of a request or an edit as a row that is not saved."""
    severity = headline.severity
    return RequestHeadline(
        approval=of if isinstance(of, ApprovalRequest) else None,
        edit=of if isinstance(of, Edit) else None,
        severity=severity.rank if severity else -1,
        has_doubts=headline.has_doubts,
        finding=headline.leading.name if headline.leading else "",
        facts=headline.to_json(),
    )
