"""What the provider says about a person, in a token that is checked before it is believed.

OpenID Connect Core 1.0, 3.1.3.7, and Back-Channel Logout 1.0, 2.6. The signature is checked even
where the token came straight from the provider.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jwt
from django.conf import settings
from django.utils.crypto import constant_time_compare

from dashboard.accounts.errors import ProviderRefused
from dashboard.accounts.provider import metadata
from dashboard.accounts.provider.transport import ODDITIES

LEEWAY_S = 60
"""How far the two clocks may differ."""
LARGEST_TOKEN = 64 * 1024
MOST_GROUPS = 1000
_LONGEST_GROUP = 200
_LONGEST_SUBJECT = 191  # what allauth keeps; OpenID Connect permits 255
_LOGOUT = "http://schemas.openid.net/event/backchannel-logout"
_LOGOUT_OLDEST_S = 300
_UNKEPT = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_END_OF_TIME_S = 253_402_300_800  # the year 10000

_REASONS: dict[type[jwt.PyJWTError], str] = {
    jwt.ExpiredSignatureError: "It has expired. Is the clock of this server right?",
    jwt.ImmatureSignatureError: "It is not valid yet. Is the clock of this server right?",
    jwt.InvalidIssuerError: "It comes from another issuer.",
    jwt.InvalidAudienceError: "It is for another client.",
    jwt.InvalidSignatureError: "Its signature is wrong.",
    jwt.InvalidAlgorithmError: "It is signed in a way that is not accepted.",
    jwt.MissingRequiredClaimError: "A part of it is missing.",
}


@dataclass(frozen=True)
class Statement:
    """What the provider says about one person.

    Attributes:
        subject: The person's name at the provider, which never changes.
        username: What the provider calls them; not unique, and may change.
        groups: Their groups there, or None where nothing about groups was said.
        authenticated_s: When they did, in seconds since 1970, if it was said.
        session: The provider's name of this session, if it has one.
        nonce: What the token was asked for with, if anything.
    """

    subject: str
    username: str = ""
    address: str = ""
    groups: frozenset[str] | None = None
    authenticated_s: int | None = None
    session: str = ""
    nonce: str = ""


@dataclass(frozen=True)
class Logout:
    """The provider says that sessions have ended: one, or all of a person that began before."""

    subject: str
    session: str
    at_s: int


def read_id_token(token: str) -> Statement:
    """Check an ID token and return what it says. Whose sign-in it answers says its nonce.

    Raises:
        ProviderRefused: It is not a token of this provider for us.
        ProviderUnreachable: Its keys could not be fetched.
    """
    claims = _decode(token, required=["exp", "iat", "iss", "aud", "sub"])
    _check_party(claims)
    return _statement(claims)


def check_nonce(statement: Statement, nonce: str) -> None:
    """Make sure that a token answers the sign-in that began with ``nonce``.

    Raises:
        ProviderRefused: It answers another.
    """
    if not nonce or not constant_time_compare(statement.nonce, nonce):
        raise ProviderRefused(_refusal("It answers another sign-in than this one."))


def read_logout_token(token: str) -> Logout:
    """Check a logout token and return what it ends.

    Raises:
        ProviderRefused: It is not a logout token of this provider for us.
        ProviderUnreachable: Its keys could not be fetched.
    """
    claims = _decode(token, required=["iat", "iss", "aud", "events"], oldest_s=_LOGOUT_OLDEST_S)
    events = claims["events"]
    is_logout = isinstance(events, dict) and isinstance(events.get(_LOGOUT), dict)
    subject, session = _text(claims.get("sub")), _session(claims)
    if not is_logout or "nonce" in claims or not (subject or session):
        raise ProviderRefused(_refusal("It is no logout token."))
    return Logout(subject, session, _seconds(claims["iat"]))


def _decode(token: str, *, required: list[str], oldest_s: int = 0) -> dict[str, Any]:
    if len(token) > LARGEST_TOKEN:
        raise ProviderRefused(_refusal("It is larger than 64 KiB. Have it hold fewer groups."))
    try:
        header = jwt.get_unverified_header(token)
        signing_key = metadata.key(str(header.get("kid", "")))
        claims: dict[str, Any] = jwt.decode(
            token,
            key=signing_key.key,
            algorithms=[signing_key.algorithm_name],
            audience=settings.OIDC_CLIENT_ID,
            leeway=LEEWAY_S,
            options={"require": required},
        )
    except (jwt.PyJWTError, *ODDITIES) as error:
        reasons = (reason for kind, reason in _REASONS.items() if isinstance(error, kind))
        raise ProviderRefused(_refusal(next(reasons, "It cannot be read."))) from error
    if not metadata.issuer_in({"issuer": claims["iss"]}):
        raise ProviderRefused(_refusal(_REASONS[jwt.InvalidIssuerError]))
    if oldest_s and not -LEEWAY_S <= _now_s() - _seconds(claims["iat"]) <= oldest_s:
        raise ProviderRefused(_refusal(_REASONS[jwt.ExpiredSignatureError]))
    return claims


def _now_s() -> float:
    return time.time()


def _check_party(claims: Mapping[str, Any]) -> None:
    audience, party = claims["aud"], claims.get("azp")
    is_for_many = isinstance(audience, list) and len(audience) > 1
    if (is_for_many or party is not None) and party != settings.OIDC_CLIENT_ID:
        raise ProviderRefused(_refusal(_REASONS[jwt.InvalidAudienceError]))


def _statement(claims: Mapping[str, Any]) -> Statement:
    subject = claims["sub"]
    if not _text(subject) or len(subject) > _LONGEST_SUBJECT:
        raise ProviderRefused(_refusal("It does not say whom it is about."))
    return Statement(
        subject=subject,
        username=_text(claims.get("preferred_username")),
        address=_text(claims.get("email")),
        groups=groups_in(claims),
        authenticated_s=_seconds(claims.get("auth_time")) or None,
        session=_session(claims),
        nonce=_text(claims.get("nonce")),
    )


def groups_in(claims: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the groups that a token names, or None where it names none at all.

    Raises:
        ProviderRefused: They are no list of names, are too many, or stand elsewhere, as Entra ID
            has it for people in more than 200.
    """
    name = settings.OIDC_GROUPS_CLAIM
    elsewhere = claims.get("_claim_names")
    if isinstance(elsewhere, dict) and name in elsewhere:
        raise ProviderRefused(
            _refusal(
                f"The person is in so many groups that {name!r} was left out. Have the provider "
                "send the groups of this application only."
            )
        )
    groups = claims.get(name)
    if groups is None:
        return None
    if isinstance(groups, str):
        groups = [groups]
    if not isinstance(groups, list) or not all(isinstance(group, str) for group in groups):
        raise ProviderRefused(_refusal(f"{name!r} in it is no list of names."))
    if len(groups) > MOST_GROUPS:
        raise ProviderRefused(
            _refusal(
                f"It names {len(groups)} groups, more than {MOST_GROUPS}. Have the provider send "
                "the groups of this application only."
            )
        )
    return frozenset(
        group for group in groups if 0 < len(group) <= _LONGEST_GROUP and not _UNKEPT.search(group)
    )


def _text(value: Any) -> str:
    """Return a text that every database keeps; nothing for what is none."""
    is_plain = isinstance(value, str) and not _UNKEPT.search(value)
    return value[:_LONGEST_SUBJECT] if is_plain else ""


def _session(claims: Mapping[str, Any]) -> str:
    name = claims.get("sid")
    if not isinstance(name, str) or not name:
        return ""
    is_long = len(name) > _LONGEST_SUBJECT or _UNKEPT.search(name)
    return hashlib.sha256(ascii(name).encode()).hexdigest() if is_long else name


def _seconds(value: Any) -> int:
    is_moment = isinstance(value, int | float) and 0 <= value < _END_OF_TIME_S
    return int(value) if is_moment else 0


def _refusal(reason: str) -> str:
    return f"What the provider sent is not accepted. {reason} You are not signed in."
