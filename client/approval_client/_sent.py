"""What the agents' library sends, besides the question itself."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from approval_client._calls import CALL_TIMEOUT_S, Call
from approval_client.wire import OutcomeState, canonical_json

APPROVALS = "/api/v1/approvals"
MAX_TEXT = 4000  # characters of output and errors that are reported


@dataclass(frozen=True)
class Finished:
    """How something that was approved ended."""

    exit_code: int | None = None
    error: str = ""
    duration_s: float | None = None
    output_head: str = ""

    def fields(self) -> dict[str, Any]:
        """Return what was given, cut to what the server takes."""
        given = {
            "exit_code": self.exit_code,
            "error": _plain(self.error) or None,
            "duration_s": None if self.duration_s is None else round(self.duration_s, 3),
            "output_head": _plain(self.output_head) or None,
        }
        return {name: value for name, value in given.items() if value is not None}


def path(approval_id: str) -> str:
    """Return where ``approval_id`` lives."""
    return f"{APPROVALS}/{quote(approval_id, safe='')}"


def cancellation(approval_id: str, reason: str, *, timeout_s: float) -> Call:
    """Return the call that withdraws a request."""
    text = canonical_json({"reason": _plain(reason)} if reason else {})
    where = f"{path(approval_id)}/cancel"
    return Call(method="POST", path=where, text=text, timeout_s=timeout_s)


def outcome(
    approval_id: str,
    state: OutcomeState,
    content_digest: str,
    fields: dict[str, Any],
    timeout_s: float = CALL_TIMEOUT_S,
) -> Call:
    """Return the call that reports an outcome, with a key of its own for its retries."""
    text = canonical_json({"state": state, "digest": content_digest, **fields})
    where = f"{path(approval_id)}/outcome"
    return Call(method="POST", path=where, text=text, key=uuid.uuid4().hex, timeout_s=timeout_s)


def _plain(text: str) -> str:
    # A report must not fail over what a program printed: NUL and half surrogates are not sent.
    return text[:MAX_TEXT].replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
