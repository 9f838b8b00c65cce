"""Who is on a request, who else reads it, and what the reader can do about that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from dashboard.accounts.models import User
from dashboard.accounts.queries import reviewers
from dashboard.approvals.models import ApprovalRequest, Assignment
from dashboard.approvals.rules import snooze
from dashboard.approvals.rules.assignment import presence
from dashboard.approvals.rules.extension import extension
from dashboard.approvals.rules.snooze import SnoozeChoice, SnoozeLength
from dashboard.policies.demands import Required
from dashboard.web.presenting import times
from dashboard.web.presenting.times import Moment

_LATER = {
    SnoozeLength.QUARTER: "For 15 minutes",
    SnoozeLength.HOUR: "For an hour",
    SnoozeLength.MORNING: "Until tomorrow, {until}",
    SnoozeLength.LONGEST: "Until {until}, when half of the time left is over",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Claimed:
    """Who is on a request.

    Attributes:
        name: Who; what a form says that shows whose claim it takes over.
        said: The whole of it, in our words, without the time.
        note: What the person who handed it over said.
    """

    name: str
    is_mine: bool
    said: str
    since: Moment
    note: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Extra:
    """Time that can be added.

    Attributes:
        ends: When the request expires as things stand, for the form.
        opens: From when on it is offered.
        words: How much a press adds.
    """

    ends: str
    opens: str
    is_open: bool
    words: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Attending:
    """What a pending request has of people's attention.

    Attributes:
        reading: Who else has it open, in a sentence; empty if nobody has.
        may_act: Whether the reader can claim it and so on.
        back_at: When it comes back that the reader put off; empty if they did not.
        later: Until when it can be put off: the word for the form, and ours.
        people: The names of those that it can be handed to.
        stamp: Changes whenever something does that open pages have to show at once.
    """

    claim: Claimed | None
    reading: str
    may_act: bool
    back_at: str
    later: list[tuple[str, str]]
    people: list[str]
    extra: Extra | None
    stamp: tuple[object, ...]


def attending(
    approval: ApprovalRequest, required: Required, person: User, now: datetime, *, may_act: bool
) -> Attending:
    """Describe the attention that a pending request has."""
    found = presence([approval.pk], person, now)
    claim, back = found.assignments.get(approval.pk), found.snoozed_until.get(approval.pk)
    offered = snooze.choices(now, approval.expires_at) if may_act else []
    extra = _extra(approval, required, now) if may_act else None
    names = [other.username for other in reviewers() if other != person] if may_act else []
    whose = (claim.person_id, claim.assigned_at) if claim else None
    return Attending(
        claim=_claimed(claim, person, now) if claim else None,
        reading=reading(found.viewing.get(approval.pk, [])),
        may_act=may_act,
        back_at=times.clock(back) if back else "",
        later=[(str(choice.length), _words(choice)) for choice in offered],
        people=[name for name in names if claim is None or name != claim.person.username],
        extra=extra,
        stamp=(whose, back, extra and extra.ends),
    )


def who_reads(approval_id: UUID, person: User, now: datetime) -> str:
    """Say who else has a request open, and nothing more of it."""
    return reading(presence([approval_id], person, now).viewing.get(approval_id, []))


def reading(names: Sequence[str]) -> str:
    """Say who else reads, of those who are named."""
    if not names:
        return ""
    *others, last = names
    return f"{', '.join(others)} and {last} are reading" if others else f"{last} is reading"


def _claimed(claim: Assignment, person: User, now: datetime) -> Claimed:
    return Claimed(
        name=claim.person.username,
        is_mine=claim.person_id == person.pk,
        said=_said(claim, person),
        since=times.moment(claim.assigned_at, now),
        note=claim.note,
    )


def _said(claim: Assignment, person: User) -> str:
    after, name = claim.after, claim.person.username
    is_mine, was_mine = claim.person_id == person.pk, after == person
    if claim.is_handed and after:
        giver = "You" if was_mine else after.username
        return f"{giver} handed this to {'you' if is_mine else name}"
    if was_mine:
        return f"{name} took this over from you"
    return "You are on this, claimed" if is_mine else f"{name} is on this, claimed"


def _words(choice: SnoozeChoice) -> str:
    return _LATER[choice.length].format(until=choice.until.strftime("%H:%M UTC"))


def _extra(approval: ApprovalRequest, required: Required, now: datetime) -> Extra | None:
    offered = extension(approval, required)
    if offered is None:
        return None
    added_s = (offered.until - approval.expires_at).total_seconds()
    return Extra(
        ends=approval.expires_at.isoformat(),
        opens=offered.opens_at.isoformat(),
        is_open=now >= offered.opens_at,
        words=times.length(added_s),
    )
