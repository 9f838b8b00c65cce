"""Who is asking: an agent with a bearer token. Cookies mean nothing here."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from ninja.security import HttpBearer

from dashboard.accounts import tokens
from dashboard.accounts.models import AgentToken
from dashboard.live.seen import seen


class AgentRequest(HttpRequest):
    """A request that passed ``AgentBearer``."""

    auth: AgentToken


class AgentBearer(HttpBearer):
    """Lets in whoever holds a token that works."""

    def authenticate(self, request: HttpRequest, token: str) -> AgentToken | None:
        """Return the token's row, or None."""
        del request
        return by_secret(token)


def by_secret(
    secret: str, find: Callable[[str], AgentToken | None] = tokens.find
) -> AgentToken | None:
    """Return the token if it works now, and note that it was used."""
    token = find(secret)
    if token:
        seen.token_used(token.pk)
    return token
