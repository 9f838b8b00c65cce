"""The pinned notebook of a request, on a page of its own, and its pictures."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.approvals import notebooks, queries
from dashboard.approvals.clock import database_now
from dashboard.approvals.errors import NotFound
from dashboard.web import errors
from dashboard.web.access import for_readers
from dashboard.web.drawing.pictures import drawn_anew
from dashboard.web.http import PersonRequest
from dashboard.web.presenting import cells, pinned
from dashboard.web.presenting.reading import masked_secrets
from dashboard.web.presenting.standing import last_judgement

_LONGEST_NUMBER = 6  # digits
_PICTURE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"


@require_safe
@for_readers
def notebook(request: PersonRequest, approval_id: UUID) -> HttpResponse:
    """Show the cells of the notebook that was pinned; to htmx, the cells alone."""
    try:
        approval = queries.current(approval_id)
    except NotFound:
        return errors.not_found(request)
    kept = notebooks.pinned_to(approval_id)
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
    pin = notebooks.pinned_to(approval_id)
    given = notebooks.picture_of(pin, cell - 1, output) if pin and cell else None
    drawn = drawn_anew(given) if given else None
    if drawn is None:
        return errors.not_found(request)
    headers = {"Content-Security-Policy": _PICTURE_POLICY, "Content-Disposition": "inline"}
    return HttpResponse(drawn, content_type="image/png", headers=headers)


def _number(text: str) -> int:
    is_number = text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER
    return int(text) if is_number else 1
