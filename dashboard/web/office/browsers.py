"""The browsers in which a person is signed in, and how they end one or all."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from dashboard.accounts import sessions
from dashboard.accounts.errors import NotPermitted, TooManyAttempts
from dashboard.accounts.models import BrowserSession
from dashboard.accounts.services import browsers
from dashboard.web.access import action, actor
from dashboard.web.http import PersonRequest
from dashboard.web.office.factors import check_shown
from dashboard.web.office.present import PresentForm, confirm_present, needs_present
from dashboard.web.office.sign_in import slowed, status_of

_BROWSERS = {
    "Edg": "Edge",
    "OPR": "Opera",
    "Firefox": "Firefox",
    "FxiOS": "Firefox",
    "CriOS": "Chrome",
    "Chrome": "Chrome",
    "Safari": "Safari",
}  # in this order: most call themselves by the names of several
_SYSTEMS = {
    "iPhone": "an iPhone",
    "iPad": "an iPad",
    "Android": "Android",
    "Windows": "Windows",
    "Mac OS X": "a Mac",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}
_METHODS = {
    "password": "password",
    "link": "sign-in link",
    "sso": "single sign-on",
    "totp": "code of an app",
    "passkey": "passkey",
    "recovery_codes": "recovery code",
}


_NOT_REMEMBERED = (
    "This browser is not remembered: nobody could ask your provider later whether you are still "
    "there. Nothing was changed."
)


class Row(NamedTuple):
    """One browser, as the page shows it."""

    session: BrowserSession
    device: str
    method: str
    is_present: bool


def device_of(user_agent: str) -> str:
    """Name a browser and its system, as far as it says."""
    browser = next((name for mark, name in _BROWSERS.items() if mark in user_agent), "A browser")
    system = next((name for mark, name in _SYSTEMS.items() if mark in user_agent), "")
    return f"{browser} on {system}" if system else browser


def _row(session: BrowserSession, present_key: str | None) -> Row:
    words = [_METHODS.get(word, word) for word in session.method.split("+")]
    is_present = session.session_key == present_key
    return Row(session, device_of(session.browser), " and ".join(words), is_present)


@require_safe
def list_browsers(request: PersonRequest) -> HttpResponse:
    """Show where somebody is signed in."""
    return _page(request, _form(request))


@sensitive_post_parameters("present")
@action("web:browsers", arguments=0)
def remember(request: PersonRequest) -> HttpResponse:
    """Have this browser stay signed in for 30 days, for reading, once its person is confirmed.

    A session that somebody else has got hold of would otherwise last for a month.
    """
    form = _form(request, request.POST)
    if not form.is_valid():
        return _page(request, form, HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        confirm_present(request, form)
        check_shown(request)
    except (NotPermitted, TooManyAttempts) as error:
        form.add_error(None, str(error))
        return slowed(_page(request, form, status_of(error)), error)
    if not browsers.note_remembered(request.session.session_key or "", by=actor(request)):
        messages.error(request, _NOT_REMEMBERED)
        return redirect("web:browsers")
    sessions.remember(request.session, time.time())
    messages.success(
        request, "This browser stays signed in for 30 days. To decide, it will ask you to sign in."
    )
    return redirect("web:browsers")


@action("web:browsers", arguments=0)
def end(request: PersonRequest, session_id: int) -> HttpResponse:
    """End one of them."""
    if browsers.end(request.user, session_id, by=actor(request)):
        messages.success(request, "That browser is signed out.")
    else:
        messages.info(request, "That browser was signed out already.")
    return redirect("web:browsers")


@action("web:browsers", arguments=0)
def end_others(request: PersonRequest) -> HttpResponse:
    """End all of them but this one."""
    key = request.session.session_key or ""
    count = browsers.end_others(request.user, key, by=actor(request))
    messages.success(
        request, f"{count} other browser{'s are' if count != 1 else ' is'} signed out."
    )
    return redirect("web:browsers")


def _form(request: PersonRequest, data: Any = None) -> PresentForm:
    form = PresentForm(data)
    if not needs_present(request):
        del form.fields["present"]
    return form


def _page(request: PersonRequest, form: PresentForm, status: int = HTTPStatus.OK) -> HttpResponse:
    present_key = request.session.session_key
    rows = [_row(session, present_key) for session in browsers.open_sessions(request.user)]
    context = {"rows": rows, "form": form}
    return render(request, "office/browsers.html", context, status=status)
