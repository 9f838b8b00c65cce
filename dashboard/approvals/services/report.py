"""An agent says what became of what was approved."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from approval_client.wire import OutcomeState, Status, canonical_json
from dashboard.accounts.models import AgentToken
from dashboard.approvals.clock import database_now
from dashboard.approvals.errors import (
    AlreadyFinished,
    AlreadyStarted,
    ApprovalExpired,
    DigestMismatch,
    IdempotencyConflict,
    NotApproved,
    NotFound,
    NotStarted,
    OnHold,
)
from dashboard.approvals.models import ApprovalRequest, Outcome
from dashboard.approvals.queries import is_held
from dashboard.approvals.services.closing import lock, raise_version
from dashboard.audit.services import Actor, Event, record
from dashboard.policies.services import lock_for_judging


@dataclass(frozen=True, kw_only=True)
class OutcomeReport:
    """An agent's report. ``duration_s`` is in seconds, ``output_head`` the output's beginning."""

    state: OutcomeState
    digest: str
    exit_code: int | None = None
    error: str = ""
    duration_s: float | None = None
    output_head: str = ""

    @property
    def hash(self) -> str:
        """The name of the report: a retry has the same one."""
        return hashlib.sha256(canonical_json(asdict(self)).encode()).hexdigest()


def report_outcome(
    *, approval_id: UUID, token: AgentToken, idempotency_key: str, report: OutcomeReport
) -> ApprovalRequest:
    """Record that something approved was started or has finished.

    ``started`` succeeds once, before ``valid_until``, while nothing is on hold: it is what uses
    the approval up, and an agent runs nothing until it has succeeded. The same report under the
    same key again changes nothing.

    Raises:
        NotFound: There is no such request of this agent.
        NotApproved, DigestMismatch, ApprovalExpired, OnHold: It may not run.
        AlreadyStarted: The approval was used before.
        AlreadyFinished: Another report of the end came first.
        NotStarted: An end without a beginning.
        IdempotencyConflict: The key was used for another report.
    """
    with transaction.atomic():
        approval = lock(approval_id)
        if approval.agent_id != token.agent_id:
            raise NotFound
        earlier = approval.outcomes.filter(state=report.state).first()
        if earlier:
            return _same(approval, earlier, idempotency_key, report)
        now = database_now()
        _check(approval, report, now)
        _insert(approval, idempotency_key, report, now)
        raise_version(approval)
        actor = Actor(f"agent:{token.agent.name}", f"token:{token.prefix}")
        details = {"exit_code": report.exit_code, "duration_s": report.duration_s}
        event = Event(f"outcome.{report.state}", str(approval.pk), report.digest, details)
        record(actor, event)
        return approval


def _same(
    approval: ApprovalRequest, earlier: Outcome, key: str, report: OutcomeReport
) -> ApprovalRequest:
    if earlier.idempotency_key != key:
        started = report.state == OutcomeState.STARTED
        raise (AlreadyStarted if started else AlreadyFinished)(earlier.reported_at)
    if earlier.report_hash != report.hash:
        raise IdempotencyConflict(key)
    return approval


def _check(approval: ApprovalRequest, report: OutcomeReport, now: datetime) -> None:
    if approval.status != Status.APPROVED:
        raise NotApproved
    decision = approval.decision
    if report.digest != decision.digest:
        raise DigestMismatch
    if report.state == OutcomeState.FINISHED:
        if not approval.outcomes.filter(state=OutcomeState.STARTED).exists():
            raise NotStarted
        return
    lock_for_judging()
    if is_held():
        raise OnHold
    until = decision.valid_until or decision.decided_at
    if now >= until:
        raise ApprovalExpired(until)


def _insert(approval: ApprovalRequest, key: str, report: OutcomeReport, now: datetime) -> None:
    Outcome.objects.create(
        approval=approval,
        idempotency_key=key,
        report_hash=report.hash,
        reported_at=now,
        **asdict(report),
    )
