"""Stop all approving, and let it go on again."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction

from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.approvals.errors import NotAllowed, NotConfirmed
from dashboard.approvals.models import Hold
from dashboard.approvals.queries.hold import database_doubt, doubt_database
from dashboard.approvals.rules.readiness import database_doubts
from dashboard.approvals.signals import hold_changed
from dashboard.audit.actions import Action
from dashboard.audit.services import Actor, AuditEvent, record
from dashboard.clock import database_now
from dashboard.policies.services import lock_for_change

TO_CONFIRM = ("tokens", "roles", "policy", "channels")
"""What is as old as a restored database, and is looked through before approving goes on."""


def place_hold(*, by: User, auth: str, reason: str = "", must_confirm: bool = False) -> Hold:
    """Stop all approving and starting; of a hold that is active, only ``must_confirm`` changes.

    With ``must_confirm``, whoever lifts it has to confirm all of ``TO_CONFIRM``.

    Raises:
        NotAllowed: The person is not an admin.
    """
    with transaction.atomic(durable=True):
        _check(by)
        lock_for_change()
        hold, placed = Hold.objects.get_or_create(
            active=True,
            defaults={
                "placed_by": by,
                "placed_at": database_now(),
                "reason": reason,
                "must_confirm": must_confirm,
            },
        )
        if must_confirm and not hold.must_confirm:
            hold.must_confirm = True
            hold.save(update_fields=["must_confirm"])
            _announce()
        if placed:
            event = AuditEvent(Action.HOLD_PLACED, details={"reason": reason})
            record(Actor.of_user(by.username, auth), event)
            _announce()
        return hold


def lift_hold(*, by: User, auth: str, confirmed: Collection[str] = ()) -> bool:
    """Let approving go on; returns whether there was a hold.

    Raises:
        NotAllowed: The person is not an admin.
        NotConfirmed: After a restore, something was not looked through.
    """
    with transaction.atomic(durable=True):
        _check(by)
        lock_for_change()
        must_confirm = Hold.objects.filter(active=True, must_confirm=True).exists()
        if must_confirm and not set(confirmed).issuperset(TO_CONFIRM):
            raise NotConfirmed
        lifted = Hold.objects.filter(active=True).update(
            active=False, lifted_by=by, lifted_at=database_now()
        )
        if lifted:
            details = {"confirmed": list(TO_CONFIRM)} if must_confirm else {}
            event = AuditEvent(Action.HOLD_LIFTED, details=details)
            record(Actor.of_user(by.username, auth), event)
            _announce()
        return bool(lifted)


def watch_database() -> str:
    """Look whether the database has its guards and the end of its log that was kept.

    While it has not, this process approves and starts nothing.

    Returns:
        What is wrong with it, in a sentence; empty if nothing is.
    """
    doubt = next(database_doubts(), "")
    is_news = doubt != database_doubt()
    doubt_database(doubt)
    if is_news:
        _tell()  # open pages say so, or no longer
    return doubt


def _announce() -> None:
    """Tell open pages, once the change is committed."""
    transaction.on_commit(_tell, robust=True)


def _tell() -> None:
    hold_changed.send_robust(Hold)


def _check(person: User) -> None:
    if not roles.may_administer(User.objects.get(pk=person.pk)):
        raise NotAllowed("Only admins can do this. Nothing was changed.")
