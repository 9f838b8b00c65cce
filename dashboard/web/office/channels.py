"""Admins say where the house is told, try it, and see what became of each message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from approval_client.wire import Kind as Asked
from approval_client.wire import parse_json
from dashboard.accounts.queries import groups
from dashboard.clock import database_now
from dashboard.inspection.findings import Severity
from dashboard.notifications import queries, services
from dashboard.notifications.addresses import LONGEST_URL
from dashboard.notifications.channels import KINDS, kind_of
from dashboard.notifications.channels.kind import ChannelKind
from dashboard.notifications.errors import (
    AddressRefused,
    ChangedMeanwhile,
    ChannelRefused,
    NotSent,
    WebhookError,
)
from dashboard.notifications.models import HOUSE_EVENTS, Channel, Message, NoticeEvent, State
from dashboard.notifications.services import Wish
from dashboard.notifications.services.channels import LONGEST_NAME
from dashboard.notifications.services.telling import TRYING
from dashboard.web import errors, times
from dashboard.web.access import action, admins_only, auth
from dashboard.web.forms import ConfirmNameForm, offer_choices, plain, status_of
from dashboard.web.http import PersonRequest
from dashboard.web.office.webhooks import BADGES, NewSecretForm, show_secret
from dashboard.web.times import Moment
from dashboard.web.words import KINDS as ASKED

EVENTS = {
    NoticeEvent.ASKS: "A request waits for approval",
    NoticeEvent.HALF: "Half of its time is over",
    NoticeEvent.LAST_MINUTE: "Its last minute begins",
    NoticeEvent.UNSEEN: "It expired, and nobody had opened it",
    NoticeEvent.HELD: "Approvals are put on hold",
    NoticeEvent.LIFTED: "The hold is lifted",
    NoticeEvent.ASSIGNED: "A request was assigned to you",
    NoticeEvent.TEST: "Test",
    NoticeEvent.CODE: "Code",
    NoticeEvent.PASSKEY_ADDED: "A passkey was added",
    NoticeEvent.PASSKEY_CONFIRMED: "A passkey was confirmed",
    NoticeEvent.PASSKEY_REMOVED: "A passkey was removed",
    NoticeEvent.FACTOR_ADDED: "A second factor was added",
    NoticeEvent.FACTOR_REMOVED: "A second factor was removed",
    NoticeEvent.PASSWORD_CHANGED: "The password was changed",
    NoticeEvent.LINK_MADE: "A sign-in link was made",
    NoticeEvent.KEPT_ADMIN_USED: "The kept admin signed in",
}
_LEAST = [
    ("", "Every request"),
    (Severity.LOW, "Low, medium and high risk"),
    (Severity.MEDIUM, "Medium and high risk"),
    (Severity.HIGH, "High risk only"),
]


class ChannelForm(forms.Form):
    """What the house is told, and where."""

    name = forms.CharField(
        label="Name",
        max_length=LONGEST_NAME,
        help_text="As people call it here.",
        widget=plain(dir="auto"),
    )
    address = forms.CharField(max_length=LONGEST_URL, required=False)
    events = forms.MultipleChoiceField(
        label="What is told",
        choices=[(event, EVENTS[event]) for event in HOUSE_EVENTS],
        widget=forms.CheckboxSelectMultiple,
    )
    least = forms.ChoiceField(label="Of which requests", required=False, choices=_LEAST)
    groups = forms.MultipleChoiceField(
        label="Only what these groups may approve",
        required=False,
        help_text="Tick none to be told of everything.",
        widget=forms.CheckboxSelectMultiple,
    )

    shown = forms.CharField(required=False, widget=forms.HiddenInput)  # when it was changed last

    def __init__(self, kind: ChannelKind, channel: Channel | None, data: Any = None) -> None:
        super().__init__(data, initial=_wanted(channel))
        self.kind, self.kept = kind, channel.address if channel else ""
        address = self.fields["address"]
        address.label, address.help_text = kind.address_label, kind.help
        address.widget = plain(placeholder=kind.example)
        if channel and kind.has_secret:
            address.help_text = f"Leave it empty to keep {kind.where(channel.address)}."
        elif channel:
            self.initial["address"] = channel.address
        names = [group.name for group in groups()]
        if names:
            offer_choices(self, "groups", [(name, name) for name in names])
        else:
            del self.fields["groups"]

    def clean_address(self) -> str:
        """Return the address, or the one that is kept where none was entered."""
        address = str(self.cleaned_data["address"]).strip() or self.kept
        if not address:
            raise forms.ValidationError(f"Enter one, such as {self.kind.example}")
        return address

    def wish(self) -> Wish:
        """Return what the form asks for."""
        fields = self.cleaned_data
        return Wish(
            name=fields["name"],
            address=fields["address"],
            events=fields["events"],
            groups=fields.get("groups", []),
            least=fields["least"],
        )


def _wanted(channel: Channel | None) -> dict[str, Any]:
    if channel is None:
        return {"events": list(HOUSE_EVENTS)}
    return {
        "name": channel.name,
        "events": parse_json(channel.events),
        "groups": parse_json(channel.groups),
        "least": channel.least,
        "shown": channel.changed_at.isoformat(),
    }


@dataclass(frozen=True)
class ChannelRow:
    """A channel of the house, and how it does."""

    channel: Channel
    kind: ChannelKind

    @property
    def where(self) -> str:
        """The part of its address that may be shown."""
        return (
            self.channel.address
            if not self.kind.has_secret
            else self.kind.where(self.channel.address)
        )

    @property
    def fails(self) -> bool:
        """Whether the last attempts all failed, or nothing can be sent by its kind."""
        failed = self.channel.failures >= queries.FAILS_FROM or self.kind.missing()
        return self.channel.is_active and bool(failed)

    @property
    def is_gone(self) -> bool:
        """Whether it is off because its receiver is gone, and nobody did anything yet."""
        return not self.channel.is_active and self.channel.changed_by is None

    @property
    def rests_until(self) -> datetime | None:
        """Until when its receiver asked to be left alone, if it still is."""
        return queries.rests_until(self.channel)


@dataclass(frozen=True)
class MessageRow:
    """One message of a channel, and what became of it."""

    message: Message
    word: str
    badge: str
    next_at: datetime  # when it is tried next, if it waits

    @property
    def event(self) -> str:
        """What happened, in words."""
        return EVENTS[NoticeEvent(self.message.event)]

    @property
    def tried(self) -> Moment | None:
        """When it was tried last."""
        at = self.message.tried_at
        return times.moment(at, database_now()) if at else None

    @property
    def about(self) -> str:
        """The request in words; empty if it is about none."""
        approval = self.message.approval
        return f"{ASKED[Asked(approval.kind)]} of {approval.agent.name}" if approval else ""


@admins_only
@require_safe
def channels(request: PersonRequest) -> HttpResponse:
    """List where the house is told, and the kinds of channel that can be added."""
    context = {
        "rows": [_row(channel) for channel in queries.house_channels()],
        "kinds": kinds_to_add(KINDS),
    }
    return render(request, "office/channels.html", context)


@admins_only
@require_http_methods(["GET", "HEAD", "POST"])
def new_channel(request: PersonRequest, kind: str) -> HttpResponse:
    """Add a channel of one kind."""
    if kind not in KINDS:
        return errors.not_found(request)
    form = ChannelForm(KINDS[kind], None, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            house_channel, secret = services.add_channel(
                kind=kind, wish=form.wish(), by=request.user, auth=auth(request)
            )
        except (AddressRefused, ChannelRefused) as error:
            _blame(form, error)
        else:
            if secret:
                return _show_secret(request, house_channel, secret)
            messages.success(request, f"{house_channel.name} is added. Send a test message.")
            return redirect("web:channel", house_channel.pk)
    context = {"kind": KINDS[kind], "form": form, "missing": KINDS[kind].missing()}
    return render(request, "office/channel_new.html", context, status=status_of(form))


@admins_only
@require_http_methods(["GET", "HEAD", "POST"])
def channel(request: PersonRequest, channel_id: int) -> HttpResponse:
    """Show a channel with its newest messages, and change it."""
    house_channel = get_object_or_404(queries.house_channels(), pk=channel_id)
    if request.method != "POST":
        return _page(request, house_channel)
    form = ChannelForm(kind_of(house_channel.kind), house_channel, request.POST)
    if not form.is_valid():
        return _page(request, house_channel, form=form)
    try:
        services.change_channel(
            channel_id=channel_id,
            wish=form.wish(),
            by=request.user,
            auth=auth(request),
            shown=form.cleaned_data["shown"],
        )
    except ChangedMeanwhile as error:
        messages.warning(request, str(error))
        return redirect("web:channel", channel_id)
    except (AddressRefused, ChannelRefused) as error:
        _blame(form, error)
        return _page(request, house_channel, form=form)
    messages.success(request, "The channel is saved.")
    return redirect("web:channel", channel_id)


@admins_only
@require_safe
def channel_messages(request: PersonRequest, channel_id: int) -> HttpResponse:
    """Show the newest messages of a channel, while the page waits for one."""
    house_channel = get_object_or_404(queries.house_channels(), pk=channel_id)
    return render(request, "office/_channel_messages.html", _messages(house_channel))


@admins_only
@action("web:channel")
def try_channel(request: PersonRequest, channel_id: int) -> HttpResponse:
    """Send a message that says nothing but that the channel works."""
    try:
        services.try_channel(channel_id=channel_id, by=request.user, auth=auth(request))
    except NotSent as error:
        messages.error(request, str(error))
    return redirect("web:channel", channel_id)


@admins_only
@action("web:channel")
def new_secret(request: PersonRequest, channel_id: int) -> HttpResponse:
    """Make another secret and show it, once."""
    house_channel = get_object_or_404(queries.house_channels(), pk=channel_id)
    form = NewSecretForm(request.POST)
    at_once = form.is_valid() and form.cleaned_data["at_once"]
    try:
        secret = services.new_channel_secret(
            channel_id=channel_id, at_once=at_once, by=request.user, auth=auth(request)
        )
    except ChannelRefused as error:
        messages.error(request, str(error))
        return redirect("web:channel", channel_id)
    return _show_secret(request, house_channel, secret, overlaps=not at_once)


@admins_only
@action("web:channel")
def switch(request: PersonRequest, channel_id: int) -> HttpResponse:
    """Pause a channel, or go on with it."""
    on = request.POST.get("on") == "yes"
    services.switch_channel(channel_id=channel_id, on=on, by=request.user, auth=auth(request))
    state = "on. It is told what happens from now on." if on else "paused. Nothing is sent."
    messages.success(request, f"The channel is {state}")
    return redirect("web:channel", channel_id)


@admins_only
@action("web:channel")
def remove(request: PersonRequest, channel_id: int) -> HttpResponse:
    """Remove a channel, once its name was typed."""
    house_channel = get_object_or_404(queries.house_channels(), pk=channel_id)
    form = ConfirmNameForm(house_channel.name, request.POST)
    if not form.is_valid():
        return _page(request, house_channel, confirm_form=form)
    services.remove_channel(channel_id=channel_id, by=request.user, auth=auth(request))
    messages.success(request, f"{house_channel.name} is removed.")
    return redirect("web:channels")


def kinds_to_add(kinds: Mapping[str, ChannelKind]) -> Sequence[tuple[str, ChannelKind, str]]:
    """Return the kinds with their names, and what is missing before something can be sent."""
    return [(name, kind, kind.missing()) for name, kind in kinds.items()]


def _page(
    request: PersonRequest,
    found: Channel,
    *,
    form: ChannelForm | None = None,
    confirm_form: ConfirmNameForm | None = None,
) -> HttpResponse:
    kind = kind_of(found.kind)
    form = form or ChannelForm(kind, found)
    confirm_form = confirm_form or ConfirmNameForm(found.name)
    context = {
        **_messages(found),
        "form": form,
        "confirm_form": confirm_form,
        "secret_form": NewSecretForm(),
        "missing": kind.missing(),
    }
    status = status_of(form, confirm_form)
    return render(request, "office/channel.html", context, status=status)


def _messages(found: Channel) -> dict[str, Any]:
    rows = message_rows(found)
    return {
        "channel": found,
        "row": _row(found),
        "rows": rows,
        "tried": next((row for row in rows if row.message.event == NoticeEvent.TEST), None),
        "shown": queries.SHOWN,
    }


def message_rows(found: Channel, limit: int = queries.SHOWN) -> list[MessageRow]:
    """Return the newest messages of a channel, and what became of each."""
    rested_at = queries.rests_until(found)
    return [
        MessageRow(message, *BADGES[State(message.state)], _next_at(message, rested_at))
        for message in queries.latest_messages(found, limit)
    ]


def _next_at(message: Message, rested_at: datetime | None) -> datetime:
    if rested_at is None or message.event in TRYING:
        return message.due_at
    return max(message.due_at, rested_at)


def _row(found: Channel) -> ChannelRow:
    return ChannelRow(found, kind_of(found.kind))


def _blame(form: ChannelForm, error: WebhookError) -> None:
    """Say what is wrong at the field that it is about."""
    if isinstance(error, AddressRefused):
        form.add_error("address", f"{error} Nothing was changed.")
    else:
        form.add_error(None, str(error))


def _show_secret(
    request: PersonRequest, found: Channel, secret: str, *, overlaps: bool = False
) -> HttpResponse:
    back = reverse("web:channel", args=[found.pk])
    return show_secret(request, secret, f"the channel {found.name}", back, overlaps=overlaps)
