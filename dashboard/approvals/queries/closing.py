"""Reads of what was closed, in the order of the log."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db.models import Min, QuerySet, Value
from django.db.models.functions import Coalesce, Length

from approval_client.wire import MAX_BODY_BYTES, Status
from dashboard.approvals.errors import NotFound
from dashboard.approvals.models import ApprovalQuerySet, ApprovalRequest, Closing, Decision
from dashboard.approvals.queries.agent import Answerable, answerables
from dashboard.approvals.queries.request import light
from dashboard.statements import rows

_SHOWN = 50


def closed(ids: Iterable[UUID]) -> dict[UUID, ApprovalRequest]:
    """Which of many requests are closed, in one query."""
    return light().exclude(status=Status.PENDING).order_by().in_bulk(list(ids))


def last_closing() -> int:
    """Return the place of the request that was closed last; 0 if none ever was."""
    return _last_closing.first() or 0


@rows()
def _last_closing() -> QuerySet[Closing, int]:
    return Closing.objects.order_by("-seq").values_list("seq", flat=True)[:1]


@rows(Closing.seq)
def closed_since(seq: int) -> QuerySet[Closing, tuple[int, UUID]]:
    """What was closed after that place, with its own place, in the order of the log."""
    return Closing.objects.filter(seq__gt=seq).order_by("seq").values_list("seq", "approval")


def lately_closed(among: ApprovalQuerySet | None = None) -> ApprovalQuerySet:
    """Requests that were closed last, the newest first; of all, or of those given."""
    requests = among_the_latest(_SHOWN) if among is None else among
    # Their ids are read first: of all that is sorted, a page's columns would be made.
    newest = requests.exclude(status=Status.PENDING).order_by("-decision__decided_at")[:_SHOWN]
    closed = ApprovalRequest.objects.filter(pk__in=list(newest.values_list("pk", flat=True)))
    closed = closed.select_related("agent", "decision__decided_by", "recall__person")
    return closed.order_by("-decision__decided_at")


def among_the_latest(count: int) -> ApprovalQuerySet:
    """The requests that were decided last, for filters that cannot look through all."""
    latest = Decision.objects.order_by("-decided_at").values_list("approval", flat=True)[:count]
    return ApprovalRequest.objects.filter(pk__in=list(latest))


class DecidedPage(NamedTuple):
    """Some decisions, the oldest first.

    Attributes:
        last: Where to read on: the last request that was read, also where it is not among these.
            None for an agent of whose requests none was ever decided.
        more: There are more now.
    """

    answers: list[Answerable]
    last: UUID | None
    more: bool


def decided(
    agent_id: int, *, after: UUID | None = None, since: datetime | None = None, limit: int = 50
) -> DecidedPage:
    """Return an agent's own decided requests, in the order of the audit log.

    A transaction that commits late comes late in that order, whatever its clock said, so reading
    on after the last one misses nothing and repeats nothing. A page ends early where reviewers
    changed so much that their texts would be longer together than one body may be.

    Args:
        agent_id: Whose requests.
        after: The last request that was read before; ``since`` does not count then.
        since: Begin with the first that was decided at this moment or later. One that was decided
            a little before and recorded later may be among them.
        limit: How many at the most.

    Raises:
        NotFound: ``after`` is not a request of this agent that was decided.
    """
    closings = Closing.objects.filter(agent=agent_id)
    # Where it stands is read first: what commits in between comes after it, or is among the rows.
    last_closing = closings.order_by("seq").last()
    if after is not None:
        last_closing = closings.filter(approval=after).first()
        if last_closing is None:
            raise NotFound
        closings = closings.filter(seq__gt=last_closing.seq)
    elif since is not None:
        first_seq = closings.filter(decided_at__gte=since).aggregate(seq=Min("seq"))["seq"]
        closings = closings.filter(seq__gte=first_seq) if first_seq else closings.none()
    lengths = Coalesce(Length("approval__decision__edit__content"), Value(0))
    rows = list(closings.order_by("seq").values_list("approval", lengths)[: limit + 1])
    fitting = _fitting(rows[:limit])
    last_id = last_closing.approval_id if last_closing else None
    more = len(rows) > len(fitting)
    return DecidedPage(answerables(fitting), fitting[-1] if fitting else last_id, more)


def _fitting(found: Iterable[tuple[UUID, int]]) -> list[UUID]:
    """Return the first requests that fit into one body together; at least one."""
    fitting: list[UUID] = []
    length = 0
    for approval_id, more in found:
        length += more
        if fitting and length > MAX_BODY_BYTES:
            break
        fitting.append(approval_id)
    return fitting
