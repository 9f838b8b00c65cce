"""Assign a request to oneself or to another reviewer, and release it."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.approvals.errors import AssignedToAnother, NotAllowed
from dashboard.approvals.models import ApprovalRequest, Assignment, Snooze
from dashboard.approvals.queries.assignment import assignment_of
from dashboard.approvals.rules.fingerprint import fingerprint_of
from dashboard.approvals.services.closing import event, lock, lock_open, raise_version
from dashboard.audit.actions import Action
from dashboard.audit.services import Actor, record
from dashboard.statements import rows

_BATCH = 100


def assign(*, approval_id: UUID, person: User, auth: str, over: str = "") -> Assignment:
    """Assign a request to ``person``; assigning it again changes nothing.

    Args:
        approval_id: Which request.
        person: The new assignee.
        auth: How they are known, for the record.
        over: Username of the present assignee, as the page showed it; empty if it showed nobody.

    Raises:
        NotFound, NotAllowed, AlreadyClosed, TimeOver: As ``lock_open`` does.
        AssignedToAnother: It is assigned to somebody whom the page did not show.
    """
    with transaction.atomic(durable=True):
        approval, now = lock_open(approval_id, person)
        earlier = assignment_of(approval)
        if earlier and earlier.person_id == person.pk:
            return earlier
        if earlier and earlier.person.username != over:
            raise AssignedToAnother(earlier)
        assignment = _give(approval, person, now, after=earlier.person if earlier else None)
        details = {"from": earlier.person.username} if earlier else {}
        action = Action.APPROVAL_TAKEN_OVER if earlier else Action.APPROVAL_SELF_ASSIGNED
        record(Actor.of_user(person.username, auth), event(action, approval, **details))
        return assignment


def release(*, approval_id: UUID, person: User, auth: str) -> bool:
    """End the assignment of ``person``, and return whether there was one.

    Raises:
        NotFound, NotAllowed, AlreadyClosed, TimeOver: As ``lock_open`` does.
    """
    with transaction.atomic(durable=True):
        approval, _ = lock_open(approval_id, person)
        if not Assignment.objects.filter(approval=approval, person=person).delete()[0]:
            return False
        raise_version(approval)
        record(Actor.of_user(person.username, auth), event(Action.APPROVAL_RELEASED, approval))
        return True


def hand_over(
    *, approval_id: UUID, person: User, auth: str, to: User, note: str = ""
) -> Assignment:
    """Assign a request to another reviewer, with a note to them.

    Raises:
        NotFound, NotAllowed, AlreadyClosed, TimeOver: As ``lock_open`` does; ``NotAllowed`` also
            if the other one may not decide.
        AssignedToAnother: It is assigned to a third person.
    """
    with transaction.atomic(durable=True):
        approval, now = lock_open(approval_id, person)
        if not roles.may_decide(User.objects.get(pk=to.pk)):
            raise NotAllowed(f"{to.username} is not a reviewer. Nothing was changed.")
        earlier = assignment_of(approval)
        if earlier and earlier.person_id not in (person.pk, to.pk):
            raise AssignedToAnother(earlier)
        assignment = _give(approval, to, now, after=person, is_handed=True, note=note)
        details = {"to": to.username, "row": fingerprint_of(assignment)}
        record(
            Actor.of_user(person.username, auth),
            event(Action.APPROVAL_HANDED_OVER, approval, **details),
        )
        return assignment


def release_lost_assignments() -> int:
    """End assignments of people who may not decide any more, a hundred at the most.

    Nothing depends on this: such an assignment does not count anyway.

    Returns:
        How many were taken off.
    """
    return sum(map(_release_lost, _lost()))


@rows()
def _lost() -> QuerySet[Assignment, UUID]:
    lost = Assignment.objects.exclude(pk__in=Assignment.objects.counting().values("pk"))
    return lost.values_list("pk", flat=True)[:_BATCH]


@transaction.atomic(durable=True)
def _release_lost(approval_id: UUID) -> bool:
    approval = lock(approval_id)
    lost = Assignment.objects.select_related("person").filter(approval=approval).first()
    if lost is None or roles.may_decide(lost.person):
        return False
    lost.delete()
    raise_version(approval)
    record(Actor("server"), event(Action.APPROVAL_RELEASED, approval, person=lost.person.username))
    return True


def _give(
    approval: ApprovalRequest,
    person: User,
    now: datetime,
    *,
    after: User | None,
    is_handed: bool = False,
    note: str = "",
) -> Assignment:
    fields = {
        "person": person,
        "assigned_at": now,
        "after": after,
        "is_handed": is_handed,
        "note": note,
    }
    assignment, _ = Assignment.objects.update_or_create(approval=approval, defaults=fields)
    assignment.approval = approval
    Snooze.objects.filter(approval=approval, person=person).delete()
    raise_version(approval)
    return assignment
