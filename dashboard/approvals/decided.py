"""What was decided of one agent's requests, in order, for who reads on from where it stood."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db.models import Max, Min, Value
from django.db.models.functions import Coalesce, Length

from approval_client.wire import MAX_BODY_BYTES
from dashboard.approvals.errors import NotFound
from dashboard.approvals.models import Closing, Judgement, Outcome
from dashboard.approvals.queries import Answerable, light


class Page(NamedTuple):
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
) -> Page:
    """Return what was decided of an agent's own requests, in the order of the log.

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
        NotFound: ``after`` is no request of this agent that was decided.
    """
    closings = Closing.objects.filter(agent=agent_id)
    # Where it stands is read first: what commits in between comes after it, or is among the rows.
    last = closings.order_by("seq").last()
    if after is not None:
        last = closings.filter(approval=after).first()
        if last is None:
            raise NotFound
        closings = closings.filter(seq__gt=last.seq)
    elif since is not None:
        first = closings.filter(decided_at__gte=since).aggregate(seq=Min("seq"))["seq"]
        closings = closings.filter(seq__gte=first) if first else closings.none()
    lengths = Coalesce(Length("approval__decision__edit__content"), Value(0))
    found = list(closings.order_by("seq").values_list("approval", lengths)[: limit + 1])
    fitting = _fitting(found[:limit])
    stands = last.approval_id if last else None
    more = len(found) > len(fitting)
    return Page(_answerables(fitting), fitting[-1] if fitting else stands, more)


def _fitting(found: Iterable[tuple[UUID, int]]) -> list[UUID]:
    """Return those at the beginning that fit together; one always does."""
    fitting: list[UUID] = []
    length = 0
    for approval_id, more in found:
        length += more
        if fitting and length > MAX_BODY_BYTES:
            break
        fitting.append(approval_id)
    return fitting


def _answerables(ids: Sequence[UUID]) -> list[Answerable]:
    approvals = light().in_bulk(list(ids))
    newest = (
        Judgement.objects.filter(approval__in=ids).values("approval").annotate(newest=Max("id"))
    )
    judgements = Judgement.objects.filter(pk__in=newest.values("newest"))
    judged = {judgement.approval_id: judgement for judgement in judgements}
    outcomes = defaultdict(list)
    for outcome in Outcome.objects.filter(approval__in=ids).order_by("id"):
        outcomes[outcome.approval_id].append(outcome)
    return [Answerable(approvals[pk], judged[pk], outcomes[pk]) for pk in ids]
