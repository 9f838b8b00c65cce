"""Stop all approving, and let it go on."""

from __future__ import annotations

from http import HTTPStatus

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from dashboard.approvals.errors import NotAllowed
from dashboard.approvals.services import lift_hold, place_hold
from dashboard.web.access import action, admins_only, auth, refused
from dashboard.web.forms_office import HoldForm
from dashboard.web.http import PersonRequest


@admins_only
@require_http_methods(["GET", "HEAD", "POST"])
def hold(request: PersonRequest) -> HttpResponse:
    """Say whether everything is stopped, and stop it."""
    form = HoldForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        status = HTTPStatus.UNPROCESSABLE_ENTITY if form.is_bound else HTTPStatus.OK
        return render(request, "office/hold.html", {"form": form}, status=status)
    try:
        place_hold(by=request.user, auth=auth(request), reason=form.cleaned_data["reason"])
    except NotAllowed:
        return refused(request, "admins")
    messages.success(request, "Everything is stopped until an admin lifts the hold.")
    return redirect("web:hold")


@admins_only
@action("web:hold")
def lift(request: PersonRequest) -> HttpResponse:
    """Let approving go on."""
    try:
        lifted = lift_hold(by=request.user, auth=auth(request))
    except NotAllowed:
        return refused(request, "admins")
    said = "The hold is lifted." if lifted else "There was no hold any more. Nothing was changed."
    messages.success(request, said)
    return redirect("web:hold")
