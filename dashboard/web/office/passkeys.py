"""The passkeys of a person: added and removed by themselves, confirmed and removed by admins."""

from __future__ import annotations

import json
from http import HTTPStatus

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from dashboard.accounts import webauthn
from dashboard.accounts.errors import NotPermitted, NotSigned, TooManyAttempts
from dashboard.accounts.models import Passkey, User
from dashboard.accounts.services import factors, passkeys
from dashboard.accounts.services.sessions import end_sessions
from dashboard.web.access import action, actor, admins_only, has_shown, lacks_second_factor
from dashboard.web.http import PRESSED, PersonRequest
from dashboard.web.office.factors import (
    OTHERS_ENDED,
    challenge_in,
    check_shown,
    codes_page,
    end_others,
    forget_shown,
    note_shown,
    proof_context,
    refusal,
    what_is_asked,
)
from dashboard.web.office.present import PresentForm, confirm_present, needs_present
from dashboard.web.office.sign_in import next_path, slowed, status_of

_TO_MAKE = "to_make"
"""In the session: what a device answers that makes a passkey."""

_ADDED = "Your passkey {} is added."
_REMOVED = "The passkey {} is removed."


def _printable(text: str) -> None:
    if not text.isprintable():
        raise ValidationError("Use letters, digits and signs that can be seen.")


class PasskeyForm(PresentForm):
    """What a person calls a new passkey, and what their device made."""

    name = forms.CharField(
        label="Name",
        max_length=100,
        help_text="Such as Phone, or Key at the beamline.",
        validators=[_printable],
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    made = forms.CharField(max_length=webauthn.LONGEST, widget=forms.HiddenInput())
    field_order = ("name", "present", "made")


@sensitive_post_parameters("present", "made")
@require_http_methods(["GET", "HEAD", "POST"])
def own_passkeys(request: PersonRequest) -> HttpResponse:
    """List the passkeys of a person; add one."""
    form = PasskeyForm(request.POST if request.method == "POST" else None)
    if not needs_present(request):
        del form.fields["present"]
    if not form.is_valid():
        status = HTTPStatus.UNPROCESSABLE_ENTITY if form.is_bound else HTTPStatus.OK
        return _page(request, form, status)
    data = form.cleaned_data
    try:
        confirm_present(request, form)
        check_shown(request)
        challenge = challenge_in(request, _TO_MAKE)
        codes = factors.add_passkey(
            request.user,
            name=data["name"],
            made=data["made"],
            challenge=challenge,
            by=actor(request),
        )
    except (NotPermitted, NotSigned, TooManyAttempts) as error:
        form.add_error(None, str(error))
        return slowed(_page(request, form, status_of(error)), error)
    del request.session[_TO_MAKE]
    note_shown(request, passkeys.PASSKEY)
    messages.success(request, _ADDED.format(data["name"]))
    return codes_page(request, codes, "web:passkeys")


@action("web:passkeys", arguments=0)
@sensitive_post_parameters("code", "signed")
def remove_own(request: PersonRequest, passkey_id: int) -> HttpResponse:
    """Remove one of a person's own, once a second factor was shown."""
    passkey = get_object_or_404(Passkey, pk=passkey_id, person=request.user, removal=None)
    if error := refusal(request):
        messages.error(request, error)
        return redirect("web:passkeys")
    factors.remove_passkey(passkey, remover=request.user, by=actor(request))
    end_others(request)
    forget_shown(request)
    removed = f"{_REMOVED.format(passkey)} {OTHERS_ENDED}"
    messages.success(request, f"{removed} {what_is_asked(request.user)}")
    return redirect("web:passkeys")


@admins_only
@action("web:person")
def confirm(request: PersonRequest, person_id: int, passkey_id: int) -> HttpResponse:
    """Have a passkey of somebody count at once."""
    passkey = _of(person_id, passkey_id)
    is_own = passkey.person == request.user
    if not is_own and factors.has_factor(request.user) and (error := refusal(request)):
        messages.error(request, error)
        return redirect("web:person", person_id)
    try:
        passkeys.confirm(passkey, admin=request.user, by=actor(request))
    except NotPermitted as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"The passkey {passkey} of {passkey.person} is confirmed.")
    return redirect("web:person", person_id)


@admins_only
@action("web:person")
def remove(request: PersonRequest, person_id: int, passkey_id: int) -> HttpResponse:
    """Remove a passkey of somebody."""
    passkey = _of(person_id, passkey_id)
    if passkey.person == request.user:
        messages.error(request, "Remove your own in your account.")
        return redirect("web:person", person_id)
    factors.remove_passkey(passkey, remover=request.user, by=actor(request))
    end_sessions(passkey.person)  # whoever has the device may be signed in by it
    messages.success(request, f"{_REMOVED.format(passkey)} {passkey.person} is signed out.")
    return redirect("web:person", person_id)


def _of(person_id: int, passkey_id: int) -> Passkey:
    keys = Passkey.objects.select_related("person")
    person = get_object_or_404(User, pk=person_id)
    passkey: Passkey = get_object_or_404(keys, pk=passkey_id, person=person, removal=None)
    return passkey


def _page(request: PersonRequest, form: PasskeyForm, status: HTTPStatus) -> HttpResponse:
    why_unavailable = webauthn.why_unavailable()
    options = None
    if not why_unavailable:
        challenge = challenge_in(request, _TO_MAKE, fresh=True)
        options = json.dumps(passkeys.creation_options(request.user, challenge))
    context = {
        "form": form,
        "rows": rows_of(passkeys.passkeys_of(request.user)),
        "why_unavailable": why_unavailable,
        "make_options": options,
        "lacks": lacks_second_factor(request),
        "unshown": factors.has_factor(request.user) and not has_shown(request),
        "pressed": PRESSED in request.GET,
        "next": next_path(request),
        **proof_context(request, request.user),
    }
    return render(request, "office/passkeys.html", context, status=status)


def rows_of(keys: list[Passkey]) -> list[dict[str, object]]:
    """Return passkeys as pages show them."""
    return [
        {
            "key": key,
            "counts_from": passkeys.counts_from(key),
            "counts": passkeys.counts(key, timezone.now()),
            "is_usable": key.host == webauthn.host(),
        }
        for key in keys
    ]
