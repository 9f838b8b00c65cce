"""What an agent is told about its request. Both doors, ninja's and the waiting one, use this."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from django.conf import settings

from approval_client.wire import OutcomeState, Status, canonical_json, parse_json
from dashboard.approvals.models import ApprovalRequest, Decision, Recall
from dashboard.approvals.queries.agent import Answerable
from dashboard.approvals.rules.recall import recall_of, said
from dashboard.clock import written


def answer(answerable: Answerable) -> dict[str, Any]:
    """Describe a request; touches no database."""
    approval, judgement, outcomes = answerable
    reported = {outcome.state: written(outcome.reported_at) for outcome in outcomes}
    return {
        "id": str(approval.pk),
        "digest": approval.digest,
        "version": approval.version,
        "now": written(datetime.now(UTC)),
        "submitted_at": written(approval.submitted_at),
        "expires_at": written(approval.expires_at),
        "review_url": f"{settings.PUBLIC_URL}/approvals/{approval.pk}",
        "policy": {"revision": judgement.revision_id, "trace": json.loads(judgement.trace)},
        **_standing(approval),
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
        **_standing(approval),
        "version": approval.version,
        "now": written(datetime.now(UTC)),
    }
    return canonical_json({**parse_json(pending), **changed}).encode()


def still(answer: bytes) -> bytes:
    """Return an answer again that has not changed but for the time."""
    return canonical_json({**parse_json(answer), "now": written(datetime.now(UTC))}).encode()


def _standing(approval: ApprovalRequest) -> dict[str, Any]:
    """Say where a request stands. What was taken back is told as cancelled.

    Every client knows that word, and none runs anything after it.
    """
    if approval.status == Status.PENDING:
        return {"status": approval.status, "decision": None}
    if recall := recall_of(approval):
        return {"status": Status.CANCELLED, "decision": _taken_back(approval, recall)}
    return {"status": approval.status, "decision": _decision(approval.decision)}


def _taken_back(approval: ApprovalRequest, recall: Recall) -> dict[str, Any]:
    return {
        "status": Status.CANCELLED,
        "source": recall.source,
        "reason": said(recall),
        "decided_by": recall.person.username,
        "decided_at": written(recall.taken_back_at),
        "digest": approval.digest,
        "valid_until": written(recall.taken_back_at),
        "grant": None,
        "taken_back": True,
    }


def _decision(decision: Decision) -> dict[str, Any]:
    person = decision.decided_by
    return {
        "status": decision.status,
        "source": decision.source,
        "reason": decision.reason,
        "decided_by": person.username if person else None,
        "decided_at": written(decision.decided_at),
        "digest": decision.digest,
        "valid_until": written(decision.valid_until) if decision.valid_until else None,
        "grant": decision.grant_id,
        # Numbers in it keep their digits, or its digest would be another one's.
        **({"content": parse_json(decision.edit.content)} if decision.edit else {}),
        **({"steps": json.loads(decision.steps)} if decision.has_steps else {}),
    }
