"""Whether an approval was taken back, and who may take it back."""

from __future__ import annotations

import json
from datetime import datetime

from approval_client.wire import OutcomeState, Source, Status
from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.approvals.errors import RecallRefused, ended
from dashboard.approvals.models import ApprovalRequest, Decision, Recall


def recall_of(approval: ApprovalRequest) -> Recall | None:
    """Return how an approval was taken back; None if it was not."""
    if approval.status != Status.APPROVED:
        return None
    recall: Recall | None = getattr(approval, "recall", None)
    return recall


def said(recall: Recall) -> str:
    """Say in one sentence, and in the person's own words, that it was taken back."""
    return f"The approval was taken back by {recall.person.username}: {ended(recall.reason)}"


def source_of_recall(decision: Decision, person: User) -> Source | None:
    """Return as what a person may take an approval back; None if they may not.

    Whoever gave it may, while they are a reviewer: those whose approval counted, and whoever made
    the remembered approval that answered. So may every admin.
    """
    gave_it = person.username in json.loads(decision.counted) or (
        decision.grant is not None and decision.grant.made_by_id == person.pk
    )
    if gave_it and roles.may_decide(person):
        return Source.REVIEWER
    return Source.ADMIN if roles.may_administer(person) else None


def check_unused(approval: ApprovalRequest, now: datetime) -> None:
    """Make sure that an agent could still start this.

    Raises:
        RecallRefused: It could not: it is not approved, runs already or is over.
    """
    if approval.status != Status.APPROVED:
        raise RecallRefused("This request is not approved.")
    for outcome in approval.outcomes.all():
        if outcome.state == OutcomeState.STARTED:
            at = f"{outcome.reported_at:%H:%M:%S UTC}"
            raise RecallRefused(f"The agent started this at {at}, so it runs already or has run.")
    until = approval.decision.valid_until
    if until is None or until <= now:
        raise RecallRefused("The time to start this is over, so it can no longer run.")


def may_recall(approval: ApprovalRequest, person: User, now: datetime) -> bool:
    """Whether ``person`` could take this approval back now."""
    try:
        check_unused(approval, now)
    except RecallRefused:
        return False
    return recall_of(approval) is None and bool(source_of_recall(approval.decision, person))
