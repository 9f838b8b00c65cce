"""The queue: what waits, which of it needs one person, and its filters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from json.encoder import encode_basestring
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Case as SqlCase
from django.db.models import F, Q, QuerySet, Value, When
from django.db.models.functions import Left

from approval_client.wire import Status
from dashboard.accounts import roles
from dashboard.accounts.models import Agent, User
from dashboard.accounts.queries import groups_of
from dashboard.approvals.models import ApprovalQuerySet, ApprovalRequest, Vote
from dashboard.approvals.queries.queue import (
    gravest_rank,
    has_votes_for_open,
    last_demands,
    votes_for_open,
)
from dashboard.approvals.rules.answer import is_enough, why_not_count
from dashboard.approvals.rules.snooze import snoozed_by
from dashboard.approvals.rules.view import Attendance, Presence, attendance
from dashboard.inspection.findings import Severity
from dashboard.policies.rules.demands import Required
from dashboard.statements import Many, rows

SEARCHED = 65_536
"""How many characters of a content are searched, from its beginning."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueFilter:
    """Which requests to list. Empty fields restrict nothing.

    Attributes:
        severity: The least that the gravest finding has to be.
        group: A group whose approval the policy asks for.
        text: What stands in the content, the objective or the name of the run.
    """

    agent: str = ""
    kind: str = ""
    capability: str = ""
    severity: Severity | None = None
    group: str = ""
    text: str = ""


_GONE_AFTER = timedelta(seconds=40)
"""An agent that waits is noted more often than that; after it, the request is abandoned."""


def _is_abandoned(since: datetime) -> SqlCase:
    """Whether the agent of a pending request has not been heard since then, for the database.

    An agent with an active webhook is told of the answer, so it need not wait.
    """
    silent = Q(poll=None) | Q(poll__last_polled_at__lt=since)
    untold = Q(agent__webhook=None) | Q(agent__webhook__is_active=False)
    is_silent = When(Q(silent, untold, submitted_at__lt=since), then=Value(value=True))
    return SqlCase(is_silent, default=Value(value=False))


def was_abandoned(approval: ApprovalRequest, now: datetime) -> bool:
    """Say the same of one request, read with its poll and its agent's webhook."""
    if approval.status != Status.PENDING:
        return False
    webhook, poll = getattr(approval.agent, "webhook", None), getattr(approval, "poll", None)
    if webhook and webhook.is_active:
        return False
    last_polled_at = poll.last_polled_at if poll else approval.submitted_at
    return now - max(last_polled_at, approval.submitted_at) > _GONE_AFTER


def filtered(approvals: ApprovalQuerySet, by: QueueFilter) -> ApprovalQuerySet:
    """Requests that match ``by``."""
    exact = {"kind": by.kind, "capability": by.capability}
    approvals = approvals.filter(**{name: value for name, value in exact.items() if value})
    if by.agent:
        approvals = _of_agent(approvals, by.agent)
    if by.severity:
        ranked = approvals.alias(least=gravest_rank())
        approvals = ranked.filter(least__gte=by.severity.rank)
    if by.group:
        approvals = _of_group(approvals, by.group)
    return _saying(approvals, by.text) if by.text else approvals


class Waiting(NamedTuple):
    """A request that waits, as the queue sorts it.

    Attributes:
        demands: What the judgement that counts asks of people, as it is stored.
        is_abandoned: Whether its agent has stopped waiting.
    """

    id: UUID
    version: int
    token_id: int
    submitted_at: datetime
    expires_at: datetime
    demands: str
    is_abandoned: bool


class AlikeRequests(NamedTuple):
    """Requests that ask the same of the same people. ``one`` of them stands for all."""

    one: ApprovalRequest
    required: Required
    ids: list[UUID]


@dataclass(frozen=True, slots=True)
class OpenQueue:
    """All that waits at one moment, the same for everybody who looks.

    Attributes:
        now: The moment.
        requests: What waits, the one with the least time left first.
        cases: The same by what it asks of people.
        votes: Who approved so far, by request, in order.
        attendance: Who is on requests, and who has them open.
    """

    now: datetime
    requests: list[Waiting]
    cases: list[AlikeRequests]
    votes: dict[UUID, list[Vote]]
    attendance: Attendance


def open_queue(now: datetime) -> OpenQueue:
    """Read all that waits, in a fixed number of queries."""
    rows = _waiting(now, now - _GONE_AFTER)
    requests = [Waiting._make(row[:-1]) for row in rows]
    votes = votes_for_open(now) if any(row[-1] for row in rows[:1]) else {}
    return OpenQueue(now, requests, _cases(requests, now), votes, attendance(now))


@rows(ApprovalRequest.expires_at, ApprovalRequest.submitted_at)
def _waiting(now: datetime, since: datetime) -> QuerySet[ApprovalRequest, tuple[Any, ...]]:
    waiting = ApprovalRequest.objects.open(now).order_by("expires_at", "pk")
    annotated = waiting.annotate(
        demands=last_demands(),
        gone=_is_abandoned(since),
        some_voted=has_votes_for_open(now),
    )
    columns = ("pk", "version", "token", "submitted_at", "expires_at", "demands", "gone")
    return annotated.values_list(*columns, "some_voted")


def _cases(requests: Iterable[Waiting], now: datetime) -> list[AlikeRequests]:
    """Group requests of one token with the same demands and the same groups admitted by now."""
    # Thousands may wait, and most of them ask the same of the same people.
    alike = defaultdict[tuple[int, str, int], list[UUID]](list)
    demands_by_text = dict[str, Required]()
    for request in requests:
        if request.demands not in demands_by_text:
            demands_by_text[request.demands] = Required.from_json(request.demands)
        after_s = (now - request.submitted_at).total_seconds()
        later = [c.later_from_s for c in demands_by_text[request.demands].circles if c.later]
        joined = sum(after_s >= from_s for from_s in later)
        alike[request.token_id, request.demands, joined].append(request.id)
    ones = {request.pk: request for request in _light([ids[0] for ids in alike.values()])}
    return [
        AlikeRequests(ones[ids[0]], demands_by_text[demands], ids)
        for (_, demands, _), ids in alike.items()
    ]


@rows(Many(ApprovalRequest.id))
def _light(ids: Iterable[UUID]) -> QuerySet[ApprovalRequest]:
    light = ApprovalRequest.objects.select_related("agent", "token__agent").order_by()
    return light.defer("content", "evidence", "objective").filter(pk__among=ids)


def _needing(person: User, waiting: OpenQueue) -> set[UUID]:
    """Requests that still need this person's approval."""
    if not roles.may_decide(person):
        return set()
    names_groups = any(case.required.circles for case in waiting.cases)
    groups = groups_of(person) if names_groups else frozenset[str]()
    needed = set[UUID]()
    for approval, required, ids in waiting.cases:
        if not why_not_count(approval, required, person, waiting.now, groups):
            needed.update(
                pk for pk in ids if not _gave(person, waiting.votes.get(pk, ()), required)
            )
    return needed


def _gave(person: User, votes: Iterable[Vote], required: Required) -> bool:
    own_votes = (vote for vote in votes if vote.person_id == person.pk and vote.edit_id is None)
    return any(is_enough(vote, required) for vote in own_votes)


def _of_agent(approvals: ApprovalQuerySet, name: str) -> ApprovalQuerySet:
    agent = Agent.objects.filter(name=name).values_list("pk", flat=True).first()
    # A sum, because for a bare column SQLite takes the index of all that the agent ever asked.
    return approvals.alias(asked_by=F("agent_id") + 0).filter(asked_by=agent or 0)


def _of_group(approvals: ApprovalQuerySet, group: str) -> ApprovalQuerySet:
    annotated = approvals.annotate(asked=last_demands())
    texts = annotated.order_by().values_list("asked", flat=True).distinct()
    return annotated.filter(asked__in=[text for text in texts if _names(text, group)])


def _names(demands: str, group: str) -> bool:
    circles = Required.from_json(demands).circles
    return any(group in circle.groups + circle.later for circle in circles)


def _saying(approvals: ApprovalQuerySet, text: str) -> ApprovalQuerySet:
    # A content is kept as JSON, where quotation marks and ends of lines are written otherwise.
    escaped = encode_basestring(text)[1:-1]
    here = approvals.alias(searched=Left("content", SEARCHED))
    return here.filter(
        Q(searched__icontains=text)
        | Q(searched__icontains=escaped)
        | Q(objective__icontains=text)
        | Q(run_id__icontains=text)
    )


@dataclass(frozen=True, slots=True)
class PersonalQueue:
    """What the queue holds for one person.

    Attributes:
        waiting: All that waits.
        due_ids: What needs them or is assigned to them, and is neither snoozed nor abandoned.
        assigned_ids: What is assigned to them.
        abandoned_ids: What no agent waits for any more, whoever was asked.
        presence: Who is on requests, and who has them open; and what they snoozed.
    """

    waiting: OpenQueue
    due_ids: set[UUID]
    assigned_ids: set[UUID]
    abandoned_ids: set[UUID]
    presence: Presence

    @property
    def snoozed_ids(self) -> set[UUID]:
        """What they snoozed."""
        return set(self.presence.snoozed_until)


def personal_queue(waiting: OpenQueue, person: User) -> PersonalQueue:
    """Return which of what waits is for this person."""
    snoozed_until = snoozed_by(person, waiting.now)
    assignments = waiting.attendance.assignments.items()
    open_ids = {request.id for request in waiting.requests}
    assigned = {pk for pk, of in assignments if of.person_id == person.pk} & open_ids
    abandoned = {request.id for request in waiting.requests if request.is_abandoned}
    for_person = (_needing(person, waiting) | assigned) - snoozed_until.keys() - abandoned
    present_people = waiting.attendance.as_seen_by(person, snoozed_until)
    return PersonalQueue(waiting, for_person, assigned, abandoned, present_people)
