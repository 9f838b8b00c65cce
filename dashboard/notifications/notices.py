"""What people are told: of what kind, whose, how grave, how long, where.

Nothing that an agent wrote: no content, no name of a tool, no purpose and no reason. The link
opens a page that asks for a sign-in, and a GET of it changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from dashboard.notifications.models import Event


@dataclass(frozen=True, kw_only=True)
class Notice:
    """One message, before its channel gives it a form.

    Attributes:
        kind: Of the request, such as ``"tool_call"``; empty if this is about a hold, as are the
            others then.
        severity: The gravest finding; ``"high"`` where the inspection is missing or not finished.
    """

    event: Event
    at: datetime
    url: str
    id: str = ""
    kind: str = ""
    agent: str = ""
    severity: str = ""
    expires_at: datetime | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the body of a signed webhook."""
        about = {"id": self.id, "kind": self.kind, "agent": self.agent, "severity": self.severity}
        data: dict[str, Any] = {**about} if self.id else {}
        if self.expires_at is not None:
            data["expires_at"] = moment(self.expires_at)
        data["url"] = self.url
        return {"type": str(self.event), "timestamp": moment(self.at), "data": data}


def moment(at: datetime) -> str:
    """Return a moment as our JSON has it."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
