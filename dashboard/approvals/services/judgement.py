"""Recording what a policy says of a request, once and again after a new policy."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from approval_client.wire import Source, Status, canonical_json
from dashboard.approvals.models import (
    ApprovalRequest,
    Decision,
    Edit,
    Inspection,
    Judgement,
    JudgementGrounds,
)
from dashboard.approvals.rules.fingerprint import fingerprint_of
from dashboard.approvals.rules.judgement import explained, is_to_judge_again, judged_anew
from dashboard.approvals.services.closing import (
    OutOfDate,
    close,
    expire_locked,
    lock_to_judge,
    raise_version,
)
from dashboard.audit.actions import Action
from dashboard.audit.services import Actor, AuditEvent, record
from dashboard.clock import database_now
from dashboard.inspection.findings import Report
from dashboard.policies.evaluate import Effect, Evaluation, stricter
from dashboard.policies.judgements.grounds import Grounds
from dashboard.policies.models import PolicyRevision
from dashboard.policies.rules.wording import duration
from dashboard.policies.services import current_revision
from dashboard.statements import insert, rows

_BATCH = 100


def insert_inspection(approval: ApprovalRequest, report: Report, repeated: int) -> Inspection:
    """Save what was found, once the request has a row."""
    inspection = Inspection(
        approval=approval,
        digest=approval.digest,
        report=report.to_json(),
        repeated=repeated,
        inspected_at=approval.submitted_at,
    )
    return insert(inspection)


def insert_judgement(
    inspection: Inspection, revision: PolicyRevision, evaluation: Evaluation, now: datetime
) -> Judgement:
    """Save what a policy said, and what that rests on."""
    judgement = Judgement(
        approval=inspection.approval,
        inspection=inspection,
        revision=revision,
        effect=evaluation.effect,
        demands=evaluation.demands.to_json(),
        trace=canonical_json(evaluation.trace),
        judged_at=now,
    )
    insert(judgement)
    if evaluation.grounds:
        insert_grounds(judgement, evaluation.grounds)
    return judgement


def insert_grounds(of: Judgement | Edit, grounds: Grounds) -> JudgementGrounds:
    """Save what a judgement, or that of an edit, rests on."""
    return insert(grounds_row(of, grounds))


def grounds_row(of: Judgement | Edit, grounds: Grounds) -> JudgementGrounds:
    """Return what a judgement or an edit rests on as a row that is not saved."""
    return JudgementGrounds(
        judgement=of if isinstance(of, Judgement) else None,
        edit=of if isinstance(of, Edit) else None,
        facts=grounds.to_json(),
    )


def judged_event(judgement: Judgement, evaluation: Evaluation) -> AuditEvent:
    """The audit entry of a judgement."""
    approval = judgement.approval
    details: dict[str, Any] = {
        "effect": evaluation.effect,
        "demands": judgement.demands,
        "findings": sorted(Report.from_json(judgement.inspection.report).names),
        "inspection": fingerprint_of(judgement.inspection),
        "row": fingerprint_of(judgement),
    }
    if hasattr(judgement, "grounds"):
        details["grounds"] = fingerprint_of(judgement.grounds)
    return AuditEvent(Action.APPROVAL_JUDGED, str(approval.pk), approval.digest, details)


def latest_judgement(approval: ApprovalRequest) -> Judgement:
    """Return the judgement that counts, of a request that the caller has locked.

    Raises:
        OutOfDate: It is by an earlier policy than the one in force.
    """
    latest = approval.judgements.select_related("revision", "inspection").latest("id")
    if latest.revision_id != current_revision().number or is_to_judge_again(approval):
        raise OutOfDate
    return latest


@transaction.atomic(durable=True)
def bring_up_to_date(approval_id: UUID) -> bool:
    """Expire a pending request that is overdue, or judge it by the policy in force, and commit.

    Returns:
        Whether it was pending.
    """
    approval = lock_to_judge(approval_id)
    if approval.status != Status.PENDING:
        return False
    now = database_now()
    if approval.expires_at <= now:
        expire_locked(approval, now)
    else:
        _judge_under_present(approval)
    return True


def _judge_under_present(approval: ApprovalRequest) -> None:
    """Judge a pending request by the policy in force.

    The stricter of what was said before and what is said now holds. If that is a rejection the
    request is closed.
    """
    latest = approval.judgements.select_related("revision", "inspection").latest("id")
    present = current_revision()
    is_owed = is_to_judge_again(approval)
    if approval.judged_under != present.number:
        approval.judged_under = present.number
        approval.save(update_fields=["judged_under"])
    # The judgement itself is the proof; the column only spares the sweep from reading them.
    if latest.revision_id == present.number and not is_owed:
        return
    evaluation = stricter(explained(latest), judged_anew(present, approval, latest.inspection))
    now = database_now()
    latest.inspection.approval = approval
    judgement = insert_judgement(latest.inspection, present, evaluation, now)
    actor = Actor(f"policy:{present.number}")
    event = judged_event(judgement, evaluation)
    if evaluation.effect is Effect.REJECT:
        close(by_policy(judgement, evaluation, now), actor=actor, extra=(event,))
        return
    record(actor, event)
    _shorten(approval, evaluation.demands.time_limit_s)
    if approval.expires_at <= now:
        limit = duration(evaluation.demands.time_limit_s or 0)
        reason = (
            f"Revision {present.number} of the policy shortened its time limit to {limit}, which "
            "had passed already."
        )
        expire_locked(approval, now, reason)
        return
    raise_version(approval)


def _shorten(approval: ApprovalRequest, limit_s: int | None) -> None:
    """Have a request end when the policy in force says, if that is earlier."""
    if limit_s is None:
        return
    until = approval.submitted_at + timedelta(seconds=limit_s)
    if until < approval.expires_at:
        approval.expires_at, approval.extended_s = until, 0
        approval.save(update_fields=["expires_at", "extended_s"])


def by_policy(judgement: Judgement, evaluation: Evaluation, now: datetime) -> Decision:
    """The decision of a policy that asks nobody."""
    approved = evaluation.effect is Effect.APPROVE
    return Decision(
        approval=judgement.approval,
        status=Status.APPROVED if approved else Status.REJECTED,
        source=Source.POLICY,
        reason=evaluation.reason,
        decided_at=now,
        judgement=judgement,
    )


def judge_pending_again() -> int:
    """Judge pending requests by the policy in force, a hundred at the most.

    Each in a transaction of its own, so that nobody waits long. Nothing is lost in between:
    ``decide`` judges by the policy in force too.

    Returns:
        How many were judged.
    """
    return sum(map(bring_up_to_date, _outdated(current_revision().number)))


@rows(ApprovalRequest.judged_under)
def _outdated(present: int) -> QuerySet[ApprovalRequest, UUID]:
    # Ordered as the index is, or a database may walk through all that was ever asked instead.
    outdated = ApprovalRequest.objects.pending().filter(judged_under__lt=present)
    oldest = outdated.order_by("judged_under", "submitted_at")
    return oldest.values_list("pk", flat=True)[:_BATCH]
