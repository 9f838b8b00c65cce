"""Reads of what a person's answer to a request depends on."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from dashboard.accounts.models import User
from dashboard.approvals.errors import Stopped
from dashboard.approvals.models import (
    VOTE_WITH,
    ApprovalRequest,
    Assignment,
    Judgement,
    View,
    Vote,
)
from dashboard.approvals.queries.hold import stop_in, with_stop
from dashboard.clock import now_in
from dashboard.policies.models import PolicyRevision
from dashboard.statements import rows


class Standing(NamedTuple):
    """What every answer of a person depends on besides the request, at one moment under the lock.

    Attributes:
        revision: The number of the policy's revision that holds.
        stop: What stops all approving.
    """

    person: User
    revision: int
    stop: Stopped | None
    now: datetime


@rows(User.id)
def _standing(person_id: int) -> QuerySet[User]:
    newest = PolicyRevision.objects.order_by("-number").values("number")[:1]
    people = User.objects.filter(pk=person_id)
    return people.annotate(revision=Subquery(newest), **with_stop()).order_by()


def standing(person_id: int) -> Standing | None:
    """Read how a person stands now: their rights may be gone. None if there is no such person."""
    person = _standing.first(person_id)
    if person is None:
        return None
    return Standing(person, vars(person)["revision"], stop_in(person), now_in(person))


class Judged(NamedTuple):
    """The judgement that counts, and what else there is about a request that somebody answers.

    Attributes:
        assigned: Somebody who may decide is on it.
        voted: Somebody approved it, or an edit of it.
        viewed: The person who answers has viewed it before.
    """

    judgement: Judgement
    assigned: bool
    voted: bool
    viewed: bool


@rows(ApprovalRequest.id, User.id)
def _judged(approval_id: UUID, person_id: int) -> QuerySet[Judgement]:
    this = {"approval": OuterRef("approval")}
    return (
        Judgement.objects.filter(approval_id=approval_id)
        .annotate(
            assigned=Exists(Assignment.objects.counting().filter(**this)),
            voted=Exists(Vote.objects.filter(**this)),
            viewed=Exists(View.objects.filter(person=person_id, **this)),
        )
        .order_by("-id")[:1]
    )


def judged(approval_id: UUID, person_id: int) -> Judged:
    """Read what a person's answer to a request is about."""
    [judgement] = _judged(approval_id, person_id)
    columns = vars(judgement)
    return Judged(judgement, *(bool(columns[name]) for name in Judged._fields[1:]))


@rows(ApprovalRequest.id)
def votes_of(approval_id: UUID) -> QuerySet[Vote]:
    """Every vote for a request or an edit of it, in order, with its person."""
    votes = Vote.objects.filter(approval_id=approval_id).select_related(*VOTE_WITH)
    return votes.defer("shown").order_by("id")
