"""Seals what the server must read again and nobody else: with a key made of ``SECRET_KEY``.

Whoever reads the database alone cannot use it. With another ``SECRET_KEY`` it cannot be read.
"""

from __future__ import annotations

import base64

from cryptography.fernet import Fernet, InvalidToken
from django.utils.crypto import salted_hmac


def seal(text: str, purpose: str) -> bytes:
    """Return ``text`` so that only ``unseal`` with the same purpose reads it."""
    return _box(purpose).encrypt(text.encode())


def unseal(sealed: bytes, purpose: str) -> str | None:
    """Return what was sealed, or None if another key or purpose sealed it."""
    try:
        return _box(purpose).decrypt(sealed).decode()
    except InvalidToken:
        return None


def _box(purpose: str) -> Fernet:
    key = salted_hmac(purpose, "", algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(key))
