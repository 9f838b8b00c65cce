"""What admins type about groups of reviewers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms

from dashboard.accounts.models import User


class GroupForm(forms.Form):
    """A new group."""

    name = forms.CharField(
        max_length=100,
        help_text="Letters, digits and . _ @ + -, the way policies will name it.",
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )


class MembersForm(forms.Form):
    """Who is in a group."""

    members = forms.MultipleChoiceField(
        label="Who is in it", required=False, widget=forms.CheckboxSelectMultiple
    )
    end = forms.CharField(widget=forms.HiddenInput)  # or a form that was cut off would empty it

    def __init__(self, people: Iterable[User], data: Any = None, **more: Any) -> None:
        super().__init__(data, **more)
        self.people = {str(person.pk): person for person in people}
        choices = [(key, _described(person)) for key, person in self.people.items()]
        self.fields["members"].choices = choices  # type: ignore[attr-defined] # of its field

    def chosen(self) -> list[User]:
        """Return the people who were ticked."""
        return [self.people[key] for key in self.cleaned_data["members"]]


def _described(person: User) -> str:
    if not person.is_active:
        return f"{person.username} (shut out: does not count)"
    return (
        person.username
        if person.is_reviewer
        else f"{person.username} (no reviewer: does not count)"
    )
