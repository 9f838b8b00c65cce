"""Reads of requests as agents are told of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db.models import Exists, Max, OuterRef, QuerySet

from approval_client.wire import Status
from dashboard.accounts.models import Agent, AgentToken
from dashboard.approvals.models import ApprovalRequest, Judgement, Outcome
from dashboard.approvals.queries.request import light
from dashboard.clock import Now, now_in
from dashboard.statements import rows


class Answerable(NamedTuple):
    """What an agent is told about: a request, what the policy last said, what was reported."""

    approval: ApprovalRequest
    judgement: Judgement
    outcomes: list[Outcome]


@rows(AgentToken.hash, ApprovalRequest.id)
def token_asking(hash_: str, approval_id: UUID) -> QuerySet[AgentToken]:
    """The token with a hash, its agent, and as ``owns`` whether the request is that agent's."""
    owned = ApprovalRequest.objects.filter(pk=approval_id, agent=OuterRef("agent"))
    tokens = AgentToken.objects.select_related("agent").filter(hash=hash_)
    return tokens.annotate(owns=Exists(owned)).order_by()


@rows(ApprovalRequest.id, Agent.id)
def _as_told(approval_id: UUID, agent_id: int) -> QuerySet[Judgement]:
    # From the judgement, which every request has: so the request and its decision come with it.
    judgements = Judgement.objects.filter(approval_id=approval_id, approval__agent_id=agent_id)
    whole = judgements.select_related(
        "approval__decision__decided_by", "approval__decision__edit", "approval__recall__person"
    )
    untold = ("demands", "approval__content", "approval__evidence", "approval__objective")
    return whole.annotate(now=Now()).defer(*untold).order_by("-id")[:1]


def told(approval_id: UUID, agent_id: int) -> tuple[Answerable, datetime] | None:
    """Return how an agent's own request stands, and when that was read; None if it has none."""
    judgement = _as_told.first(approval_id, agent_id)
    if judgement is None:
        return None
    approved = judgement.approval.status == Status.APPROVED
    outcomes = outcomes_of(approval_id) if approved else []
    return Answerable(judgement.approval, judgement, outcomes), now_in(judgement)


def answerable(approval: ApprovalRequest) -> Answerable:
    """Return the state of a request that was just read, as agents are told it."""
    judgement = Judgement.objects.filter(approval=approval).latest("id")
    approved = approval.status == Status.APPROVED
    return Answerable(approval, judgement, outcomes_of(approval.pk) if approved else [])


@rows(ApprovalRequest.id)
def outcomes_of(approval_id: UUID) -> QuerySet[Outcome]:
    """What was reported about a request, in order."""
    return Outcome.objects.filter(approval_id=approval_id).order_by("id")


def answerables(ids: Sequence[UUID]) -> list[Answerable]:
    """Return how many requests stand, as agents are told it, in the order given."""
    approvals = light().in_bulk(list(ids))
    newest = (
        Judgement.objects.filter(approval__in=ids).values("approval").annotate(newest=Max("id"))
    )
    judgements = Judgement.objects.filter(pk__in=newest.values("newest"))
    judgement_by_approval = {judgement.approval_id: judgement for judgement in judgements}
    outcomes = defaultdict(list)
    for outcome in Outcome.objects.filter(approval__in=ids).order_by("id"):
        outcomes[outcome.approval_id].append(outcome)
    return [Answerable(approvals[pk], judgement_by_approval[pk], outcomes[pk]) for pk in ids]
