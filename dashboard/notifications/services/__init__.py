"""The verbs about webhooks. Each is one transaction, and none of them calls anybody."""

from dashboard.notifications.services.outbox import (
    Attempt,
    begin,
    forget_deliveries,
    queue_decided,
    settle,
)
from dashboard.notifications.services.webhooks import (
    new_secret,
    send_again,
    set_webhook,
    switch,
)

__all__ = [
    "Attempt",
    "begin",
    "forget_deliveries",
    "new_secret",
    "queue_decided",
    "send_again",
    "set_webhook",
    "settle",
    "switch",
]
