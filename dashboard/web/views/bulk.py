"""Requests that are alike are read and answered together, each by a decision of its own."""

from __future__ import annotations

from http import HTTPStatus
from typing import NamedTuple
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from dashboard.approvals import services
from dashboard.approvals.clock import database_now
from dashboard.approvals.errors import Refused
from dashboard.approvals.rules.bulk import MOST
from dashboard.web.actors import PersonRequest, auth
from dashboard.web.forms_bulk import BulkForm, ids
from dashboard.web.presenting import bulk as presenting
from dashboard.web.presenting.bulk import Shown
from dashboard.web.views.reading import for_reviewers

_INCOMPLETE = (
    "Your browser did not send all that the page showed, or the reason is too long. Nothing was "
    "recorded; go back, load the page again and decide there."
)


class Done(NamedTuple):
    """What became of one: its word, or why nothing was recorded."""

    id: UUID
    status: str
    refusal: str


@require_safe
@for_reviewers
def bulk(request: PersonRequest) -> HttpResponse:
    """Show one in full, and what is different in the others."""
    asked = presenting.bulk(ids(request.GET), request.user, database_now(), request.get_host())
    return render(request, "desk/bulk.html", {"bulk": asked})


@require_POST
@for_reviewers
def decide(request: PersonRequest) -> HttpResponse:
    """Answer those that were chosen, one after the other, and say what became of each."""
    form = BulkForm(request.POST)
    given = request.POST.getlist("item")
    asked = [presenting.read_back(signed, request.user) for signed in given[:MOST]]
    if not form.is_valid() or len(given) > MOST or not all(asked):
        context = {"done": [], "problem": _INCOMPLETE}
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        return render(request, "desk/bulk_done.html", context, status=status)
    done = [_decide(request, form, one) for one in asked if one]
    return render(request, "desk/bulk_done.html", {"done": done, "word": form.status})


def _decide(request: PersonRequest, form: BulkForm, one: Shown) -> Done:
    known = auth(request)
    try:
        services.mark_viewed(approval_id=one.id, person=request.user, auth=known)
        services.decide(
            approval_id=one.id,
            answer=services.Answer(
                auth=known,
                reviewer=request.user,
                status=form.status,
                basis=one.basis,
                reason=form.cleaned_data["reason"],
                shown={**one.shown, "end_seen": form.end_was_seen},
            ),
        )
    except Refused as refusal:
        return Done(one.id, "", str(refusal))
    return Done(one.id, form.status, "")
