"""The secrets that deliveries are signed with: made of ``SECRET_KEY`` and a salt, never stored."""

from __future__ import annotations

import hashlib
import secrets
import time
from base64 import b64encode
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.utils.crypto import salted_hmac
from django.utils.encoding import force_str

from approval_client.wire import WEBHOOK_SECRET_PREFIX, webhook_signature
from dashboard.notifications.errors import SecretLost
from dashboard.notifications.models import Channel, Signing

_PURPOSE = "dashboard.notifications.webhook"
_CODE = "dashboard.notifications.code"


def new_salt() -> str:
    """Return what another secret can be made of."""
    return secrets.token_hex(32)


def shown(salt: str) -> str:
    """Return the secret of a salt as its receiver is given it."""
    return WEBHOOK_SECRET_PREFIX + b64encode(_key(salt, settings.SECRET_KEY)).decode()


def fingerprint(salt: str) -> str:
    """Return what tells later whether the secret of a salt is still the same."""
    return _fingerprint(_key(salt, settings.SECRET_KEY))


def code_of(channel: Channel) -> str:
    """Return the code that proves that a channel's address is its person's, in two groups."""
    proof = salted_hmac(_CODE, f"{channel.salt} {channel.address}", algorithm="sha256").digest()
    digits = f"{int.from_bytes(proof[:8]) % 10**8:08}"
    return f"{digits[:4]} {digits[4:]}"


def signing_keys(receiver: Signing, at: datetime) -> list[bytes]:
    """Return the keys that sign a message at ``at``: the secret's, and perhaps an earlier one's.

    Raises:
        SecretLost: The key of the server is not the one that the secret was made with.
    """
    key = _key_of(receiver.salt, receiver.fingerprint)
    if key is None:
        raise SecretLost
    overlaps = receiver.earlier_until is not None and at < receiver.earlier_until
    earlier = _key_of(receiver.earlier_salt, receiver.earlier_fingerprint) if overlaps else None
    return [key, earlier] if earlier else [key]


def signed_headers(keys: Iterable[bytes], message_id: UUID, body: bytes) -> dict[str, str]:
    """Return the headers of a signed message, as Standard Webhooks specify them."""
    name, sent_at = f"msg_{message_id.hex}", int(time.time())
    return {
        "content-type": "application/json",
        "user-agent": "approval-dashboard",
        "webhook-id": name,
        "webhook-timestamp": str(sent_at),
        "webhook-signature": " ".join(webhook_signature(key, name, sent_at, body) for key in keys),
    }


def _key_of(salt: str, made: str) -> bytes | None:
    """Return the key with the fingerprint ``made``, if a key of the server still makes it."""
    server_keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    keys = (_key(salt, force_str(key)) for key in server_keys)
    return next((key for key in keys if _fingerprint(key) == made), None)


def _key(salt: str, server_key: str) -> bytes:
    return salted_hmac(_PURPOSE, salt, secret=server_key, algorithm="sha256").digest()


def _fingerprint(key: bytes) -> str:
    return hashlib.sha256(b"fingerprint of " + key).hexdigest()[:16]
