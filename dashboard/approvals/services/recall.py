"""A person takes an approval back before it was started."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from approval_client.wire import Source, Status
from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.approvals.errors import NotAllowed, RecallReasonMissing, RecallRefused
from dashboard.approvals.models import ApprovalRequest, Decision, Recall
from dashboard.approvals.rules.fingerprint import fingerprint_of
from dashboard.approvals.rules.recall import check_unused, source_of_recall
from dashboard.approvals.services.closing import lock, raise_version
from dashboard.audit.actions import Action
from dashboard.audit.services import Actor, AuditEvent, record
from dashboard.clock import database_now
from dashboard.statements import insert

_NO_RIGHT = "Only whoever gave this approval, or an admin, can take it back. Nothing was changed."


def recall(*, approval_id: UUID, person: User, auth: str, reason: str) -> Recall:
    """Take an approval back that was not started; taking it back again changes nothing.

    Of this and ``started`` exactly one wins: both lock the request. It works on hold too. What is
    remembered of the approval is ended on its own, with ``revoke_grant``.

    Raises:
        NotFound: There is no such request.
        RecallRefused: It is not approved, was started, its time is over, or no reason was given.
        NotAllowed: The person neither gave it nor is an admin.
    """
    with transaction.atomic(durable=True):
        approval = lock(approval_id)
        # Read with the lock: a role may be gone.
        by = User.objects.get(pk=person.pk)
        if not (roles.may_decide(by) or roles.may_administer(by)):
            raise NotAllowed(_NO_RIGHT)
        decision = Decision.objects.select_related("grant").filter(approval=approval).first()
        if decision is None:
            raise RecallRefused("This request is not approved.")
        source = source_of_recall(decision, by)
        if source is None:
            raise NotAllowed(_NO_RIGHT)
        if earlier := Recall.objects.filter(approval=approval).first():
            return earlier
        now = database_now()
        check_unused(approval, now)
        if not reason.strip():
            raise RecallReasonMissing
        taken_back = Recall(person=by, source=source, reason=reason.strip(), taken_back_at=now)
        return _insert(taken_back, approval, decision, auth)


@transaction.atomic(durable=True)
def recall_unused(*, approval_id: UUID, admin: User, auth: str, reason: str) -> bool:
    """Take an approval back for an admin, if it could still be started; returns whether it was."""
    approval = lock(approval_id)
    decision = Decision.objects.filter(approval=approval, status=Status.APPROVED).first()
    now = database_now()
    try:
        check_unused(approval, now)
    except RecallRefused:
        return False
    if decision is None or Recall.objects.filter(approval=approval).exists():
        return False
    taken_back = Recall(person=admin, source=Source.ADMIN, reason=reason, taken_back_at=now)
    _insert(taken_back, approval, decision, auth)
    return True


def _insert(
    taken_back: Recall, approval: ApprovalRequest, decision: Decision, auth: str
) -> Recall:
    taken_back.approval, taken_back.agent_id = approval, approval.agent_id
    raise_version(approval)
    details = {"source": taken_back.source, "row": fingerprint_of(taken_back)}
    event = AuditEvent(Action.APPROVAL_RECALLED, str(approval.pk), decision.digest, details)
    taken_back.seq = record(Actor.of_user(taken_back.person.username, auth), event)
    return insert(taken_back)
