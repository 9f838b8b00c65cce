"""People say where they themselves are told when no page is open.

Whoever decides is told of requests, and everybody of what happens to their account.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from dashboard.accounts import roles
from dashboard.clock import database_now
from dashboard.notifications import queries, services
from dashboard.notifications.addresses import LONGEST_URL
from dashboard.notifications.channels import KINDS, kind_of
from dashboard.notifications.channels.kind import ChannelKind
from dashboard.notifications.errors import (
    AddressRefused,
    ChangeNotAllowed,
    ChannelRefused,
    CodeRefused,
    NotSent,
)
from dashboard.notifications.models import Channel, Choice, NoticeEvent
from dashboard.notifications.services.own_channels import code_ends_at, is_code_valid
from dashboard.web import errors
from dashboard.web.access import action, auth, for_readers
from dashboard.web.forms import Incomplete, cleaned, offer_choices, plain, status_of
from dashboard.web.http import PersonRequest
from dashboard.web.office.channels import ChannelRow, MessageRow, message_rows

CHOICES = [
    (Choice.ASSIGNED, "What is assigned to me"),
    (Choice.HIGH, "High risk that I may approve"),
    (Choice.ALL, "All that I may approve"),
]


class TellMeForm(forms.Form):
    """One more place where a person is told."""

    kind = forms.ChoiceField(label="How", widget=forms.RadioSelect)
    address = forms.CharField(label="Address", max_length=LONGEST_URL, widget=plain())
    choice = forms.ChoiceField(
        label="Tell me of", choices=CHOICES, initial=Choice.ASSIGNED, widget=forms.RadioSelect
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, auto_id="told_%s")
        kinds = [(name, kind) for name, kind in KINDS.items() if is_offered(kind)]
        offer_choices(self, "kind", [(name, kind.label) for name, kind in kinds])
        self.fields["kind"].initial = kinds[0][0] if kinds else ""
        examples = " or ".join(kind.example for _, kind in kinds)
        self.fields["address"].help_text = f"Such as {examples} A code is sent there first."


class CodeForm(forms.Form):
    """The code that was sent to an address."""

    code = forms.CharField(max_length=40)


class ChoiceForm(forms.Form):
    """What a person is told of at one address."""

    choice = forms.ChoiceField(choices=CHOICES)


@dataclass(frozen=True)
class OwnRow(ChannelRow):
    """One place where a person is told."""

    newest: MessageRow | None

    @property
    def is_confirmed(self) -> bool:
        """Whether its person proved that it is theirs."""
        return self.channel.confirmed_at is not None

    @property
    def is_removed(self) -> bool:
        """Whether its person removed it, less than a day ago."""
        return self.channel.removed_at is not None

    @property
    def code_ends_at(self) -> datetime | None:
        """Until when the newest code is valid."""
        return code_ends_at(self.channel)

    @property
    def is_code_over(self) -> bool:
        """Whether the newest code no longer proves anything."""
        return not is_code_valid(self.channel, database_now())

    @property
    def choices(self) -> list[tuple[str, str, bool]]:
        """What can be chosen, and whether it is."""
        return [(value, words, value == self.channel.choice) for value, words in CHOICES]

    @property
    def tried(self) -> MessageRow | None:
        """The newest message, if it is the code that is asked for, or a test after it."""
        event = NoticeEvent.TEST if self.is_confirmed else NoticeEvent.CODE
        return self.newest if self.newest and self.newest.message.event == event else None

    @property
    def is_on_its_way(self) -> bool:
        """Whether a code or a test is sent right now."""
        tried = self.tried
        return tried is not None and tried.word == "waiting" and not tried.message.said


def is_offered(kind: ChannelKind) -> bool:
    """Whether a person can be told by this kind of channel now."""
    return kind.is_for_people and not kind.missing()


@for_readers
@require_http_methods(["GET", "HEAD", "POST"])
def tell_me(request: PersonRequest) -> HttpResponse:
    """Show where a person is told, and add a place, to which a code is sent."""
    form = TellMeForm(request.POST if request.method == "POST" else None)
    if not roles.may_decide(request.user):
        del form.fields["choice"]
    if not form.is_valid():
        return _page(request, form)
    fields = form.cleaned_data
    try:
        services.add_own(
            person=request.user,
            kind=fields["kind"],
            address=fields["address"].strip(),
            choice=fields.get("choice", Choice.ASSIGNED),
            auth=auth(request),
        )
    except AddressRefused as error:
        form.add_error("address", f"{error} Nothing was changed.")
    except ChannelRefused as error:
        form.add_error("address", str(error))
    except ChangeNotAllowed:
        return errors.forbidden(request)
    else:
        messages.success(request, "A code is on its way. Enter it below, and you are told there.")
        return redirect("web:tell_me")
    return _page(request, form)


Verb = Callable[[PersonRequest, int], str]


def _verb(does: Verb) -> Callable[..., HttpResponseBase]:
    """Make a view of what does something about one address and returns what to say of it."""

    @action("web:tell_me", arguments=0)
    @wraps(does)
    def view(request: PersonRequest, channel_id: int) -> HttpResponse:
        try:
            messages.success(request, does(request, channel_id))
        except (ChannelRefused, CodeRefused, Incomplete, NotSent) as error:
            messages.error(request, str(error))
        except ChangeNotAllowed:
            return errors.forbidden(request)
        return redirect("web:tell_me")

    return view


@for_readers
@_verb
def confirm(request: PersonRequest, channel_id: int) -> str:
    """Take the code that was sent to an address."""
    code = cleaned(CodeForm(request.POST))["code"]
    services.confirm_own(person=request.user, channel_id=channel_id, code=code, auth=auth(request))
    return "The address is confirmed. You are told there from now on."


@for_readers
@_verb
def send_again(request: PersonRequest, channel_id: int) -> str:
    """Send another code."""
    services.send_code_again(person=request.user, channel_id=channel_id, auth=auth(request))
    return "Another code is on its way. The one before it is no longer valid."


@for_readers
@_verb
def choose(request: PersonRequest, channel_id: int) -> str:
    """Change what a person is told of at an address."""
    choice = cleaned(ChoiceForm(request.POST))["choice"]
    services.change_own(
        person=request.user, channel_id=channel_id, choice=choice, auth=auth(request)
    )
    return "Saved."


@for_readers
@_verb
def try_own(request: PersonRequest, channel_id: int) -> str:
    """Send a message that says nothing but that the channel works."""
    services.try_own(person=request.user, channel_id=channel_id, auth=auth(request))
    return "A test message is on its way."


@for_readers
@_verb
def switch(request: PersonRequest, channel_id: int) -> str:
    """Pause a place, or go on with it."""
    on = request.POST.get("on") == "yes"
    services.switch_own(person=request.user, channel_id=channel_id, on=on, auth=auth(request))
    if on:
        return "You are told there again."
    return "Paused. Nothing is sent there but what happens to your account."


@for_readers
@_verb
def remove(request: PersonRequest, channel_id: int) -> str:
    """Forget a place."""
    if services.remove_own(person=request.user, channel_id=channel_id, auth=auth(request)):
        return "The address is removed. For a day it is told of what happens to your account."
    return "The address is removed."


def _page(request: PersonRequest, form: TellMeForm) -> HttpResponse:
    rows = [_row(channel) for channel in queries.own_channels(request.user)]
    context = {
        "rows": rows,
        "form": form,
        "can_add": any(is_offered(kind) for kind in KINDS.values()),
    }
    return render(request, "office/tell_me.html", context, status=status_of(form))


def _row(channel: Channel) -> OwnRow:
    newest = message_rows(channel, 1)
    return OwnRow(channel, kind_of(channel.kind), newest[0] if newest else None)
