"""One request: what it asks, and where it stands."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.approvals import services
from dashboard.approvals.clock import database_now
from dashboard.approvals.errors import AssignedToAnother, NotFound, Refused, StaleBasis
from dashboard.approvals.models import ApprovalRequest
from dashboard.web.actors import PersonRequest
from dashboard.web.presenting import chain
from dashboard.web.presenting.pinned import pinned
from dashboard.web.presenting.reading import read
from dashboard.web.presenting.standing import last_judgement, standing
from dashboard.web.views import errors
from dashboard.web.views.queue import listing
from dashboard.web.views.reading import for_readers, is_in_sight


@require_safe
@for_readers
def detail(request: PersonRequest, approval_id: UUID) -> HttpResponse:
    """Show a request in full."""
    try:
        approval = services.current(approval_id)
    except NotFound:
        return errors.not_found(request)
    return page(request, approval)


@require_safe
@for_readers
def state(request: PersonRequest, approval_id: UUID) -> HttpResponse:
    """Show what of a request may have changed: its status line and the decision bar."""
    try:
        approval = services.current(approval_id)
    except NotFound:
        return errors.not_found(request)
    return bar(request, approval)


def page(
    request: PersonRequest,
    approval: ApprovalRequest,
    status: int = 200,
    refusal: Refused | None = None,
) -> HttpResponse:
    """Answer with the whole page of a request, and why an answer to it was refused."""
    reading = read(approval, last_judgement(approval), request.get_host(), request.user)
    if reading.served and is_in_sight(request):
        services.note_served(approval_id=approval.pk, person=request.user, parts=reading.served)
    state = _state(request, approval, refusal)
    now = database_now()
    before = chain.before(approval, request.user, now, masks=reading.masks)
    about = {"before": before, "pinned": pinned(approval, now)}
    context = {**state, **about, "reading": reading, "listing": listing(request)}
    return render(request, "desk/detail.html", context, status=status)


def bar(
    request: PersonRequest,
    approval: ApprovalRequest,
    status: int = 200,
    refusal: Refused | None = None,
) -> HttpResponse:
    """Answer with the part of the page that follows events."""
    state = _state(request, approval, refusal)
    return render(request, "desk/_state.html", state, status=status)


def _state(
    request: PersonRequest, approval: ApprovalRequest, refusal: Refused | None
) -> dict[str, Any]:
    sent = request.POST if refusal else None
    return {
        "approval": approval,
        "standing": standing(approval, request.user, database_now(), sent),
        "refusal": str(refusal or ""),
        "is_stale": isinstance(refusal, StaleBasis),
        "despite": refusal.name if isinstance(refusal, AssignedToAnother) else "",
        "reason": sent.get("reason", "") if sent else "",
        "approve_reason": sent.get("approve_reason", "") if sent else "",
    }
