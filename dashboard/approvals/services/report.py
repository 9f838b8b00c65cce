"""An agent says what became of what was approved."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from approval_client.wire import OutcomeState, Status, canonical_json
from dashboard.accounts.models import AgentToken
from dashboard.approvals.errors import (
    AlreadyFinished,
    AlreadyStarted,
    ApprovalExpired,
    DigestMismatch,
    IdempotencyConflict,
    NotApproved,
    NotFound,
    NotStarted,
    TakenBack,
)
from dashboard.approvals.models import ApprovalRequest, Judgement, Outcome
from dashboard.approvals.queries.agent import Answerable, outcomes_of
from dashboard.approvals.queries.hold import stop_in, with_stop
from dashboard.approvals.rules.fingerprint import fingerprint_of
from dashboard.approvals.rules.recall import recall_of
from dashboard.approvals.services.closing import lock, raise_version
from dashboard.audit.actions import Action
from dashboard.audit.services import Actor, AuditEvent, record
from dashboard.clock import now_in
from dashboard.policies.services import lock_for_judging
from dashboard.statements import insert, rows


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
) -> Answerable:
    """Record that something approved was started or has finished, and return how it stands now.

    ``started`` succeeds once, before ``valid_until``, while nothing is on hold: it is what uses
    the approval up, and an agent runs nothing until it has succeeded. The same report under the
    same key again changes nothing.

    Raises:
        NotFound: There is no such request of this agent.
        NotApproved, DigestMismatch, ApprovalExpired, TakenBack, Stopped: It may not run.
        AlreadyStarted: The approval was used before.
        AlreadyFinished: Another report of the end came first.
        NotStarted: An end without a beginning.
        IdempotencyConflict: The key was used for another report.
    """
    started = report.state == OutcomeState.STARTED
    with transaction.atomic(durable=True):
        approval = lock(approval_id)
        if approval.agent_id != token.agent_id:
            raise NotFound
        if started:
            lock_for_judging()
        [judgement] = _reported(approval_id)
        outcomes = outcomes_of(approval_id)
        for earlier in outcomes:
            if earlier.state == report.state:
                _check_same(earlier, idempotency_key, report)
                return _as_told(approval, judgement, outcomes)
        now = now_in(judgement)
        if approval.status != Status.APPROVED:
            raise NotApproved
        _check(judgement, report, outcomes, now)
        outcome = _insert(approval, idempotency_key, report, now)
        outcomes.append(outcome)
        raise_version(approval, in_queue=False)
        actor = Actor.of_agent(token.agent.name, token.prefix)
        details = {
            "exit_code": report.exit_code,
            "duration_s": report.duration_s,
            "row": fingerprint_of(outcome),
        }
        event = AuditEvent(
            Action(f"outcome.{report.state}"), str(approval.pk), report.digest, details
        )
        record(actor, event)
        return _as_told(approval, judgement, outcomes)


@rows(ApprovalRequest.id)
def _reported(approval_id: UUID) -> QuerySet[Judgement]:
    """Read what a report depends on: the decision, the hold, the clock; and how it was judged."""
    judgements = Judgement.objects.filter(approval_id=approval_id).defer(
        "demands", "approval__content", "approval__evidence", "approval__objective"
    )
    decided = judgements.select_related(
        "approval__decision__decided_by", "approval__decision__edit", "approval__recall__person"
    )
    return decided.annotate(**with_stop()).order_by("-id")[:1]


def _as_told(
    approval: ApprovalRequest, judgement: Judgement, outcomes: list[Outcome]
) -> Answerable:
    judgement.approval.version = approval.version
    return Answerable(judgement.approval, judgement, outcomes)


def _check_same(earlier: Outcome, key: str, report: OutcomeReport) -> None:
    if earlier.idempotency_key != key:
        started = report.state == OutcomeState.STARTED
        raise (AlreadyStarted if started else AlreadyFinished)(earlier.reported_at)
    if earlier.report_hash != report.hash:
        raise IdempotencyConflict(key)


def _check(
    judgement: Judgement, report: OutcomeReport, outcomes: Sequence[Outcome], now: datetime
) -> None:
    decision = judgement.approval.decision
    if report.digest != decision.digest:
        raise DigestMismatch
    if report.state == OutcomeState.FINISHED:
        if not any(outcome.state == OutcomeState.STARTED for outcome in outcomes):
            raise NotStarted
        return
    if recall := recall_of(judgement.approval):
        raise TakenBack(recall)
    if stop := stop_in(judgement):
        raise stop
    until = decision.valid_until or decision.decided_at
    if now >= until:
        raise ApprovalExpired(until)


def _insert(approval: ApprovalRequest, key: str, report: OutcomeReport, now: datetime) -> Outcome:
    outcome = Outcome(
        approval=approval,
        idempotency_key=key,
        report_hash=report.hash,
        reported_at=now,
        **asdict(report),
    )
    return insert(outcome)
