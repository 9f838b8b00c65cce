"""Form fields of policies: lists by line, lengths of time, choices that must be named."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from dashboard.web.forms import area

_UNITS = {"day": 86_400, "h": 3600, "min": 60, "s": 1}

_LENGTH = re.compile(r"([0-9]{1,7})\s*(s|min|h|days?)", re.ASCII)

_LONGEST_LINES = 12_000

NOT_ASKED = ("", "does not matter")


class Lines(forms.CharField):
    """Some values, one a line; empty lines do not count."""

    def __init__(self, *, rows: int = 2, placeholder: str = "", **more: Any) -> None:
        widget = area(rows, placeholder=placeholder)
        super().__init__(required=False, max_length=_LONGEST_LINES, widget=widget, **more)

    def clean(self, value: Any) -> Any:
        """Return a tuple of what stands on the lines."""
        text: str = super().clean(value)
        return tuple(line.strip() for line in text.splitlines() if line.strip())

    def prepare_value(self, value: Any) -> Any:
        """Write values below each other."""
        return value if isinstance(value, str | None) else "\n".join(value)


class LengthOfTime(forms.CharField):
    """A length of time such as ``5 min``, in seconds."""

    def clean(self, value: Any) -> Any:
        """Return the seconds, or None."""
        text: str = super().clean(value)
        if not text:
            return None
        found = _LENGTH.fullmatch(text)
        if not found:
            raise ValidationError("Write a number and s, min, h or days, such as 5 min.")
        return int(found[1]) * _UNITS[found[2].removesuffix("s") or "s"]

    def prepare_value(self, value: Any) -> Any:
        """Write seconds in the largest unit that leaves no rest."""
        return length_in_words(value) if isinstance(value, int) else value


def length_in_words(seconds: int) -> str:
    """Write a length of time the way it is typed."""
    unit = next(unit for unit, length in _UNITS.items() if seconds % length == 0)
    count = seconds // _UNITS[unit]
    return f"{count} {unit}{'s' if unit == 'day' and count != 1 else ''}"


class Named(forms.ChoiceField):
    """A choice that has to be named, so that nothing opens by being left out."""

    def __init__(self, label: str, choices: Iterable[tuple[str, str]], **more: Any) -> None:
        more.setdefault("widget", forms.Select)
        super().__init__(label=label, choices=list(choices), **more)


def yes_no(label: str, yes: str = "Yes", no: str = "No", **more: Any) -> Named:
    """A choice between two; ``chosen`` reads it back."""
    return Named(label, [("no", no), ("yes", yes)], **more)


class WholeForm(forms.Form):
    """A form that has to arrive whole: what is cut off would be a condition that is missing."""

    end = forms.CharField(required=False, initial="end", widget=forms.HiddenInput)

    def clean(self) -> None:
        """Refuse a form of which something is missing."""
        self._check_that_it_is_whole()

    def _check_that_it_is_whole(self) -> None:
        missing = [
            name
            for name, field in self.fields.items()
            if not isinstance(field.widget, forms.CheckboxSelectMultiple | forms.CheckboxInput)
            and field.widget.value_omitted_from_data(self.data, self.files, self.add_prefix(name))
        ]
        if missing:
            self.add_error(
                None,
                f"This form arrived incomplete ({', '.join(missing)} is missing). Nothing was "
                "saved; load the page again.",
            )
