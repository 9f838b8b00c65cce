"""After a new policy: what is pending is judged again."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from approval_client.wire import Status
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.services._closing import lock_to_judge
from dashboard.approvals.services._judging import judge_under_present
from dashboard.policies.services import current_revision

_BATCH = 100


def judge_pending_again() -> int:
    """Judge what is pending by the policy in force, a hundred at the most.

    Each in a transaction of its own, so that nobody waits long. Nothing is lost in between:
    ``decide`` judges by the policy in force too.

    Returns:
        How many were judged.
    """
    present = current_revision().number
    # Ordered as the index is, or a database may walk through all that was ever asked instead.
    left = ApprovalRequest.objects.pending().filter(judged_under__lt=present)
    oldest = left.order_by("judged_under", "submitted_at").values_list("pk", flat=True)
    return sum(_judge_again(pk) for pk in list(oldest[:_BATCH]))


@transaction.atomic
def _judge_again(approval_id: UUID) -> bool:
    approval = lock_to_judge(approval_id)
    if approval.status != Status.PENDING:
        return False
    judge_under_present(approval)
    return True
