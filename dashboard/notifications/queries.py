"""Reads of webhooks and channels, for their pages."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from dashboard.accounts.models import User
from dashboard.clock import database_now
from dashboard.notifications.channels import kinds_that_send
from dashboard.notifications.models import Channel, Delivery, Message, State, Webhook
from dashboard.notifications.services.reading import told

SHOWN = 50
FAILS_FROM = 5
"""After so many attempts in a row that failed, admins are told on every page."""


def webhook_of(agent_id: int) -> Webhook | None:
    """Return an agent's webhook, or None."""
    return Webhook.objects.select_related("agent", "changed_by").filter(agent=agent_id).first()


def agents_not_called_back() -> set[int]:
    """Return the ids of the agents whose webhook is off, also where the host said it is gone."""
    return set(Webhook.objects.filter(is_active=False).values_list("agent", flat=True))


def latest(webhook: Webhook) -> list[Delivery]:
    """Return the newest deliveries of a webhook, with what became of the requests."""
    rows = Delivery.objects.filter(webhook=webhook).select_related("approval")
    unread = ["approval__content", "approval__evidence", "approval__objective"]
    return list(rows.defer(*unread).order_by("-made_at")[:SHOWN])


def rests_until(receiver: Webhook | Channel) -> datetime | None:
    """Return until when a receiver asked to be left alone, or None if it does not ask now."""
    until = receiver.rests_until
    return until if until and until > database_now() else None


def house_channels() -> QuerySet[Channel]:
    """Every channel of the house, by name."""
    return Channel.objects.filter(person=None).select_related("changed_by").order_by("name")


def own_channels(person: User) -> QuerySet[Channel]:
    """Where a person is told, oldest first."""
    return Channel.objects.filter(person=person).order_by("pk")


def latest_messages(channel: Channel, limit: int = SHOWN) -> list[Message]:
    """Return the newest messages of a channel, with the requests that they are about.

    Without those whose time has not come, such as of a last minute.
    """
    later = Q(state=State.WAITING, attempts=0, due_at__gt=database_now())
    rows = Message.objects.filter(~later, channel=channel).select_related("approval__agent")
    unread = ["approval__content", "approval__evidence", "approval__objective"]
    return list(rows.defer(*unread).order_by("-made_at", "-due_at", "pk")[:limit])


def message_counts() -> dict[tuple[str, str], int]:
    """Count messages by whom they are for and how they stand: due and not sent, or given up.

    Those that were given up are deleted after 30 days.
    """
    now, counts = database_now(), dict[tuple[str, str], int]()
    both: dict[str, QuerySet[Any]] = {
        # What is for somebody who is deactivated waits for them, and not for a channel.
        "people": Message.objects.exclude(channel__person__is_active=False),
        "hosts": Delivery.objects.all(),
    }
    for receiver, rows in both.items():
        waiting = rows.filter(state=State.WAITING, due_at__lte=now)
        counts[receiver, "waiting"] = waiting.count()
        counts[receiver, "failed"] = rows.filter(state=State.GIVEN_UP).count()
    return counts


def nobody_is_told() -> bool:
    """Whether neither the house nor any person is told anything when no page is open."""
    return not told().filter(kind__in=kinds_that_send()).exists()


def failing_channels() -> list[str]:
    """Return the names of the house's channels that do not work.

    Their last five attempts all failed, or nothing can be sent by their kind, or their receiver
    is gone for good.
    """
    failing = Q(failures__gte=FAILS_FROM) | ~Q(kind__in=kinds_that_send())
    failing = (Q(is_active=True) & failing) | Q(is_active=False, changed_by=None)
    return list(house_channels().filter(failing).values_list("name", flat=True))
