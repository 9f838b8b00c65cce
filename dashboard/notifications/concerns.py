"""Whom a request concerns: which channels of the house, and which people."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, Subquery

from approval_client.wire import Status, parse_json
from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.approvals.models import (
    ApprovalQuerySet,
    ApprovalRequest,
    Assignment,
    Inspection,
    View,
)
from dashboard.approvals.queries.queue import gravest_rank, last_demands
from dashboard.approvals.queries.request import light
from dashboard.approvals.rules.answer import why_not_count
from dashboard.clock import database_now
from dashboard.inspection.findings import Severity
from dashboard.notifications.models import ACCOUNT_EVENTS, Channel, Choice, NoticeEvent
from dashboard.policies.rules.demands import Required

_ALWAYS = {NoticeEvent.ASSIGNED, NoticeEvent.TEST, NoticeEvent.CODE, *ACCOUNT_EVENTS}
_OF_THE_HOUSE = {NoticeEvent.HELD, NoticeEvent.LIFTED}
_EVENTS = {
    Choice.ASSIGNED: frozenset({NoticeEvent.HALF, NoticeEvent.LAST_MINUTE}),
    Choice.HIGH: frozenset(NoticeEvent),
    Choice.ALL: frozenset(NoticeEvent),
}


class RequestFacts(NamedTuple):
    """What is known of a request that somebody may have to be told of.

    ``severity`` is ``HIGH`` where the inspection is missing or not finished: nobody knows better.
    """

    approval: ApprovalRequest
    severity: Severity | None
    required: Required | None
    was_seen: bool
    assignee: int | None

    @property
    def is_pending(self) -> bool:
        """Whether it still needs people."""
        return self.approval.status == Status.PENDING


def facts_of(ids: Iterable[UUID]) -> dict[UUID, RequestFacts]:
    """Read what is known of some requests, in one statement."""
    return _facts(light().filter(pk__in=list(ids)))


def facts_of_pending() -> dict[UUID, RequestFacts]:
    """Read what is known of all that waits, in one statement."""
    # Ordered as the index is, or a database may walk through all that was ever asked instead.
    return _facts(light().open(database_now()).order_by("expires_at"))


def _facts(requests: ApprovalQuerySet) -> dict[UUID, RequestFacts]:
    own_rows = {"approval": OuterRef("pk")}
    rows: Any = requests.select_related("agent", "token__agent").annotate(
        rank=gravest_rank(),
        demands=last_demands(),
        is_inspected=Exists(Inspection.objects.filter(**own_rows)),
        was_seen=Exists(View.objects.filter(**own_rows)),
        assignee=Subquery(Assignment.objects.counting().filter(**own_rows).values("person")),
    )
    return {
        row.pk: RequestFacts(row, _severity(row), _required(row), row.was_seen, row.assignee)
        for row in rows
    }


def wants(channel: Channel, event: NoticeEvent) -> bool:
    """Whether a channel is told of such events at all."""
    if channel.person_id is None:
        return event in names(channel.events)
    if event in _OF_THE_HOUSE and not (channel.person and roles.may_look(channel.person)):
        return False
    return event in _ALWAYS or event in _EVENTS[Choice(channel.choice)]


def concerns(
    channel: Channel,
    facts: RequestFacts,
    event: NoticeEvent,
    now: datetime,
    groups: Collection[str],
) -> bool:
    """Whether a channel is to be told of a request.

    Args:
        channel: Of the house, or of ``channel.person``.
        facts: The request.
        event: What about it.
        now: When they would be told.
        groups: The names of those that the person is in; of no matter for the house's.
    """
    if channel.person_id is None:
        return _is_grave_enough(channel.least, facts) and _is_for(channel, facts, now)
    if not may_approve(channel.person, facts, now, groups):
        return False
    is_assignee = facts.assignee == channel.person_id
    if event == NoticeEvent.ASSIGNED or channel.choice == Choice.ASSIGNED:
        return is_assignee
    if is_assignee and event in _EVENTS[Choice.ASSIGNED]:  # the other choices add to that one
        return True
    return channel.choice == Choice.ALL or _is_grave_enough(Severity.HIGH, facts)


def may_approve(
    person: User | None, facts: RequestFacts, now: datetime, groups: Collection[str]
) -> bool:
    """Whether a person's approval of a request would count."""
    if person is None:
        return False
    required = facts.required or Required()
    return not why_not_count(facts.approval, required, person, now, groups)


def names(text: str) -> list[str]:
    """Read a list of names that a channel keeps."""
    return [str(name) for name in parse_json(text)]


def _is_grave_enough(least: str, facts: RequestFacts) -> bool:
    if not least:
        return True
    return facts.severity is not None and facts.severity.rank >= Severity(least).rank


def _is_for(channel: Channel, facts: RequestFacts, now: datetime) -> bool:
    groups, required = names(channel.groups), facts.required
    if not groups or required is None or not required.circles:
        return True
    after_s = (now - facts.approval.submitted_at).total_seconds()
    return required.admits(groups, after_s=after_s)


def _severity(row: Any) -> Severity | None:
    if not row.is_inspected:
        return Severity.HIGH
    return list(Severity)[row.rank] if row.rank >= 0 else None


def _required(row: Any) -> Required | None:
    return Required.from_json(row.demands) if row.demands else None
