"""Admins say where an agent's host is called back. What changes nothing is not recorded."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Max

from dashboard.accounts import roles
from dashboard.accounts.models import Agent, User
from dashboard.approvals.models import Closing, Recall
from dashboard.audit.actions import Action
from dashboard.audit.names import agent_name
from dashboard.audit.services import Actor, AuditEvent, record
from dashboard.clock import database_now
from dashboard.notifications.addresses import checked_url, shown_url
from dashboard.notifications.errors import (
    ChangedMeanwhile,
    ChangeNotAllowed,
    NotSent,
    ReceiverNotFound,
)
from dashboard.notifications.models import Delivery, State, Webhook
from dashboard.notifications.secrets import fingerprint, new_salt, shown
from dashboard.notifications.services.attempts import under_way

OVERLAP = timedelta(days=1)
"""How long an earlier secret signs beside a new one, unless it is ended at once."""
SWITCHED_OFF = "The webhook was switched off."


@transaction.atomic
def set_webhook(
    *, agent: Agent, url: str, by: User, auth: str, shown_at: str | None = None
) -> tuple[Webhook, str]:
    """Have an agent's host called back at ``url`` from now on, about what is decided from now on.

    Args:
        shown_at: When it had been changed last, as the person was shown it, if a page did; empty
            if there was none.

    Returns:
        The webhook, and the secret if this made one. It is shown this once.

    Raises:
        AddressRefused: Nothing is sent to that address.
        ChangedMeanwhile: It was changed since it was shown.
        ChangeNotAllowed: The person is not an admin.
    """
    _check(by)
    checked_url(url)
    Agent.objects.select_for_update().get(pk=agent.pk)
    webhook = Webhook.objects.select_for_update(no_key=True).filter(agent=agent).first()
    changed_at = webhook.changed_at.isoformat() if webhook else ""
    is_sent_again = webhook is not None and webhook.url == url
    if shown_at is not None and shown_at != changed_at and not is_sent_again:
        raise ChangedMeanwhile
    now = database_now()
    if webhook is None:
        salt = new_salt()
        webhook = Webhook.objects.create(
            agent=agent,
            url=url,
            salt=salt,
            fingerprint=fingerprint(salt),
            after=_newest_change(agent),
            changed_by=by,
            changed_at=now,
        )
        _record(webhook, by, auth, Action.WEBHOOK_ADDED, host=shown_url(url))
        return webhook, shown(salt)
    if webhook.url != url:
        webhook.url, webhook.rests_until = url, None
        _save(webhook, by)
        _record(webhook, by, auth, Action.WEBHOOK_CHANGED, host=shown_url(url))
    return webhook, ""


@transaction.atomic
def new_secret(*, agent_id: int, at_once: bool, by: User, auth: str) -> str:
    """Make another secret and return it, which cannot be shown again.

    For a day each delivery is signed with the one before it too, so that the receiver can be
    changed in between.

    Args:
        at_once: The earlier one may be known to others: it signs nothing any more.

    Raises:
        ReceiverNotFound: The agent has no webhook.
        ChangeNotAllowed: The person is not an admin.
    """
    webhook = _locked(agent_id, by)
    webhook.earlier_salt = "" if at_once else webhook.salt
    webhook.earlier_fingerprint = "" if at_once else webhook.fingerprint
    webhook.earlier_until = None if at_once else database_now() + OVERLAP
    webhook.salt = new_salt()
    webhook.fingerprint = fingerprint(webhook.salt)
    _save(webhook, by)
    _record(webhook, by, auth, Action.WEBHOOK_SECRET_MADE, earlier_ends_at_once=at_once)
    return shown(webhook.salt)


@transaction.atomic
def switch(*, agent_id: int, on: bool, by: User, auth: str) -> bool:
    """Switch a webhook on or off; returns whether that changed anything.

    Off, nothing is sent any more, and what was waiting never is. On again, it begins with what is
    decided from then on; the host reads what it missed by itself. An attempt that is under way
    tells in either case what came of it; on again, one that fails is made again.

    Raises:
        ReceiverNotFound: The agent has no webhook.
        ChangeNotAllowed: The person is not an admin.
    """
    webhook = _locked(agent_id, by)
    if webhook.is_active == on:
        return False
    webhook.is_active = on
    if on:
        webhook.after, webhook.rests_until = _newest_change(webhook.agent), None
    waiting = Delivery.objects.filter(~under_way(), webhook=webhook, state=State.WAITING)
    waiting.update(state=State.DROPPED, said=SWITCHED_OFF)
    _save(webhook, by)
    _record(webhook, by, auth, Action.WEBHOOK_SWITCHED_ON if on else Action.WEBHOOK_SWITCHED_OFF)
    return True


@transaction.atomic
def send_again(*, agent_id: int, delivery_id: UUID, by: User, auth: str) -> Delivery:
    """Have a message sent again that was delivered, given up or dropped: the same one.

    Where the host asked to be left alone, it waits as all others do.

    Raises:
        ReceiverNotFound: There is no such delivery of this agent's webhook.
        NotSent: It waits to be sent already, or the webhook is off.
        ChangeNotAllowed: The person is not an admin.
    """
    webhook = _locked(agent_id, by)
    delivery = Delivery.objects.select_for_update().filter(pk=delivery_id, webhook=webhook).first()
    if delivery is None:
        raise ReceiverNotFound
    delivery.webhook = webhook
    if not webhook.is_active:
        raise NotSent("The webhook is off. Nothing was sent. Switch it on first.")
    if delivery.state == State.WAITING:
        raise NotSent("This message is already waiting to be sent. Nothing was changed.")
    delivery.state, delivery.attempts, delivery.due_at = State.WAITING, 0, database_now()
    delivery.save(update_fields=["state", "attempts", "due_at"])
    details = {"message": str(delivery.pk), "approval": str(delivery.approval_id)}
    _record(webhook, by, auth, Action.WEBHOOK_SENT_AGAIN, **details)
    return delivery


def _locked(agent_id: int, by: User) -> Webhook:
    _check(by)
    of = Webhook.objects.select_for_update(no_key=True, of=("self",)).select_related("agent")
    webhook = of.filter(agent=agent_id).first()
    if webhook is None:
        raise ReceiverNotFound
    return webhook


def _save(webhook: Webhook, by: User) -> None:
    webhook.changed_by, webhook.changed_at = by, database_now()
    webhook.save(force_update=True)


def _check(person: User) -> None:
    if not roles.may_administer(User.objects.get(pk=person.pk)):
        raise ChangeNotAllowed


def _newest_change(agent: Agent) -> int:
    of_agent = [kind.objects.filter(agent=agent) for kind in (Closing, Recall)]
    return max(rows.aggregate(seq=Max("seq"))["seq"] or 0 for rows in of_agent)


def _record(webhook: Webhook, by: User, auth: str, action: Action, **details: object) -> None:
    subject = agent_name(webhook.agent.name)
    record(Actor.of_user(by.username, auth), AuditEvent(action, subject, details=details))
