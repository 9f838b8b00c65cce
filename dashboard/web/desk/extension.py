"""More time for a request: offered, and added."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django import forms

from dashboard.approvals import services
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.rules.extension import extension
from dashboard.policies.rules.demands import Required
from dashboard.web import times
from dashboard.web.access import auth
from dashboard.web.forms import cleaned
from dashboard.web.http import PersonRequest


class ExtendForm(forms.Form):
    """Adds time to what would end at ``ends``."""

    ends = forms.DateTimeField(input_formats=["%Y-%m-%dT%H:%M:%S.%f%z", "%Y-%m-%dT%H:%M:%S%z"])


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtensionOffer:
    """Time that can be added.

    Attributes:
        ends: When the request expires as things stand, for the form.
        opens: From when on it is offered.
        words: How much a press adds.
    """

    ends: str
    opens: str
    is_open: bool
    words: str


def extension_offer(
    approval: ApprovalRequest, required: Required, now: datetime
) -> ExtensionOffer | None:
    """Return the time that a reviewer can add; None if no more can be added."""
    offered = extension(approval, required)
    if offered is None:
        return None
    added_s = (offered.until - approval.expires_at).total_seconds()
    return ExtensionOffer(
        ends=approval.expires_at.isoformat(),
        opens=offered.opens_at.isoformat(),
        is_open=now >= offered.opens_at,
        words=times.length(added_s),
    )


def extend(request: PersonRequest, approval_id: UUID) -> None:
    """Move the deadline of the request."""
    ends = cleaned(ExtendForm(request.POST))["ends"]
    services.extend(approval_id=approval_id, person=request.user, auth=auth(request), ends=ends)
