"""Names of our cookies: two dashboards on one host must not take each other's."""

from __future__ import annotations

import hmac


def cookie_names(secret_key: str, *, https: bool) -> tuple[str, str]:
    """Return the names of the session's cookie and of the one against forged forms.

    Browsers keep cookies by host and not by port. The names are made of ``SECRET_KEY`` by
    HKDF-SHA256 (RFC 5869), so processes that share sessions share them, and the key cannot be
    found from them.

    Args:
        secret_key: What the servers of one dashboard have in common.
        https: Whether pages come over TLS; browsers then hold the cookie to this very host.
    """
    pseudorandom = hmac.digest(bytes(32), secret_key.encode(), "sha256")
    suffix = hmac.digest(pseudorandom, b"names of cookies\x01", "sha256").hex()[:8]
    name = f"{'__Host-' if https else ''}approvals-{suffix}"
    return name, f"{name}-csrf"
