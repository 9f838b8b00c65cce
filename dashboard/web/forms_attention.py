"""What people send about their attention. What is allowed is for the services to say."""

from __future__ import annotations

from django import forms

from dashboard.accounts.queries import reviewers
from dashboard.approvals.rules.snooze import SnoozeLength

LONGEST_NOTE = 500


class ClaimForm(forms.Form):
    """Takes a request, perhaps from somebody who is on it."""

    over = forms.CharField(max_length=100, required=False)


class HandOverForm(forms.Form):
    """Gives a request to another reviewer."""

    to = forms.ModelChoiceField(
        queryset=reviewers(),
        to_field_name="username",
        error_messages={
            "required": "Say who is to look at this.",
            "invalid_choice": "There is no reviewer of that name.",
        },
    )
    note = forms.CharField(
        max_length=LONGEST_NOTE,
        required=False,
        error_messages={"max_length": f"A note has {LONGEST_NOTE} characters at the most."},
    )


class LaterForm(forms.Form):
    """Puts a request off."""

    later = forms.ChoiceField(choices=[(str(later), "") for later in SnoozeLength])


class ExtendForm(forms.Form):
    """Adds time to what would end at ``ends``."""

    ends = forms.DateTimeField(input_formats=["%Y-%m-%dT%H:%M:%S.%f%z", "%Y-%m-%dT%H:%M:%S%z"])
