"""The answer of a person to exactly the same question, earlier in the same run. Reads only."""

from __future__ import annotations

from approval_client.wire import Source, Status
from dashboard.accounts.models import User
from dashboard.approvals.lineage import WITHIN
from dashboard.approvals.models import ApprovalRequest, Decision, Judgement, Vote


def earlier_answer(approval: ApprovalRequest, judgement: Judgement) -> Decision | None:
    """Return what a person answered last to exactly what ``approval`` asks, or None.

    The agent, the run, the content, the capability and all that the agent says have to be the
    same, and so has the policy: its revision, what it says and what was found. A run has to be
    named: without one, nobody knows what belongs together.
    """
    if not approval.run_id:
        return None
    last = (
        Decision.objects.filter(
            source=Source.REVIEWER,
            approval__agent=approval.agent_id,
            approval__run_id=approval.run_id,
            approval__kind=approval.kind,
            approval__digest=approval.digest,
            approval__submitted_at__lte=approval.submitted_at,
            approval__submitted_at__gte=approval.submitted_at - WITHIN,
        )
        .exclude(approval=approval.pk)
        .select_related("approval", "decided_by", "judgement__inspection")
        .order_by("-decided_at")
        .first()
    )
    # An answer to each step, or to a change, is none that a press could give again.
    is_plain = last is not None and last.edit_id is None and last.steps == "[]"
    return last if last and is_plain and _is_same(last, approval, judgement) else None


def saw_the_end(decision: Decision, person: User) -> bool:
    """Say whether this person had the end of that content in sight when they said yes to it."""
    mine = Vote.objects.filter(
        approval=decision.approval_id, person=person, end_seen=True, edit=None
    )
    return decision.status == Status.APPROVED and mine.exists()


def _is_same(last: Decision, approval: ApprovalRequest, judgement: Judgement) -> bool:
    then = last.judgement
    if then is None or last.digest != approval.digest:
        return False
    return _asked(last.approval) == _asked(approval) and _judged(then) == _judged(judgement)


def _asked(approval: ApprovalRequest) -> tuple[object, ...]:
    return (
        approval.content,
        approval.capability,
        approval.objective,
        approval.evidence,
        approval.accepts_edits,
    )


def _judged(judgement: Judgement) -> tuple[object, ...]:
    return (
        judgement.revision_id,
        judgement.effect,
        judgement.demands,
        judgement.trace,
        judgement.inspection.report,
    )
