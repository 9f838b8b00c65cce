"""How far a request has come that several people have to approve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest, Edit, Vote
from dashboard.approvals.rules.answer import votes_that_count
from dashboard.policies.demands import Required
from dashboard.web.presenting.asking import people


@dataclass(frozen=True, slots=True)
class Voter:
    """One person who said yes.

    Attributes:
        counts: Whether it counts; a right that was lost since takes the yes with it.
        reason: Why, in their own words.
    """

    name: str
    at: datetime
    reason: str
    counts: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """Who approved so far.

    Attributes:
        mine: What became of the reader's own yes; empty if they gave none that counts.
    """

    counted: int
    needed: int
    mine: str
    voters: list[Voter]

    @property
    def headline(self) -> str:
        """Say how far it has come."""
        return f"{self.counted} of {people(self.needed)} approved"

    @property
    def left(self) -> range:
        """One for each yes that is missing."""
        return range(self.needed - self.counted)


def progress(
    approval: ApprovalRequest,
    required: Required,
    person: User,
    now: datetime,
    *,
    edit: Edit | None = None,
) -> Progress | None:
    """Say who approved a pending request so far; None where one yes is enough and none came.

    Or an ``edit`` of it: a yes is to the one or to the other.
    """
    about = edit.pk if edit else None
    votes = [vote for vote in approval.votes.all() if vote.edit_id == about]
    if required.approvals == 1 and not votes:
        return None
    counting = {vote.pk for vote in votes_that_count(approval, required, now, edit=edit)}
    left = required.approvals - len(counting)
    is_mine = any(vote.person_id == person.pk and vote.pk in counting for vote in votes)
    return Progress(
        counted=len(counting),
        needed=required.approvals,
        mine=f"You approved; {left} more {_is(left)} needed." if is_mine and left > 0 else "",
        voters=voters(votes, person, counting),
    )


def voters(votes: Sequence[Vote], person: User, counting: set[int]) -> list[Voter]:
    """Name those who voted, each once, by what counts and else by what they said last."""
    ordered = sorted(votes, key=lambda vote: vote.pk in counting)  # what counts comes last
    return [
        Voter(
            "you" if vote.person_id == person.pk else vote.person.username,
            vote.voted_at,
            vote.reason,
            vote.pk in counting,
        )
        for vote in {vote.person_id: vote for vote in ordered}.values()
    ]


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
