"""Who is on a request, who has it open, and who snoozed it. None of it is a right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest, Claim, Looking, PutOff


@dataclass(frozen=True, slots=True)
class Attention:
    """What many requests have of people's attention, by their ids.

    Attributes:
        claims: Who is on them.
        looking: The names of others who have them open, and are not on them, in order.
        back_at: When they come back that the reader put off.
    """

    claims: dict[UUID, Claim] = field(default_factory=dict)
    looking: dict[UUID, list[str]] = field(default_factory=dict)
    back_at: dict[UUID, datetime] = field(default_factory=dict)


def attention(ids: Collection[UUID], person: User, now: datetime) -> Attention:
    """Read for many requests what ``person`` should know, in three queries."""
    if not ids:
        return Attention()
    counting = Claim.objects.counting().filter(approval__in=ids).select_related("person", "after")
    claims = {claim.approval_id: claim for claim in counting}
    fresh = Looking.objects.fresh(now).filter(approval__in=ids).exclude(person=person)
    looking = defaultdict[UUID, list[str]](list)
    for one in fresh.select_related("person").order_by("person__username"):
        claim = claims.get(one.approval_id)
        if claim is None or claim.person_id != one.person_id:
            looking[one.approval_id].append(one.person.username)
    mine = PutOff.objects.holding(now).filter(person=person, approval__in=ids)
    return Attention(claims, dict(looking), dict(mine.values_list("approval", "until")))


def claim_of(approval: ApprovalRequest) -> Claim | None:
    """Return who is on a request and may still decide, or None."""
    claims = Claim.objects.counting().filter(approval=approval)
    return claims.select_related("person", "after").first()


def claimed_by(person: User, now: datetime) -> set[UUID]:
    """Name what a person is on, by their own doing or because it was handed to them."""
    claims = Claim.objects.counting().filter(person=person, approval__expires_at__gt=now)
    return set(claims.values_list("approval", flat=True))
