"""Sign in, with a password or by a link, and sign out."""

from __future__ import annotations

import time
from http import HTTPStatus
from secrets import token_urlsafe

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.accounts import roles, sessions
from dashboard.accounts.errors import AccountError, LinkNotValid, NotPermitted, TooManyAttempts
from dashboard.accounts.models import User
from dashboard.accounts.services import signing_in
from dashboard.web.access import AUTH_KEY, actor, address
from dashboard.web.forms import LONGEST_PASSWORD, plain
from dashboard.web.http import PRESSED, PersonRequest


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

FRESH_S = 600

_FORGOTTEN = (
    "You signed in with a link. Forgot your password? Choose a new one in your account within 10 "
    "minutes."
)

Form = forms.Form


@login_not_required
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Ask for name and password, and let in whoever knows them."""
    if request.method != "POST":
        if isinstance(request.user, User):
            return redirect(_next(request, request.user))
        return _sign_in_page(request, SignInForm(), HTTPStatus.OK)
    form = SignInForm(request.POST)
    if not form.is_valid():
        return _sign_in_page(request, form, HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        person = signing_in.with_password(
            **form.cleaned_data,
            address=address(request),
            browser=_known_browser(request, form.cleaned_data["username"]),
        )
    except (NotPermitted, TooManyAttempts) as error:
        form.add_error(None, str(error))
        return slowed(_sign_in_page(request, form, _status_of(error)), error)
    _enter(request, person, "password")
    return _remembered(redirect(_next(request, person)), person)


@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_link(request: HttpRequest, secret: str) -> HttpResponse:
    """Show a button, which uses the link up; opening the page uses nothing up."""
    use = signing_in.with_link if request.method == "POST" else signing_in.peek_link
    try:
        person = use(secret, address=address(request))
    except (LinkNotValid, TooManyAttempts) as error:
        context = {"error": error}
        status = _status_of(error)
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
    if request.method == "POST" and request.user.is_authenticated:
        signing_in.signed_out(by=actor(request))
        logout(request)
        messages.success(request, "You are signed out.")
    return redirect("web:sign_in")


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


def _status_of(error: AccountError) -> HTTPStatus:
    match error:
        case TooManyAttempts():
            return HTTPStatus.TOO_MANY_REQUESTS
        case LinkNotValid():
            return HTTPStatus.GONE
    return HTTPStatus.UNPROCESSABLE_ENTITY


def _sign_in_page(request: HttpRequest, form: Form, status: HTTPStatus) -> HttpResponse:
    pressed = PRESSED in request.GET
    context = {"form": form, "next": _wanted(request), "pressed": pressed}
    return render(request, "office/sign_in.html", context, status=status)


def _opened(request: HttpRequest, person: User) -> HttpResponse:
    if request.method != "POST":
        return render(request, "office/link.html", {"person": person})
    _enter(request, person, "link")
    request.session[LINK_AT_KEY] = time.time()
    if not person.has_usable_password():
        return _remembered(redirect("web:choose_password"), person)
    messages.info(request, _FORGOTTEN)
    return _remembered(redirect(landing(person)), person)


def _enter(request: HttpRequest, person: User, how: str) -> None:
    request.session.flush()  # nothing of the session before, and not its key, lives on
    login(request, person)
    request.session[AUTH_KEY] = how
    sessions.begin(request.session, time.time())


_SALT = "browser"


KNOWN_FOR_S = 365 * 24 * 3600


def _known_browser(request: HttpRequest, username: str) -> str:
    """Return what names this browser if this person signed in with it before; else nothing."""
    name = _browser_cookie()
    cookie = request.get_signed_cookie(name, "", salt=_SALT, max_age=KNOWN_FOR_S) or ""
    nonce, _, name = cookie.partition(":")
    return nonce if name.lower() == username.lower() else ""


def _remembered(response: HttpResponse, person: User) -> HttpResponse:
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
    return _wanted(request) or landing(person)


def _wanted(request: HttpRequest) -> str:
    """Return the path of ours that was asked for before signing in, or nothing."""
    path = request.POST.get("next") or request.GET.get("next") or ""
    ours = path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts=None)
    return path if ours else ""
