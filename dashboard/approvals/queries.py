"""Reads of requests: for agents who wait, for the queue, for a request's page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db.models import (
    Case,
    OuterRef,
    Prefetch,
    QuerySet,
    Subquery,
    Value,
    When,
    prefetch_related_objects,
)
from django.db.models.functions import Coalesce, Greatest, StrIndex, Substr

from approval_client.wire import Kind, Status, canonical_json, parse_json
from dashboard.approvals.clock import database_now
from dashboard.approvals.editing import edited
from dashboard.approvals.errors import NotFound
from dashboard.approvals.models import (
    ApprovalQuerySet,
    ApprovalRequest,
    Decision,
    Edit,
    Grant,
    GrantQuerySet,
    Hold,
    Inspection,
    Judgement,
    Outcome,
    Vote,
)
from dashboard.approvals.services import expire
from dashboard.inspection.findings import Severity

LATEST_ANSWERS = 5
"""How many of the requests that a grant answered are named with it."""

_MEMORIES_READ = 20

_HIGH = f'"severity":"{Severity.HIGH}"'
_BEFORE_HIGH = 2000  # characters of a report, in which the sentence of that finding stands


class Answerable(NamedTuple):
    """What an agent is told about: a request, what the policy last said, what was reported."""

    approval: ApprovalRequest
    judgement: Judgement
    outcomes: list[Outcome]


def whole() -> ApprovalQuerySet:
    """Requests with everything that a page needs, in a fixed number of queries."""
    # Judgements share inspections, whose reports may be long.
    judgements = Judgement.objects.prefetch_related("inspection").order_by("id")
    return ApprovalRequest.objects.select_related(
        "agent__owner", "token__agent", "decision__decided_by", "decision__grant__made_by", "poll"
    ).prefetch_related(
        Prefetch("edits", queryset=Edit.objects.select_related("edited_by").order_by("id")),
        Prefetch("judgements", queryset=judgements),
        Prefetch("outcomes", queryset=Outcome.objects.order_by("id")),
        Prefetch("votes", queryset=Vote.objects.select_related("person").order_by("id")),
        Prefetch("grants_made", queryset=Grant.objects.select_related("made_by")),
    )


def current(approval_id: UUID) -> ApprovalRequest:
    """Return a request as it stands now: what is overdue is expired, whoever swept.

    Raises:
        NotFound: There is no such request.
    """
    return _as_it_stands(whole().filter(pk=approval_id))


def of_agent(approval_id: UUID, agent_id: int) -> Answerable:
    """Return how an agent's own request stands now.

    Raises:
        NotFound: There is no such request, or it is another agent's.
    """
    return answerable(_as_it_stands(light().filter(pk=approval_id, agent=agent_id)))


def answerable(approval: ApprovalRequest) -> Answerable:
    """Return how a request stands that was read or made a moment ago."""
    judgement = Judgement.objects.filter(approval=approval).latest("id")
    approved = approval.status == Status.APPROVED
    return Answerable(approval, judgement, list(approval.outcomes.all()) if approved else [])


def closed(ids: Iterable[UUID]) -> dict[UUID, ApprovalRequest]:
    """Those of many requests that are closed, in one query, for who waits for them."""
    return light().exclude(status=Status.PENDING).order_by().in_bulk(list(ids))


def light() -> ApprovalQuerySet:
    """Requests as agents are told of them: an answer never repeats what was asked."""
    return ApprovalRequest.objects.select_related("decision__decided_by", "decision__edit").defer(
        "content", "evidence", "objective"
    )


def versions(ids: Iterable[UUID]) -> dict[UUID, int]:
    """The versions of many requests, in one light query."""
    rows = ApprovalRequest.objects.filter(pk__in=list(ids)).order_by()
    return dict(rows.values_list("pk", "version"))


def queue(at: datetime | None = None) -> ApprovalQuerySet:
    """What waits for a person, the one with the least time left first."""
    waiting = ApprovalRequest.objects.open(at or database_now())
    return waiting.select_related("agent", "poll").order_by("expires_at", "pk")


def _last_report() -> QuerySet[Inspection]:
    return Inspection.objects.filter(approval=OuterRef("pk")).order_by("-id")


def gravest_rank() -> Coalesce:
    """The rank of the gravest severity that the last inspection of a request found, or -1.

    Read within the database, so that no list carries whole reports. A sentence in a report cannot
    pass for a severity: quotation marks in it are escaped.
    """
    found = [
        When(report__contains=f'"severity":"{severity}"', then=Value(severity.rank))
        for severity in sorted(Severity, key=lambda s: -s.rank)
    ]
    ranked = _last_report().annotate(rank=Case(*found, default=Value(-1)))
    return Coalesce(Subquery(ranked.values("rank")[:1]), Value(-1))


def about_the_gravest() -> Subquery:
    """The part of the last report of a request that ends with its first high finding."""
    high = StrIndex("report", Value(_HIGH))
    begin = Greatest(high - Value(_BEFORE_HIGH), Value(1))
    part = Substr("report", begin, high + Value(len(_HIGH)) - begin)
    return Subquery(_last_report().filter(report__contains=_HIGH).values(part=part)[:1])


def last_demands() -> Subquery:
    """What the judgement that counts asks of the people who approve, as it is stored."""
    last = Judgement.objects.filter(approval=OuterRef("pk")).order_by("-id")
    return Subquery(last.values("demands")[:1])


def fetch_votes(approvals: Sequence[ApprovalRequest]) -> None:
    """Fetch all that says whose votes count for these, in a fixed number of queries."""
    votes = Vote.objects.select_related("person").prefetch_related("person__groups")
    votes = votes.defer("shown").order_by("id")
    prefetch_related_objects(approvals, Prefetch("votes", queryset=votes))


def lately_closed(limit: int = 50, among: ApprovalQuerySet | None = None) -> ApprovalQuerySet:
    """What was answered last, the newest first; of all requests or of those given."""
    requests = among_the_latest(limit) if among is None else among
    closed = requests.exclude(status=Status.PENDING)
    closed = closed.select_related("agent", "decision__decided_by").prefetch_related("outcomes")
    return closed.order_by("-decision__decided_at")[:limit]


def memory_approved_before(approval: ApprovalRequest) -> ApprovalRequest | None:
    """Return the request that was approved last for the same agent's memory of the same user.

    Its content is what was approved, also where a reviewer had changed what was asked.

    For a request that is decided, that is what was approved before its own decision.
    """
    if approval.kind != Kind.MEMORY:
        return None
    user = parse_json(approval.content).get("user_id")
    # The members of canonical JSON stand in the order of their names, and this is the last. A
    # database may take a capital letter for a small one here, so what it finds is read again.
    ending = f',"user_id":{canonical_json(user)}}}'
    same = ApprovalRequest.objects.filter(
        agent=approval.agent_id, kind=Kind.MEMORY, status=Status.APPROVED, content__endswith=ending
    ).exclude(pk=approval.pk)
    if decision := getattr(approval, "decision", None):
        same = same.filter(decision__decided_at__lt=decision.decided_at)
    newest = same.select_related("decision__edit").order_by("-decision__decided_at")[
        :_MEMORIES_READ
    ]
    found = next((one for one in newest if one.content.endswith(ending)), None)
    edit = found.decision.edit if found else None
    return edited(found, edit.content) if found and edit else found


def among_the_latest(count: int) -> ApprovalQuerySet:
    """Those that have one of the latest answers, for filters that cannot look through all."""
    latest = Decision.objects.order_by("-decided_at").values("approval")[:count]
    return ApprovalRequest.objects.filter(pk__in=latest)


def _as_it_stands(one: ApprovalQuerySet) -> ApprovalRequest:
    for approval in one:
        if approval.status == Status.PENDING and approval.expires_at <= database_now():
            expire(approval.pk)
            return one.all().get()
        return approval
    raise NotFound


def grants_in_force(at: datetime) -> GrantQuerySet:
    """Remembered answers that can answer something, the newest first."""
    return _told(Grant.objects.in_force(at)).order_by("-made_at")


def grants_over(at: datetime, limit: int = 50) -> GrantQuerySet:
    """Those that were ended, ran out or are used up, the newest first."""
    in_force = Grant.objects.in_force(at).values("pk")
    return _told(Grant.objects.exclude(pk__in=in_force)).order_by("-made_at")[:limit]


def _told(grants: GrantQuerySet) -> GrantQuerySet:
    answered = Decision.objects.order_by("-decided_at").only("approval_id", "decided_at", "grant")
    return grants.select_related("agent", "made_by", "ended_by").prefetch_related(
        Prefetch("answered", queryset=answered[:LATEST_ANSWERS], to_attr="latest")
    )


def active_hold() -> Hold | None:
    """The stop that is on now, with who placed it, or None."""
    return Hold.objects.select_related("placed_by").filter(active=True).first()
