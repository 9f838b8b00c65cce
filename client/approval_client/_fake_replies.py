"""What ``FakeDashboard`` sends back, as HTTP."""

from __future__ import annotations

from typing import Any

import httpx2

from approval_client._fake import Refused
from approval_client.wire import PROTOCOL, PROTOCOL_HEADER, canonical_json


def key_of(request: httpx2.Request) -> str:
    """Return the idempotency key of a call."""
    key = request.headers.get("Idempotency-Key", "")
    if not key:
        raise Refused(422, "invalid", "Send an Idempotency-Key.")
    return str(key)


def as_json(status: int, value: Any, media_type: str = "application/json") -> httpx2.Response:
    """Return a reply with a JSON body."""
    headers = {"Content-Type": media_type, PROTOCOL_HEADER: str(PROTOCOL)}
    return httpx2.Response(status, headers=headers, content=canonical_json(value).encode())


def as_problem(refused: Refused) -> httpx2.Response:
    """Return a refusal."""
    fields = {
        "type": "about:blank",
        "title": refused.code,
        "status": refused.status,
        "detail": refused.detail,
        "code": refused.code,
    }
    return as_json(refused.status, fields, "application/problem+json")
