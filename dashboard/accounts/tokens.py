"""Agents' tokens: made, found, revoked. The secret itself is never stored."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from dashboard.accounts.errors import Retired
from dashboard.accounts.models import Agent, AgentToken, User
from dashboard.audit.actions import Action
from dashboard.audit.fingerprint import fingerprint
from dashboard.audit.names import agent_name
from dashboard.audit.services import Actor, AuditEvent, record
from dashboard.statements import rows

PREFIX = "dash_"
_SHOWN = len(PREFIX) + 6


def secret_hash(secret: str) -> str:
    """Return what is stored for a secret. It is 256 random bits, so a plain hash suffices."""
    return hashlib.sha256(secret.encode()).hexdigest()


def issue(
    agent: Agent, *, by: Actor, creator: User | None = None, life: timedelta | None = None
) -> tuple[AgentToken, str]:
    """Make a token for ``agent`` and return it with its secret, which cannot be shown again.

    Raises:
        Retired: The agent was shut out, perhaps just now.
    """
    secret = PREFIX + secrets.token_urlsafe(32)
    with transaction.atomic():
        if not Agent.objects.select_for_update().get(pk=agent.pk).is_active:
            raise Retired(f"The agent {agent.name!r} is deactivated. No token was issued.")
        token = AgentToken.objects.create(
            agent=agent,
            prefix=secret[:_SHOWN],
            hash=secret_hash(secret),
            created_by=creator,
            expires_at=None if life is None else timezone.now() + life,
        )
        expires_at = token.expires_at and token.expires_at.isoformat()
        row = token_fingerprint(token)
        details = {"token": token.prefix, "expires_at": expires_at, "row": row}
        record(by, AuditEvent(Action.TOKEN_ISSUED, agent_name(agent.name), details=details))
    return token, secret


def token_fingerprint(token: AgentToken) -> str:
    """The name of a token in the log, which keeps no hash of a secret."""
    columns = ("agent_id", "prefix", "hash", "created_by_id", "expires_at")
    return fingerprint({column: getattr(token, column) for column in columns})


@rows(AgentToken.hash)
def _by_hash(hash_: str) -> QuerySet[AgentToken]:
    return AgentToken.objects.select_related("agent").filter(hash=hash_).order_by()


def find(
    secret: str, look_up: Callable[[str], AgentToken | None] = _by_hash.first
) -> AgentToken | None:
    """Return the token that ``secret`` belongs to if it works now, with its agent, else None.

    Args:
        secret: What an agent sent.
        look_up: Returns the token with a hash, perhaps with more about it in the same statement.
    """
    if not secret.startswith(PREFIX):
        return None
    token = look_up(secret_hash(secret))
    return token if token and works(token, timezone.now()) else None


def works(token: AgentToken, at: datetime) -> bool:
    """Whether the token opens the API at ``at``."""
    return (
        token.revoked_at is None
        and (token.expires_at is None or token.expires_at > at)
        and token.agent.is_active
    )


@transaction.atomic
def revoke(token: AgentToken, *, by: Actor) -> None:
    """End a token for good. Call ``approvals.services.revoke_token``: it closes its asks too."""
    unrevoked = AgentToken.objects.filter(pk=token.pk, revoked_at=None)
    if unrevoked.update(revoked_at=timezone.now()):
        details = {"token": token.prefix}
        record(by, AuditEvent(Action.TOKEN_REVOKED, agent_name(token.agent.name), details=details))


def note_use(last_used: Mapping[int, datetime]) -> None:
    """Remember when tokens were last used: ``{token id: moment}``."""
    with transaction.atomic():
        for pk, at in last_used.items():
            AgentToken.objects.filter(pk=pk).update(last_used_at=at)
