"""What a policy is asked about a request and what it answered, as rows and back."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from django.core.exceptions import ObjectDoesNotExist

from approval_client.wire import Kind, parse_json
from dashboard.approvals.models import ApprovalRequest, Edit, Inspection, Judgement
from dashboard.approvals.queries.tool import UNLISTED, ToolStanding, standings
from dashboard.inspection.findings import Report
from dashboard.policies.evaluate import Effect, Evaluation, Policy, evaluate
from dashboard.policies.judgements.grounds import Grounds
from dashboard.policies.models import PolicyRevision
from dashboard.policies.rules.demands import Required
from dashboard.policies.rules.facts import Question

LOOP_WITHIN = timedelta(hours=1)
"""How far back the same content counts as a loop for an agent that names no run."""


def question_of(
    approval: ApprovalRequest,
    report: Report,
    repeated: int,
    tool: ToolStanding | None = None,
) -> Question:
    """Return what a policy judges: the request as submitted, and what was found in it.

    Args:
        tool: How the class of its tool stands, where that was read before.
    """
    tool = standing_of(approval) if tool is None else tool
    mode = parse_json(approval.evidence).get("execution_mode")
    return Question(
        kind=Kind(approval.kind),
        content=parse_json(approval.content),
        report=report,
        agent=approval.agent.name,
        asked_at=approval.submitted_at,
        capability=approval.capability,
        execution_mode=mode if isinstance(mode, str) else "",
        run_id=approval.run_id,
        repeated=repeated,
        tool_class=tool.tool_class,
        classed_otherwise=tool.classed_otherwise,
        is_unlisted=tool.is_unlisted,
    )


def standing_of(approval: ApprovalRequest) -> ToolStanding:
    """Return how the class of the tool stands that a request would call."""
    if approval.kind == Kind.TOOL_CALL and approval.tool_id is None:
        return UNLISTED
    return standings([approval.tool_id])[approval.tool_id]


def judged_by(revision: PolicyRevision, question: Question) -> Evaluation:
    """Judge a question by a published policy."""
    return evaluate(policy_of(revision.document), question)


def judged_anew(
    revision: PolicyRevision, approval: ApprovalRequest, seen: Inspection
) -> Evaluation:
    """Judge a request that was inspected before by a published policy."""
    return judged_by(revision, question_of(approval, report_of(seen), seen.repeated))


def is_to_judge_again(approval: ApprovalRequest) -> bool:
    """Whether the class of its tool changed after a pending request was judged."""
    return approval.tool_id is not None and not approval.judged_under


def as_judged(judgement: Judgement | Edit) -> Evaluation:
    """Return what a policy answered then, without what that rests on."""
    return Evaluation(
        Effect(judgement.effect),
        tuple(json.loads(judgement.trace)),
        Required.from_json(judgement.demands),
    )


def explained(judgement: Judgement | Edit) -> Evaluation:
    """Return what a policy answered then, with what that rests on."""
    return replace(as_judged(judgement), grounds=grounds_of(judgement))


def grounds_of(judgement: Judgement | Edit) -> Grounds | None:
    """Return what a judgement rests on; None where that was not kept, or cannot be read."""
    try:
        return Grounds.from_json(judgement.grounds.facts)
    except (ObjectDoesNotExist, KeyError, TypeError, ValueError):
        return None


def demands_of(judgement: Judgement) -> Required:
    """Return what a judgement asks of the people who approve."""
    return Required.from_json(judgement.demands)


def report_of(inspection: Inspection) -> Report:
    """Return what an inspection found."""
    return Report.from_json(inspection.report)


@lru_cache(maxsize=32)
def policy_of(document: str) -> Policy:
    """Read a published document; a policy with many rules takes a while to compile."""
    return Policy.from_json(document)


_EVER = datetime(1970, 1, 1, tzinfo=UTC)


def asked_since(run_id: str, now: datetime) -> datetime:
    """Return since when the same content of an agent, in the same run, counts as a loop."""
    return _EVER if run_id else now - LOOP_WITHIN
