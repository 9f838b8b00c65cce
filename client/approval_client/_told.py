"""What an agent is told: the server's answers as responses and errors."""

from __future__ import annotations

from typing import Any

from approval_client._answers import Answer, Decision
from approval_client._asked import Asked
from approval_client._errors import (
    AlreadyUsed,
    DigestMismatch,
    NotApproved,
    OnHold,
    RequestRefused,
    TooLate,
)
from approval_client._models import ApprovalRequest, ApprovalResponse
from approval_client.wire import EDITABLE, Kind, Source, Status, canonical_json, digest

_START_REFUSED: dict[str, type[NotApproved]] = {
    "already_started": AlreadyUsed,
    "approval_expired": TooLate,
    "on_hold": OnHold,
    "digest_mismatch": DigestMismatch,
}
_WHY_NOT = {
    AlreadyUsed: "It was approved, and the approval was used already; an approval is used once.",
    TooLate: "It was approved, but the time in which the approval could be used is over.",
    OnHold: "It was approved, but an operator holds everything at the moment.",
    DigestMismatch: "The approval is about other content than what this agent wants to run.",
}


def not_started(error: RequestRefused) -> NotApproved:
    """Return the error that stands for a ``started`` that the dashboard refused."""
    kind = _START_REFUSED.get(error.code, NotApproved)
    why = _WHY_NOT.get(kind, f"It was approved, but may not start ({error.code}).")
    return kind(f"{why} Nothing was run. Ask anew if it is still wanted.")


def mismatch(found: str, expected: str) -> DigestMismatch:
    """Return the error for an answer about ``found`` where ``expected`` was asked."""
    return DigestMismatch(
        f"The answer is about content {found[:12]}, but this agent wants to run "
        f"{expected[:12]}. Nothing was approved. Ask anew."
    )


def closed(answer: Answer) -> ApprovalResponse:
    """Return the response for a request that was closed without being approved."""
    if answer.decision is None:
        fields: dict[str, Any] = {"id": answer.id, "status": answer.status, "reason": ""}
    else:
        fields = told(answer, answer.decision)
    fields["reason"] = fields["reason"] or _WITHOUT_WORDS[answer.status]
    return ApprovalResponse(approved=False, **fields)


_WITHOUT_WORDS = {
    Status.REJECTED: "No reason was given.",
    Status.EXPIRED: "Nobody decided in time.",
    Status.CANCELLED: "The request was withdrawn before anybody decided.",
}


def told(answer: Answer, decision: Decision) -> dict[str, Any]:
    """Return what any response says about its decision."""
    return {
        "id": answer.id,
        "status": answer.status,
        "reason": decision.reason,
        "source": decision.source,
        "decided_by": decision.decided_by,
        "digest": decision.digest,
        "valid_until": decision.valid_until,
        "steps": decision.steps,
        "grant": decision.grant,
        "review_url": answer.review_url,
    }


def unanswered(answer: Answer) -> ApprovalResponse:
    """Return the response for a request that the agent withdrew because nobody decided."""
    return ApprovalResponse(
        approved=False,
        reason="Nobody decided while this agent waited, so it withdrew the request. "
        "Nothing was approved.",
        status=Status.EXPIRED,
        id=answer.id,
        source=Source.AGENT,
        digest=answer.digest,
        review_url=answer.review_url,
    )


def opened(
    request: ApprovalRequest | Asked, answer: Answer, decision: Decision
) -> ApprovalResponse:
    """Return the one response that opens. Only for an approval that was verified and started."""
    return ApprovalResponse(
        approved=True,
        content=decision.content if decision.edited else request.content,
        edited=decision.edited,
        **told(answer, decision),
    )


def verify(request: ApprovalRequest | Asked, decision: Decision) -> None:
    """Make sure that ``decision`` is about what this agent would run.

    Raises:
        DigestMismatch: It is not.
    """
    expected = request.digest
    if decision.edited:
        if isinstance(request, Asked) or request.accepts_edits is not True:
            raise DigestMismatch(
                "A reviewer changed the content, and this agent did not say that it accepts "
                "edits. Nothing was approved. Ask with accepts_edits=True, or ask anew."
            )
        _verify_edit(request, decision.content)
        expected = digest(request.kind, decision.content)
    if decision.digest != expected:
        raise mismatch(decision.digest, expected)


def _verify_edit(request: ApprovalRequest, content: Any) -> None:
    """Make sure that an edit changes nothing but what may be changed.

    Raises:
        DigestMismatch: It does.
    """
    name = EDITABLE[request.kind]
    is_object = isinstance(content, dict) and content.keys() == request.content.keys()
    if is_object and canonical_json({**content, name: None}) == canonical_json(
        {**request.content, name: None}
    ):
        steps = content[name]
        if request.kind is not Kind.PLAN or _is_within(steps, request.content[name]):
            return
    raise DigestMismatch(
        f"The answer changes more of the content than its {name}, which no reviewer may. Nothing "
        "was approved. Ask anew."
    )


def _is_within(steps: Any, asked: Any) -> bool:
    if not isinstance(steps, list) or not steps:
        return False
    left = iter(map(canonical_json, asked))
    return all(canonical_json(step) in left for step in steps)
