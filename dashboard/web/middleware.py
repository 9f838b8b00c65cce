"""What every page is wrapped in. All synchronous, so that Django changes threads once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import resolve_url
from django.utils.deprecation import MiddlewareMixin

from dashboard.accounts import sessions
from dashboard.accounts.services import browsers
from dashboard.paths import is_machine
from dashboard.web.access import ONE_PROOF, why_not_act
from dashboard.web.errors import wrong_address, wrong_origin
from dashboard.web.http import PRESSED, SeeOther

GetResponse = Callable[[HttpRequest], HttpResponse]

# Nothing inline, nothing from elsewhere. 'self' in connect-src covers our WebSocket.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
# Swagger UI sets style attributes from its own scripts; it shows no agent's content.
DOCS_POLICY = POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
DOCS_PATH = "/api/v1/docs"
_SAFE = {"GET", "HEAD", "OPTIONS"}


class SignInFirst(LoginRequiredMiddleware):
    """Asks people to sign in, and tells who pressed something that nothing was recorded."""

    def handle_no_permission(
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseRedirect:
        """Lead to the sign-in page, and back afterwards: to the page, not to what was pressed."""
        if request.method in _SAFE:
            return super().handle_no_permission(request, view_func)
        query = {PRESSED: "1"}
        if page := came_from(request):
            query["next"] = page
        return HttpResponseRedirect(f"{resolve_url(settings.LOGIN_URL)}?{urlencode(query)}")


def came_from(request: HttpRequest) -> str:
    """Return the path of ours that something was pressed on, or nothing."""
    page = request.headers.get("HX-Current-URL") or request.headers.get("Referer", "")
    is_ours = page.startswith(f"{settings.PUBLIC_URL}/")
    return page.removeprefix(settings.PUBLIC_URL) if is_ours else ""


def security_headers(get_response: GetResponse) -> GetResponse:
    """Send the content security policy, and have no page kept by anybody but static files."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        policy = DOCS_POLICY if request.path == DOCS_PATH else POLICY
        response.headers.setdefault("Content-Security-Policy", policy)
        response.headers.setdefault("X-Frame-Options", "DENY")
        response.headers.setdefault("Permissions-Policy", "interest-cohort=()")
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    return middleware


def one_address(get_response: GetResponse) -> GetResponse:
    """Show pages at the one address that decisions count from, and say so anywhere else.

    It is not for us to send people on: behind a proxy that names another host that would never
    end, or lead to their own machine. The page does it, which knows what the browser asked for.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if not is_machine(request.path) and (came := list(_other_address(request))):
            return wrong_address(request, came)
        return get_response(request)

    return middleware


def _other_address(request: HttpRequest) -> Iterator[tuple[str, str]]:
    """Yield what names another address than ours, if anything does."""
    try:
        host = request.get_host()
    except DisallowedHost:
        host = ""
    scheme, _, ours = settings.PUBLIC_URL.partition("://")
    # Some proxies name the usual port too; browsers never do.
    usual = ":443" if scheme == "https" else ":80"
    is_ours = host.lower().removesuffix(usual) == ours
    if not is_ours and (request.method in _SAFE or not host):
        yield "Host", host or request.headers.get("Host", "none")
    # What some proxies tell when they cut a path off, under which our links lead nowhere.
    prefix = request.headers.get("X-Forwarded-Prefix", "")
    if prefix.strip("/, "):
        yield "X-Forwarded-Prefix", prefix


def exact_origin(get_response: GetResponse) -> GetResponse:
    """Refuse every unsafe request that does not name our own scheme, host and port as its origin.

    Django accepts a form with a valid token and no Origin at all over http; we do not.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        unsafe = request.method not in _SAFE and not is_machine(request.path)
        if unsafe and request.headers.get("Origin") != settings.PUBLIC_URL:
            return wrong_origin(request)
        return get_response(request)

    return middleware


class ReadOnly(MiddlewareMixin):
    """Has people sign in again before they do anything with a session that is only for reading.

    Such as one whose person the provider of single sign-on could not be asked about. What a page
    says by itself is reading too.
    """

    def process_view(
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase], *_: object
    ) -> HttpResponseRedirect | None:
        """Lead to the sign-in page, and back afterwards: to the page, not to what was pressed."""
        del view_func
        match = request.resolver_match
        is_reading = request.method in _SAFE or (match and match.url_name in _READING)
        if is_reading or is_machine(request.path) or not request.user.is_authenticated:
            return None
        reason = why_not_act(request)
        adds_factor = reason == ONE_PROOF and match and match.url_name in _ADDING_A_FACTOR
        if not reason or adds_factor:
            return None
        query = {PRESSED: "1", "next": came_from(request) or "/"}
        page = "web:second_factor" if reason == ONE_PROOF else "web:sign_in_again"
        return SeeOther(f"{resolve_url(page)}?{urlencode(query)}")


_READING = {
    *("sign_in", "sign_in_link", "sign_out", "second_factor_asked"),
    *("viewed", "used"),
}
"""What may be sent all the same, by the names of routes."""
_ADDING_A_FACTOR = {
    "second_factor",
    "second_factor_show",
    "passkeys",
    "account",
    "choose_password",
}
"""What may be sent by whoever lacks nothing but a second factor."""


def session_in_use(get_response: GetResponse) -> GetResponse:
    """Have a session last while its person uses it, and end while a page only stands open."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        was_refused = response.status_code == HTTPStatus.FORBIDDEN  # perhaps no form of ours
        is_used = not was_refused and _is_use(request)
        if is_used and sessions.use(request.session, time.time()):
            browsers.note_use(request.session.session_key or "")
        return response

    return middleware


def _is_use(request: HttpRequest) -> bool:
    """Whether a person did something: a press, a key or a page that they opened.

    What pages ask by themselves is not: the list, the bar, who else is viewing. A page that is
    loaded again by a script is not either, where the browser says who wanted a page.
    """
    if is_machine(request.path) or not request.user.is_authenticated:
        return False
    if request.method == "POST":
        return not (request.resolver_match and request.resolver_match.url_name == "viewed")
    if "HX-Request" in request.headers:
        return request.headers.get("HX-Target") == "pane"  # opened from the list
    if "Sec-Fetch-Mode" in request.headers:
        return request.headers.get("Sec-Fetch-User") == "?1"
    # Plain http from another machine: a page that was opened from one of ours. Nobody else's page
    # can name ours as where it came from.
    is_page = "text/html" in request.headers.get("Accept", "")
    return is_page and request.headers.get("Referer", "").startswith(f"{settings.PUBLIC_URL}/")
