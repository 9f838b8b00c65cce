"""Which of many requests can be answered together.

Like with like, and nothing that deserves a look of its own. Whoever answers sees all of one and
every difference of the others, and each is still decided alone, on its own basis.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db.models.functions import Length

from approval_client.wire import Kind, Status, parse_json
from dashboard.accounts.models import User
from dashboard.accounts.queries import groups_of
from dashboard.approvals.models import ApprovalRequest, Judgement
from dashboard.approvals.queries.request import whole, with_headlines
from dashboard.approvals.rules.answer import why_not_count
from dashboard.approvals.rules.judgement import demands_of, grounds_of, report_of
from dashboard.approvals.rules.view import Presence, presence
from dashboard.inspection.findings import Report, Severity
from dashboard.policies.rules.demands import Required
from dashboard.policies.rules.rule import ToolClass

MOST = 50
"""How many are answered together."""

LONGEST = 50_000
"""Characters of one content; what is longer deserves a page of its own."""

MOST_CHARACTERS = 400_000
"""Characters of all of them: a page that nobody can read is no page."""

_CLOSED = "It was answered, or its time is over."
_FLAGGED = "Our inspection found a medium or high risk in it."
_DOUBT = "Our inspection could not read all of it."
_OLD = "It was asked before an upgrade, and is not prepared for lists yet."
_SEVERAL = "It needs several approvals."
_SIGNED = "Whoever approves it has to sign it with their passkey."
_IRREVERSIBLE = "Its tool is classed as irreversible."
_ASSIGNED = "It is assigned to {}."
_OTHER = (
    "It differs from the first: another agent, kind, capability, tool, schema or class of the "
    "tool, findings or rule."
)
_TOO_LONG = "It is too long for this page."
_GONE = "It is too long for this page, or it does not exist."


class Alone(NamedTuple):
    """A request that has to be answered alone, and why."""

    id: UUID
    why: str


class JudgedRequest(NamedTuple):
    """A request that can be answered with others, and what the policy says of it."""

    approval: ApprovalRequest
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class SortedOut:
    """Requests that are alike, in the order of the queue, and those left out."""

    alike: list[JudgedRequest]
    alone: list[Alone]


def sort_out(ids: Sequence[UUID], person: User, now: datetime) -> SortedOut:
    """Sort requests into those that ``person`` can answer together, and the others."""
    unique_ids = list(dict.fromkeys(ids))[:MOST]
    approvals = _short(unique_ids)
    attended = presence([approval.pk for approval in approvals], person, now)
    groups = groups_of(person)
    present_ids = {approval.pk for approval in approvals}
    exceptions = [Alone(pk, _GONE) for pk in unique_ids if pk not in present_ids]
    alike = list[JudgedRequest]()
    room = MOST_CHARACTERS
    for approval in approvals:
        judged_request = JudgedRequest(approval, list(approval.judgements.all())[-1])
        room -= len(approval.content)
        reason = _why_alone(judged_request, person, groups, now, attended) or _unlike(
            alike, judged_request
        )
        if reason or room < 0:
            exceptions.append(Alone(approval.pk, reason or _TOO_LONG))
        else:
            alike.append(judged_request)
    return SortedOut(alike, exceptions)


def _short(ids: Iterable[UUID]) -> list[ApprovalRequest]:
    """Read those that are short, in the order of the queue."""
    short = ApprovalRequest.objects.alias(size=Length("content")).filter(size__lte=LONGEST)
    approvals = whole(short.filter(pk__in=ids).order_by().values_list("pk", flat=True))
    with_headlines(approvals)
    return sorted(approvals, key=lambda one: (one.expires_at, one.pk))


def _why_alone(
    judged_request: JudgedRequest,
    person: User,
    groups: Collection[str],
    now: datetime,
    attended: Presence,
) -> str:
    approval, required = judged_request.approval, demands_of(judged_request.judgement)
    assignment = attended.assignments.get(approval.pk)
    if approval.status != Status.PENDING or approval.expires_at <= now:
        return _CLOSED
    if assignment and assignment.person_id != person.pk:
        return _ASSIGNED.format(assignment.person.username)
    return (
        _demanding(judged_request, required)
        or _flagged(_report(judged_request))
        or why_not_count(approval, required, person, now, groups)
    )


def _demanding(judged_request: JudgedRequest, required: Required) -> str:
    grounds = grounds_of(judged_request.judgement)
    if required.approvals > 1:
        return _SEVERAL
    if required.proof:
        return _SIGNED
    if grounds is None or not hasattr(judged_request.approval, "headline"):
        return _OLD
    return _IRREVERSIBLE if grounds.tool_class == ToolClass.IRREVERSIBLE else ""


def _flagged(report: Report) -> str:
    if any(finding.severity.rank > Severity.LOW.rank for finding in report.findings):
        return _FLAGGED
    return _DOUBT if report.has_doubts else ""


def _unlike(alike: Sequence[JudgedRequest], judged_request: JudgedRequest) -> str:
    return _OTHER if alike and _likeness(alike[0]) != _likeness(judged_request) else ""


def _likeness(judged_request: JudgedRequest) -> tuple[object, ...]:
    approval, report = judged_request.approval, _report(judged_request)
    tool = parse_json(approval.content)["tool"] if approval.kind == Kind.TOOL_CALL else ""
    names = frozenset(report.names)
    grounds = grounds_of(judged_request.judgement)
    return (
        approval.agent_id,
        approval.kind,
        approval.capability,
        tool,
        approval.tool_id,
        grounds and grounds.tool_class,
        names,
        judged_request.judgement.demands,
    )


def _report(judged_request: JudgedRequest) -> Report:
    return report_of(judged_request.judgement.inspection)
