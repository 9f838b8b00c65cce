"""The verbs about webhooks and channels. Each is one transaction, and none calls anybody."""

from dashboard.notifications.services.channels import (
    Wish,
    add_channel,
    change_channel,
    new_channel_secret,
    switch_channel,
)
from dashboard.notifications.services.outbox import (
    Attempt,
    begin,
    forget_deliveries,
    queue_decided,
    settle,
)
from dashboard.notifications.services.telling import forget_messages, queue_notices
from dashboard.notifications.services.webhooks import (
    new_secret,
    send_again,
    set_webhook,
    switch,
)

__all__ = [
    "Attempt",
    "Wish",
    "add_channel",
    "begin",
    "change_channel",
    "forget_deliveries",
    "forget_messages",
    "new_channel_secret",
    "new_secret",
    "queue_decided",
    "queue_notices",
    "send_again",
    "set_webhook",
    "settle",
    "switch",
    "switch_channel",
]
