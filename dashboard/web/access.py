"""Who is acting, and who may open a page. Rights are read from the database at each request."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render

from dashboard.accounts import roles, sessions
from dashboard.accounts.models import User
from dashboard.accounts.services import browsers
from dashboard.accounts.services.factors import has_factor, must_have
from dashboard.accounts.services.signing_in import may_use_password
from dashboard.approvals.errors import NotAllowed, NotFound
from dashboard.audit.services import Actor
from dashboard.notifications.errors import ChangeNotAllowed, ReceiverNotFound
from dashboard.web import errors
from dashboard.web.http import PersonRequest, client_address

AUTH_KEY = "auth"
"""In the session: how its person signed in, ``"password"``, ``"link"`` or ``"sso"``."""

AT_PROVIDER_KEY = "at_provider"
"""In the session of somebody who is being let in: what the provider of single sign-on said."""

_LAPSED = "This browser is remembered for reading. Sign in again to decide or to change anything."

_AT_PROVIDER_ALONE = "You may no longer sign in with a password. Sign in by single sign-on."
ONE_PROOF = (
    "A second factor is demanded of you here. Until you sign in with one, you may read and not "
    "decide."
)

_MISSING = (NotFound, ReceiverNotFound)
_ROLE_GONE = (NotAllowed, ChangeNotAllowed)
"""What services raise of somebody who lost the role after their request was let in."""


def auth(request: HttpRequest) -> str:
    """How the person behind ``request`` is known, such as ``"session:password"``."""
    return f"session:{request.session.get(AUTH_KEY, 'unknown')}"


def has_shown(request: HttpRequest) -> bool:
    """Whether a second factor was shown in this session."""
    return "+" in request.session.get(AUTH_KEY, "")


def lacks_second_factor(request: HttpRequest) -> bool:
    """Whether a second proof is demanded of the person, and was not shown in this session.

    One that was shown counts for as long as the person has any. Single sign-on is asked for it by
    whoever runs the provider.
    """
    person = cast("User", request.user)
    if sessions.is_at_provider(request.session) or not must_have(person):
        return False
    return not has_shown(request) or not has_factor(person)


def why_not_act(request: HttpRequest) -> str:
    """Say why the person behind ``request`` may only read until they sign in again, if so."""
    if sessions.has_lapsed(request.session, time.time()):
        return _LAPSED
    if sessions.is_at_provider(request.session):
        return browsers.why_not_act(request.session.session_key or "")
    is_by_password = settings.OIDC_ISSUER and auth(request).startswith("session:password")
    if is_by_password and not may_use_password(cast("User", request.user)):
        return _AT_PROVIDER_ALONE
    return ONE_PROOF if lacks_second_factor(request) else ""


def actor(request: PersonRequest) -> Actor:
    """Return the person behind ``request`` as the audit log names them."""
    return Actor.of_user(request.user.username, auth(request))


def address(request: HttpRequest) -> str:
    """Return the address that ``request`` came from."""
    peer = str(request.META.get("REMOTE_ADDR", ""))
    return client_address(request.headers.get("X-Forwarded-For", ""), peer)


P = ParamSpec("P")
View = Callable[Concatenate[PersonRequest, P], HttpResponseBase]


def for_readers(view: View[P]) -> View[P]:
    """Show a page to people who have a role; others are told what they lack.

    A view may raise what services raise where the address names something that does not exist.
    """

    @wraps(view)
    def guarded(request: PersonRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not roles.may_look(request.user):
            return errors.no_role(request)
        try:
            return view(request, *args, **kwargs)
        except _MISSING:
            return errors.not_found(request)

    return guarded


def for_reviewers(view: View[P]) -> View[P]:
    """Let reviewers in; the others are told what they lack."""

    @for_readers
    @wraps(view)
    def guarded(request: PersonRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not roles.may_decide(request.user):
            return errors.forbidden(request)
        return view(request, *args, **kwargs)

    return guarded


def is_in_sight(request: HttpRequest) -> bool:
    """Say whether a person sees the response, according to the headers of their browser.

    A prefetch does not count, and neither does a request that a page from elsewhere makes with
    the person's session, such as an agent's page on another port.
    """
    if "prefetch" in request.headers.get("Sec-Purpose", ""):
        return False
    is_ours = request.headers.get("Sec-Fetch-Site", "none") in {"same-origin", "none"}
    return is_ours or request.headers.get("Sec-Fetch-Dest") == "document"


AnyView = TypeVar("AnyView", bound=Callable[..., HttpResponse])


def admins_only(view: AnyView) -> AnyView:
    """Close a view to everybody but admins."""
    return _closed(view, roles.may_administer, "admins")


def auditors_only(view: AnyView) -> AnyView:
    """Close a view to everybody but auditors and admins."""
    return _closed(view, roles.may_audit, "auditors and admins")


def any_role(view: AnyView) -> AnyView:
    """Close a view to people without a role."""
    return _closed(view, roles.may_look, "people with a role")


def action(page: str, *, arguments: int = 1) -> Callable[[AnyView], AnyView]:
    """Let a view take POST only; any other method is redirected to ``page``.

    That happens to people who had to sign in again before their form was accepted. The page gets
    the view's first arguments, so many at the most.
    """

    def guard(view: AnyView) -> AnyView:
        @wraps(view)
        def guarded(request: PersonRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if request.method != "POST":
                return redirect(page, *list(kwargs.values())[:arguments])
            return view(request, *args, **kwargs)

        return cast("AnyView", guarded)

    return guard


def refused(request: PersonRequest, audience: str) -> HttpResponse:
    """Say who a page is for, and that this person is not among them."""
    own_roles = request.user.roles
    role_text = " and ".join(f"an {role}" if role[0] == "a" else f"a {role}" for role in own_roles)
    text = f"You are signed in as {request.user.username}, {role_text or 'without a role'}. "
    text += f"This page is for {audience}. Nothing was done. Ask an admin for the role."
    context = {"title": "You may not open this page", "text": text, "way_back": bool(own_roles)}
    return render(request, "errors/problem.html", context, status=HTTPStatus.FORBIDDEN)


def _closed(view: AnyView, right: Callable[[User], bool], audience: str) -> AnyView:
    @wraps(view)
    def closed(request: PersonRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not right(request.user):
            return refused(request, audience)
        try:
            return view(request, *args, **kwargs)
        except _MISSING:
            return errors.not_found(request)
        except _ROLE_GONE:
            return refused(request, audience)

    return cast("AnyView", closed)
