"""Which period and which table of the insight, as its address says it."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms

from dashboard.approvals.rules.insight import Period

LAST_DAYS = (7, 30, 90)
USUAL_DAYS = 30
MOST_DAYS = 366
TABLES = {
    "agent": "Agents",
    "capability": "Capabilities",
    "rule": "Rules",
    "person": "Reviewers",
    "day": "Days",
}
_NO_DAY = "This is no day. Write it as 2026-03-31."


def _day(label: str) -> forms.DateField:
    return forms.DateField(
        label=label,
        required=False,
        input_formats=["%Y-%m-%d"],
        error_messages={"invalid": _NO_DAY},
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
    )


class InsightForm(forms.Form):
    """A period, by days back or by its first and last day, and a table with its order."""

    since = _day("Asked from")
    until = _day("Asked until")
    days = forms.TypedChoiceField(
        choices=[(days, days) for days in LAST_DAYS],
        coerce=int,
        required=False,
        widget=forms.HiddenInput,
        error_messages={"invalid_choice": "Choose 7, 30 or 90 days, or name the first one."},
    )
    by = forms.ChoiceField(
        choices=list(TABLES.items()),
        required=False,
        widget=forms.HiddenInput,
        error_messages={"invalid_choice": "There is no such table. Choose one of them."},
    )
    sort = forms.CharField(max_length=20, required=False, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        """Refuse days that are in the wrong order, or too many of them."""
        chosen: dict[str, Any] = super().clean() or {}
        since, until = chosen.get("since"), chosen.get("until")
        if until and not since and "since" not in self.errors:
            self.add_error("since", "Name the first day too.")
        elif since and until and until < since:
            self.add_error("until", "This is before the first day, so no day is left.")
        elif since and until and (until - since).days >= MOST_DAYS:
            self.add_error("since", f"These are more than {MOST_DAYS} days. Choose fewer.")
        return chosen

    @property
    def table(self) -> str:
        """Which table is open."""
        return str(self.cleaned_data.get("by") or "agent")

    @property
    def is_own_days(self) -> bool:
        """Whether days were named."""
        return bool(self.cleaned_data.get("since"))

    @property
    def days_back(self) -> int:
        """How many days back, where none were named."""
        return int(self.cleaned_data.get("days") or USUAL_DAYS)

    def period(self, now: datetime) -> Period:
        """Return what is asked for; a day begins at midnight UTC, and today belongs to it."""
        today = now.astimezone(UTC).date()
        since: date | None = self.cleaned_data["since"]
        if since is None:
            since, last = today - timedelta(days=self.days_back - 1), today
        else:
            usual = min(max(today, since), _later(since, MOST_DAYS - 1))
            last = self.cleaned_data["until"] or usual
        return Period(_midnight(since), _midnight(_later(last, 1)))

    def address(self, **changes: object) -> dict[str, str]:
        """Return what the address says, with some of it changed; ``None`` leaves something out."""
        said = {name: value for name, value in self.cleaned_data.items() if value}
        return {name: str(value) for name, value in (said | changes).items() if value}


def _later(day: date, days: int) -> date:
    return min(day, date.max - timedelta(days=days)) + timedelta(days=days)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
