"""A reviewer answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction

from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.approvals.attention import claim_of
from dashboard.approvals.clock import database_now
from dashboard.approvals.coverage import as_served
from dashboard.approvals.errors import (
    AlreadyClosed,
    ClaimedByAnother,
    GrantRefused,
    NotAllowed,
    OnHold,
    ReasonMissing,
    Refused,
    StaleBasis,
)
from dashboard.approvals.granting import Terms
from dashboard.approvals.judging import demands_of
from dashboard.approvals.models import ApprovalRequest, Decision, Judgement, Vote
from dashboard.approvals.permission import is_enough, votes_that_count, why_not_count
from dashboard.approvals.repeating import earlier_answer, saw_the_end
from dashboard.approvals.services._closing import close, lock, raise_version
from dashboard.approvals.services._judging import judge_under_present
from dashboard.approvals.services.expire import expire_locked
from dashboard.approvals.services.grants import make_grant
from dashboard.approvals.services.hold import is_held
from dashboard.audit.services import Actor, Event, record
from dashboard.policies.demands import Required
from dashboard.wire import Source, Status, canonical_json

_NO_RIGHT = "You are not a reviewer (any more). Your decision was not recorded."
_NOT_RECORDED = "{} Your decision was not recorded."
_END_UNSEEN = (
    "The policy wants the whole content to have been in sight before anybody approves it. Your "
    "decision was not recorded; read to the end and press again."
)


class Basis(NamedTuple):
    """What the reviewer's page had shown: a decision about anything else does not count."""

    digest: str
    judgement_id: int


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One person's answer to a request.

    Attributes:
        auth: How the reviewer is known, for the record, such as ``"session:password"``.
        shown: What the page displayed, as JSON, kept with the answer.
        remember: What is to be allowed from now on, if the yes is to be remembered.
        despite: Who else is on it, as the page showed when the yes was given all the same.
        repeats: The decision that is given again, to exactly the same question.
    """

    reviewer: User
    auth: str
    status: Status
    basis: Basis
    reason: str = ""
    shown: Mapping[str, Any] = field(default_factory=dict)
    remember: Terms | None = None
    despite: str = ""
    repeats: Decision | None = None

    @property
    def end_seen(self) -> bool:
        """Whether the page says that the end of the content was in sight; silence is no."""
        return bool(self.shown.get("end_seen"))

    @property
    def actor(self) -> Actor:
        """Who answers, for the record."""
        return Actor(f"user:{self.reviewer.username}", self.auth)


def decide(*, approval_id: UUID, **answer: Any) -> Decision | Vote:
    """Record a reviewer's answer, ``APPROVED`` or ``REJECTED``, to an open request.

    One rejection closes it. So does the last yes that the policy asks for; an earlier yes is a
    vote, and the request stays open. Of two reviewers who answer at once, each is counted once,
    and the database says who closed it. The same answer of the same person again returns the
    first one.

    Args:
        approval_id: Which request.
        **answer: The fields of an ``Answer``.

    Raises:
        NotFound: There is no such request.
        AlreadyClosed: It was closed first, or its time limit has passed.
        NotAllowed: The person may not decide, or their yes does not count here.
        StaleBasis: Something else was shown than what is asked now.
        ClaimedByAnother: It is approved while somebody else is on it, and that was not said.
        ReasonMissing: The policy asks for a reason.
        GrantRefused: This yes cannot be remembered.
        OnHold: All approving is stopped.
    """
    given = Answer(**answer)
    if given.status not in (Status.APPROVED, Status.REJECTED):
        raise ValueError(f"A reviewer approves or rejects; {given.status!r} is neither.")
    with transaction.atomic():
        approval = lock(approval_id)
        if approval.status != Status.PENDING:
            return _repeated(approval, given)
        now = database_now()
        if approval.expires_at > now:
            outcome = _answer(approval, given, now)
        else:
            expire_locked(approval, now)
            outcome = AlreadyClosed(approval)
    # Raised here, after the commit: an expiry or a new judgement is kept.
    if isinstance(outcome, Refused):
        raise outcome
    return outcome


def _repeated(approval: ApprovalRequest, given: Answer) -> Decision | Vote:
    decision = approval.decision
    if given.remember and not approval.grants_made.filter(made_by=given.reviewer).exists():
        raise AlreadyClosed(approval)
    if decision.decided_by_id == given.reviewer.pk and decision.status == given.status:
        return decision
    earlier = approval.votes.filter(person=given.reviewer).last()
    if earlier and given.status == decision.status == Status.APPROVED:
        return earlier
    raise AlreadyClosed(approval)


def _answer(approval: ApprovalRequest, given: Answer, now: datetime) -> Decision | Vote | Refused:
    # Read again: the session may be older than the loss of the right.
    given = replace(given, reviewer=User.objects.get(pk=given.reviewer.pk))
    if not roles.may_decide(given.reviewer):
        raise NotAllowed(_NO_RIGHT)
    judgement = approval.judgements.select_related("revision", "inspection").latest("id")
    if given.basis != Basis(approval.digest, judgement.pk):
        raise StaleBasis
    if given.repeats:
        given = _as_before(approval, given, judgement)
    if given.status is Status.REJECTED:
        return _close(approval, given, judgement, now)
    if is_held():
        raise OnHold
    judgement, changed = judge_under_present(approval)
    if changed:
        closed = approval.status != Status.PENDING
        return AlreadyClosed(approval) if closed else StaleBasis()
    return _approve(approval, given, judgement, now)


def _as_before(approval: ApprovalRequest, given: Answer, judgement: Judgement) -> Answer:
    """Give an earlier answer again, with its words; whose end was in sight then, was in sight."""
    earlier = earlier_answer(approval, judgement)
    if earlier is None or earlier != given.repeats or earlier.status != given.status:
        raise StaleBasis
    seen = given.end_seen or saw_the_end(earlier, given.reviewer)
    shown = {**given.shown, "end_seen": "yes" if seen else "", "repeats": earlier.pk}
    return replace(given, repeats=earlier, reason=earlier.reason, shown=shown)


def _approve(
    approval: ApprovalRequest, given: Answer, judgement: Judgement, now: datetime
) -> Decision | Vote:
    judgement.approval, required = approval, demands_of(judgement)
    if why_not := why_not_count(approval, required, given.reviewer, now):
        raise NotAllowed(_NOT_RECORDED.format(why_not))
    claim = claim_of(approval)
    if claim and claim.person_id != given.reviewer.pk and claim.person.username != given.despite:
        raise ClaimedByAnother(claim)
    shown, unread = as_served(approval.pk, given.reviewer.pk, given.shown)
    given = replace(given, shown=shown)
    if required.whole_content and not given.end_seen:
        raise NotAllowed(unread or _END_UNSEEN)
    if required.reason_required and not given.reason.strip():
        raise ReasonMissing
    if given.remember and required.approvals > 1:
        raise GrantRefused(
            "Several people have to approve this, so no yes alone can be remembered."
        )
    vote, is_new = _vote(approval, required, given, judgement, now)
    counting = votes_that_count(approval, required, now)
    if len(counting) >= required.approvals:
        return _close(approval, given, judgement, now, counting)
    if is_new:
        raise_version(approval)
        needed = required.approvals
        details = {"counted": len(counting), "needed": needed, "reason": given.reason}
        if given.repeats:
            details["repeats"] = str(given.repeats.approval_id)
        record(given.actor, Event("approval.voted", str(approval.pk), approval.digest, details))
    return vote


def _vote(
    approval: ApprovalRequest,
    required: Required,
    given: Answer,
    judgement: Judgement,
    now: datetime,
) -> tuple[Vote, bool]:
    """Return the yes of this person that is enough now, and whether it is a new one."""
    for earlier in approval.votes.filter(person=given.reviewer):
        if is_enough(earlier, required):
            return earlier, False
    vote = Vote.objects.create(
        approval=approval,
        person=given.reviewer,
        judgement=judgement,
        digest=approval.digest,
        reason=given.reason,
        end_seen=given.end_seen,
        shown=canonical_json(dict(given.shown)),
        voted_at=now,
    )
    return vote, True


def _close(
    approval: ApprovalRequest,
    given: Answer,
    judgement: Judgement,
    now: datetime,
    counting: Sequence[Vote] = (),
) -> Decision:
    extra: tuple[Event, ...] = ()
    if given.remember and given.status is Status.APPROVED:
        extra = (make_grant(judgement, given.remember, person=given.reviewer, now=now)[1],)
    decision = Decision(
        approval=approval,
        status=given.status,
        source=Source.REVIEWER,
        reason=given.reason,
        decided_by=given.reviewer,
        decided_at=now,
        judgement=judgement,
        shown=canonical_json(dict(given.shown)),
        counted=canonical_json([vote.person.username for vote in counting]),
        repeats=given.repeats,
    )
    return close(decision, actor=given.actor, extra=extra)
