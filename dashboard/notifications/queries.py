"""Reads of webhooks, for their pages."""

from __future__ import annotations

from dashboard.notifications.models import Delivery, Webhook

SHOWN = 50


def webhook_of(agent_id: int) -> Webhook | None:
    """Return an agent's webhook, or None."""
    return Webhook.objects.select_related("agent", "changed_by").filter(agent=agent_id).first()


def latest(webhook: Webhook, limit: int = SHOWN) -> list[Delivery]:
    """Return the newest deliveries of a webhook, with what they are about."""
    rows = Delivery.objects.filter(webhook=webhook).select_related("approval__decision")
    return list(rows.defer("approval__content", "approval__evidence").order_by("-made_at")[:limit])
