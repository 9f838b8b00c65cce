"""Reviewers say who looks after a request, and when."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST

from dashboard.approvals import services
from dashboard.approvals.clock import database_now
from dashboard.approvals.errors import NotAllowed, NotFound, Refused
from dashboard.approvals.rules.snooze import SnoozeLength
from dashboard.web.actors import PersonRequest, auth
from dashboard.web.forms_attention import ClaimForm, ExtendForm, HandOverForm, LaterForm
from dashboard.web.presenting.attending import who_reads
from dashboard.web.views import detail, errors
from dashboard.web.views.deciding import SeeOther
from dashboard.web.views.reading import for_readers

Verb = Callable[[PersonRequest, UUID], None]
Answer = Callable[..., HttpResponseBase]


class _Unclear(Refused):
    """The form does not hold what our page would have put into it."""


def _verb(act: Verb) -> Answer:
    """Do it, and show the request as it stands then; or with why nothing was done."""

    @require_POST
    @for_readers
    @wraps(act)
    def view(request: PersonRequest, /, approval_id: UUID) -> HttpResponse:
        try:
            act(request, approval_id)
        except NotFound:
            return errors.not_found(request)
        except Refused as refusal:
            return _refused(request, approval_id, refusal)
        if request.htmx:  # type: ignore[attr-defined]
            return detail.bar(request, services.current(approval_id))
        return SeeOther(reverse("web:detail", args=[approval_id]))

    return view


@_verb
def claim(request: PersonRequest, approval_id: UUID) -> None:
    """Say that the person is on it."""
    over = _read(ClaimForm(request.POST))["over"]
    services.assign(approval_id=approval_id, person=request.user, auth=auth(request), over=over)


@_verb
def release(request: PersonRequest, approval_id: UUID) -> None:
    """Say that the person is not on it any more."""
    services.release(approval_id=approval_id, person=request.user, auth=auth(request))


@_verb
def hand_over(request: PersonRequest, approval_id: UUID) -> None:
    """Put somebody else on it."""
    asked = _read(HandOverForm(request.POST))
    services.hand_over(approval_id=approval_id, person=request.user, auth=auth(request), **asked)


@_verb
def put_off(request: PersonRequest, approval_id: UUID) -> None:
    """Take it out of the person's own queue for a while."""
    later = SnoozeLength(_read(LaterForm(request.POST))["later"])
    services.snooze(approval_id=approval_id, person=request.user, auth=auth(request), length=later)


@_verb
def bring_back(request: PersonRequest, approval_id: UUID) -> None:
    """Put it back there."""
    services.unsnooze(approval_id=approval_id, person=request.user, auth=auth(request))


@_verb
def extend(request: PersonRequest, approval_id: UUID) -> None:
    """Add time."""
    ends = _read(ExtendForm(request.POST))["ends"]
    services.extend(approval_id=approval_id, person=request.user, auth=auth(request), ends=ends)


@require_POST
@for_readers
def seen(request: PersonRequest, approval_id: UUID) -> HttpResponse:
    """Record that the person has the request in sight, and say who else has."""
    try:
        services.mark_viewed(approval_id=approval_id, person=request.user, auth=auth(request))
    except NotFound:
        return errors.not_found(request)
    services.note_viewing(approval_id=approval_id, person=request.user)
    reading = who_reads(approval_id, request.user, database_now())
    return render(request, "desk/_reading.html", {"reading": reading})


def _read(form: forms.Form) -> dict[str, Any]:
    if not form.is_valid():
        said = " ".join(str(error) for field in form for error in field.errors)
        raise _Unclear(f"{said} Nothing was changed.")
    return form.cleaned_data


def _refused(request: PersonRequest, approval_id: UUID, refusal: Refused) -> HttpResponse:
    status = HTTPStatus.CONFLICT
    if isinstance(refusal, NotAllowed):
        status = HTTPStatus.FORBIDDEN
    if isinstance(refusal, _Unclear):
        status = HTTPStatus.UNPROCESSABLE_ENTITY
    answer = detail.bar if request.htmx else detail.page  # type: ignore[attr-defined]
    return answer(request, services.current(approval_id), status, refusal)
