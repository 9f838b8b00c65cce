"""What allauth asks us about people: it leads through the steps of signing in, we let them in.

It sends no mail, shows no message of its own, and nobody signs up by themselves.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.stages import LoginStage
from allauth.core.exceptions import ImmediateHttpResponse
from django.contrib import messages
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme

from dashboard.accounts import sessions
from dashboard.accounts.errors import NotPermitted
from dashboard.accounts.models import User
from dashboard.accounts.provider.statements import Statement
from dashboard.accounts.provider.tokens import unseal
from dashboard.accounts.services import browsers, signing_in
from dashboard.accounts.services.factors import has_factor
from dashboard.accounts.services.passkeys import added_lately
from dashboard.web.access import AT_PROVIDER_KEY, AUTH_KEY, address
from dashboard.web.office.sign_in import (
    HASH_FIELD,
    LINK_AT_KEY,
    landing,
    remembered,
    sign_in_page,
    status_of,
)

_FORGOTTEN = (
    "You signed in with a link. Forgot your password? Choose a new one in your account within 10 "
    "minutes."
)
_NEW_KEY = (
    "The passkey {} was added to your account within the last 24 hours. If that was not you, "
    "remove it in your account, under Passkeys, and tell an admin at once."
)
_METHODS = {"password": "password", "link": "link", "socialaccount": "sso"}


class Accounts(DefaultAccountAdapter):  # type: ignore[misc]
    """Lets people in."""

    def login(self, request: HttpRequest, user: User) -> None:
        """Begin the session of somebody who has shown all that was asked of them.

        Raises:
            ImmediateHttpResponse: Their account is no longer as it was at the first proof.
        """
        method, first_hash = _method(request, user), _first_hash(request, user)
        try:
            signing_in.let_in(
                user,
                method,
                address=address(request),
                first_hash=first_hash,
                begin=partial(self._begin, request, method),
            )
        except NotPermitted as error:
            request.session.flush()  # the first proof opens nothing any more
            page = sign_in_page(request, problem=str(error), status=status_of(error))
            raise ImmediateHttpResponse(page) from error

    def _begin(self, request: HttpRequest, method: str, user: User) -> None:
        at_provider = request.session.get(AT_PROVIDER_KEY)
        request.session.flush()  # nothing of the session before, and not its key, lives on
        login(request, user)
        request.session[AUTH_KEY] = method
        if method.partition("+")[0] == "link":
            request.session[LINK_AT_KEY] = time.time()
        sessions.begin(request.session, time.time(), at_provider=at_provider is not None)
        request.session.save()
        entry = browsers.Entry(method, address(request), request.headers.get("User-Agent", ""))
        browsers.note(
            user,
            request.session.session_key or "",
            entry,
            at_provider=at_provider and _at_provider(at_provider),
        )

    def post_login(self, request: HttpRequest, user: User, **options: Any) -> HttpResponse:
        """Lead where they wanted to go."""
        may_choose = LINK_AT_KEY in request.session and signing_in.may_use_password(user)
        if may_choose and user.has_usable_password():
            messages.info(request, _FORGOTTEN)
        for passkey in added_lately(user):
            messages.warning(request, _NEW_KEY.format(passkey))
        page = options.get("redirect_url") or landing(user)
        return remembered(redirect(page), user)

    def logout(self, request: HttpRequest) -> None:
        """Forget the session before, when somebody signs in over it, and not what came since."""
        at_provider = request.session.get(AT_PROVIDER_KEY)
        request.session.flush()
        if at_provider:
            request.session[AT_PROVIDER_KEY] = at_provider

    def get_login_stages(self) -> list[str]:
        """Return what stands between the first proof and being signed in."""
        return ["dashboard.web.office.adapter.SecondFactor"]

    def is_safe_url(self, url: str) -> bool:
        """Say whether ``url`` is a page of ours."""
        is_ours: bool = url_has_allowed_host_and_scheme(url, allowed_hosts=None)
        return is_ours and url.startswith("/")

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address that a request came from, as everywhere here."""
        return address(request)

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Nobody signs up by themselves."""
        del request
        return False

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send nothing: people are told by the channels that they chose."""

    def send_notification_mail(self, *_: Any, **__: Any) -> None:
        """Send nothing, as above."""

    def add_message(self, *_: Any, **__: Any) -> None:
        """Say nothing: pages have their own words."""


class SecondFactor(LoginStage):  # type: ignore[misc]
    """Asks for the second proof. Whoever comes by single sign-on showed theirs at the provider."""

    key = "second_factor"
    urlname = "web:second_factor_asked"

    def handle(self) -> tuple[HttpResponse | None, bool]:
        """Lead to the page that asks for it, if it is asked of this person."""
        person = self.login.user
        records = get_authentication_records(self.request, person)
        is_at_provider = any(record["method"] == "socialaccount" for record in records)
        if is_at_provider or not has_factor(person):
            return None, True
        return redirect(self.urlname), True


def _method(request: HttpRequest, user: User) -> str:
    records = get_authentication_records(request, user)
    words = [record.get("type") or _METHODS.get(record["method"], "unknown") for record in records]
    return "+".join(dict.fromkeys(words)) or "unknown"


def _first_hash(request: HttpRequest, user: User) -> str:
    records = get_authentication_records(request, user)
    return next((record[HASH_FIELD] for record in records if HASH_FIELD in record), "")


def _at_provider(kept: dict[str, Any]) -> browsers.AtProvider:
    statement = Statement(kept["subject"], session=kept["session"])
    return browsers.AtProvider(statement, unseal(kept["refresh_token"].encode()))
