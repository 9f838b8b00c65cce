"""Answers as a checkpoint keeps them: plain values, and what is read of them again."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from approval_client._errors import DigestMismatch
from approval_client._flow import verify_edit
from approval_client._models import ApprovalRequest, ApprovalResponse
from approval_client._refusals import for_model
from approval_client.adapters import _core
from approval_client.adapters._pauses import is_approval
from approval_client.wire import Status, canonical_json, digest, parse_json

ASKED = "approval_request"
STARTS = "starts_itself"  # beside it: the node uses the approval, right before it runs
EXACT = "canonical_content"  # JSON text, whose numbers keep the digits that the digest is of
QUESTION = "question_digest"  # of what was asked; that of an edited answer is another


def interrupted(request: ApprovalRequest, **more: Any) -> Any:
    """Interrupt the graph with a question, and return what it is resumed with."""
    return import_module("langgraph.types").interrupt({ASKED: request.body(), **more})


def asked(value: Any) -> tuple[ApprovalRequest, bool] | None:
    """Return the question of such an interrupt, and whether its node starts what is approved."""
    ours = isinstance(value, Mapping) and ASKED in value and value.keys() <= {ASKED, STARTS}
    if not ours or not isinstance(value[ASKED], str):
        return None
    # Its text leaves out what is off, and this one is on unless it is said to be off.
    request = ApprovalRequest(**{"accepts_grants": False, **parse_json(value[ASKED])})
    return request, value.get(STARTS) is True


def told(response: ApprovalResponse) -> dict[str, Any]:
    """Return an answer as plain values, which any checkpointer can keep.

    Content with an integer of more than 64 bits is its JSON text: a checkpointer can keep no such
    integer.
    """
    has_content = is_approval(response)
    exact = canonical_json(response.content) if has_content else None
    return {
        "approved": response.approved is True,
        "status": str(response.status or ""),
        "reason": for_model(response).reason,
        "id": response.id,
        "decided_by": response.decided_by,
        "digest": response.digest,
        "content": _keepable(response.content, exact) if has_content else None,
        EXACT: exact,
        "edited": response.edited,
    }


def bound(request: ApprovalRequest, response: ApprovalResponse) -> dict[str, Any]:
    """Return an answer as plain values that say which question they answer."""
    return {**told(response), QUESTION: request.digest}


def _keepable(content: Any, exact: str | None) -> Any:
    values = _core.plain(content)
    return values if _fits(values) else exact


def _fits(value: Any) -> bool:
    if isinstance(value, dict | list):
        return all(map(_fits, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, int) or -(2**63) <= value < 2**64


def read(request: ApprovalRequest, given: Any, *, started: bool = True) -> ApprovalResponse:
    """Return the answer that a graph was resumed with; what is none to ``request`` is a rejection.

    Args:
        given: What it was resumed with.
        started: An approval counts only if it was started. If not, it is returned as one that is
            still to be used.
    """
    values = given if isinstance(given, Mapping) else {}
    approved = values.get("approved") is True
    if not approved and (started or values.get("status") != Status.APPROVED):
        status = Status.REJECTED if values.get("status") == Status.REJECTED else None
        reason = values.get("reason") or "The graph was not resumed with an approval."
        return ApprovalResponse(approved=False, status=status, reason=str(reason))
    # Before there was the exact text beside it, the content itself was the text.
    exact = values.get(EXACT, values.get("content"))
    content = parse_json(exact) if isinstance(exact, str) else None
    if not _is_answer(request, values, content):
        reason = "The approval is about different content. Nothing was approved."
        return ApprovalResponse(approved=False, reason=reason)
    return ApprovalResponse(
        approved=started,
        status=Status.APPROVED,
        reason=str(values.get("reason", "")),
        id=str(values.get("id", "")),
        decided_by=str(values.get("decided_by", "")),
        digest=str(values["digest"]),
        content=content,
        edited=values.get("edited") is True,
    )


def _is_answer(request: ApprovalRequest, values: Mapping[str, Any], content: Any) -> bool:
    content_digest = digest(request.kind, content)
    if content_digest != values.get("digest"):
        return False
    if values.get("edited") is not True:
        return content_digest == request.digest
    if request.accepts_edits is not True or values.get(QUESTION) != request.digest:
        return False
    try:
        verify_edit(request, content)
    except DigestMismatch:
        return False
    return True
