"""Which part of a long content somebody wants to read."""

from __future__ import annotations

from typing import NamedTuple

from django import forms

LONGEST_SEARCH = 200


class Wanted(NamedTuple):
    """A window of a text, by its number or by a line in it, and what is searched for.

    ``part``, ``line`` and ``find`` are 0 or empty where nothing is said.
    """

    block: int = 0
    part: int = 0
    line: int = 0
    find: str = ""


class LinesForm(forms.Form):
    """The address of a window."""

    block = forms.IntegerField(min_value=0, max_value=10_000, required=False)
    part = forms.IntegerField(min_value=1, max_value=1_000_000, required=False)
    line = forms.IntegerField(min_value=1, max_value=10_000_000, required=False)
    find = forms.CharField(max_length=LONGEST_SEARCH, required=False, strip=False)

    def wanted(self) -> Wanted:
        """Return what a valid address asks for."""
        asked = self.cleaned_data
        return Wanted(
            asked["block"] or 0, asked["part"] or 0, asked["line"] or 0, asked["find"] or ""
        )
