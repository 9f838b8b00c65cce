"""The second factor: asked for when people sign in, added and removed on a page of their own."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from http import HTTPStatus
from typing import Any

import qrcode
import qrcode.image.svg
from allauth.account.internal.flows.login import record_authentication
from allauth.account.internal.stagekit import get_pending_stage
from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render, resolve_url
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from dashboard.accounts import webauthn
from dashboard.accounts.errors import AccountError, NotPermitted, NotSigned, TooManyAttempts
from dashboard.accounts.models import User
from dashboard.accounts.services import browsers, factors, passkeys
from dashboard.accounts.services.linking import is_linked
from dashboard.audit.services import Actor
from dashboard.web.access import (
    AUTH_KEY,
    action,
    actor,
    address,
    admins_only,
    has_shown,
    lacks_second_factor,
)
from dashboard.web.http import PRESSED, PersonRequest
from dashboard.web.office.present import PresentForm, confirm_present, needs_present
from dashboard.web.office.sign_in import next_path, slowed, status_of

_UNSHOWN = (
    "You have a second factor and did not show it in this session. Nothing was changed. Show it "
    "on the page of your passkeys first."
)
_NEW_APP = "new_app"
"""In the session: the secret of an app that is not added yet."""

CHALLENGE_S = 1800
"""How long a page may stay open before a device signs, in seconds."""

OTHERS_ENDED = "Your other browsers are signed out."

_TO_SIGN = "to_sign"
"""In the session: what a passkey has to sign next, to show that it is its person."""

_CODE = forms.TextInput(
    attrs={
        "autocomplete": "one-time-code",
        "inputmode": "numeric",
        "spellcheck": "false",
    }
)


class CodeForm(forms.Form):
    """A code of the app, or a recovery code."""

    code = forms.CharField(label="Code", max_length=40, widget=_CODE)


class ProofForm(forms.Form):
    """A code, or what a passkey signed; ``office/_show_factor.html`` draws it."""

    code = forms.CharField(required=False, max_length=40)

    signed = forms.CharField(required=False, max_length=webauthn.LONGEST)

    def clean(self) -> None:
        """Refuse a form with neither."""
        if not any(self.cleaned_data.values()):
            raise forms.ValidationError("Type a code, or use a passkey.")


class AppForm(PresentForm, CodeForm):
    """The first code of an app, and the password where that is asked for."""

    field_order = ("code", "present")


@login_not_required
@sensitive_post_parameters("code")
@require_http_methods(["GET", "HEAD", "POST"])
def asked(request: HttpRequest) -> HttpResponse:
    """Ask whoever showed the first proof for the second."""
    stage = get_pending_stage(request)
    if stage is None or stage.key != "second_factor":
        return redirect("web:sign_in")
    form = ProofForm(request.POST if request.method == "POST" else None)
    person = stage.login.user
    if not form.is_valid():
        status = HTTPStatus.UNPROCESSABLE_ENTITY if form.is_bound else HTTPStatus.OK
        return _asked_page(request, person, form, status)
    try:
        kind = _confirm(request, person, form)
    except (NotPermitted, NotSigned, TooManyAttempts) as error:
        form.add_error(None, f"{error} You are not signed in.")
        return slowed(_asked_page(request, person, form, status_of(error)), error)
    record_authentication(request, person, "mfa", type=kind)
    response: HttpResponse = stage.exit()
    return response


@sensitive_post_parameters("code", "present")
@require_http_methods(["GET", "HEAD", "POST"])
def second_factor(request: PersonRequest) -> HttpResponse:
    """Show the second factor of a person; add an app."""
    form = AppForm(request.POST if request.method == "POST" else None)
    if not needs_present(request):
        del form.fields["present"]
    if not form.is_valid():
        status = HTTPStatus.UNPROCESSABLE_ENTITY if form.is_bound else HTTPStatus.OK
        return _page(request, form, status)
    secret = request.session.get(_NEW_APP, "")
    try:
        confirm_present(request, form)
        check_shown(request)
        codes = factors.add_app(
            request.user, secret, _digits(form.cleaned_data["code"]), by=actor(request)
        )
    except (NotPermitted, TooManyAttempts) as error:
        form.add_error(None, str(error))
        return slowed(_page(request, form, status_of(error)), error)
    del request.session[_NEW_APP]
    note_shown(request, factors.TOTP)
    return codes_page(request, codes, "web:second_factor")


def check_shown(request: PersonRequest) -> None:
    """Have nobody add a factor who has one and did not show it in this session.

    Raises:
        NotPermitted: They did not.
    """
    if factors.has_factor(request.user) and not has_shown(request):
        raise NotPermitted(_UNSHOWN)


def note_shown(request: PersonRequest, kind: str) -> None:
    """Note that somebody showed, in this session, a second factor; each kind once."""
    methods = request.session.get(AUTH_KEY, "").split("+")
    request.session[AUTH_KEY] = "+".join(dict.fromkeys([*methods, kind]))


@action("web:second_factor", arguments=0)
@sensitive_post_parameters("code")
def new_codes(request: PersonRequest) -> HttpResponse:
    """Replace the recovery codes, once a code was shown."""
    if error := refusal(request):
        messages.error(request, error)
        return redirect("web:second_factor")
    codes = factors.new_recovery_codes(request.user, by=actor(request))
    end_others(request)
    messages.success(request, f"The codes before no longer count. {OTHERS_ENDED}")
    return codes_page(request, codes, "web:second_factor")


@action("web:second_factor", arguments=0)
@sensitive_post_parameters("code")
def remove(request: PersonRequest) -> HttpResponse:
    """Remove the second factor, once a code was shown."""
    if error := refusal(request):
        messages.error(request, error)
        return redirect("web:second_factor")
    factors.remove_app(request.user, by=actor(request))
    end_others(request)
    forget_shown(request)
    removed = f"Your app is removed. {OTHERS_ENDED}"
    messages.success(request, f"{removed} {what_is_asked(request.user)}")
    return redirect("web:second_factor")


def end_others(request: PersonRequest) -> None:
    """Sign a person out elsewhere: whoever has what was removed may be signed in by it."""
    browsers.end_others(request.user, request.session.session_key or "", by=actor(request))


def what_is_asked(person: User) -> str:
    """Say what somebody shows from now on, once they removed something."""
    if factors.has_factor(person):
        return "You are still asked for a second factor."
    if factors.must_have(person):
        return "A second factor is demanded of you here: until you add one, you may only read."
    return "You are no longer asked for a second factor."


def forget_shown(request: PersonRequest) -> None:
    """Have a session do no more than one that began without a second factor, once one is gone."""
    request.session[AUTH_KEY] = request.session.get(AUTH_KEY, "").partition("+")[0]


@admins_only
@action("web:person")
def reset(request: PersonRequest, person_id: int) -> HttpResponse:
    """Remove the second factor of somebody who lost theirs."""
    person = get_object_or_404(User, pk=person_id)
    if person == request.user:
        messages.error(request, "Remove your own in your account.")
    elif factors.remove_all(person, remover=request.user, by=actor(request)):
        messages.success(request, f"The second factor of {person} is removed.")
    return redirect("web:person", person_id)


@action("web:passkeys", arguments=0)
@sensitive_post_parameters("code", "signed")
def show(request: PersonRequest) -> HttpResponse:
    """Take the second factor of somebody who is signed in and did not show it yet."""
    form = ProofForm(request.POST)
    try:
        if not form.is_valid():
            raise NotPermitted("Show your second factor first.")
        kind = _confirm(request, request.user, form, actor(request))
    except AccountError as error:
        messages.error(request, f"{error} Nothing was changed.")
    else:
        note_shown(request, kind)
    return redirect("web:passkeys")


def refusal(request: PersonRequest) -> str:
    """Check the proof that comes with a form; say why it does not count, or nothing."""
    form = ProofForm(request.POST)
    if not form.is_valid():
        return "Show your second factor first. Nothing was changed."
    try:
        _confirm(request, request.user, form, actor(request))
    except AccountError as error:
        return f"{error} Nothing was changed."
    return ""


def _confirm(request: HttpRequest, person: User, form: ProofForm, by: Actor | None = None) -> str:
    data, here = form.cleaned_data, address(request)
    if not data["signed"]:
        return factors.confirm(person, data["code"], address=here, by=by)
    challenge = challenge_in(request, _TO_SIGN)
    kind = factors.confirm_passkey(person, data["signed"], challenge, address=here, by=by)
    del request.session[_TO_SIGN]
    return kind


def challenge_in(request: HttpRequest, name: str, *, fresh: bool = False) -> bytes:
    """Return what a device has to sign in this session, the same until it has or it is too old.

    It says what it is for, so it is never that of an approval.

    Args:
        name: In the session.
        fresh: Whether this is for a page, which gets another one where the last is half over.
    """
    nonce, at = request.session.get(name) or ("", 0)
    age_s = time.time() - at
    if not 0 <= age_s < (CHALLENGE_S / 2 if fresh else CHALLENGE_S):
        nonce, at = request.session[name] = (secrets.token_hex(32), time.time())
    statement = {"type": "factor.v1", "for": name, "nonce": nonce}
    return hashlib.sha256(json.dumps(statement, sort_keys=True).encode()).digest()


def proof_context(request: HttpRequest, person: User) -> dict[str, Any]:
    """Return what a form needs in which a second factor is shown."""
    keys = [] if webauthn.why_unavailable() else passkeys.usable(person)
    options = keys and passkeys.request_options(keys, challenge_in(request, _TO_SIGN, fresh=True))
    return {"has_app": factors.has_app(person), "sign_options": options and json.dumps(options)}


def _asked_page(
    request: HttpRequest, person: User, form: ProofForm, status: HTTPStatus
) -> HttpResponse:
    context = {"form": form, **proof_context(request, person)}
    return render(request, "office/second_factor_asked.html", context, status=status)


def _page(request: PersonRequest, form: AppForm, status: HTTPStatus) -> HttpResponse:
    person = request.user
    present = factors.factors_of(person)
    context = {
        "form": form,
        "factors": present,
        "passkeys": passkeys.passkeys_of(person),
        **proof_context(request, person),
        "is_linked": is_linked(person),
        "must": factors.must_have(person),
        "lacks": lacks_second_factor(request),
        "unshown": factors.has_factor(person) and not has_shown(request),
        "pressed": PRESSED in request.GET,
        "next": next_path(request),
    }
    if not present.has_app:
        secret = request.session.setdefault(_NEW_APP, factors.new_secret())
        context |= {"secret": _grouped(secret), "picture": _picture(person, secret)}
    return render(request, "office/second_factor.html", context, status=status)


def codes_page(request: PersonRequest, codes: list[str], page: str) -> HttpResponse:
    """Show recovery codes, this once, or lead on to ``page`` where there are none to show."""
    if not codes:
        return redirect(page)
    then = next_path(request) or resolve_url("web:account")
    return render(request, "office/recovery_codes.html", {"codes": codes, "next": then})


def _digits(code: str) -> str:
    return "".join(code.split())


def _grouped(secret: str) -> str:
    return " ".join(secret[index : index + 4] for index in range(0, len(secret), 4))


def _picture(person: User, secret: str) -> str:
    code = qrcode.make(
        factors.address_of(person, secret), image_factory=qrcode.image.svg.SvgPathFillImage
    )
    return f"data:image/svg+xml;base64,{base64.b64encode(code.to_string()).decode()}"
