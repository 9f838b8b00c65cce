"""Asks the provider whether somebody is still who they were, with the token it gave for that.

OAuth 2.0 (RFC 6749), 6. The token is kept encrypted with a key made of ``SECRET_KEY``: whoever
reads the database alone cannot use it.
"""

from __future__ import annotations

import base64
import dataclasses
from typing import Any

import requests
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.utils.crypto import salted_hmac

from dashboard.accounts.errors import ProviderRefused, ProviderUnreachable
from dashboard.accounts.provider.metadata import metadata
from dashboard.accounts.provider.statements import Statement, groups_in, read_id_token
from dashboard.accounts.provider.transport import ProviderSession

_PURPOSE = "dashboard.accounts.provider.refresh_token"


class NoLongerKnown(ProviderRefused):
    """The provider says that the session is over, or the person gone."""


def seal(refresh_token: str) -> bytes | None:
    """Return a token as it is kept; nothing for none."""
    return _box().encrypt(refresh_token.encode()) if refresh_token else None


def unseal(sealed: bytes | memoryview | None) -> str:
    """Return a token that was kept; nothing if there is none, or another key made it."""
    try:
        return _box().decrypt(bytes(sealed)).decode() if sealed else ""
    except InvalidToken:
        return ""


def refresh(refresh_token: str) -> tuple[Statement, str]:
    """Ask what the provider says now.

    Returns:
        What it says, and the token to ask with next time.

    Raises:
        NoLongerKnown: It takes the token back: the person was shut out, or signed out there.
        ProviderRefused: What it answered is not accepted.
        ProviderUnreachable: It did not answer.
    """
    reply = _ask({"grant_type": "refresh_token", "refresh_token": refresh_token})
    next_token = str(reply.get("refresh_token") or refresh_token)
    if "id_token" in reply:
        return read_answer(reply), next_token
    claims = _userinfo(str(reply.get("access_token", "")))  # a refresh need not bring an ID token
    return Statement(str(claims.get("sub", "")), groups=groups_in(claims)), next_token


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
    except requests.RequestException as error:
        raise ProviderUnreachable(f"The provider's userinfo did not answer ({error}).") from error
    if response.status_code != requests.codes.ok or not isinstance(claims, dict):
        raise ProviderUnreachable(f"The provider's userinfo answered {response.status_code}.")
    return claims


def _ask(form: dict[str, str]) -> dict[str, Any]:
    client, secret = settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET
    is_basic = "client_secret_post" not in metadata().token_auth_methods
    auth = requests.auth.HTTPBasicAuth(client, secret) if is_basic and secret else None
    if auth is None:
        form |= {"client_id": client} | ({"client_secret": secret} if secret else {})
    try:
        with ProviderSession() as session:
            response = session.post(metadata().token_endpoint, data=form, auth=auth)
            reply = response.json()
    except requests.RequestException as error:
        raise ProviderUnreachable(f"The provider did not answer ({error}).") from error
    if response.status_code == requests.codes.ok and isinstance(reply, dict):
        return reply
    if isinstance(reply, dict) and reply.get("error") == "invalid_grant":
        raise NoLongerKnown("The provider says that this session is over.")
    raise ProviderUnreachable(f"The provider answered {response.status_code}.")


def _box() -> Fernet:
    key = salted_hmac(_PURPOSE, "", algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(key))
