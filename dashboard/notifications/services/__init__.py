"""The verbs about webhooks and channels. Each is one transaction, and none calls anybody."""

from dashboard.notifications.services.channels import (
    Wish,
    add_channel,
    change_channel,
    new_channel_secret,
    remove_channel,
    switch_channel,
    try_channel,
)
from dashboard.notifications.services.outbox import (
    Attempt,
    begin,
    forget_deliveries,
    queue_decided,
    settle,
)
from dashboard.notifications.services.own_channels import (
    add_own,
    change_own,
    confirm_own,
    remove_own,
    send_code_again,
    switch_own,
    try_own,
)
from dashboard.notifications.services.reading import queue_notices
from dashboard.notifications.services.telling import forget_messages
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
    "add_own",
    "begin",
    "change_channel",
    "change_own",
    "confirm_own",
    "forget_deliveries",
    "forget_messages",
    "new_channel_secret",
    "new_secret",
    "queue_decided",
    "queue_notices",
    "remove_channel",
    "remove_own",
    "send_again",
    "send_code_again",
    "set_webhook",
    "settle",
    "switch",
    "switch_channel",
    "switch_own",
    "try_channel",
    "try_own",
]
