"""Evidence that can be sent. The content is never altered; what goes with it may be left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from approval_client._models import ApprovalRequest
from approval_client.wire import MAX_BODY_BYTES, canonical_json

NOT_JSON = "Left out: this was not JSON that could be sent."


def sendable(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``evidence`` with a sentence in place of whatever cannot be sent as JSON."""
    return {name: value if _is_json(value) else NOT_JSON for name, value in evidence.items()}


def within_limit(request: ApprovalRequest) -> ApprovalRequest:
    """Return ``request`` with a sentence in place of its largest evidence until it fits.

    If the content alone is too large the result is too, and will be refused as a whole.
    """
    sizes = {name: _size(value) for name, value in request.evidence.items()}
    for name in sorted(sizes, key=sizes.__getitem__, reverse=True):
        if _size_of_body(request) <= MAX_BODY_BYTES:
            break
        sentence = f"Left out: this was too large to be sent ({sizes[name]:,} bytes)."
        request = replace(request, evidence={**request.evidence, name: sentence})
    return request


def _is_json(value: Any) -> bool:
    try:
        canonical_json({"evidence": {"": value}})  # as deep as it will be in the body
    except Exception:  # noqa: BLE001 - a strange object may raise anything
        return False
    return True


def _size(value: Any) -> int:
    return len(canonical_json(value).encode())


def _size_of_body(request: ApprovalRequest) -> int:
    return len(request.body().encode())
