"""What publishing has in common, from a draft, from an old revision and from a proposal."""

from __future__ import annotations

from http import HTTPStatus

from django.contrib import messages

from dashboard.accounts.errors import NotPermitted
from dashboard.policies.errors import ExamplesFail, NotConfirmed, PolicyRefusal
from dashboard.policies.models import PolicyProposal, PolicyRevision
from dashboard.web.forms_policy import ConfirmForm
from dashboard.web.http import PersonRequest


def put_refusal(form: ConfirmForm, error: PolicyRefusal | NotPermitted) -> HTTPStatus:
    """Show a refusal in the form that it is about; returns the status of the page."""
    match error:
        case NotConfirmed():
            form.add_error("confirm", str(error))
        case ExamplesFail(failures=failures):
            form.add_error(
                None, [*failures, "Nothing was published; mend the rule or its examples."]
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
            "It asks less, so two people are needed. It is proposed and changes nothing yet; "
            "another admin has to read and publish it.",
        )
    elif published.number == present:
        messages.info(request, "That is the policy in force already. Nothing was published.")
    else:
        messages.success(request, f"Revision {published.number} is in force.")
