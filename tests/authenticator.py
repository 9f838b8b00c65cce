"""A device that makes passkeys and signs with them, in software; it lies where a test wants."""

import json
from hashlib import sha256
from struct import pack

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from fido2 import cbor
from fido2.cose import ES256
from fido2.utils import websafe_decode, websafe_encode

HOUSE = "https://approvals.example.org"
HOST = "approvals.example.org"
UP, UV, BE, AT = 1, 4, 8, 64


class Device:
    """One key of one device."""

    def __init__(self, name=b"a name of a key that is long enough", *, count=0, synced=False):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.credential_id = name
        self.count = count
        self.flags = UP | UV | (BE if synced else 0)

    def make(self, options, *, origin=HOUSE, host=HOST, flags=0, kind="webauthn.create", **client):
        """Answer ``navigator.credentials.create``, as JSON."""
        public_key = cbor.encode(dict(ES256.from_cryptography_key(self.key.public_key())))
        attested = (
            bytes(16) + pack(">H", len(self.credential_id)) + self.credential_id + public_key
        )
        data = self.device_data(host, (flags or self.flags) | AT) + attested
        response = {
            "clientDataJSON": client_data(kind, options["challenge"], origin, **client),
            "attestationObject": websafe_encode(
                cbor.encode({"fmt": "none", "attStmt": {}, "authData": data})
            ),
            "transports": ["internal", "hybrid"],
        }
        return json.dumps({"id": websafe_encode(self.credential_id), "response": response})

    def sign(
        self,
        options,
        *,
        origin=HOUSE,
        host=HOST,
        flags=None,
        kind="webauthn.get",
        key=None,
        **client,
    ):
        """Answer ``navigator.credentials.get``, as JSON."""
        self.count += 1 if self.count else 0
        data = self.device_data(host, self.flags if flags is None else flags)
        text = client_data(kind, options["challenge"], origin, **client)
        signed = (key or self.key).sign(
            data + sha256(websafe_decode(text)).digest(), ec.ECDSA(SHA256())
        )
        response = {
            "clientDataJSON": text,
            "authenticatorData": websafe_encode(data),
            "signature": websafe_encode(signed),
        }
        return json.dumps({"id": websafe_encode(self.credential_id), "response": response})

    def device_data(self, host, flags):
        return sha256(host.encode()).digest() + pack(">BI", flags, self.count)


def client_data(kind, challenge, origin, **more):
    return websafe_encode(
        json.dumps({"type": kind, "challenge": challenge, "origin": origin, **more}).encode()
    )


def challenge(asked):
    """The options of a browser for a challenge in bytes."""
    return {"challenge": websafe_encode(asked)}
