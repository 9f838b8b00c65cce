"""The current password, asked for again before something changes that outlasts the session."""

from __future__ import annotations

from django import forms

from dashboard.accounts.services import signing_in
from dashboard.web.access import actor, address
from dashboard.web.forms import LONGEST_PASSWORD
from dashboard.web.http import PersonRequest
from dashboard.web.office.sign_in import came_by_link_just_now


class PresentForm(forms.Form):
    """The current password."""

    present = forms.CharField(
        label="Current password",
        strip=False,
        max_length=LONGEST_PASSWORD,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


def needs_present(request: PersonRequest) -> bool:
    """Whether it is asked for: not of whoever has none, or came by a link just now."""
    return request.user.has_usable_password() and not came_by_link_just_now(request)


def confirm_present(request: PersonRequest, form: forms.Form) -> None:
    """Check the current password in a valid form, if it was asked for.

    Raises:
        TooManyAttempts: Too many wrong ones; nothing was checked.
        NotPermitted: It is not theirs.
    """
    if present := form.cleaned_data.get("present"):
        signing_in.confirm_password(
            request.user, present, by=actor(request), address=address(request)
        )
