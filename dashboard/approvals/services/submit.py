"""An agent submits a request."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction

from approval_client.wire import Kind, canonical_json, digest
from dashboard.accounts import tokens
from dashboard.accounts.models import Agent, AgentToken
from dashboard.approvals.clock import database_now
from dashboard.approvals.errors import IdempotencyConflict, NotAllowed, TooManyPending
from dashboard.approvals.models import ApprovalRequest, Judgement
from dashboard.approvals.queries import is_held
from dashboard.approvals.rules.judgement import judged_by, question_of, times_asked
from dashboard.approvals.services.closing import announce, close
from dashboard.approvals.services.grant import answer_by_grant
from dashboard.approvals.services.judgement import (
    by_policy,
    insert_inspection,
    insert_judgement,
    judged_event,
)
from dashboard.approvals.services.notebook import pin_notebook
from dashboard.audit.services import Actor, Event, record
from dashboard.inspection.findings import Report
from dashboard.policies.evaluate import Effect, Evaluation
from dashboard.policies.inspecting import inspect
from dashboard.policies.rules import DEFAULT_TIME_LIMIT_S
from dashboard.policies.services import current_revision, lock_for_judging

SHORTEST_TIME_LIMIT_S = 5
LONGEST_TIME_LIMIT_S = 30 * 24 * 3600
_ON_HOLD = "Everything is on hold: a person is asked."


@dataclass(frozen=True, kw_only=True)
class Submission:
    """One question, as sent. ``content`` and ``evidence`` are JSON values that keep their digits.

    Attributes:
        time_limit_s: How long reviewers have, in seconds; None leaves it to the policy.
        max_wait_s: How long the agent means to wait at most, in seconds.
    """

    kind: Kind
    capability: str
    content: dict[str, Any]
    objective: str = ""
    evidence: dict[str, Any]
    run_id: str = ""
    time_limit_s: int | None = None
    max_wait_s: int | None = None
    accepts_edits: bool = False
    accepts_grants: bool = False

    @property
    def digest(self) -> str:
        """The name of the content: what a decision is about."""
        return digest(self.kind, self.content)

    @property
    def hash(self) -> str:
        """The name of the whole submission: a retry has the same one."""
        text = canonical_json({**vars(self), "kind": str(self.kind)})
        return hashlib.sha256(text.encode()).hexdigest()


def submit(
    *, token: AgentToken, idempotency_key: str, submission: Submission
) -> tuple[ApprovalRequest, bool]:
    """Store a request, let the policy judge it, and return whether it is new.

    Asking again with the same key and the same submission returns the first request.

    Raises:
        IdempotencyConflict: The key was used for another submission.
        TooManyPending: The token may not have more open questions.
        NotAllowed: The token or its agent was shut out in the meantime.
    """
    earlier = ApprovalRequest.objects.filter(agent=token.agent_id, idempotency_key=idempotency_key)
    if approval := earlier.first():
        return _same(approval, submission), False
    # Before the transaction: SQLite has one writer, which must not wait for a parser.
    report = inspect(submission.kind, submission.content)
    with transaction.atomic():
        agent = Agent.objects.select_for_update().get(pk=token.agent_id)
        if approval := earlier.first():
            return _same(approval, submission), False
        now = database_now()
        _check_token(token, agent, now)
        approval = _request(token, agent, idempotency_key, submission, now)
        _store(approval, token, report, submission.time_limit_s)
        return approval, True


def _same(approval: ApprovalRequest, submission: Submission) -> ApprovalRequest:
    if approval.submission_hash != submission.hash:
        raise IdempotencyConflict(approval.idempotency_key)
    return approval


def _check_token(token: AgentToken, agent: Agent, now: datetime) -> None:
    token.refresh_from_db(fields=["revoked_at", "expires_at"])
    token.agent = agent
    if not tokens.works(token, now):
        raise NotAllowed("This token was revoked or has expired. Nothing was submitted.")
    if token.approvals.pending().count() >= settings.PENDING_PER_TOKEN:
        raise TooManyPending(settings.PENDING_PER_TOKEN)


def _request(
    token: AgentToken, agent: Agent, key: str, submission: Submission, now: datetime
) -> ApprovalRequest:
    return ApprovalRequest(
        agent=agent,
        token=token,
        idempotency_key=key,
        submission_hash=submission.hash,
        kind=submission.kind,
        capability=submission.capability,
        content=canonical_json(submission.content),
        digest=submission.digest,
        objective=submission.objective,
        evidence=canonical_json(submission.evidence),
        run_id=submission.run_id,
        max_wait_s=submission.max_wait_s,
        accepts_edits=submission.accepts_edits,
        accepts_grants=submission.accepts_grants,
        submitted_at=now,
    )


def _store(
    approval: ApprovalRequest, token: AgentToken, report: Report, asked_limit_s: int | None
) -> None:
    """Insert a request with what was found in it and what the policy says, and follow that."""
    lock_for_judging()
    revision, repeated = current_revision(), times_asked(approval)
    evaluation = judged_by(revision, question_of(approval, report, repeated))
    if evaluation.effect is Effect.APPROVE and is_held():
        evaluation = Evaluation(Effect.REVIEW, (*evaluation.trace, _ON_HOLD), evaluation.demands)
    limits = (asked_limit_s or DEFAULT_TIME_LIMIT_S, evaluation.demands.time_limit_s)
    limit_s = min(limit for limit in limits if limit)
    approval.expires_at = approval.submitted_at + timedelta(seconds=limit_s)
    approval.judged_under = revision.number
    approval.save(force_insert=True)
    pinned = pin_notebook(approval)
    inspection = insert_inspection(approval, report, repeated)
    judgement = insert_judgement(inspection, revision, evaluation, approval.submitted_at)
    agent = Actor(f"agent:{approval.agent.name}", f"token:{token.prefix}")
    submitted = Event("approval.submitted", str(approval.pk), approval.digest, pinned, agent)
    _follow(judgement, evaluation, submitted)


def _follow(judgement: Judgement, evaluation: Evaluation, submitted: Event) -> None:
    policy = Actor(f"policy:{judgement.revision_id}")
    events = (submitted, judged_event(judgement, evaluation))
    if evaluation.effect is not Effect.REVIEW:
        decision = by_policy(judgement, evaluation, judgement.judged_at)
        close(decision, actor=policy, extra=events)
    elif not answer_by_grant(judgement, evaluation, actor=policy, extra=events):
        record(policy, *events)
        announce(judgement.approval)
