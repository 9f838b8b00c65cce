"""What people type in the office. Choices that open something have to be named, never left out."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth.password_validation import (
    password_validators_help_texts,
    validate_password,
)
from django.core.exceptions import ValidationError

from dashboard.accounts.models import User
from dashboard.accounts.services.people import ROLES

_LONGEST_PASSWORD = 4096
_LONGEST_LIFE_DAYS = 3650
_LARGEST_SEQ = 2**63 - 1


def _new_password() -> forms.Widget:
    return forms.PasswordInput(attrs={"autocomplete": "new-password"})


def _plain(**attrs: str) -> forms.Widget:
    return forms.TextInput(
        attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false", **attrs}
    )


class SignInForm(forms.Form):
    """A name and a password."""

    username = forms.CharField(
        label="Name", max_length=200, widget=_plain(autocomplete="username")
    )
    password = forms.CharField(
        strip=False,
        max_length=_LONGEST_PASSWORD,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


class PasswordForm(forms.Form):
    """A new password, and the present one where that is asked for."""

    present = forms.CharField(
        label="Present password",
        strip=False,
        max_length=_LONGEST_PASSWORD,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    password = forms.CharField(
        label="New password", strip=False, max_length=_LONGEST_PASSWORD, widget=_new_password()
    )
    again = forms.CharField(
        label="New password, again",
        strip=False,
        max_length=_LONGEST_PASSWORD,
        widget=_new_password(),
    )

    def __init__(self, person: User, *, needs_present: bool, data: Any = None) -> None:
        super().__init__(data)
        self.person = person
        self.fields["password"].help_text = " ".join(password_validators_help_texts())
        if not needs_present:
            del self.fields["present"]

    def clean_password(self) -> str:
        """Hold the password against the rules."""
        password: str = self.cleaned_data["password"]
        validate_password(password, self.person)
        return password

    def clean(self) -> None:
        """Compare the two."""
        password, again = (self.cleaned_data.get(name) for name in ("password", "again"))
        if password and again and password != again:
            self.add_error("again", "The two differ. Nothing was changed.")


class RolesForm(forms.Form):
    """What a person may do. A box that is missing takes a right away and never gives one."""

    roles = forms.MultipleChoiceField(
        label="What this person may do",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        choices=[
            ("reviewer", "Reviewer: reads requests and decides them"),
            ("admin", "Admin: people, agents, policies and the hold; does not decide"),
            ("auditor", "Auditor: reads the audit log"),
        ],
    )

    def flags(self) -> dict[str, bool]:
        """Return each role with whether the person is to have it."""
        return {role: role in self.cleaned_data["roles"] for role in ROLES}


class InviteForm(RolesForm):
    """Somebody new."""

    username = forms.CharField(
        label="Name",
        max_length=100,
        help_text="Letters, digits and . _ @ + -, the way it will stand in the record.",
        widget=_plain(),
    )
    field_order = ["username", "roles"]


class ConfirmNameForm(forms.Form):
    """Asks for the name of what is about to be shut out."""

    name = forms.CharField(required=False, max_length=200, widget=_plain())

    def __init__(self, expected: str, data: Any = None) -> None:
        super().__init__(data)
        self.expected = expected
        self.fields["name"].label = f"Type {expected} to confirm"

    def clean_name(self) -> str:
        """Compare with the name that is meant."""
        name: str = self.cleaned_data["name"]
        if name != self.expected:
            raise ValidationError(f"This is not {self.expected!r}. Nothing was changed.")
        return name


class AgentForm(forms.Form):
    """A new agent."""

    name = forms.CharField(
        max_length=100,
        help_text="Letters, digits and . _ @ + -, the way reviewers will see it.",
        widget=_plain(),
    )


class TokenForm(forms.Form):
    """How long a new token works."""

    days = forms.IntegerField(
        label="Days until it expires",
        required=False,
        min_value=1,
        max_value=_LONGEST_LIFE_DAYS,
        help_text="Leave it empty for a token that works until it is revoked.",
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
    )

    def life(self) -> timedelta | None:
        """Return the chosen life, or None for one without end."""
        days = self.cleaned_data["days"]
        return None if days is None else timedelta(days=days)


class HoldForm(forms.Form):
    """Why everything is stopped."""

    reason = forms.CharField(
        label="Why",
        required=False,
        max_length=500,
        help_text="Everybody who is signed in reads this on every page.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class AuditForm(forms.Form):
    """Which entries of the audit log."""

    actor = forms.CharField(
        label="Actor begins with", required=False, max_length=200, widget=_plain()
    )
    subject = forms.CharField(
        label="Subject begins with", required=False, max_length=200, widget=_plain()
    )
    before = forms.IntegerField(
        required=False, min_value=1, max_value=_LARGEST_SEQ, widget=forms.HiddenInput
    )
