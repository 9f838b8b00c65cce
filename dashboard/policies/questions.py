"""What a policy judges: a question with what is known of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from approval_client.wire import Kind
from dashboard.inspection.findings import Report


@dataclass(frozen=True, kw_only=True)
class Question:
    """One request as a policy sees it.

    Attributes:
        content: The parsed content, whose numbers keep their digits (``wire.parse_json``).
        report: What our own inspection found.
        agent: The name of the agent, by its token.
        asked_at: When it was submitted, aware.
        capability: A claim, as are the next two and so ``repeated``, which counts within a run.
        repeated: How often the same content was asked for before in the same run.
    """

    kind: Kind
    content: Mapping[str, Any]
    report: Report
    agent: str
    asked_at: datetime
    capability: str = ""
    execution_mode: str = ""
    run_id: str = ""
    repeated: int = 0
