"""An answer that is given again: the same press twice, or the same question asked again."""

from __future__ import annotations

from dataclasses import replace

from approval_client.wire import Status
from dashboard.approvals.errors import AlreadyClosed, StaleBasis
from dashboard.approvals.models import ApprovalRequest, Decision, Judgement, Vote
from dashboard.approvals.repeating import earlier_answer, saw_the_end
from dashboard.approvals.services._answers import Answer


def answered_already(approval: ApprovalRequest, given: Answer) -> Decision | Vote:
    """Return the first answer, if this is the same of the same person again.

    Raises:
        AlreadyClosed: It is not.
    """
    decision = approval.decision
    if given.remember and not approval.grants_made.filter(made_by=given.reviewer).exists():
        raise AlreadyClosed(approval)
    is_same = given.status == Status.REJECTED or decision.edit_id == given.basis.edit_id
    if decision.decided_by_id == given.reviewer.pk and decision.status == given.status and is_same:
        return decision
    earlier = approval.votes.filter(person=given.reviewer, edit=given.basis.edit_id).last()
    if earlier and is_same and given.status == decision.status == Status.APPROVED:
        return earlier
    raise AlreadyClosed(approval)


def answered_as_before(approval: ApprovalRequest, given: Answer, judgement: Judgement) -> Answer:
    """Give an earlier answer again, with its words; whose end was in sight then, was in sight.

    Raises:
        StaleBasis: It was not the answer to exactly this question.
    """
    earlier = earlier_answer(approval, judgement)
    if earlier is None or earlier != given.repeats or earlier.status != given.status:
        raise StaleBasis
    if given.basis.edit_id is not None:
        raise StaleBasis
    seen = given.end_seen or saw_the_end(earlier, given.reviewer)
    shown = {**given.shown, "end_seen": "yes" if seen else "", "repeats": earlier.pk}
    return replace(given, repeats=earlier, reason=earlier.reason, shown=shown)
