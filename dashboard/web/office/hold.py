"""Put all approvals on hold, and lift the hold."""

from __future__ import annotations

from http import HTTPStatus

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from dashboard.approvals.errors import NotAllowed
from dashboard.approvals.services import lift_hold, place_hold
from dashboard.web.access import action, admins_only, auth, refused
from dashboard.web.http import PersonRequest


class HoldForm(forms.Form):
    """The reason for a hold."""

    reason = forms.CharField(
        label="Reason",
        required=False,
        max_length=500,
        help_text="Shown to everybody, on every page.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )


@admins_only
@require_http_methods(["GET", "HEAD", "POST"])
def hold(request: PersonRequest) -> HttpResponse:
    """Show whether approvals are on hold, and put them on hold."""
    form = HoldForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        status = HTTPStatus.UNPROCESSABLE_ENTITY if form.is_bound else HTTPStatus.OK
        return render(request, "office/hold.html", {"form": form}, status=status)
    try:
        place_hold(by=request.user, auth=auth(request), reason=form.cleaned_data["reason"])
    except NotAllowed:
        return refused(request, "admins")
    messages.success(request, "Everything is on hold until an admin lifts it.")
    return redirect("web:hold")


@admins_only
@action("web:hold")
def lift(request: PersonRequest) -> HttpResponse:
    """Lift the hold."""
    try:
        lifted = lift_hold(by=request.user, auth=auth(request))
    except NotAllowed:
        return refused(request, "admins")
    sentence = "The hold is lifted." if lifted else "There was no hold. Nothing was changed."
    messages.success(request, sentence)
    return redirect("web:hold")


@require_safe
def banner(request: HttpRequest) -> HttpResponse:
    """Show the banner of the hold, for open pages that heard of a change."""
    return render(request, "desk/_hold_banner.html")
