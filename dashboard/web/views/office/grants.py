"""Remembered answers: what is allowed without asking, by whose yes, and the end of it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from dashboard.approvals.clock import database_now
from dashboard.approvals.errors import NotAllowed, NotFound
from dashboard.approvals.services import revoke_grant
from dashboard.web import errors
from dashboard.web.access import any_role, auth, refused
from dashboard.web.http import PersonRequest
from dashboard.web.presenting import grants as presenting


@any_role
@require_safe
def grants(request: PersonRequest) -> HttpResponse:
    """Show every grant in force, and those that are over."""
    context = {"listing": presenting.listing(request.user, database_now())}
    return render(request, "office/grants.html", context)


@any_role
def end(request: PersonRequest, grant_id: int) -> HttpResponse:
    """End a grant at once. Who comes by its address only is led to the list."""
    if request.method != "POST":
        return redirect("web:grants")
    try:
        revoke_grant(grant_id, by=request.user, auth=auth(request))
    except NotFound:
        return errors.not_found(request)
    except NotAllowed:
        return refused(request, "who gave that yes, and for admins")
    messages.success(
        request, f"Grant {grant_id} is ended. What it covered waits for a person from now on."
    )
    return redirect("web:grants")
