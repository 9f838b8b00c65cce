"""Past requests and their answers, as cases to try policies on.

Nothing is inspected again: a question comes with what was found when it was asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from uuid import UUID

from approval_client.wire import Kind, Source, Status
from dashboard.approvals.models import ApprovalQuerySet, ApprovalRequest, Decision, Judgement
from dashboard.approvals.queries.tool import UNLISTED, ToolStanding, standings
from dashboard.approvals.rules.judgement import question_of, report_of, standing_of
from dashboard.approvals.rules.recall import recall_of
from dashboard.policies.evaluate import Effect
from dashboard.policies.rules.facts import Question
from dashboard.policies.simulation import Answer, GrantKind, PastCase

_BATCH = 100
"""How many are held at once: each may be a megabyte. And no read lasts long, which on SQLite keeps
whoever decides from waiting for it."""
MOST_CHARACTERS = 100_000_000
"""Of content that is read for one trial, so that large requests make it last for no minutes."""
_COLUMNS = (
    "kind",
    "capability",
    "content",
    "digest",
    "evidence",
    "run_id",
    "submitted_at",
    "agent__name",
    "tool",
    "status",
    "decision__status",
    "decision__source",
    "decision__digest",
    "decision__decided_at",
    "decision__grant",
    "decision__grant__edit",
    "recall__approval",
)


@dataclass(frozen=True)
class PastRequest:
    """A request as it was asked, and what the policy first said.

    Attributes:
        revision: Which revision answered.
    """

    approval: ApprovalRequest
    question: Question
    effect: Effect
    revision: int


def past(approval_id: UUID) -> PastRequest | None:
    """Return a request as it was asked, or None if there is no such request."""
    firsts = Judgement.objects.filter(approval=approval_id).select_related(
        "approval__agent", "approval__decision__decided_by", "inspection"
    )
    first_judgement = firsts.order_by("id").first()
    if first_judgement is None:
        return None
    approval = first_judgement.approval
    question = _question(approval, first_judgement, standing_of(approval))
    return PastRequest(
        first_judgement.approval,
        question,
        Effect(first_judgement.effect),
        first_judgement.revision_id,
    )


def answered(since: datetime) -> ApprovalQuerySet:
    """Closed requests that were submitted since then, the newest first."""
    approvals = ApprovalRequest.objects.filter(submitted_at__gte=since)
    return approvals.exclude(status=Status.PENDING).order_by("-submitted_at", "-pk")


def cases(since: datetime, limit: int) -> Iterator[PastCase]:
    """Return closed requests that were submitted since then as cases, the newest first.

    At most ``limit``, and no more than ``MOST_CHARACTERS`` of content.
    """
    room = MOST_CHARACTERS
    ids = iter(list(answered(since).values_list("pk", flat=True)[:limit]))
    while batch := list(islice(ids, _BATCH)):
        whole = ApprovalRequest.objects.select_related(
            "agent", "decision", "decision__grant", "recall"
        )
        approval_by_id = whole.only(*_COLUMNS).in_bulk(batch)
        firsts = _first_judgements(batch)
        tools = standings(approval.tool_id for approval in approval_by_id.values())
        for pk in batch:
            room -= len(approval_by_id[pk].content)
            if room < 0:
                return
            approval = approval_by_id[pk]
            is_unlisted = approval.kind == Kind.TOOL_CALL and approval.tool_id is None
            tool = UNLISTED if is_unlisted else tools[approval.tool_id]
            yield _case(approval, firsts[pk], tool)


def _first_judgements(ids: list[UUID]) -> dict[UUID, Judgement]:
    newest_first = (
        Judgement.objects.filter(approval__in=ids)
        .select_related("inspection")
        .only("approval", "effect", "inspection__report", "inspection__repeated")
        .order_by("-id")
    )
    return {judgement.approval_id: judgement for judgement in newest_first}


def _case(approval: ApprovalRequest, judgement: Judgement, tool: ToolStanding) -> PastCase:
    decision = approval.decision
    return PastCase(
        id=str(approval.pk),
        question=_question(approval, judgement, tool),
        answered=_answer(approval),
        by_person=decision.source == Source.REVIEWER or recall_of(approval) is not None,
        # What a grant answered was for a person to decide, who was not asked.
        was_asked=judgement.effect == Effect.REVIEW and decision.source != Source.GRANT,
        waited_s=decision.waited_s,
        grant=_grant(decision),
    )


def _grant(decision: Decision) -> GrantKind:
    if decision.grant is None:
        return ""
    return "replacement" if decision.grant.edit_id else "remembered"


def _answer(approval: ApprovalRequest) -> Answer:
    if recall_of(approval):
        return "recalled"
    match Status(approval.decision.status):
        case Status.APPROVED:
            return "approved" if approval.decision.digest == approval.digest else "edited"
        case Status.REJECTED:
            return "rejected"
        case Status.EXPIRED:
            return "expired"
        case _:
            return "cancelled"


def _question(approval: ApprovalRequest, judgement: Judgement, tool: ToolStanding) -> Question:
    inspection = judgement.inspection
    return question_of(approval, report_of(inspection), inspection.repeated, tool)
