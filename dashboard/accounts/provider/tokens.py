"""Asks the provider whether somebody is still who they were, with the token it gave for that.

OAuth 2.0 (RFC 6749), 6. The token is kept encrypted with a key made of ``SECRET_KEY``: whoever
reads the database alone cannot use it.
"""

from __future__ import annotations

import dataclasses
from http import HTTPStatus
from typing import Any

import requests
from django.conf import settings

from dashboard.accounts import sealing
from dashboard.accounts.errors import AccountError, ProviderRefused, ProviderUnreachable
from dashboard.accounts.provider.metadata import metadata
from dashboard.accounts.provider.statements import Statement, groups_in, read_id_token
from dashboard.accounts.provider.transport import ODDITIES, ProviderSession

_PURPOSE = "dashboard.accounts.provider.refresh_token"


class NoLongerKnown(ProviderRefused):
    """The provider says that the session is over, or the person gone."""


def seal(refresh_token: str) -> bytes | None:
    """Return a token as it is kept; nothing for none."""
    return sealing.seal(refresh_token, _PURPOSE) if refresh_token else None


def unseal(sealed: bytes | memoryview | None) -> str:
    """Return a token that was kept; nothing if there is none, or another key made it."""
    return sealing.unseal(bytes(sealed), _PURPOSE) or "" if sealed else ""


def refresh(refresh_token: str) -> dict[str, Any]:
    """Ask the provider again; return its answer, which perhaps has the token for the next time.

    Raises:
        NoLongerKnown: It takes the token back: the person was shut out, or signed out there.
        ProviderRefused: It refuses us.
        ProviderUnreachable: It did not answer.
    """
    return _ask({"grant_type": "refresh_token", "refresh_token": refresh_token})


def read_refresh(reply: dict[str, Any]) -> Statement:
    """Return what an answer to ``refresh`` says about a person.

    Raises:
        ProviderRefused: What it says is not accepted.
        ProviderUnreachable: Keys or groups could not be fetched.
    """
    if "id_token" in reply:
        return read_answer(reply)
    claims = _userinfo(str(reply.get("access_token", "")))  # a refresh need not bring an ID token
    return Statement(str(claims.get("sub", "")), groups=groups_in(claims))


def read_answer(reply: dict[str, Any]) -> Statement:
    """Return what an answer of the token endpoint says about a person.

    Where the ID token names no groups, they are asked for at the provider's userinfo.

    Raises:
        ProviderRefused: It holds no ID token that is accepted.
        ProviderUnreachable: Keys or groups could not be fetched.
    """
    token = reply.get("id_token")
    if not isinstance(token, str):
        raise ProviderRefused(
            "The provider sent no ID token. You are not signed in. OIDC_SCOPES must name openid."
        )
    statement = read_id_token(token)
    if statement.groups is None and metadata().userinfo_endpoint:
        claims = _userinfo(str(reply.get("access_token", "")))
        if claims.get("sub") == statement.subject:
            statement = dataclasses.replace(statement, groups=groups_in(claims))
    return statement


def _userinfo(access_token: str) -> dict[str, Any]:
    if not metadata().userinfo_endpoint:
        raise ProviderUnreachable("The provider has no userinfo.")
    try:
        with ProviderSession() as session:
            response = session.get(
                metadata().userinfo_endpoint,
                headers={"Authorization": f"Bearer {access_token}", "Accept": "application/json"},
            )
            claims = response.json()
    except (requests.RequestException, *ODDITIES) as error:
        raise ProviderUnreachable(f"The provider's userinfo did not answer ({error}).") from error
    if response.status_code == requests.codes.ok and isinstance(claims, dict):
        return claims
    raise _refusal("userinfo", response.status_code)


def auth_method() -> str:
    """Return how we show the secret of the client: in the body where that is offered.

    OpenID Connect Discovery 1.0, 3: where nothing is said, it is ``client_secret_basic``.
    """
    methods = metadata().token_auth_methods
    return "client_secret_post" if "client_secret_post" in methods else "client_secret_basic"


def _ask(form: dict[str, str]) -> dict[str, Any]:
    client, secret = settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET
    is_basic = auth_method() == "client_secret_basic"
    auth = requests.auth.HTTPBasicAuth(client, secret) if is_basic and secret else None
    if auth is None:
        form |= {"client_id": client} | ({"client_secret": secret} if secret else {})
    try:
        with ProviderSession() as session:
            response = session.post(metadata().token_endpoint, data=form, auth=auth)
            reply = response.json()
    except (requests.RequestException, *ODDITIES) as error:
        raise ProviderUnreachable(f"The provider did not answer ({error}).") from error
    if response.status_code == requests.codes.ok and isinstance(reply, dict):
        return reply
    if isinstance(reply, dict) and reply.get("error") == "invalid_grant":
        raise NoLongerKnown("The provider says that this session is over.")
    raise _refusal("token endpoint", response.status_code)


def _refusal(door: str, status: int) -> AccountError:
    kind = ProviderUnreachable if status >= HTTPStatus.INTERNAL_SERVER_ERROR else ProviderRefused
    return kind(f"The provider's {door} answered {status}.")
