"""Finding some of many requests, and those that need one person. Reads only."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from json.encoder import encode_basestring
from uuid import UUID

from django.db.models import Q
from django.db.models.functions import Left

from dashboard.accounts import roles
from dashboard.accounts.models import AgentToken, User
from dashboard.accounts.queries import groups_of
from dashboard.approvals import queries
from dashboard.approvals.judging import half_time
from dashboard.approvals.models import ApprovalQuerySet, ApprovalRequest, Vote
from dashboard.approvals.permission import is_enough, why_not_count
from dashboard.inspection.findings import Severity
from dashboard.policies.demands import Required

SEARCHED = 65_536
"""How many characters of a content are searched, from its beginning."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Narrowing:
    """Which requests to list. What is empty does not narrow.

    Attributes:
        severity: The least that the gravest finding has to be.
        group: Whose members' yes the policy asks for.
        text: What stands in the content, the objective or the name of the run.
    """

    agent: str = ""
    kind: str = ""
    capability: str = ""
    severity: Severity | None = None
    group: str = ""
    text: str = ""


def narrowed(approvals: ApprovalQuerySet, by: Narrowing) -> ApprovalQuerySet:
    """Leave only what ``by`` asks for."""
    exact = {"agent__name": by.agent, "kind": by.kind, "capability": by.capability}
    approvals = approvals.filter(**{name: value for name, value in exact.items() if value})
    if by.severity:
        ranked = approvals.alias(least=queries.gravest_rank())
        approvals = ranked.filter(least__gte=by.severity.rank)
    if by.group:
        approvals = _of_group(approvals, by.group)
    return _saying(approvals, by.text) if by.text else approvals


def need(person: User, now: datetime) -> set[UUID]:
    """Name what waits for this person: their yes would count, and none that is enough came."""
    if not roles.may_decide(person):
        return set()
    waiting = ApprovalRequest.objects.open(now).annotate(demands=queries.last_demands())
    tokens = AgentToken.objects.select_related("agent").in_bulk(
        waiting.order_by().values_list("token", flat=True).distinct()
    )
    groups, given, needed = groups_of(person), _given(person, waiting), set()
    known = dict[tuple[object, ...], Required | None]()
    for approval in waiting.only("token", "submitted_at", "expires_at"):
        demands: str = approval.demands  # type: ignore[attr-defined] # annotated
        # Thousands may wait, and most of them ask the same of the same people.
        case = (approval.token_id, demands, now >= half_time(approval))
        if case not in known:
            approval.token = tokens[approval.token_id]
            approval.agent = approval.token.agent
            required = Required.from_json(demands)
            why_not = why_not_count(approval, required, person, now, groups)
            known[case] = None if why_not else required
        asked = known[case]
        if asked and not any(is_enough(vote, asked) for vote in given[approval.pk]):
            needed.add(approval.pk)
    return needed


def _given(person: User, waiting: ApprovalQuerySet) -> dict[UUID, list[Vote]]:
    """What this person said yes to already."""
    given = defaultdict[UUID, list[Vote]](list)
    votes = Vote.objects.filter(
        person=person, edit=None, approval__in=waiting.order_by().values("pk")
    )
    for vote in votes.defer("shown"):
        given[vote.approval_id].append(vote)
    return given


def _of_group(approvals: ApprovalQuerySet, group: str) -> ApprovalQuerySet:
    asked = approvals.annotate(asked=queries.last_demands())
    texts = asked.order_by().values_list("asked", flat=True).distinct()
    return asked.filter(asked__in=[text for text in texts if _names(text, group)])


def _names(demands: str, group: str) -> bool:
    circles = Required.from_json(demands).circles
    return any(group in circle.groups + circle.later for circle in circles)


def _saying(approvals: ApprovalQuerySet, text: str) -> ApprovalQuerySet:
    # A content is kept as JSON, where quotation marks and ends of lines are written otherwise.
    written = encode_basestring(text)[1:-1]
    here = approvals.alias(searched=Left("content", SEARCHED))
    return here.filter(
        Q(searched__icontains=text)
        | Q(searched__icontains=written)
        | Q(objective__icontains=text)
        | Q(run_id__icontains=text)
    )
