"""What an agent hands in, in the exact texts that are stored and hashed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from approval_client.wire import Kind, canonical_json, digest

SHORTEST_TIME_LIMIT_S = 5
LONGEST_TIME_LIMIT_S = 30 * 24 * 3600


@dataclass(frozen=True, kw_only=True)
class Submission:
    """One question, as sent. ``content`` and ``evidence`` are JSON values that keep their digits.

    Attributes:
        time_limit_s: How long reviewers have, in seconds; None leaves it to the policy.
        max_wait_s: How long the agent means to wait at most, in seconds.
    """

    kind: Kind
    capability: str
    content: dict[str, Any]
    objective: str = ""
    evidence: dict[str, Any]
    run_id: str = ""
    time_limit_s: int | None = None
    max_wait_s: int | None = None
    accepts_edits: bool = False
    accepts_grants: bool = False

    @property
    def digest(self) -> str:
        """The name of the content: what a decision is about."""
        return digest(self.kind, self.content)

    @property
    def hash(self) -> str:
        """The name of the whole submission: a retry has the same one."""
        text = canonical_json({**vars(self), "kind": str(self.kind)})
        return hashlib.sha256(text.encode()).hexdigest()
