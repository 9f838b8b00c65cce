"""Form fields of policies: lists by line, and choices that must be named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms

from dashboard.web.forms import area

_LONGEST_LINES = 12_000

NOT_ASKED = ("", "does not matter")


def with_plain_ends(text: str) -> str:
    """Undo what browsers do to the ends of lines."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


class Lines(forms.CharField):
    """Some values, one a line; empty lines do not count.

    Attributes:
        known: What can be picked from a list, which adds a line; others, and *, can be typed.
    """

    known: Sequence[str] = ()

    def __init__(self, *, rows: int = 2, placeholder: str = "", **more: Any) -> None:
        widget = area(rows, placeholder=placeholder)
        super().__init__(required=False, max_length=_LONGEST_LINES, widget=widget, **more)

    def clean(self, value: Any) -> Any:
        """Return a tuple of what stands on the lines."""
        lines = with_plain_ends(super().clean(value)).split("\n")
        return tuple(line.strip() for line in lines if line.strip())

    def prepare_value(self, value: Any) -> Any:
        """Write values below each other."""
        return value if isinstance(value, str | None) else "\n".join(value)


class Named(forms.ChoiceField):
    """A choice that has to be named, so that nothing opens by being left out."""

    def __init__(self, label: str, choices: Iterable[tuple[str, str]], **more: Any) -> None:
        more.setdefault("widget", forms.Select)
        super().__init__(label=label, choices=list(choices), **more)


def yes_no(label: str, **more: Any) -> Named:
    """A choice between two; ``chosen`` reads it back."""
    return Named(label, [("no", "No"), ("yes", "Yes")], **more)


class WholeForm(forms.Form):
    """A form that has to arrive whole: what is cut off would be a condition that is missing."""

    end = forms.CharField(required=False, initial="end", widget=forms.HiddenInput)

    def clean(self) -> None:
        """Refuse a form of which something is missing."""
        self._check_that_it_is_whole()

    def _check_that_it_is_whole(self) -> None:
        omissions = [
            name
            for name, field in self.fields.items()
            if not isinstance(field.widget, forms.CheckboxSelectMultiple | forms.CheckboxInput)
            and field.widget.value_omitted_from_data(self.data, self.files, self.add_prefix(name))
        ]
        if omissions:
            self.add_error(
                None,
                f"This form arrived incomplete ({', '.join(omissions)} is missing). Nothing was "
                "saved. Load the page again.",
            )
