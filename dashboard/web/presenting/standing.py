"""Where a request stands, for the person who looks: the part of its page that follows events."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.approvals import queries
from dashboard.approvals.models import ApprovalRequest, Judgement
from dashboard.approvals.rules.answer import why_not_count
from dashboard.approvals.rules.judgement import demands_of
from dashboard.approvals.rules.snooze import snoozed_by
from dashboard.policies.demands import Required
from dashboard.web.presenting import (
    asking,
    attending,
    outcomes,
    remembering,
    repeating,
    rows,
    times,
    voting,
    words,
)
from dashboard.web.presenting import changes as changing
from dashboard.web.presenting.asking import Why
from dashboard.web.presenting.attending import Attending
from dashboard.web.presenting.changes import Changes
from dashboard.web.presenting.outcomes import Result
from dashboard.web.presenting.reading import TOO_LONG, fits
from dashboard.web.presenting.remembering import Offer
from dashboard.web.presenting.repeating import Same
from dashboard.web.presenting.times import Moment, TimeLeft
from dashboard.web.presenting.voting import Progress
from dashboard.wire import Status

_HELD = "Everything is on hold: nothing can be approved until an admin lifts it. You can reject."
_READER = "You can read this. Only reviewers decide; an admin can make you one."


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """Whether the request is open, what the person may do, and how it ended.

    Attributes:
        why_not_approve: Why Approve is not offered; empty if it is.
        progress: Who approved so far, where several have to.
        required: What the policy asks of who approves.
        changes: What can be made of the request; None for who may not decide.
        remember: How much more a yes may count for; None if it cannot be remembered.
        attending: Who is on it, while it is open.
        same: The answer of a person to exactly this, that can be given again.
        stamp: Changes whenever anything that is shown here does.
        next_id: What to read after this, if anything waits.
    """

    status: str
    status_word: str
    asked: Moment
    left: TimeLeft | None
    nobody_waits: bool
    why: Why
    may_decide: bool
    why_not_approve: str
    progress: Progress | None
    required: Required
    changes: Changes | None
    remember: Offer | None
    attending: Attending | None
    same: Same | None
    judgement_id: int
    result: Result | None
    stamp: str
    next_id: UUID | None

    @property
    def asks_for_the_end(self) -> bool:
        """Whether who approves has to say, where no script sees it, that they read to the end."""
        has_voted = self.progress is not None and bool(self.progress.mine)
        return self.required.whole_content and not self.why_not_approve and not has_voted


def standing(
    approval: ApprovalRequest,
    person: User,
    now: datetime,
    sent: Mapping[str, Any] | None = None,
) -> Standing:
    """Say where ``approval``, read with ``queries.whole()``, stands for ``person``.

    ``sent`` is the form that they sent, if it was refused: what they chose stays.
    """
    judgement, is_open = last_judgement(approval), approval.status == Status.PENDING
    required, held = demands_of(judgement), queries.active_hold() is not None
    may_decide = is_open and roles.may_decide(person)
    why_not = _why_not(approval, required, person, now, held=held) if is_open else ""
    nobody_waits = rows.nobody_waits(approval, now)
    ended = outcomes.result(approval, person, now, held=held)
    progress = voting.progress(approval, required, person, now) if is_open else None
    may_yes = may_decide and not why_not
    who = is_open and attending.attending(approval, required, person, now, may_act=may_decide)
    stamp = (approval.version, judgement.pk, held, may_decide, why_not, progress, nobody_waits)
    return Standing(
        status=approval.status,
        status_word=words.STATUSES[Status(approval.status)],
        asked=times.moment(approval.submitted_at, now),
        left=_left(approval, now) if is_open else None,
        nobody_waits=nobody_waits,
        why=asking.why(approval, list(approval.judgements.all())),
        may_decide=may_decide,
        why_not_approve=why_not,
        progress=progress,
        required=required,
        changes=changing.changes(approval, judgement, person, now) if may_decide else None,
        remember=remembering.offer(approval, judgement, person, sent) if may_yes else None,
        attending=who or None,
        same=_same(approval, person, now, may_yes=may_yes) if may_decide else None,
        judgement_id=judgement.pk,
        result=ended,
        stamp=_stamp(*stamp, who and who.stamp, ended and (ended.since, ended.grant)),
        next_id=None if may_decide and not (who and who.back_at) else _next(approval, person, now),
    )


def last_judgement(approval: ApprovalRequest) -> Judgement:
    """Return the judgement that counts: the newest."""
    return list(approval.judgements.all())[-1]


def _left(approval: ApprovalRequest, now: datetime) -> TimeLeft:
    return times.time_left(approval.submitted_at, approval.expires_at, now)


def _same(approval: ApprovalRequest, person: User, now: datetime, *, may_yes: bool) -> Same | None:
    again = repeating.same(approval, last_judgement(approval), person, now)
    return again if again and (may_yes or not again.is_yes) else None


def _why_not(
    approval: ApprovalRequest, required: Required, person: User, now: datetime, *, held: bool
) -> str:
    if not roles.may_decide(person):
        return _READER
    if why_not := why_not_count(approval, required, person, now):
        return f"{why_not} You can still reject it."
    if not fits(approval):
        return TOO_LONG
    return _HELD if held else ""


def _stamp(*shown: object) -> str:
    return hashlib.sha256(repr(shown).encode()).hexdigest()[:16]


def _next(approval: ApprovalRequest, person: User, now: datetime) -> UUID | None:
    left = queries.queue(now).exclude(pk=approval.pk).exclude(pk__in=snoozed_by(person, now))
    return left.values_list("pk", flat=True).first()
