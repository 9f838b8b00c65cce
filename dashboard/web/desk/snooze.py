"""Snooze: take a request out of one person's queue for a while."""

from __future__ import annotations

from uuid import UUID

from django import forms
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.approvals import services
from dashboard.approvals.rules.snooze import SnoozeChoice, SnoozeLength
from dashboard.web.access import auth
from dashboard.web.drawing import moments
from dashboard.web.forms import cleaned
from dashboard.web.http import PersonRequest


class SnoozeForm(forms.Form):
    """Chooses until when a request is snoozed."""

    later = forms.ChoiceField(choices=[(str(later), "") for later in SnoozeLength])


_LATER = {
    SnoozeLength.QUARTER: "For 15 minutes",
    SnoozeLength.HOUR: "For an hour",
    SnoozeLength.MORNING: "Until {}",
    SnoozeLength.LONGEST: "Until {}",
}


def choice_in_words(choice: SnoozeChoice) -> SafeString:
    """Say until when a request would be snoozed."""
    return format_html(_LATER[choice.length], moments.clock(choice.until))


def snooze(request: PersonRequest, approval_id: UUID) -> None:
    """Take the request out of the person's own queue for a while."""
    later = SnoozeLength(cleaned(SnoozeForm(request.POST))["later"])
    services.snooze(approval_id=approval_id, person=request.user, auth=auth(request), length=later)


def unsnooze(request: PersonRequest, approval_id: UUID) -> None:
    """Put the request back into the person's queue."""
    services.unsnooze(approval_id=approval_id, person=request.user, auth=auth(request))
