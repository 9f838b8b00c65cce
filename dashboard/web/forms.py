"""What forms share: widgets, limits, and how a refusal reaches the form that it is about."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms import Form

from dashboard.approvals.errors import Refused
from dashboard.web import times

BAD_DAY = "Enter a valid date, such as 2026-03-31."


def plain(**attrs: Any) -> forms.TextInput:
    """An input that a browser neither corrects nor completes."""
    return forms.TextInput(attrs=_as_typed(attrs))


def area(rows: int = 2, **attrs: Any) -> forms.Textarea:
    """A text area that a browser does not correct."""
    return forms.Textarea(attrs=_as_typed({"rows": rows, "class": "mono", **attrs}))


def _as_typed(attrs: dict[str, Any]) -> dict[str, Any]:
    return {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false", **attrs}


LONGEST_PASSWORD = 4096


class LengthOfTime(forms.CharField):
    """A length of time as people write it, in seconds; ``times.read_length`` reads it."""

    def __init__(self, *, shortest_s: int = 0, longest_s: int | None = None, **more: Any) -> None:
        more.setdefault("widget", plain(placeholder="15m, 2h, 1 day"))
        super().__init__(max_length=40, **more)
        self.shortest_s, self.longest_s = shortest_s, longest_s

    def clean(self, value: Any) -> Any:
        """Return the seconds, or None."""
        text: str = super().clean(value)
        if not text:
            return None
        try:
            seconds = times.read_length(text)
        except ValueError as error:
            raise ValidationError(str(error)) from None
        if seconds < self.shortest_s:
            raise ValidationError(f"The shortest is {times.write_length(self.shortest_s)}.")
        if self.longest_s is not None and seconds > self.longest_s:
            raise ValidationError(f"The longest is {times.write_length(self.longest_s)}.")
        return seconds

    def prepare_value(self, value: Any) -> Any:
        """Write seconds as people do."""
        return times.write_length(value) if isinstance(value, int) else value


class ConfirmNameForm(forms.Form):
    """Asks to type the name of what is about to be closed or deleted."""

    name = forms.CharField(required=False, max_length=200, widget=plain())

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


LONGEST_REASON = 2000


Choices = list[tuple[Any, Any]]


def offer_choices(form: forms.Form, name: str, choices: Choices | Callable[[], Choices]) -> None:
    """Offer ``choices`` in the field ``name`` of one form; a function is called when needed."""
    field = form.fields[name]
    if not isinstance(field, forms.ChoiceField):
        raise TypeError(f"{name} offers no choices.")
    field.choices = choices


def status_of(*forms: Form) -> HTTPStatus:
    """Return 422 if one of ``forms`` was sent and is wrong, else 200."""
    wrong = any(form.is_bound and not form.is_valid() for form in forms)
    return HTTPStatus.UNPROCESSABLE_ENTITY if wrong else HTTPStatus.OK


def messages_of(error: Exception) -> list[str]:
    """Return the sentences of a refusal."""
    return error.messages if isinstance(error, ValidationError) else [str(error)]


def cleaned(form: forms.Form) -> dict[str, Any]:
    """Return what a form holds.

    Raises:
        Incomplete: It is not what our page offers; the message says so.
    """
    if not form.is_valid():
        problems = " ".join(str(error) for field in form for error in field.errors)
        raise Incomplete(f"{problems} Nothing was changed.")
    return form.cleaned_data


class Incomplete(Refused):
    """The form does not hold what our page put into it."""
