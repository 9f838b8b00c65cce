"""Reading a long content window by window, searching it, and having its secrets shown."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from dashboard.approvals import services
from dashboard.approvals.errors import NotFound
from dashboard.web.actors import PersonRequest, auth
from dashboard.web.forms_lines import LinesForm
from dashboard.web.presenting import editing, reader
from dashboard.web.views import errors
from dashboard.web.views.changing import shown_at
from dashboard.web.views.deciding import SeeOther
from dashboard.web.views.reading import for_readers, is_in_sight


@require_GET
@for_readers
def lines(request: PersonRequest, approval_id: UUID) -> HttpResponse:
    """Show one window of one text; the page of a request asks for the window alone."""
    try:
        approval = services.current(approval_id)
    except NotFound:
        return errors.not_found(request)
    form = LinesForm(request.GET)
    shown = reader.read(approval, request.user, form.wanted()) if form.is_valid() else None
    if shown is None:
        return errors.not_found(request)
    wanted = form.wanted()
    if shown.hits and not (wanted.part or wanted.line):
        return HttpResponseRedirect(shown.hits[0].href)  # with the place, which no form can name
    if is_in_sight(request):
        services.note_served(approval_id=approval_id, person=request.user, parts=shown.served)
    alone = request.headers.get("X-Part") == "alone"
    template = "desk/_window.html" if alone else "desk/lines.html"
    return render(request, template, {"approval": approval, "reader": shown})


@require_GET
@for_readers
def outline(request: PersonRequest, approval_id: UUID) -> HttpResponse:
    """Show what the texts of a content define, import and run, with the lines."""
    try:
        approval = services.current(approval_id)
    except NotFound:
        return errors.not_found(request)
    context = {"approval": approval, "outlines": reader.outlines(approval, request.user)}
    return render(request, "desk/outline.html", context)


@require_POST
@for_readers
def reveal(request: PersonRequest, approval_id: UUID) -> HttpResponse:
    """Show the secrets of a content to this person from now on, and record that."""
    try:
        approval = services.current(approval_id)
        edit = editing.named(approval, request.POST.get("edit", ""))
        places = reader.masked_places(approval, request.user, edit)
        if places:
            services.reveal(
                approval_id=approval_id, person=request.user, auth=auth(request), places=places
            )
    except NotFound:
        return errors.not_found(request)
    return SeeOther(f"{shown_at(approval, edit)}#content-title")
