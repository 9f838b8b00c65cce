"""The kinds of channel. A new one is a folder here and a line in ``KINDS``."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.notifications.channels import chat, email, unknown, webhook
from dashboard.notifications.channels.kind import ChannelKind

KINDS: Mapping[str, ChannelKind] = {
    "email": email.KIND,
    "chat": chat.KIND,
    "webhook": webhook.KIND,
}


def kind_of(name: str) -> ChannelKind:
    """Return the kind of a channel; one that sends nothing if this release does not know it."""
    return KINDS.get(name, unknown.KIND)


def kinds_that_send() -> list[str]:
    """Return the names of the kinds by which something can be sent now."""
    return [name for name, kind in KINDS.items() if not kind.missing()]
