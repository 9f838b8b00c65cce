"""An agent reads who its token says that it is, and whether the gate can answer it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ninja import Router, Schema

from dashboard.accounts.queries import reviewers
from dashboard.accounts.roles import may_approve_for
from dashboard.api import problems
from dashboard.api.auth import AgentBearer, AgentRequest
from dashboard.api.schemas import ProblemOut
from dashboard.approvals.queries.hold import active_hold
from dashboard.policies.evaluate import Policy
from dashboard.policies.services import current_revision

router = Router(auth=AgentBearer(), tags=["agents"])


class AgentOut(Schema):
    """Whom the token names, and whether a question can be approved.

    ``on_hold`` is true while a person has stopped all approvals. Without ``has_approvers`` nobody
    may approve what this token asks: there is no reviewer, or only the agent's owner or whoever
    made the token, and the policy takes neither. A rule of the policy may want more.
    """

    agent: str
    token_expires_at: datetime | None
    now: datetime
    policy_revision: int
    on_hold: bool
    has_approvers: bool


@router.get(
    "/agent", response={200: AgentOut, 401: ProblemOut, 422: ProblemOut}, summary="See who asks"
)
def agent(request: AgentRequest) -> dict[str, Any]:
    """Tell the agent its name and whether people can answer. It asks nobody and stores nothing."""
    problems.refuse_other_parameters(request)
    token, revision = request.auth, current_revision()
    owner_may_approve = Policy.from_json(revision.document).owner_may_approve
    return {
        "agent": token.agent.name,
        "token_expires_at": token.expires_at,
        "now": datetime.now(UTC),
        "policy_revision": revision.number,
        "on_hold": active_hold() is not None,
        "has_approvers": any(
            may_approve_for(person, token, owner_may_approve=owner_may_approve)
            for person in reviewers()
        ),
    }
