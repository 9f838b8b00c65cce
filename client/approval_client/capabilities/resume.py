"""Reads what people answered out of an agent's state. Only True approves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_APPROVED = "approval_approved"
_PAYLOAD = "approved_payload"


def get_approval_resume_data(
    state: Mapping[str, Any], expected_approval_type: str
) -> tuple[bool, dict[str, Any] | None]:
    """Say whether ``state`` resumes after an answer, and with what.

    Returns:
        ``(False, None)`` if nobody answered, ``(True, None)`` if it was rejected, and
        ``(True, payload)`` if it was approved.

    Raises:
        ValueError: The answer is not a bool, or the payload is missing, malformed or of another
            approval type. Osprey took any text for an approval, even ``"no"``.
    """
    _check_asked(state, expected_approval_type)
    approved, payload = state.get(_APPROVED), state.get(_PAYLOAD)
    if approved is None:
        return False, None
    _check_answer(approved)
    if payload is None or (isinstance(payload, dict) and not payload):
        if approved:
            raise ValueError(f"{_APPROVED}=True but no {_PAYLOAD} found")
        return True, None
    _check_payload(payload)
    if payload["approval_type"] != expected_approval_type:
        answer = "approved" if approved else "rejected"
        raise ValueError(
            f"Approval was {answer} but no valid payload found for type {expected_approval_type}"
        )
    return True, payload if approved else None


def get_approved_payload_from_state(
    state: Mapping[str, Any], expected_approval_type: str
) -> dict[str, Any] | None:
    """Return the payload that was approved, or None if none of this type was.

    Osprey took any answer that Python counts as true for an approval. Only True is one here.
    """
    payload = state.get(_PAYLOAD)
    if state.get(_APPROVED) is not True or not isinstance(payload, dict):
        return None
    return payload if payload.get("approval_type") == expected_approval_type else None


def clear_approval_state() -> dict[str, Any]:
    """Return what a node merges into its result, so that an answer is used once."""
    return {_APPROVED: None, _PAYLOAD: None}


# Osprey's callers catch ValueError, whatever is wrong with the state.


def _check_asked(state: object, expected: object) -> None:
    if not isinstance(state, Mapping):
        raise ValueError(f"The state must be a mapping, got {type(state)}. Nothing was approved.")  # noqa: TRY004 - see above
    if not isinstance(expected, str) or not expected.strip():
        raise ValueError(
            f"The expected approval type must be a non-empty string, got {expected!r:.80}. "
            f"Nothing was approved."
        )


def _check_answer(approved: object) -> None:
    if not isinstance(approved, bool):
        raise ValueError(  # noqa: TRY004 - see above
            f"{_APPROVED} must be True or False, got {approved!r:.80}. Nothing was approved: put "
            f"the decision into the state as a bool."
        )


def _check_payload(payload: object) -> None:
    if not isinstance(payload, dict):
        raise ValueError(f"{_PAYLOAD} must be dict, got {type(payload)}")  # noqa: TRY004 - see above
    if "approval_type" not in payload:
        raise ValueError(f"{_PAYLOAD} missing required 'approval_type' field")
    approval_type = payload["approval_type"]
    if not isinstance(approval_type, str) or not approval_type.strip():
        raise ValueError(f"approval_type must be a non-empty string, got: {approval_type!r:.80}")
