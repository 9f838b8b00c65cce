"""Where the provider's doors are and which keys it signs with, as it publishes them.

OpenID Connect Discovery 1.0. Both are kept for ten minutes in each process.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit

import jwt
from django.conf import settings

from dashboard.accounts.errors import AccountError, ProviderRefused, ProviderUnreachable
from dashboard.accounts.provider.transport import ODDITIES, get_json

KEPT_S = 600
WAITS_S = 2
"""How long one request waits for another that fetches the same."""
TRIED_AGAIN_AFTER_S = 5
"""How soon the provider is asked again after it did not answer."""
ASKED_AGAIN_AFTER_S = 30
"""How soon the keys are fetched again for a token that names an unknown one."""

ALGORITHMS = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
)
"""Only those whose key the provider alone has."""

LOOPBACK = {"127.0.0.1", "localhost", "::1"}


@dataclass(frozen=True)
class Metadata:
    """The doors of the provider."""

    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str = ""
    end_session_endpoint: str = ""
    token_auth_methods: tuple[str, ...] = ()


Document = TypeVar("Document")


class _Fetched(NamedTuple, Generic[Document]):
    """What came of fetching a document, or why none did."""

    issuer: str
    at_s: float
    document: Document | None
    error: AccountError | None = None


class _Cached(Generic[Document]):
    """What was fetched last."""

    def __init__(self, fetch: Callable[[], Document]) -> None:
        self._fetch = fetch
        self._lock = Lock()
        self._last: _Fetched[Document] | None = None

    def get(self, oldest_s: float = KEPT_S) -> Document:
        """Return it, fetched again if it is older than ``oldest_s`` or of another issuer.

        After a failure nothing is fetched for some seconds: those who wait for a provider that is
        down would each wait as long as the one before, one after the other.
        """
        if not self._lock.acquire(timeout=WAITS_S):  # another request fetches it just now
            raise ProviderUnreachable("The provider does not answer. You are not signed in.")
        try:
            result = self._last
            if result is None or self._is_old(result, oldest_s):
                result = self._last = self._fetch_now()
        finally:
            self._lock.release()
        if result.error:
            raise type(result.error)(*result.error.args)
        return cast("Document", result.document)

    def forget(self) -> None:
        """Fetch it again next time."""
        with self._lock:
            self._last = None

    def _is_old(self, result: _Fetched[Document], oldest_s: float) -> bool:
        kept_s = TRIED_AGAIN_AFTER_S if result.error else oldest_s
        is_old = time.monotonic() - result.at_s >= kept_s
        return is_old or result.issuer != settings.OIDC_ISSUER

    def _fetch_now(self) -> _Fetched[Document]:
        try:
            document = self._fetch()
        except AccountError as error:
            return _Fetched(settings.OIDC_ISSUER, time.monotonic(), None, error)
        except ODDITIES as error:
            refusal = ProviderUnreachable(f"What the provider publishes cannot be read ({error}).")
            return _Fetched(settings.OIDC_ISSUER, time.monotonic(), None, refusal)
        return _Fetched(settings.OIDC_ISSUER, time.monotonic(), document)


def _fetch_metadata() -> Metadata:
    document = get_json(f"{settings.OIDC_ISSUER}/.well-known/openid-configuration")
    if not isinstance(document, dict) or document.get("issuer") != issuer_in(document):
        raise ProviderRefused(
            f"The provider at {settings.OIDC_ISSUER} says that it is another issuer."
        )
    return Metadata(
        authorization_endpoint=_door(document, "authorization_endpoint"),
        token_endpoint=_door(document, "token_endpoint"),
        jwks_uri=_door(document, "jwks_uri"),
        userinfo_endpoint=_door(document, "userinfo_endpoint", needed=False),
        end_session_endpoint=_door(document, "end_session_endpoint", needed=False),
        token_auth_methods=tuple(
            map(str, document.get("token_endpoint_auth_methods_supported") or ())
        ),
    )


def issuer_in(document: dict[str, Any]) -> str:
    """Return the issuer of a document if it is ours, else nothing.

    Some providers write a slash at the end that operators leave out, which names the same one.
    """
    issuer = str(document.get("issuer", ""))
    return issuer if issuer.rstrip("/") == settings.OIDC_ISSUER else ""


def _door(document: dict[str, Any], name: str, *, needed: bool = True) -> str:
    url = str(document.get(name) or "")
    parts = urlsplit(url)
    is_safe = parts.scheme == "https" or (
        parts.scheme == "http" and (parts.hostname or "") in LOOPBACK
    )
    if is_safe and parts.hostname:
        return url
    if needed or url:
        raise ProviderRefused(f"The provider's {name} is {url[:200]!r}, no https address.")
    return ""


def _fetch_keys() -> dict[str, Any]:
    document = get_json(metadata().jwks_uri)
    keys = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(keys, list):
        raise ProviderUnreachable("The provider's keys cannot be read.")
    keys_by_id = dict[str, Any]()
    for key in keys:
        try:
            parsed = jwt.PyJWK(key)
        except (jwt.PyJWTError, TypeError, ValueError, AttributeError):
            continue  # of a kind that nobody here knows; a token that names it is refused
        if parsed.public_key_use in {None, "sig"} and parsed.algorithm_name in ALGORITHMS:
            keys_by_id[parsed.key_id or ""] = parsed
    return keys_by_id


_metadata = _Cached(_fetch_metadata)
_keys = _Cached(_fetch_keys)


def metadata() -> Metadata:
    """Return where the provider's doors are.

    Raises:
        ProviderUnreachable: It did not answer.
        ProviderRefused: It says that it is another issuer, or names a door that is not safe.
    """
    return _metadata.get()


def key(key_id: str) -> Any:
    """Return the key of that id; without one, the only key.

    Raises:
        ProviderUnreachable: The keys could not be fetched.
        ProviderRefused: The provider has no such key.
    """
    signing_key = _key_in(_keys.get(), key_id)
    if signing_key is None:
        signing_key = _key_in(_keys.get(oldest_s=ASKED_AGAIN_AFTER_S), key_id)
    if signing_key is None:
        raise ProviderRefused("The token is signed by a key that the provider does not have.")
    return signing_key


def _key_in(keys: dict[str, Any], key_id: str) -> Any:
    if not key_id and len(keys) == 1:  # OpenID Connect Core 1.0, 10.1: then it need not be named
        return next(iter(keys.values()))
    return keys.get(key_id)


def forget() -> None:
    """Ask the provider again for everything."""
    _metadata.forget()
    _keys.forget()


def provider_id() -> str:
    """Return the name under which the people of this issuer are kept.

    It is made of the issuer: where another is set, nobody of the one before is recognised.
    """
    return f"oidc-{hashlib.sha256(settings.OIDC_ISSUER.encode()).hexdigest()[:24]}"
