"""An agent takes its question back."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from approval_client.wire import Source, Status
from dashboard.accounts.models import AgentToken
from dashboard.approvals.clock import database_now
from dashboard.approvals.errors import AlreadyClosed, NotFound
from dashboard.approvals.models import ApprovalRequest, Decision
from dashboard.approvals.services._closing import close, lock
from dashboard.approvals.services.expire import expire_locked
from dashboard.audit.services import Actor


def cancel(*, approval_id: UUID, token: AgentToken, reason: str = "") -> ApprovalRequest:
    """Withdraw an open request; withdrawing it again changes nothing.

    Raises:
        NotFound: There is no such request of this agent.
        AlreadyClosed: It was answered, or has expired.
    """
    with transaction.atomic():
        approval = lock(approval_id)
        if approval.agent_id != token.agent_id:
            raise NotFound
        now = database_now()
        if approval.status == Status.CANCELLED:
            return approval
        if approval.status != Status.PENDING:
            raise AlreadyClosed(approval)
        if approval.expires_at > now:
            decision = Decision(
                approval=approval,
                status=Status.CANCELLED,
                source=Source.AGENT,
                reason=reason,
                decided_at=now,
            )
            actor = Actor(f"agent:{token.agent.name}", f"token:{token.prefix}")
            close(decision, actor=actor)
            return approval
        expire_locked(approval, now)
    raise AlreadyClosed(approval)
