"""An admin accepts a clock that was set back, or a database that is not the one before.

Both make time go back. What was approved for a while could then be used for longer, or for a
second time, so nothing that was approved before is left usable.
"""

from __future__ import annotations

from typing import NamedTuple

from django.db import transaction

from approval_client.wire import OutcomeState, Status
from dashboard.accounts import roles
from dashboard.accounts.models import AgentToken, User
from dashboard.accounts.services.sessions import end_all_sessions, forget_over
from dashboard.approvals.errors import NotAllowed
from dashboard.approvals.models import ApprovalRequest, Outcome
from dashboard.approvals.services.agent import revoke_token
from dashboard.approvals.services.closing import close_all
from dashboard.approvals.services.grant import end_all_grants
from dashboard.approvals.services.hold import place_hold
from dashboard.approvals.services.recall import recall_unused
from dashboard.audit.actions import Action
from dashboard.audit.heads import Head
from dashboard.audit.queries import head
from dashboard.audit.services import Actor, AuditEvent, forget_latest, record
from dashboard.clock import database_now, is_behind

AUTH = "command"
_NO_RIGHT = "Only admins can do this. Nothing was changed."
_CLOCK = "The server's clock was set back, so nobody can tell how long this was valid."
_DATABASE = "The database was replaced by an older one, so nobody can tell whether this was used."


class Voided(NamedTuple):
    """How many of each can no longer be used."""

    approvals: int
    pending: int
    grants: int
    tokens: int = 0


def accept_clock(*, admin: User) -> Voided | None:
    """Go on by a clock that was set back. None, and nothing is changed, if it was not.

    What had run out by the clock before stays over: approvals that were not started are taken
    back, remembered approvals end, overdue requests are closed, and tokens, sessions and sign-in
    links are gone.

    Raises:
        NotAllowed: The person is not an admin.
    """
    _check(admin)
    end = head()
    latest_at, now = end.latest_at if end else None, database_now()
    if latest_at is None or not is_behind(now, latest_at):
        return None
    approvals, grants = _void(admin, _CLOCK)
    by = Actor.of_user(admin.username, AUTH)
    over = AgentToken.objects.filter(revoked_at=None, expires_at__lte=latest_at)
    tokens = list(over.select_related("agent"))
    for token in tokens:
        revoke_token(token, by=by)
    with transaction.atomic(durable=True):
        overdue = ApprovalRequest.objects.pending().filter(expires_at__lte=latest_at)
        pending = close_all(overdue, by, _CLOCK)
        forget_over(latest_at)
        forget_latest()
        details = {"clock": now.isoformat(), "latest": latest_at.isoformat()}
        record(by, AuditEvent(Action.CLOCK_ACCEPTED, details=details))
    return Voided(approvals, pending, grants, len(tokens))


def accept_database(kept: Head | None, *, admin: User, restored: Head | None = None) -> Voided:
    """Go on with a database whose log has not the entry that was kept beside it.

    Everything is put on hold, and what was asked, approved or remembered before is closed; nobody
    stays signed in.

    Args:
        kept: The last entry that is known and that it has not; None if it has all of them.
        restored: The last entry of the backup that it was, if it is a restored one.

    Raises:
        NotAllowed: The person is not an admin.
    """
    _check(admin)
    reason = "The database was replaced by an older one."
    place_hold(by=admin, auth=AUTH, reason=reason, must_confirm=True)
    approvals, grants = _void(admin, _DATABASE)
    by = Actor.of_user(admin.username, AUTH)
    with transaction.atomic(durable=True):
        pending = close_all(ApprovalRequest.objects.pending(), by, _DATABASE)
        end_all_sessions()
        heads = {"kept": kept, "restored": restored}
        details = {name: str(value) for name, value in heads.items() if value}
        record(by, AuditEvent(Action.DATABASE_ACCEPTED, details=details))
    return Voided(approvals, pending, grants)


def _void(admin: User, reason: str) -> tuple[int, int]:
    """Take back what could still be started and end what is remembered; returns how many."""
    approved = ApprovalRequest.objects.filter(status=Status.APPROVED, recall=None)
    usable = approved.filter(decision__valid_until__gt=database_now())
    started = Outcome.objects.filter(state=OutcomeState.STARTED).values("approval")
    ids = list(usable.exclude(pk__in=started).values_list("pk", flat=True))
    approvals = sum(
        recall_unused(approval_id=pk, admin=admin, auth=AUTH, reason=reason) for pk in ids
    )
    return approvals, end_all_grants(by=admin, auth=AUTH, because=reason)


def _check(person: User) -> None:
    if not roles.may_administer(User.objects.get(pk=person.pk)):
        raise NotAllowed(_NO_RIGHT)
