"""What publishing has in common, from a draft, a past revision and a proposal."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django import forms
from django.contrib import messages

from dashboard.accounts.errors import NotPermitted
from dashboard.policies.errors import ExamplesFail, NotConfirmed, PolicyRefusal
from dashboard.policies.models import PolicyProposal, PolicyRevision
from dashboard.web.forms import plain
from dashboard.web.http import PersonRequest

_LARGEST_SEQ = 2**63 - 1


class ConfirmForm(forms.Form):
    """The word that says that loosening is meant."""

    confirm = forms.CharField(required=False, max_length=20, widget=plain())

    def __init__(self, word: str, data: Any = None) -> None:
        super().__init__(data, auto_id="publish_%s")
        self.word = word
        self.fields["confirm"].label = f"Type {word} to confirm"


class PublishForm(ConfirmForm):
    """The same, with why, and with what was shown."""

    note = forms.CharField(
        label="Why (optional)", required=False, max_length=500, widget=plain(dir="auto")
    )
    based_on = forms.IntegerField(min_value=1, max_value=_LARGEST_SEQ, widget=forms.HiddenInput)
    stamp = forms.CharField(required=False, max_length=50, widget=forms.HiddenInput)
    field_order = ["note", "confirm"]


def put_refusal(form: ConfirmForm, error: PolicyRefusal | NotPermitted) -> HTTPStatus:
    """Show a refusal in the form that it is about; returns the status of the page."""
    match error:
        case NotConfirmed():
            form.add_error("confirm", str(error))
        case ExamplesFail(failures=failures):
            form.add_error(
                None, [*failures, "Nothing was published. Correct the rule or its examples."]
            )
        case _:
            form.add_error(None, str(error))
            typed = {name: form.data[name] for name in form.data}
            form.data = {**typed, "confirm": ""}  # it has to be read and typed anew
            return HTTPStatus.CONFLICT
    return HTTPStatus.UNPROCESSABLE_ENTITY


def tell_what_was_published(
    request: PersonRequest, published: PolicyRevision | PolicyProposal, *, present: int
) -> None:
    """Say what became of it; ``present`` is the revision that held before."""
    if isinstance(published, PolicyProposal):
        messages.info(
            request,
            "It loosens the policy, so two admins are needed. It is proposed; another admin must "
            "publish it.",
        )
    elif published.number == present:
        messages.info(request, "This policy is already in force. Nothing was published.")
    else:
        messages.success(request, f"Revision {published.number} is in force.")
