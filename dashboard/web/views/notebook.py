"""The pinned notebook of a request, on a page of its own, and its pictures."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.approvals import services
from dashboard.approvals.clock import database_now
from dashboard.approvals.errors import NotFound
from dashboard.approvals.rules import notebook as notebook_rules
from dashboard.web.actors import PersonRequest
from dashboard.web.presenting import cells, pinned
from dashboard.web.presenting.reading import masked_secrets
from dashboard.web.presenting.standing import last_judgement
from dashboard.web.rendering.pictures import drawn_anew
from dashboard.web.views import errors
from dashboard.web.views.reading import for_readers

_LONGEST_NUMBER = 6  # digits
_PICTURE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"


@require_safe
@for_readers
def notebook(request: PersonRequest, approval_id: UUID) -> HttpResponse:
    """Show the cells of the notebook that was pinned; to htmx, the cells alone."""
    try:
        approval = services.current(approval_id)
    except NotFound:
        return errors.not_found(request)
    kept = notebook_rules.pinned_to(approval_id)
    if kept is None:
        return errors.not_found(request)
    secrets = masked_secrets(approval, last_judgement(approval), request.user)
    context = {
        "approval": approval,
        "pinned": pinned.pinned(approval, database_now()),
        "page": cells.cells(approval, kept, _number(request.GET.get("from", "")), secrets),
    }
    is_part = bool(getattr(request, "htmx", False))
    return render(request, "desk/_cells.html" if is_part else "desk/notebook.html", context)


@require_safe
@for_readers
def picture(request: PersonRequest, approval_id: UUID, cell: int, output: int) -> HttpResponse:
    """Show a picture of a pinned notebook, drawn anew."""
    pin = notebook_rules.pinned_to(approval_id)
    given = notebook_rules.picture_of(pin, cell - 1, output) if pin and cell else None
    drawn = drawn_anew(given) if given else None
    if drawn is None:
        return errors.not_found(request)
    headers = {"Content-Security-Policy": _PICTURE_POLICY, "Content-Disposition": "inline"}
    return HttpResponse(drawn, content_type="image/png", headers=headers)


def _number(text: str) -> int:
    is_number = text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER
    return int(text) if is_number else 1
