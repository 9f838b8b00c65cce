"""Sign in, with a password or by a link, and sign out.

allauth leads through the steps; ``adapter.Accounts`` begins the session after the last of them.
"""

from __future__ import annotations

import time
from http import HTTPStatus
from secrets import token_urlsafe
from urllib.parse import urlencode

from allauth.account.internal.flows.login import (
    clear_authentication_records,
    record_authentication,
)
from allauth.account.utils import perform_login
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dashboard.accounts import roles, sessions
from dashboard.accounts.errors import (
    AccountError,
    LinkNotValid,
    NotPermitted,
    ProviderUnreachable,
    TooManyAttempts,
)
from dashboard.accounts.models import User
from dashboard.accounts.services import browsers, signing_in
from dashboard.web.access import AT_PROVIDER_KEY, actor, address, why_not_act
from dashboard.web.forms import LONGEST_PASSWORD, plain
from dashboard.web.http import LEFT, PRESSED, PersonRequest


class SignInForm(forms.Form):
    """A name and a password."""

    username = forms.CharField(label="Name", max_length=200, widget=plain(autocomplete="username"))
    password = forms.CharField(
        strip=False,
        max_length=LONGEST_PASSWORD,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


LINK_AT_KEY = "link_at"
"""In the session: when its person came by a link, in seconds since 1970."""

HASH_FIELD = "password_hash"
"""In the record of the first proof: the session hash of the password that the person had then."""

FRESH_S = 600

Form = forms.Form


@login_not_required
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Ask for name and password, and let in whoever knows them."""
    if request.method != "POST":
        if isinstance(request.user, User):
            return redirect(_next(request, request.user))
        return sign_in_page(request)
    form = SignInForm(request.POST)
    if not form.is_valid():
        return sign_in_page(request, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        person = signing_in.with_password(
            **form.cleaned_data,
            address=address(request),
            browser=_known_browser(request, form.cleaned_data["username"]),
        )
    except (NotPermitted, TooManyAttempts) as error:
        form.add_error(None, str(error))
        return slowed(sign_in_page(request, form, status=status_of(error)), error)
    return enter(request, person, "password", then=_next(request, person))


@login_not_required
@require_safe
def again(request: HttpRequest) -> HttpResponse:
    """Ask somebody who may only read to sign in again; where they may act, lead them back."""
    if not isinstance(request.user, User):
        return redirect(f"{reverse('web:sign_in')}?{request.GET.urlencode()}")
    problem = why_not_act(request)
    if not problem:
        return redirect(_next(request, request.user))
    return sign_in_page(request, problem=problem)


@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_link(request: HttpRequest, secret: str) -> HttpResponse:
    """Show a button, which uses the link up; opening the page uses nothing up."""
    use = signing_in.with_link if request.method == "POST" else signing_in.peek_link
    try:
        person = use(secret, address=address(request))
    except (LinkNotValid, TooManyAttempts) as error:
        context = {"error": error}
        status = status_of(error)
        response = slowed(render(request, "office/link_dead.html", context, status=status), error)
    else:
        response = _opened(request, person)
    # Never the address, which holds the secret. "no-referrer" would also take the origin off the
    # form, and a form without its origin is refused.
    response.headers["Referrer-Policy"] = "strict-origin"
    return response


@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def sign_out(request: PersonRequest) -> HttpResponse:
    """End the session."""
    if request.method != "POST" or not request.user.is_authenticated:
        return redirect("web:sign_in")
    came_from_provider = sessions.is_at_provider(request.session)
    signing_in.signed_out(by=actor(request))
    browsers.note_end(request.session.session_key or "")
    logout(request)
    messages.success(request, "You are signed out.")
    return redirect(f"{reverse('web:sign_in')}?{LEFT}=1" if came_from_provider else "web:sign_in")


@require_POST
def used(request: PersonRequest) -> HttpResponse:  # noqa: ARG001 - the middleware has seen it
    """Hear that somebody pressed a key or a button on a page that sent nothing for it."""
    return HttpResponse(status=HTTPStatus.NO_CONTENT)


def came_by_link_just_now(request: HttpRequest) -> bool:
    """Whether the session began with a sign-in link in the last minutes."""
    age_s: float = time.time() - request.session.get(LINK_AT_KEY, 0)
    return 0 <= age_s < FRESH_S


def slowed(response: HttpResponse, error: AccountError) -> HttpResponse:
    """Tell when to try again, if that is what the error is about."""
    if isinstance(error, TooManyAttempts):
        response.headers["Retry-After"] = str(error.retry_after_s)
    return response


def landing(person: User) -> str:
    """Return where a person begins."""
    page = settings.LOGIN_REDIRECT_URL if roles.may_look(person) else "web:account"
    return resolve_url(page)


def status_of(error: AccountError) -> HTTPStatus:
    """Return the status of a page that says why somebody is not in."""
    match error:
        case TooManyAttempts():
            return HTTPStatus.TOO_MANY_REQUESTS
        case LinkNotValid():
            return HTTPStatus.GONE
        case ProviderUnreachable():
            return HTTPStatus.SERVICE_UNAVAILABLE
    return HTTPStatus.UNPROCESSABLE_ENTITY


def sign_in_page(
    request: HttpRequest,
    form: Form | None = None,
    *,
    problem: str = "",
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    """Show the ways in, and perhaps why somebody is not in."""
    context = {
        "form": form or SignInForm(),
        "next": next_path(request),
        "pressed": PRESSED in request.GET,
        "left": LEFT in request.GET and settings.OIDC_ISSUER,
        "problem": problem,
        "provider": settings.OIDC_ISSUER and settings.OIDC_NAME,
        "provider_url": _with_next(request, "web:provider"),
        "passwords": settings.PASSWORD_SIGN_IN,
        "kept_admin": settings.KEPT_ADMIN,
    }
    return render(request, "office/sign_in.html", context, status=status)


def _opened(request: HttpRequest, person: User) -> HttpResponse:
    if request.method != "POST":
        return render(request, "office/link.html", {"person": person})
    if signing_in.may_use_password(person) and not person.has_usable_password():
        return enter(request, person, "link", then=resolve_url("web:choose_password"))
    return enter(request, person, "link", then=landing(person))


def enter(request: HttpRequest, person: User, method: str, *, then: str) -> HttpResponse:
    """Let somebody in who has shown a first proof."""
    clear_authentication_records(request)  # of a sign-in that was not finished
    request.session.pop(AT_PROVIDER_KEY, None)
    record_authentication(request, person, method, **{HASH_FIELD: person.get_session_auth_hash()})
    response: HttpResponse = perform_login(
        request, person, email_verification="none", redirect_url=then
    )
    return response


_SALT = "browser"


KNOWN_FOR_S = 365 * 24 * 3600


def _known_browser(request: HttpRequest, username: str) -> str:
    """Return what names this browser if this person signed in with it before; else nothing."""
    name = _browser_cookie()
    cookie = request.get_signed_cookie(name, "", salt=_SALT, max_age=KNOWN_FOR_S) or ""
    nonce, _, name = cookie.partition(":")
    return nonce if name.lower() == username.lower() else ""


def remembered(response: HttpResponse, person: User) -> HttpResponse:
    """Have the browser remember who signed in with it. That alone opens nothing."""
    response.set_signed_cookie(
        _browser_cookie(),
        f"{token_urlsafe(16)}:{person.username}",
        salt=_SALT,
        max_age=KNOWN_FOR_S,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


def _browser_cookie() -> str:
    return f"{settings.SESSION_COOKIE_NAME}-browser"


def _next(request: HttpRequest, person: User) -> str:
    return next_path(request) or landing(person)


def _with_next(request: HttpRequest, route: str) -> str:
    path = next_path(request)
    return reverse(route) + (f"?{urlencode({'next': path})}" if path else "")


def next_path(request: HttpRequest) -> str:
    """Return the path of ours that was asked for before signing in, or nothing."""
    path = request.POST.get("next") or request.GET.get("next") or ""
    ours = path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts=None)
    return path if ours else ""
