"""What people choose the history by. All of it stands in the address."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from dashboard.accounts.models import plain_name
from dashboard.approvals.rules.history import HistoryFilter, HistoryPlace
from dashboard.web.presenting import words
from dashboard.wire import Source

_SOURCES = {
    Source.REVIEWER: "A reviewer",
    Source.POLICY: "The policy",
    Source.GRANT: "A remembered yes",
    Source.DEADLINE: "Nobody: it expired",
    Source.AGENT: "The agent itself",
    Source.ADMIN: "An admin",
}
_PLAIN = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
_BAD_DAY = "This is no day. Write it as 2026-03-31."
_BAD_PLACE = "The address of this page is damaged. Begin again with the newest."


def _name(label: str) -> forms.CharField:
    widget = forms.TextInput(attrs=_PLAIN)
    return forms.CharField(
        label=label, required=False, max_length=100, validators=[plain_name], widget=widget
    )


def _one_of(label: str, what: str, of: dict[Any, str]) -> forms.ChoiceField:
    known = [(str(word), said) for word, said in of.items()]
    unknown = {"invalid_choice": f"There is no such {what}. Choose one of the list."}
    return forms.ChoiceField(
        label=label, required=False, choices=[("", "Any"), *known], error_messages=unknown
    )


def _day(label: str) -> forms.DateField:
    return forms.DateField(
        label=label,
        required=False,
        input_formats=["%Y-%m-%d"],
        error_messages={"invalid": _BAD_DAY},
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
    )


class HistoryForm(forms.Form):
    """Which requests, and after which place the page begins."""

    agent = _name("Agent")
    kind = _one_of("Kind", "kind", words.KINDS)
    status = _one_of("Status", "status", words.STATUSES)
    source = _one_of("Answered by", "way to be answered", _SOURCES)
    decided_by = _name("Person who decided")
    run = forms.CharField(
        label="Run contains",
        required=False,
        max_length=200,
        strip=False,
        widget=forms.TextInput(attrs=_PLAIN),
    )
    since = _day("Asked from")
    until = _day("Asked until")
    after = forms.CharField(required=False, max_length=100, widget=forms.HiddenInput)

    def clean_after(self) -> HistoryPlace | None:
        """Read the place that a link of ours names."""
        text = self.cleaned_data["after"]
        if not text:
            return None
        try:
            return HistoryPlace.parse(text)
        except (ValueError, OverflowError):
            raise ValidationError(_BAD_PLACE) from None

    def clean(self) -> dict[str, Any]:
        """Refuse days that are in the wrong order."""
        chosen: dict[str, Any] = super().clean() or {}
        since, until = chosen.get("since"), chosen.get("until")
        if since and until and until < since:
            self.add_error("until", "This is before the first day, so no day is left.")
        return chosen

    def wanted(self) -> HistoryFilter:
        """Return what is chosen by, once the form is valid."""
        chosen = {name: value for name, value in self.cleaned_data.items() if name != "after"}
        return HistoryFilter(**chosen)

    def chosen(self) -> dict[str, str]:
        """Return what was filled in, as it stands in the address and in the audit log."""
        return {
            name: str(self.cleaned_data[name])
            for name in self.fields
            if name != "after" and self.cleaned_data[name]
        }
