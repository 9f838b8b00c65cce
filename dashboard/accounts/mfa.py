"""What allauth asks us about second factors: how to keep its secrets."""

from __future__ import annotations

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.totp.internal.auth import generate_totp_secret

from dashboard.accounts import sealing

_PURPOSE = "dashboard.accounts.mfa"


class SealedFactors(DefaultMFAAdapter):  # type: ignore[misc]
    """Keeps secrets sealed."""

    def encrypt(self, text: str) -> str:
        """Seal a secret."""
        return sealing.seal(text, _PURPOSE).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Read a secret; where another ``SECRET_KEY`` sealed it, one that nobody knows."""
        return sealing.unseal(encrypted_text.encode(), _PURPOSE) or str(generate_totp_secret())
