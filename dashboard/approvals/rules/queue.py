"""Filters of the queue, and the requests in it that need one person."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from json.encoder import encode_basestring
from uuid import UUID

from django.db.models import Case, Q, Value, When
from django.db.models.functions import Left

from approval_client.wire import Status
from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.accounts.queries import groups_of
from dashboard.approvals import queries
from dashboard.approvals.models import ApprovalQuerySet, ApprovalRequest, Vote
from dashboard.approvals.rules.answer import is_enough, why_not_count
from dashboard.approvals.rules.assignment import assigned_to
from dashboard.approvals.rules.snooze import snoozed_by
from dashboard.inspection.findings import Severity
from dashboard.policies.demands import Required

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


_POLLS_EVERY = timedelta(seconds=40)
"""An agent that waits asks again within this time; after it, the request is abandoned."""


def is_abandoned(now: datetime) -> Case:
    """Whether the agent of a pending request has stopped waiting, as the database tells it.

    An agent with an active webhook is told of the answer, so it need not wait.
    """
    since = now - _POLLS_EVERY
    silent = Q(poll=None) | Q(poll__last_polled_at__lt=since)
    untold = Q(agent__webhook=None) | Q(agent__webhook__is_active=False)
    gone = When(Q(silent, untold, submitted_at__lt=since), then=Value(value=True))
    return Case(gone, default=Value(value=False))


def was_abandoned(approval: ApprovalRequest, now: datetime) -> bool:
    """Say the same of one request, read with its poll and its agent's webhook."""
    if approval.status != Status.PENDING:
        return False
    webhook, poll = getattr(approval.agent, "webhook", None), getattr(approval, "poll", None)
    if webhook and webhook.is_active:
        return False
    last = poll.last_polled_at if poll else approval.submitted_at
    return now - max(last, approval.submitted_at) > _POLLS_EVERY


def filtered(approvals: ApprovalQuerySet, by: QueueFilter) -> ApprovalQuerySet:
    """Requests that match ``by``."""
    exact = {"agent__name": by.agent, "kind": by.kind, "capability": by.capability}
    approvals = approvals.filter(**{name: value for name, value in exact.items() if value})
    if by.severity:
        ranked = approvals.alias(least=queries.gravest_rank())
        approvals = ranked.filter(least__gte=by.severity.rank)
    if by.group:
        approvals = _of_group(approvals, by.group)
    return _saying(approvals, by.text) if by.text else approvals


def needing(person: User, now: datetime) -> set[UUID]:
    """Requests that still need this person's approval."""
    if not roles.may_decide(person):
        return set()
    waiting = ApprovalRequest.objects.open(now).order_by()
    groups, given, cases = groups_of(person), _given(person, waiting), _cases(waiting, now)
    # Thousands may wait, and most of them ask the same of the same people: one stands for all.
    ones = ApprovalRequest.objects.select_related("agent", "token__agent").in_bulk(
        [ids[0] for ids in cases.values()]
    )
    needed = set[UUID]()
    for (_, demands, _), ids in cases.items():
        required = Required.from_json(demands)
        if not why_not_count(ones[ids[0]], required, person, now, groups):
            needed.update(pk for pk in ids if not _gave(given.get(pk), required))
    return needed


def _cases(waiting: ApprovalQuerySet, now: datetime) -> dict[tuple[object, str, int], list[UUID]]:
    """Group requests of one token with the same demands and the same groups admitted by now."""
    demanding = waiting.annotate(demands=queries.last_demands())
    rows = list(demanding.values_list("pk", "token", "demands", "submitted_at"))
    joining = {text: _joining_from(text) for text in {row[2] for row in rows}}
    cases = defaultdict[tuple[object, str, int], list[UUID]](list)
    for pk, token, text, submitted_at in rows:
        after_s = (now - submitted_at).total_seconds()
        joined = sum(after_s >= from_s for from_s in joining[text])
        cases[token, text, joined].append(pk)
    return cases


def _joining_from(demands: str) -> list[float]:
    circles = Required.from_json(demands).circles
    return [circle.later_from_s for circle in circles if circle.later]


def _gave(votes: list[Vote] | None, required: Required) -> bool:
    return any(is_enough(vote, required) for vote in votes or ())


def _given(person: User, waiting: ApprovalQuerySet) -> dict[UUID, list[Vote]]:
    """This person's votes for what waits, by request."""
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


@dataclass(frozen=True, slots=True)
class PersonalQueue:
    """What the queue holds for one person.

    Attributes:
        due_ids: What needs them or is assigned to them, and is neither snoozed nor abandoned.
        assigned_ids: What is assigned to them.
        snoozed_ids: What they snoozed.
        abandoned_ids: What no agent waits for any more, whoever was asked.
    """

    due_ids: set[UUID]
    assigned_ids: set[UUID]
    snoozed_ids: set[UUID]
    abandoned_ids: set[UUID]


def personal_queue(person: User, now: datetime) -> PersonalQueue:
    """Return the requests in the queue that are for this person."""
    assigned, snoozed = assigned_to(person, now), snoozed_by(person, now)
    pending = ApprovalRequest.objects.open(now).order_by().alias(gone=is_abandoned(now))
    abandoned = set(pending.filter(gone=True).values_list("pk", flat=True))
    due = (needing(person, now) | assigned) - snoozed - abandoned
    return PersonalQueue(due, assigned, snoozed, abandoned)
