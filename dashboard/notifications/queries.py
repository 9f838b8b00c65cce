"""Reads of webhooks, for their pages."""

from __future__ import annotations

from dashboard.notifications.models import Delivery, Webhook

SHOWN = 50


def webhook_of(agent_id: int) -> Webhook | None:
    """Return an agent's webhook, or None."""
    return Webhook.objects.select_related("agent", "changed_by").filter(agent=agent_id).first()


def latest(webhook: Webhook, limit: int = SHOWN) -> list[Delivery]:
    """Return the newest deliveries of a webhook, with what became of the requests."""
    rows = Delivery.objects.filter(webhook=webhook).select_related("approval")
    unread = ["approval__content", "approval__evidence", "approval__objective"]
    return list(rows.defer(*unread).order_by("-made_at")[:limit])
