"""Agents read what was decided of their requests since they last looked."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpResponse
from ninja import Query, Router, Schema
from pydantic import AwareDatetime

from approval_client.wire import canonical_json
from dashboard.api import answers, problems
from dashboard.api.auth import AgentBearer, AgentRequest
from dashboard.api.schemas import AnswerOut, ProblemOut
from dashboard.approvals.queries.closing import decided

MOST = 100
_REFUSALS: dict[int, Any] = dict.fromkeys((401, 404, 422, 503), ProblemOut)

After = Annotated[
    UUID | None, Query(description="The `next` of an earlier page, to read on from there.")
]
Since = Annotated[
    AwareDatetime | None,
    Query(description="Without `after`: begin with what was decided at this moment or later."),
]
Limit = Annotated[int, Query(ge=1, le=MOST, description="How many at the most.")]


class DecisionsOut(Schema):
    """Decided requests, the oldest decision first. ``next`` is null if there never was one."""

    decisions: list[AnswerOut]
    next: UUID | None
    more: bool


router = Router(auth=AgentBearer(), tags=["approvals"])


@router.get(
    "/decisions", response={200: DecisionsOut, **_REFUSALS}, summary="See what was decided"
)
def decisions(
    request: AgentRequest, after: After = None, since: Since = None, limit: Limit = 50
) -> HttpResponse:
    """Return what was decided of this agent's requests, in order, from the first one on.

    Reading on with `after` misses nothing and repeats nothing. Read on while `more` is true.
    """
    problems.refuse_other_parameters(request, "after", "since", "limit")
    moment = since and _in_utc(since)
    page = decided(request.auth.agent_id, after=after, since=moment, limit=limit)
    body = {
        "decisions": [answers.answer(answerable) for answerable in page.answers],
        "next": page.last and str(page.last),
        "more": page.more,
    }
    headers = {"Content-Type": "application/json", "Cache-Control": "no-store"}
    return HttpResponse(canonical_json(body).encode(), headers=headers)


def _in_utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError:  # the first or the last day of the calendar, seen from elsewhere
        limit = datetime.min if at.year == 1 else datetime.max  # noqa: DTZ901 - named below
        return limit.replace(tzinfo=UTC)
