"""What an agent is told about its request. Both doors, ninja's and the waiting one, use this."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from django.conf import settings

from approval_client.wire import OutcomeState, Status, canonical_json, parse_json
from dashboard.approvals.models import ApprovalRequest, Decision
from dashboard.approvals.queries import Answerable


def answer(answerable: Answerable) -> dict[str, Any]:
    """Describe a request; touches no database."""
    approval, judgement, outcomes = answerable
    decided = approval.status != Status.PENDING
    reported = {outcome.state: _iso(outcome.reported_at) for outcome in outcomes}
    return {
        "id": str(approval.pk),
        "status": approval.status,
        "digest": approval.digest,
        "version": approval.version,
        "now": _iso(datetime.now(UTC)),
        "submitted_at": _iso(approval.submitted_at),
        "expires_at": _iso(approval.expires_at),
        "review_url": f"{settings.PUBLIC_URL}/approvals/{approval.pk}",
        "policy": {"revision": judgement.revision_id, "trace": json.loads(judgement.trace)},
        "decision": _decision(approval.decision) if decided else None,
        "outcome": {
            "started_at": reported.get(OutcomeState.STARTED),
            "finished_at": reported.get(OutcomeState.FINISHED),
        },
    }


def to_json(answerable: Answerable) -> bytes:
    """Return the answer as the bytes that are sent."""
    return canonical_json(answer(answerable)).encode()


def closed(pending: bytes, approval: ApprovalRequest) -> bytes:
    """Return the answer to who was told ``pending`` before the request was closed."""
    changed = {
        "status": approval.status,
        "version": approval.version,
        "now": _iso(datetime.now(UTC)),
        "decision": _decision(approval.decision),
    }
    return canonical_json({**parse_json(pending), **changed}).encode()


def still(answer: bytes) -> bytes:
    """Return an answer again that has not changed but for the time."""
    return canonical_json({**parse_json(answer), "now": _iso(datetime.now(UTC))}).encode()


def _decision(decision: Decision) -> dict[str, Any]:
    person = decision.decided_by
    return {
        "status": decision.status,
        "source": decision.source,
        "reason": decision.reason,
        "decided_by": person.username if person else None,
        "decided_at": _iso(decision.decided_at),
        "digest": decision.digest,
        "valid_until": _iso(decision.valid_until) if decision.valid_until else None,
        "grant": decision.grant_id,
        # Numbers in it keep their digits, or its digest would be another one's.
        **({"content": parse_json(decision.edit.content)} if decision.edit else {}),
        **({"steps": json.loads(decision.steps)} if decision.has_steps else {}),
    }


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
