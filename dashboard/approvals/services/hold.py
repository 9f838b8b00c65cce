"""Stop all approving, and let it go on again."""

from __future__ import annotations

from django.db import transaction

from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.approvals.clock import database_now
from dashboard.approvals.errors import NotAllowed
from dashboard.approvals.models import Hold
from dashboard.approvals.signals import hold_changed
from dashboard.audit.actions import Action
from dashboard.audit.services import Actor, AuditEvent, record
from dashboard.policies.services import lock_for_change


def place_hold(*, by: User, auth: str, reason: str = "") -> Hold:
    """Stop all approving and starting; doing it again changes nothing.

    Raises:
        NotAllowed: The person is not an admin.
    """
    with transaction.atomic(durable=True):
        _check(by)
        lock_for_change()
        hold, placed = Hold.objects.get_or_create(
            active=True,
            defaults={"placed_by": by, "placed_at": database_now(), "reason": reason},
        )
        if placed:
            event = AuditEvent(Action.HOLD_PLACED, details={"reason": reason})
            record(Actor.of_user(by.username, auth), event)
            _announce()
        return hold


def lift_hold(*, by: User, auth: str) -> bool:
    """Let approving go on; returns whether there was a hold.

    Raises:
        NotAllowed: The person is not an admin.
    """
    with transaction.atomic(durable=True):
        _check(by)
        lock_for_change()
        lifted = Hold.objects.filter(active=True).update(
            active=False, lifted_by=by, lifted_at=database_now()
        )
        if lifted:
            record(Actor.of_user(by.username, auth), AuditEvent(Action.HOLD_LIFTED))
            _announce()
        return bool(lifted)


def _announce() -> None:
    """Tell open pages, once the change is committed."""
    transaction.on_commit(_tell, robust=True)


def _tell() -> None:
    hold_changed.send_robust(Hold)


def _check(person: User) -> None:
    if not roles.may_administer(User.objects.get(pk=person.pk)):
        raise NotAllowed("Only admins can do this. Nothing was changed.")
