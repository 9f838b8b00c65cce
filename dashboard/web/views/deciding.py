"""A reviewer's answer comes in."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from uuid import UUID

from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from dashboard.approvals import errors as refusals
from dashboard.approvals import services
from dashboard.approvals.models import Decision
from dashboard.approvals.rules.grant import GrantScope, GrantTerms
from dashboard.approvals.rules.likeness import earlier_answer
from dashboard.approvals.rules.step import StepSaid
from dashboard.approvals.services import Basis
from dashboard.web.actors import PersonRequest, auth
from dashboard.web.forms import DecisionForm
from dashboard.web.presenting import filters, remembering
from dashboard.web.presenting.reading import what_was_shown
from dashboard.web.presenting.standing import last_judgement
from dashboard.web.views import detail, errors
from dashboard.web.views.reading import for_readers
from dashboard.wire import Status

_INCOMPLETE = (
    "Your browser did not send all that the page showed. Nothing was recorded; load the page "
    "again and decide there."
)
_NOT_WHOLE = (
    "This page did not show the whole content, so it cannot be approved from here. Nothing was "
    "recorded."
)


class SeeOther(HttpResponseRedirect):
    """The answer is at another address; a browser gets it, and going back sends nothing twice."""

    status_code = HTTPStatus.SEE_OTHER


class Incomplete(refusals.Refused):
    """The form does not hold what our page put into it."""


_SENT_AGAIN = (
    Incomplete,
    refusals.ReasonMissing,
    refusals.GrantRefused,
    refusals.StepsRefused,
)
"""What a form that says more or otherwise would have got past."""


@require_POST
@for_readers
def decide(request: PersonRequest, approval_id: UUID) -> HttpResponse:
    """Record an answer, or show the request as it stands with why nothing was recorded."""
    form = DecisionForm(request.POST)
    try:
        services.mark_viewed(approval_id=approval_id, person=request.user, auth=auth(request))
        record(request, approval_id, form)
    except refusals.NotFound:
        return errors.not_found(request)
    except refusals.Refused as refusal:
        return _answer(request, approval_id, status_of(refusal), refusal=refusal)
    if request.htmx:  # type: ignore[attr-defined]
        return _answer(request, approval_id, HTTPStatus.OK)
    query = filters.read(request.GET).query
    page = reverse("web:detail", args=[approval_id])
    return SeeOther(f"{page}?{query}" if query else page)


def record(
    request: PersonRequest,
    approval_id: UUID,
    form: DecisionForm,
    edit_id: int | None = None,
    *,
    steps: Sequence[StepSaid] = (),
) -> None:
    """Record what a form answers: to the request, perhaps step by step, or to an edit of it.

    Raises:
        Refused: Nothing was recorded.
    """
    if not form.is_valid():
        raise Incomplete(form.what_is_wrong_with_the_reason or _INCOMPLETE)
    data = form.cleaned_data
    page = f"{approval_id}/edits/{edit_id}" if edit_id else str(approval_id)
    shown = what_was_shown(page, data["shown"])
    if shown is None:
        raise refusals.StaleBasis
    if form.status is Status.APPROVED and not shown["whole"]:
        raise refusals.NotAllowed(_NOT_WHOLE)
    services.decide(
        approval_id=approval_id,
        answer=services.Answer(
            reviewer=request.user,
            auth=auth(request),
            status=form.status,
            basis=Basis(data["digest"], data["judgement"], edit_id),
            reason=form.said,
            shown={**shown, "end_seen": form.end_was_seen},
            allow_steps=form.status is Status.APPROVED and data["allow_steps"],
            remember=_terms(request, approval_id, form.scope) if form.scope else None,
            despite=data["despite"],
            repeats=_earlier(approval_id, data["same_as"]) if form.repeats else None,
            steps=steps,
        ),
    )


def _earlier(approval_id: UUID, decision_id: int | None) -> Decision:
    """Find the answer that is to be given again; whether it may is for the service to say."""
    approval = services.current(approval_id)
    earlier = earlier_answer(approval, last_judgement(approval))
    if earlier is None or earlier.pk != decision_id:
        raise refusals.StaleBasis
    return earlier


def _terms(request: PersonRequest, approval_id: UUID, scope: GrantScope) -> GrantTerms:
    """Read for how much more the yes is to count; whether it may is for the service to say."""
    approval = services.current(approval_id)
    offered = remembering.offer(approval, last_judgement(approval), request.user, request.POST)
    if offered is None:
        raise refusals.StaleBasis
    if not offered.form.is_valid():
        raise Incomplete(offered.form.what_is_wrong or _INCOMPLETE)
    return offered.terms(scope)


def status_of(refusal: refusals.Refused) -> int:
    """Return the HTTP status of a page that says why nothing was recorded."""
    if isinstance(refusal, _SENT_AGAIN):
        return HTTPStatus.UNPROCESSABLE_ENTITY
    if isinstance(refusal, refusals.NotAllowed):
        return HTTPStatus.FORBIDDEN
    return HTTPStatus.CONFLICT


def _answer(
    request: PersonRequest,
    approval_id: UUID,
    status: int,
    refusal: refusals.Refused | None = None,
) -> HttpResponse:
    answer = detail.bar if request.htmx else detail.page  # type: ignore[attr-defined]
    return answer(request, services.current(approval_id), status, refusal)
