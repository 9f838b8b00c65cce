"""Admins set the webhook of an agent, and see what was delivered."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from dashboard.accounts.models import Agent
from dashboard.notifications import queries, services
from dashboard.notifications.addresses import LONGEST_URL
from dashboard.notifications.errors import (
    AddressRefused,
    ChangedMeanwhile,
    NotSent,
)
from dashboard.notifications.models import Delivery, State, Webhook
from dashboard.web.access import action, admins_only, auth
from dashboard.web.drawing import moments
from dashboard.web.forms import plain, status_of
from dashboard.web.http import PersonRequest


class WebhookForm(forms.Form):
    """The address of an agent's webhook."""

    url = forms.CharField(
        label="Address of the host",
        max_length=LONGEST_URL,
        help_text="https, public or in a network of WEBHOOK_NETWORKS.",
        widget=plain(inputmode="url", placeholder="https://host.example.org/approvals"),
    )

    shown = forms.CharField(required=False, widget=forms.HiddenInput)  # when it was changed last


class NewSecretForm(forms.Form):
    """Whether the previous secret stops working at once."""

    at_once = forms.BooleanField(
        label="End the current secret at once",
        required=False,
        help_text="Otherwise both sign for one more day.",
    )


BADGES = {
    State.WAITING: ("waiting", ""),
    State.DELIVERED: ("delivered", "badge--approved"),
    State.GIVEN_UP: ("given up", "badge--rejected"),
    State.DROPPED: ("dropped", ""),
}


@dataclass(frozen=True)
class DeliveryRow:
    """One message of the table."""

    delivery: Delivery
    word: str
    badge: str
    again: bool
    next_at: datetime  # when it is tried next, if it waits

    @property
    def what(self) -> str:
        """What the host is told of."""
        return "taken back" if self.delivery.taken_back else self.delivery.approval.status


@admins_only
@require_http_methods(["GET", "HEAD", "POST"])
def webhook(request: PersonRequest, agent_id: int) -> HttpResponse:
    """Show an agent's webhook with its deliveries, and set its address."""
    agent = get_object_or_404(Agent, pk=agent_id)
    form = WebhookForm(request.POST) if request.method == "POST" else None
    if form is None or not form.is_valid():
        return _page(request, agent, form=form)
    url = form.cleaned_data["url"]
    try:
        hook, secret = services.set_webhook(
            agent=agent,
            url=url,
            by=request.user,
            auth=auth(request),
            shown_at=form.cleaned_data["shown"],
        )
    except ChangedMeanwhile as error:
        messages.warning(request, str(error))
        return redirect("web:webhook", agent_id)
    except AddressRefused as error:
        form.add_error("url", f"{error} Nothing was changed.")
        return _page(request, agent, form=form)
    if secret:
        return _show(request, hook.agent, secret)
    messages.success(request, "The address is saved. Waiting messages go there, too.")
    return redirect("web:webhook", agent_id)


@admins_only
@action("web:webhook")
def new_secret(request: PersonRequest, agent_id: int) -> HttpResponse:
    """Make another secret and show it, once."""
    agent = get_object_or_404(Agent, pk=agent_id)
    form = NewSecretForm(request.POST)
    at_once = form.is_valid() and form.cleaned_data["at_once"]
    secret = services.new_secret(
        agent_id=agent_id, at_once=at_once, by=request.user, auth=auth(request)
    )
    return _show(request, agent, secret, overlaps=not at_once)


@admins_only
@action("web:webhook")
def switch(request: PersonRequest, agent_id: int) -> HttpResponse:
    """Switch a webhook on or off."""
    agent = get_object_or_404(Agent, pk=agent_id)
    on = request.POST.get("on") == "yes"
    services.switch(agent_id=agent.pk, on=on, by=request.user, auth=auth(request))
    state = "on. It notifies of decisions from now on." if on else "off. Nothing is sent."
    messages.success(request, f"The webhook is {state}")
    return redirect("web:webhook", agent_id)


@admins_only
@action("web:webhook")
def again(request: PersonRequest, agent_id: int, delivery_id: UUID) -> HttpResponse:
    """Send a message again."""
    agent = get_object_or_404(Agent, pk=agent_id)
    try:
        delivery = services.send_again(
            agent_id=agent.pk, delivery_id=delivery_id, by=request.user, auth=auth(request)
        )
    except NotSent as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _when_sent(delivery.webhook))
    return redirect("web:webhook", agent_id)


def _when_sent(webhook: Webhook) -> str:
    if rested_at := queries.rests_until(webhook):
        return format_html(
            "The host asked to be left alone until {}. It is sent again then.",
            moments.clock(rested_at),
        )
    return "It is sent again within two seconds."


def _page(request: PersonRequest, agent: Agent, *, form: WebhookForm | None) -> HttpResponse:
    hook = queries.webhook_of(agent.pk)
    form = form or WebhookForm(
        initial={"url": hook.url, "shown": hook.changed_at.isoformat()} if hook else {}
    )
    context = {
        "agent": agent,
        "webhook": hook,
        "rests_until": hook and hook.is_active and queries.rests_until(hook),
        "form": form,
        "secret_form": NewSecretForm(),
        "rows": _rows(hook) if hook else [],
        "shown": queries.SHOWN,
    }
    return render(request, "office/webhook.html", context, status=status_of(form))


def _rows(webhook: Webhook) -> list[DeliveryRow]:
    rested_at = queries.rests_until(webhook)
    return [
        DeliveryRow(
            delivery,
            *BADGES[State(delivery.state)],
            again=webhook.is_active and delivery.state != State.WAITING,
            next_at=max(delivery.due_at, rested_at or delivery.due_at),
        )
        for delivery in queries.latest(webhook)
    ]


def _show(
    request: PersonRequest, agent: Agent, secret: str, *, overlaps: bool = False
) -> HttpResponse:
    back = reverse("web:webhook", args=[agent.pk])
    return show_secret(request, secret, f"the webhook of {agent.name}", back, overlaps=overlaps)


def show_secret(
    request: PersonRequest, secret: str, of: str, back: str, *, overlaps: bool = False
) -> HttpResponse:
    """Show a new secret, once.

    Args:
        request: What made it.
        secret: It.
        of: Whose messages it signs.
        back: Where they are set up.
        overlaps: Whether the one before it signs too, for a day.
    """
    context = {"secret": secret, "of": of, "back": back, "overlaps": overlaps}
    return render(request, "office/secret.html", context)
