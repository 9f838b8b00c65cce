"""Put all approvals on hold, and lift the hold."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from dashboard.accounts.models import AgentToken, GroupMapping
from dashboard.accounts.queries import people
from dashboard.approvals.errors import NotConfirmed
from dashboard.approvals.queries.hold import active_hold
from dashboard.approvals.services import lift_hold, place_hold
from dashboard.notifications.models import Webhook
from dashboard.notifications.queries import house_channels
from dashboard.policies.services import current_revision
from dashboard.web.access import action, admins_only, auth
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
        return render(request, "office/hold.html", {**_context(), "form": form}, status=status)
    place_hold(by=request.user, auth=auth(request), reason=form.cleaned_data["reason"])
    messages.success(request, "Everything is on hold until an admin lifts it.")
    return redirect("web:hold")


def _context() -> dict[str, Any]:
    """What is as old as a restored database, where a hold asks to look through it."""
    hold = active_hold()
    if hold is None or not hold.must_confirm:
        return {}
    tokens = AgentToken.objects.filter(revoked_at=None, agent__is_active=True)
    return {
        "tokens": tokens.select_related("agent", "created_by").order_by("agent__name", "pk"),
        "people": people().filter(is_active=True),
        "mappings": GroupMapping.objects.select_related("group"),
        "revision": current_revision(),
        "channels": house_channels().filter(is_active=True),
        "webhooks": Webhook.objects.filter(is_active=True).select_related("agent"),
    }


@admins_only
@action("web:hold")
def lift(request: PersonRequest) -> HttpResponse:
    """Lift the hold."""
    confirmed = request.POST.getlist("confirmed")
    try:
        lifted = lift_hold(by=request.user, auth=auth(request), confirmed=confirmed)
    except NotConfirmed as refusal:
        context = {**_context(), "problem": str(refusal), "confirmed": confirmed}
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        return render(request, "office/hold.html", context, status=status)
    sentence = "The hold is lifted." if lifted else "There was no hold. Nothing was changed."
    messages.success(request, sentence)
    return redirect("web:hold")


@require_safe
def banner(request: HttpRequest) -> HttpResponse:
    """Show the banner of the hold, for open pages that heard of a change."""
    return render(request, "desk/_hold_banner.html")
