"""An admin shuts a token or an agent out; what it asked is closed with it."""

from __future__ import annotations

from django.db import transaction

from dashboard.accounts import tokens
from dashboard.accounts.models import Agent, AgentToken
from dashboard.accounts.services import agents
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.services.closing import close_all
from dashboard.approvals.services.grant import end_grants_of
from dashboard.audit.services import Actor

_DEACTIVATED = "The agent was deactivated."


@transaction.atomic
def revoke_token(token: AgentToken, *, by: Actor) -> int:
    """End a token and close what was asked with it; returns how many requests that were."""
    Agent.objects.select_for_update().get(pk=token.agent_id)
    pending = ApprovalRequest.objects.pending().filter(token=token)
    closed = close_all(pending, by, "The agent's token was revoked.")
    tokens.revoke(token, by=by)
    return closed


@transaction.atomic
def retire_agent(agent: Agent, *, by: Actor) -> int:
    """Shut an agent out and close what it asked; returns how many requests that were."""
    Agent.objects.select_for_update().get(pk=agent.pk)
    pending = ApprovalRequest.objects.pending().filter(agent=agent)
    list(pending.select_for_update().order_by("pk"))  # before the log, which ended grants lock
    end_grants_of(agent, by=by, because=_DEACTIVATED)
    closed = close_all(pending, by, _DEACTIVATED)
    agents.retire(agent, by=by)
    return closed
