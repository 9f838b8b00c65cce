"""The policy's judgement of a request: why a person is asked, and what approval takes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from approval_client.wire import Source, Status
from dashboard.approvals.models import ApprovalRequest, Decision, Judgement
from dashboard.approvals.rules.judgement import demands_of
from dashboard.policies.demands import Circle, Required
from dashboard.policies.evaluate import Effect
from dashboard.web import times

_NOBODY = "Why nobody was asked"

_PERSON = "Why a person is asked"

_REMEMBERED = "Why a person would have been asked"


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgementView:
    """What a policy said of a request.

    Attributes:
        sentences: How it came to that, as the policy says it.
        demands: What has to happen before this is approved.
        earlier: The sentences of the judgement before, if this one says something else.
    """

    heading: str
    sentences: list[str]
    demands: list[str]
    revision: int
    judged_at: datetime
    earlier: list[str]
    earlier_revision: int


def judgement_view(approval: ApprovalRequest, judgements: Sequence[Judgement]) -> JudgementView:
    """Say why ``approval`` waits for somebody, or did not; the last judgement counts."""
    judgement = judgements[-1]
    reviewed = judgement.effect == Effect.REVIEW
    before = judgements[-2] if len(judgements) > 1 else judgement
    changed = _identity(before) != _identity(judgement)
    return JudgementView(
        heading=_heading(approval, reviewed=reviewed),
        sentences=_trace(judgement),
        demands=demands_in_words(demands_of(judgement), approval) if reviewed else [],
        revision=judgement.revision_id,
        judged_at=judgement.judged_at,
        earlier=_trace(before) if changed else [],
        earlier_revision=before.revision_id,
    )


def demands_in_words(required: Required, approval: ApprovalRequest) -> list[str]:
    """Say what a review of a request asks for, beyond one reviewer's yes."""
    return list(_sentences(required, approval))


def count_of_people(count: int) -> str:
    """Say how many people."""
    return "1 person" if count == 1 else f"{count} people"


def _heading(approval: ApprovalRequest, *, reviewed: bool) -> str:
    decision: Decision | None = getattr(approval, "decision", None)
    if approval.status != Status.PENDING and decision and decision.source == Source.GRANT:
        return _REMEMBERED
    return _PERSON if reviewed else _NOBODY


def _identity(judgement: Judgement) -> tuple[str, str, str]:
    return judgement.effect, judgement.demands, judgement.trace


def _trace(judgement: Judgement) -> list[str]:
    return [str(sentence) for sentence in json.loads(judgement.trace)]


def _sentences(required: Required, approval: ApprovalRequest) -> Iterator[str]:
    groups = required.groups_in_words(after_s=0)
    if groups:
        have = "has" if required.approvals == 1 else "have"
        yield f"{count_of_people(required.approvals)} of {groups} {have} to approve."
    elif required.approvals > 1:
        yield f"{count_of_people(required.approvals)} have to approve."
    yield from (_may_join_later(circle, approval) for circle in required.circles if circle.later)
    if required.time_limit_s is not None:
        yield f"It stays open for {times.length(required.time_limit_s)} at the most."
    if required.reason_required:
        yield "A reason is needed to approve."


def _may_join_later(circle: Circle, approval: ApprovalRequest) -> str:
    at = approval.submitted_at + timedelta(seconds=circle.later_from_s)
    who = " and ".join(circle.later)
    if at < approval.expires_at:
        return f"From {times.clock(at)} on {who} may approve too."
    return (
        f"From {times.clock(at)} on {who} could approve too, but the time limit ends before that, "
        f"at {times.clock(approval.expires_at)}."
    )


def last_judgement(approval: ApprovalRequest) -> Judgement:
    """Return the judgement that counts: the newest."""
    return list(approval.judgements.all())[-1]
