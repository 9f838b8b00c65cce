"""What devices of people sign: Web Authentication Level 3, read and checked by ``fido2``.

Knows no database. What a browser sends is hostile until it is checked. A key is for one host for
ever: that of ``PUBLIC_URL`` when it was added.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import struct
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import astuple, dataclass
from typing import Any
from urllib.parse import urlsplit

from cryptography.exceptions import InvalidSignature
from django.conf import settings
from django.utils.crypto import salted_hmac
from fido2 import cbor
from fido2.cose import CoseKey
from fido2.rpid import verify_rp_id
from fido2.utils import sha256, websafe_decode, websafe_encode
from fido2.webauthn import AttestationObject, AuthenticatorData, CollectedClientData

from dashboard.accounts.errors import NotSigned

LONGEST = 16_000
"""Characters of what a browser sends for a key that it made or for something that was signed."""

ALGORITHMS = (-7, -8, -257)
"""Of keys, by their numbers in COSE: ES256, EdDSA and RS256, the one that is preferred first."""

_LONGEST_KEY = 1200  # bytes; RSA of 8,192 bits is 1,038
_SHORTEST_ID, _LONGEST_ID = 16, 1023  # bytes, by the standard
_TRANSPORTS = {"ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"}
_TIMEOUT_MS = 120_000
_HOUSE = "Approvals"

_UNREADABLE = "What your browser sent cannot be read."
_UNSEEN = "Your device did not check that it is you, by its PIN, your finger or your face."
_UNREADABLE_ERRORS = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    RecursionError,
    OverflowError,
    NotImplementedError,
    struct.error,
)


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that a device has just made.

    Attributes:
        credential_id: Its name, base64url.
        public_key: The key in COSE, base64url.
        sign_count: How often it signed so far; 0 where the device does not count.
        aaguid: The model of the device, as it says itself.
        is_synced: Whether it may be copied to other devices of the person.
        transports: How the device is reached, such as ``["usb"]``.
    """

    credential_id: str
    public_key: str
    sign_count: int
    aaguid: str
    is_synced: bool
    transports: list[str]


@dataclass(frozen=True, slots=True)
class Assertion:
    """What a device signed, all base64url but the origin, as it is stored."""

    credential_id: str
    authenticator_data: str
    client_data: str
    signature: str

    @property
    def origin(self) -> str:
        """The page that it was signed on, as the browser says."""
        return str(_client_data(self.client_data).origin)

    @property
    def sign_count(self) -> int:
        """How often the key signed; 0 where the device does not count."""
        return int(AuthenticatorData(websafe_decode(self.authenticator_data)).counter)


def host() -> str:
    """Return what keys are for from now on: the host of ``PUBLIC_URL``."""
    return urlsplit(settings.PUBLIC_URL).hostname or ""


def origin() -> str:
    """Return the page that keys are used on from now on, as browsers name it."""
    return str(settings.PUBLIC_URL)


def why_unavailable() -> str:
    """Say why no browser makes a key for ``PUBLIC_URL``; empty if they do."""
    url = urlsplit(settings.PUBLIC_URL)
    if _is_address(host()):
        here = f"http://localhost:{url.port}" if url.port else "http://localhost"
        return (
            f"Passkeys need a host name, and this dashboard is served at {settings.PUBLIC_URL}. "
            f"Ask who runs the server to set PUBLIC_URL to an address such as "
            f"https://approvals.example.org, or to {here} for a trial on this computer."
        )
    if not verify_rp_id(host(), settings.PUBLIC_URL):
        return (
            f"Passkeys need https, and this dashboard is served at {settings.PUBLIC_URL}. Ask "
            "who runs the server to set it up with TLS and a PUBLIC_URL that begins with https."
        )
    return ""


def creation_options(
    person_id: int, username: str, challenge: bytes, known_ids: Iterable[str]
) -> dict[str, Any]:
    """Return what a browser makes a key with, as the standard writes it in JSON."""
    handle = salted_hmac("dashboard.accounts.webauthn", str(person_id), algorithm="sha256")
    return {
        "rp": {"id": host(), "name": _HOUSE},
        "user": {
            "id": websafe_encode(handle.digest()),
            "name": username,
            "displayName": username,
        },
        "challenge": websafe_encode(challenge),
        "pubKeyCredParams": [{"type": "public-key", "alg": number} for number in ALGORITHMS],
        "timeout": _TIMEOUT_MS,
        "excludeCredentials": [{"type": "public-key", "id": key_id} for key_id in known_ids],
        "authenticatorSelection": {"residentKey": "preferred", "userVerification": "required"},
        "attestation": "none",
    }


def request_options(challenge: bytes, keys: Iterable[tuple[str, list[str]]]) -> dict[str, Any]:
    """Return what a browser has one of ``keys`` sign with: each an id and its transports."""
    descriptors = [
        {"type": "public-key", "id": key_id, **({"transports": transports} if transports else {})}
        for key_id, transports in keys
    ]
    return {
        "rpId": host(),
        "challenge": websafe_encode(challenge),
        "timeout": _TIMEOUT_MS,
        "allowCredentials": descriptors,
        "userVerification": "required",
    }


def read_new_key(text: str, challenge: bytes) -> NewKey:
    """Read and check what a browser sent once a device made a key.

    Raises:
        NotSigned: It cannot be read, or is not the answer to ``challenge`` at ``PUBLIC_URL``.
    """
    try:
        return _new_key(_json(text), challenge)
    except _UNREADABLE_ERRORS as error:
        raise NotSigned(_UNREADABLE) from error


def _new_key(data: Any, challenge: bytes) -> NewKey:
    response = data["response"]
    client_data = _client_data(response["clientDataJSON"])
    _check_client_data(client_data, "webauthn.create", challenge)
    if client_data.origin != origin():
        raise NotSigned(f"Your browser was on another page than {origin()}.")
    device_data = AttestationObject(websafe_decode(response["attestationObject"])).auth_data
    _check_device(device_data, host())
    key = device_data.credential_data
    if key is None or key.credential_id != websafe_decode(data["id"]):
        raise NotSigned(_UNREADABLE)
    public_key = cbor.encode(dict(key.public_key))
    if key.public_key.get(3) not in ALGORITHMS or len(public_key) > _LONGEST_KEY:
        raise NotSigned("Your device makes keys of a kind that is not accepted here.")
    if not _SHORTEST_ID <= len(key.credential_id) <= _LONGEST_ID:
        raise NotSigned(_UNREADABLE)
    _try(_key(websafe_encode(public_key)))
    transports = response.get("transports") or []
    return NewKey(
        credential_id=websafe_encode(key.credential_id),
        public_key=websafe_encode(public_key),
        sign_count=int(device_data.counter),
        aaguid=str(key.aaguid),
        is_synced=device_data.is_backup_eligible(),
        transports=sorted(_TRANSPORTS.intersection(transports)),
    )


def read_assertion(text: str) -> Assertion:
    """Read what a browser sent once a device signed. Nothing of it is checked yet.

    Raises:
        NotSigned: It cannot be read.
    """
    try:
        data = _json(text)
        response = data["response"]
        assertion = Assertion(
            data["id"],
            response["authenticatorData"],
            response["clientDataJSON"],
            response["signature"],
        )
        for part in astuple(assertion):
            if websafe_encode(websafe_decode(part)) != part:
                raise ValueError(part[:20])
        _ = assertion.origin, assertion.sign_count
    except _UNREADABLE_ERRORS as error:
        raise NotSigned(_UNREADABLE) from error
    return assertion


def check(
    assertion: Assertion, *, challenge: bytes, public_key: str, key_host: str, page: str = ""
) -> None:
    """See that a device signed ``challenge`` with a key, and had checked who holds it.

    Args:
        assertion: What it signed.
        challenge: What it had to sign.
        public_key: Of the key, as ``NewKey`` has it.
        key_host: What the key is for.
        page: Where it had to be signed; without it anywhere at ``key_host``, as for what was
            signed before ``PUBLIC_URL`` was changed.

    Raises:
        NotSigned: Why it does not count.
    """
    try:
        _check(assertion, challenge, public_key, key_host, page)
    except InvalidSignature as error:
        raise NotSigned("The signature is not of this key.") from error
    except _UNREADABLE_ERRORS as error:
        raise NotSigned(_UNREADABLE) from error


def _check(
    assertion: Assertion, challenge: bytes, public_key: str, key_host: str, page: str
) -> None:
    client_data = _client_data(assertion.client_data)
    _check_client_data(client_data, "webauthn.get", challenge)
    if urlsplit(client_data.origin).hostname != key_host:
        raise NotSigned("It was signed on a page that this key is not for.")
    if page and client_data.origin != page:
        raise NotSigned(f"It was signed on another page than {page}.")
    device_data = AuthenticatorData(websafe_decode(assertion.authenticator_data))
    _check_device(device_data, key_host)
    _key(public_key).verify(device_data + sha256(client_data), websafe_decode(assertion.signature))


def _check_client_data(client_data: CollectedClientData, kind: str, challenge: bytes) -> None:
    if client_data.type != kind:
        raise NotSigned("It is of another kind than what was asked for.")
    if not hmac.compare_digest(client_data.challenge, challenge):
        raise NotSigned("Something else was signed than what was asked for.")
    if client_data.cross_origin is not False:
        raise NotSigned("It was signed inside a page of somebody else.")


def _check_device(device_data: AuthenticatorData, key_host: str) -> None:
    if not hmac.compare_digest(device_data.rp_id_hash, sha256(key_host.encode())):
        raise NotSigned("It was signed for another host.")
    if not device_data.is_user_present():
        raise NotSigned("Nobody touched the device.")
    if not device_data.is_user_verified():
        raise NotSigned(_UNSEEN)


def _try(key: CoseKey) -> None:
    """See that a key can be used at all: a wrong signature is what it says then."""
    with suppress(InvalidSignature):
        key.verify(b"", b"\x30\x06\x02\x01\x01\x02\x01\x01")


def _key(public_key: str) -> CoseKey:
    parameters = cbor.decode(websafe_decode(public_key))
    if not isinstance(parameters, dict):
        raise TypeError(public_key[:20])
    return CoseKey.parse(parameters)


def _client_data(text: str) -> CollectedClientData:
    return CollectedClientData(websafe_decode(text))


def _json(text: str) -> Any:
    if len(text) > LONGEST:
        raise ValueError(text[:20])
    return json.loads(text)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
