"""The second factor: asked for when people sign in, added and removed on a page of their own."""

from __future__ import annotations

import base64
from http import HTTPStatus

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

from dashboard.accounts.errors import AccountError, NotPermitted, TooManyAttempts
from dashboard.accounts.models import User
from dashboard.accounts.services import factors
from dashboard.accounts.services.linking import is_linked
from dashboard.web.access import AUTH_KEY, action, actor, address, admins_only, lacks_second_factor
from dashboard.web.http import PRESSED, PersonRequest
from dashboard.web.office.present import PresentForm, confirm_present, needs_present
from dashboard.web.office.sign_in import next_path, slowed, status_of

_NEW_APP = "new_app"
"""In the session: the secret of an app that is not added yet."""

_CODE = forms.TextInput(
    attrs={
        "autocomplete": "one-time-code",
        "inputmode": "numeric",
        "spellcheck": "false",
        "autofocus": True,
    }
)


class CodeForm(forms.Form):
    """A code of the app, or a recovery code."""

    code = forms.CharField(label="Code", max_length=40, widget=_CODE)


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
    form = CodeForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        status = HTTPStatus.UNPROCESSABLE_ENTITY if form.is_bound else HTTPStatus.OK
        return render(request, "office/second_factor_asked.html", {"form": form}, status=status)
    person = stage.login.user
    try:
        kind = factors.confirm(person, form.cleaned_data["code"], address=address(request))
    except (NotPermitted, TooManyAttempts) as error:
        form.add_error("code", f"{error} You are not signed in.")
        page = render(
            request, "office/second_factor_asked.html", {"form": form}, status=status_of(error)
        )
        return slowed(page, error)
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
        codes = factors.add_app(
            request.user, secret, _digits(form.cleaned_data["code"]), by=actor(request)
        )
    except (NotPermitted, TooManyAttempts) as error:
        form.add_error(None, str(error))
        return slowed(_page(request, form, status_of(error)), error)
    del request.session[_NEW_APP]
    request.session[AUTH_KEY] = f"{request.session.get(AUTH_KEY, '')}+{factors.TOTP}"
    return _codes_page(request, codes)


@action("web:second_factor", arguments=0)
@sensitive_post_parameters("code")
def new_codes(request: PersonRequest) -> HttpResponse:
    """Replace the recovery codes, once a code was shown."""
    if error := _refusal(request):
        messages.error(request, error)
        return redirect("web:second_factor")
    return _codes_page(request, factors.new_recovery_codes(request.user, by=actor(request)))


@action("web:second_factor", arguments=0)
@sensitive_post_parameters("code")
def remove(request: PersonRequest) -> HttpResponse:
    """Remove the second factor, once a code was shown."""
    if error := _refusal(request):
        messages.error(request, error)
        return redirect("web:second_factor")
    factors.remove(request.user, by=actor(request))
    # Where one is demanded, this session does no more than one that began without it.
    request.session[AUTH_KEY] = request.session.get(AUTH_KEY, "").partition("+")[0]
    messages.success(request, "Your second factor is removed. Your password alone is enough.")
    return redirect("web:second_factor")


@admins_only
@action("web:person")
def reset(request: PersonRequest, person_id: int) -> HttpResponse:
    """Remove the second factor of somebody who lost theirs."""
    person = get_object_or_404(User, pk=person_id)
    if person == request.user:
        messages.error(request, "Remove your own in your account, with a code of it.")
    elif factors.remove(person, by=actor(request)):
        messages.success(request, f"The second factor of {person} is removed.")
    return redirect("web:person", person_id)


def _refusal(request: PersonRequest) -> str:
    form = CodeForm(request.POST)
    if not form.is_valid():
        return "Type a code of your app first. Nothing was changed."
    try:
        code = form.cleaned_data["code"]
        factors.confirm(request.user, code, address=address(request), by=actor(request))
    except AccountError as error:
        return f"{error} Nothing was changed."
    return ""


def _page(request: PersonRequest, form: AppForm, status: HTTPStatus) -> HttpResponse:
    person = request.user
    present = factors.factors_of(person)
    context = {
        "form": form,
        "code_form": CodeForm(auto_id="confirm_%s"),
        "factors": present,
        "is_linked": is_linked(person),
        "must": factors.must_have(person),
        "lacks": lacks_second_factor(request),
        "pressed": PRESSED in request.GET,
        "next": next_path(request),
    }
    if not present.has_app:
        secret = request.session.setdefault(_NEW_APP, factors.new_secret())
        context |= {"secret": _grouped(secret), "picture": _picture(person, secret)}
    return render(request, "office/second_factor.html", context, status=status)


def _codes_page(request: PersonRequest, codes: list[str]) -> HttpResponse:
    return render(
        request,
        "office/recovery_codes.html",
        {"codes": codes, "next": next_path(request) or resolve_url("web:account")},
    )


def _digits(code: str) -> str:
    return "".join(code.split())


def _grouped(secret: str) -> str:
    return " ".join(secret[index : index + 4] for index in range(0, len(secret), 4))


def _picture(person: User, secret: str) -> str:
    code = qrcode.make(
        factors.address_of(person, secret), image_factory=qrcode.image.svg.SvgPathFillImage
    )
    return f"data:image/svg+xml;base64,{base64.b64encode(code.to_string()).decode()}"
