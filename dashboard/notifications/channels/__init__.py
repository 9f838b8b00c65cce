"""The kinds of channel. A new one is a folder here and a line in ``KINDS``."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.notifications.channels import webhook
from dashboard.notifications.channels.kind import Kind

KINDS: Mapping[str, Kind] = {"webhook": webhook.KIND}
