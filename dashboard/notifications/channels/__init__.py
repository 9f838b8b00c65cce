"""The kinds of channel. A new one is a folder here and a line in ``KINDS``."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.notifications.channels import chat, email, webhook
from dashboard.notifications.channels.kind import Kind

KINDS: Mapping[str, Kind] = {"email": email.KIND, "chat": chat.KIND, "webhook": webhook.KIND}
