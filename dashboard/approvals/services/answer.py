"""A reviewer answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from time import time_ns
from typing import Any
from uuid import UUID

from django.db import transaction

from approval_client.wire import Kind, Source, Status, StepAnswer, canonical_json
from dashboard import tracing
from dashboard.accounts import roles
from dashboard.accounts.errors import TooManyAttempts
from dashboard.accounts.services import throttle
from dashboard.approvals.errors import (
    AlreadyClosed,
    AssignedToAnother,
    EditRefused,
    GrantRefused,
    NotAllowed,
    ReasonMissing,
    Refused,
    SignatureRefused,
    StaleBasis,
    StepsRefused,
    StepsUncounted,
)
from dashboard.approvals.models import ApprovalRequest, Decision, Edit, Judgement, View, Vote
from dashboard.approvals.queries.answer import Standing, judged, standing, votes_of
from dashboard.approvals.queries.assignment import assignment_of
from dashboard.approvals.rules.answer import (
    Basis,
    ReviewerAnswer,
    is_enough,
    votes_that_count,
    why_not_count,
)
from dashboard.approvals.rules.edit import judged_now, reason_with, report_of_edit
from dashboard.approvals.rules.fingerprint import fingerprint_of
from dashboard.approvals.rules.grant import is_as_remembered
from dashboard.approvals.rules.judgement import (
    as_judged,
    grounds_of,
    is_to_judge_again,
    report_of,
)
from dashboard.approvals.rules.likeness import earlier_answer, saw_the_end
from dashboard.approvals.rules.step import (
    Inspected,
    count_of_steps,
    reason_with_steps,
    steps_json,
    why_not_said,
)
from dashboard.approvals.rules.view import MASKED, as_served, masks_of
from dashboard.approvals.services.closing import (
    MOST_TRIES,
    OutOfDate,
    close,
    lock_to_judge,
    raise_version,
    signature_in_log,
)
from dashboard.approvals.services.edit import replace_with
from dashboard.approvals.services.grant import remember_yes
from dashboard.approvals.services.judgement import bring_up_to_date
from dashboard.approvals.services.signature import note_refused, signature_for
from dashboard.approvals.services.step import allow_steps, inspected_steps
from dashboard.approvals.services.view import viewed_event
from dashboard.audit.actions import Action
from dashboard.audit.services import AuditEvent, record
from dashboard.policies.evaluate import Effect, Evaluation
from dashboard.policies.rules.demands import Required
from dashboard.statements import insert

_NO_RIGHT = "Only reviewers can decide. Your decision was not recorded."
_NOT_RECORDED = "{} Your decision was not recorded."
_END_UNSEEN = (
    "The policy requires the whole content to be in view before anybody approves. Your "
    "decision was not recorded. Press Next unseen part until all of it was in view, then "
    "approve."
)
_EDITS_REFUSED = "The agent accepts no edits, so this can only be sent as a replacement."
_TOO_LATE = "The policy gives less time for this change than has passed since the agent asked."
_STEPS_LEFT = "Steps that are held or refused cannot be approved with the plan."
_VOID = (
    "You approved this before, and the passkey that signed it was removed since. So your approval "
    "no longer counts, and you cannot give it again. Somebody else can, or the agent asks anew. "
    "Your decision was not recorded."
)
_VOTED = (
    "You approved this already, with another reason or with none. That approval stands as it is, "
    "and this one was not recorded."
)
_SIGNED_EACH = "Each of these has to be signed, so an approval cannot be remembered."
_ONLY_ASKED = "The approval of a change cannot be remembered."


@dataclass(frozen=True)
class AnswerContext:
    """A locked, pending request, the answer to it, and what else the answer rests on.

    Attributes:
        assigned: Somebody who may decide is on the request.
        voted: Somebody approved it, or an edit of it, before.
        is_first_view: The person has not viewed it before, and their page showed it now.
        again: It was brought up to date for this answer.
    """

    approval: ApprovalRequest
    given: ReviewerAnswer
    standing: Standing
    steps: Sequence[Inspected]
    edit: Edit | None = None
    assigned: bool = False
    voted: bool = False
    is_first_view: bool = False
    again: bool = False

    @property
    def now(self) -> datetime:
        """The moment of the answer, read under the lock."""
        return self.standing.now

    @property
    def digest(self) -> str:
        """The digest of the content that is approved."""
        return self.edit.digest if self.edit else self.approval.digest

    def evaluation(self, judgement: Judgement) -> Evaluation:
        """The judgement of that content."""
        judgement.approval = self.approval
        if self.edit is None:
            return as_judged(judgement)
        return judged_now(self.edit, self.approval, judgement)


def decide(*, approval_id: UUID, answer: ReviewerAnswer) -> Decision | Vote:
    """Record a reviewer's answer, ``APPROVED`` or ``REJECTED``, to an open request.

    One rejection closes it. So does the last approval that the policy asks for; an earlier one
    is a vote, and the request stays open. Of two reviewers who answer at once, each is counted
    once, and the database says who closed it. The same answer of the same person again returns
    the first one.

    Raises:
        NotFound: There is no such request.
        AlreadyClosed: It was closed first, or its time limit has passed.
        NotAllowed: The person may not decide, or their approval does not count here.
        StaleBasis: The page showed something else than what is asked now.
        AssignedToAnother: It is assigned to somebody else, and the page did not show that.
        ReasonMissing: The policy asks for a reason.
        SignatureMissing: The policy requires the person's device to sign it; says what.
        SignatureRefused: What the device signed does not count; that is recorded.
        GrantRefused: This approval cannot be remembered, or not for the steps of this plan.
        EditRefused: The agent takes no edit, or the policy rejects it now.
        StepsRefused: The answers are not to the steps of this plan, or an approval holds or
            refuses some, or it is of another number of steps than the button named.
        Stopped: All approving is: on hold, or the clock was set back.
    """
    if answer.status not in (Status.APPROVED, Status.REJECTED):
        raise ValueError(f"A reviewer approves or rejects; {answer.status!r} is neither.")
    # Before the transaction: SQLite has one writer, which must not wait for a parser.
    steps = inspected_steps(approval_id, answer.basis.edit_id) if answer.allow_steps else []
    began_ns = time_ns()
    key = throttle.signature(answer.reviewer.username) if answer.signed else ""
    if key:
        _check_attempts(key)
    try:
        decision = _decide_up_to_date(approval_id, answer, steps)
    except SignatureRefused as refusal:
        note_refused(approval_id, reason=refusal.reason, by=answer.actor)
        raise
    except Refused:  # for another reason, such as that somebody else was first
        if key:
            throttle.withdraw(key)
        raise
    if key:
        throttle.succeeded(key)
    parent = decision.approval.traceparent
    tracing.record("approval.decide", parent, began_ns, status=str(answer.status))
    return decision


def _decide_up_to_date(
    approval_id: UUID, answer: ReviewerAnswer, steps: Sequence[Inspected]
) -> Decision | Vote:
    for attempt in range(MOST_TRIES):
        try:
            return _decide(approval_id, answer, steps, again=attempt > 0)
        except OutOfDate:
            bring_up_to_date(approval_id)
    raise StaleBasis


def _check_attempts(key: str) -> None:
    """Count that somebody sent a signature, which is forgotten once one counts."""
    try:
        throttle.begin(key)
    except TooManyAttempts as error:
        raise NotAllowed(_NOT_RECORDED.format(error)) from error


@transaction.atomic(durable=True)
def _decide(
    approval_id: UUID, answer: ReviewerAnswer, steps: Sequence[Inspected], *, again: bool
) -> Decision | Vote:
    approval = lock_to_judge(approval_id)
    if approval.status != Status.PENDING:
        return _answered_already(approval, answer)
    reviewer_standing = standing(answer.reviewer.pk)
    if reviewer_standing is None:
        raise NotAllowed(_NO_RIGHT)
    if approval.expires_at <= reviewer_standing.now:
        raise OutOfDate
    return _answer(AnswerContext(approval, answer, reviewer_standing, steps, again=again))


def _answer(answering: AnswerContext) -> Decision | Vote:
    approval, answer = answering.approval, answering.given
    # As they are now: the session may be older than the loss of the right.
    answer = replace(answer, reviewer=answering.standing.person)
    if not roles.may_decide(answer.reviewer):
        raise NotAllowed(_NO_RIGHT)
    latest, assigned, voted, has_viewed = judged(approval.pk, answer.reviewer.pk)
    edit = _edit(approval, answer.basis.edit_id)
    answering = replace(answering, edit=edit)
    judgement_id = _judged_as_shown(answering, latest)
    if answer.basis != Basis(approval.digest, judgement_id, edit.pk if edit else None):
        raise StaleBasis
    if answer.repeats:
        answer = _answered_as_before(approval, answer, latest)
    is_first_view = answer.viewed and not has_viewed
    answering = replace(answering, given=answer, is_first_view=is_first_view)
    answering = replace(answering, assigned=assigned, voted=voted)
    if answer.status == Status.REJECTED:
        return _reject(answering, latest)
    if answering.standing.stop:
        raise answering.standing.stop
    is_outdated = latest.revision_id != answering.standing.revision
    if is_outdated or is_to_judge_again(approval):
        raise OutOfDate
    return _approve(answering, latest, answering.evaluation(latest))


def _judged_as_shown(answering: AnswerContext, latest: Judgement) -> int:
    """Return the judgement that the page has to have shown: the latest one.

    Or the one before, if this answer had the request judged anew and that changed nothing: the
    page showed what held when the answer came.
    """
    number = answering.given.basis.judgement_id
    if number == latest.pk or not answering.again:
        return latest.pk
    as_shown = answering.approval.judgements.select_related(
        "revision", "inspection", "grounds"
    ).filter(pk=number)
    policies = [_says(answering, judgement) for judgement in (*as_shown, latest)]
    return number if len(policies) > 1 and policies[0] == policies[1] else latest.pk


def _says(answering: AnswerContext, judgement: Judgement) -> tuple[object, ...]:
    """What a page says of a judgement.

    What it asks for, of the request and of the content that is approved; and of the tool.
    """
    judgement.approval = answering.approval
    evaluations = (as_judged(judgement), answering.evaluation(judgement))
    grounds = grounds_of(judgement)
    return (
        *((evaluation.effect, evaluation.demands) for evaluation in evaluations),
        grounds and (grounds.tool_class, grounds.tool),
    )


def _view(answering: AnswerContext) -> tuple[AuditEvent, ...]:
    """Note the first view that comes with the answer, and return what is recorded of it."""
    if not answering.is_first_view:
        return ()
    approval, person = answering.approval, answering.given.reviewer
    insert(View(approval=approval, person=person, seen_at=answering.now))
    return (viewed_event(approval),)


def _edit(approval: ApprovalRequest, edit_id: int | None) -> Edit | None:
    if edit_id is None:
        return None
    edit = approval.edits.filter(pk=edit_id).select_related("edited_by").first()
    if edit is not None:
        edit.approval = approval
    return edit


def _approve(
    answering: AnswerContext, judgement: Judgement, evaluation: Evaluation
) -> Decision | Vote:
    approval, answer, required = answering.approval, answering.given, evaluation.demands
    _check_steps(answering)
    if answering.edit:
        _check_edit(answering, evaluation)
    why_not = why_not_count(
        approval, required, answer.reviewer, answering.now, edit=answering.edit
    )
    if why_not:
        raise NotAllowed(_NOT_RECORDED.format(why_not))
    _check_assignment(answering)
    complete, unread = as_served(approval.pk, answer.reviewer.pk, answer.shown, required)
    answer = replace(answer, shown=complete)
    answering = replace(answering, given=answer)
    if required.whole_content and not answer.end_seen:
        raise NotAllowed(unread or _END_UNSEEN)
    if required.reveal_required and masks_of(answer.shown, required):
        raise NotAllowed(MASKED)
    if required.reason_required and not answer.reason.strip():
        raise ReasonMissing
    if answer.remember or answer.allow_steps:
        _check_remembering(required)
    votes = votes_of(approval.pk) if answering.voted else []
    vote, is_new = _vote(answering, votes, required, judgement)
    answering = _as_signed(answering, vote, required, is_new=is_new)
    counting = votes_that_count(
        approval, required, answering.now, [*votes, vote] if is_new else votes, edit=answering.edit
    )
    if len(counting) >= required.approvals:
        return _close(answering, judgement, required, counting, vote if is_new else None)
    if is_new:
        _record_vote(answering, vote, required, len(counting))
    elif answer.reason != vote.reason:
        raise NotAllowed(_VOTED)
    return vote


def _record_vote(answering: AnswerContext, vote: Vote, required: Required, counted: int) -> None:
    approval, answer = answering.approval, answering.given
    raise_version(approval)
    details: dict[str, Any] = {
        "counted": counted,
        "needed": required.approvals,
        "row": fingerprint_of(vote),
        **signature_in_log(vote),
    }
    if answer.repeats:
        details["repeats"] = str(answer.repeats.approval_id)
    voted = AuditEvent(Action.APPROVAL_VOTED, str(approval.pk), answering.digest, details)
    record(answer.actor, *_view(answering), voted)


def _check_remembering(required: Required) -> None:
    if required.proof:
        raise GrantRefused(_SIGNED_EACH)
    if required.approvals > 1:
        raise GrantRefused(
            "Several people must approve this, so a single approval cannot be remembered."
        )


def _check_assignment(answering: AnswerContext) -> None:
    answer = answering.given
    assignment = assignment_of(answering.approval) if answering.assigned else None
    if (
        assignment
        and assignment.person_id != answer.reviewer.pk
        and assignment.person.username != answer.despite
    ):
        raise AssignedToAnother(assignment)


def _check_steps(answering: AnswerContext) -> None:
    """See that the approval of a plan is of what the button named."""
    answer, approval = answering.given, answering.approval
    if any(step.answer is not StepAnswer.ALLOWED for step in answer.steps):
        raise StepsRefused(_STEPS_LEFT)
    if approval.kind != Kind.PLAN or answer.approves is None:
        return
    total = count_of_steps(approval.content)
    approves = count_of_steps(answering.edit.content) if answering.edit else total
    if answer.approves != approves:
        raise StepsUncounted(approves, total)


def _check_edit(answering: AnswerContext, evaluation: Evaluation) -> None:
    if not answering.approval.accepts_edits:
        raise EditRefused(_EDITS_REFUSED)
    if evaluation.effect is Effect.REJECT:
        raise EditRefused(f"The policy rejects this: {evaluation.reason}")
    limit_s, asked_at = evaluation.demands.time_limit_s, answering.approval.submitted_at
    if limit_s is not None and answering.now >= asked_at + timedelta(seconds=limit_s):
        raise EditRefused(_TOO_LATE)
    if answering.given.remember:
        raise GrantRefused(_ONLY_ASKED)


def _vote(
    answering: AnswerContext, votes: Sequence[Vote], required: Required, judgement: Judgement
) -> tuple[Vote, bool]:
    """Return this person's vote that is enough now, and whether it is new."""
    answer = answering.given
    own_key = (answer.reviewer.pk, answering.edit.pk if answering.edit else None)
    for earlier in votes:
        if (earlier.person_id, earlier.edit_id) == own_key and is_enough(earlier, required):
            return earlier, False
    if any(_is_void(earlier, answering, judgement) for earlier in votes):
        raise NotAllowed(_VOID)
    vote = Vote(
        approval=answering.approval,
        person=answer.reviewer,
        judgement=judgement,
        edit=answering.edit,
        digest=answering.digest,
        reason=answer.reason,
        end_seen=answer.end_seen,
        shown=canonical_json(dict(answer.shown)),
        voted_at=answering.now,
    )
    if not required.proof:
        return insert(vote), True
    signature = signature_for(vote, nonce=answer.nonce, signed=answer.signed, now=answering.now)
    signature.vote = insert(vote)
    insert(signature)
    return vote, True


def _as_signed(
    answering: AnswerContext, vote: Vote, required: Required, *, is_new: bool
) -> AnswerContext:
    """Have what was signed with an earlier vote be what is recorded with the decision now."""
    if is_new or not required.proof:
        return answering
    answer = replace(answering.given, reason=vote.reason, shown=json.loads(vote.shown))
    return replace(answering, given=answer)


def _is_void(earlier: Vote, answering: AnswerContext, judgement: Judgement) -> bool:
    """Whether this person's approval was given under the same judgement, and counts no more."""
    edit_id = answering.edit.pk if answering.edit else None
    own_key = (answering.given.reviewer.pk, edit_id, judgement.pk)
    return (earlier.person_id, earlier.edit_id, earlier.judgement_id) == own_key


def _reject(answering: AnswerContext, judgement: Judgement) -> Decision:
    approval, answer, reason = answering.approval, answering.given, answering.given.reason
    extra: tuple[AuditEvent, ...] = ()
    if answer.steps and (why_not := why_not_said(approval.kind, approval.content, answer.steps)):
        raise StepsRefused(why_not)
    if answering.edit:
        judgement.approval = approval
        edit = answering.edit
        required = judged_now(edit, approval, judgement).demands
        view, _ = as_served(approval.pk, answer.reviewer.pk, answer.shown, required)
        answer = replace(answer, shown=view)
        answering = replace(answering, given=answer)
        reason, extra = replace_with(edit, judgement, answer, answering.now)
    elif answer.steps:
        reason = reason_with_steps(reason, answer.steps)
    decision = _decision(answering, judgement, ())
    decision.edit, decision.reason, decision.steps = None, reason, steps_json(answer.steps)
    return close(decision, actor=answer.actor, extra=_view(answering) + extra)


def _close(
    answering: AnswerContext,
    judgement: Judgement,
    required: Required,
    counting: Sequence[Vote],
    vote: Vote | None,
) -> Decision:
    answer, extra = answering.given, list(_view(answering))
    if answer.remember:
        extra += [remember_yes(judgement, answer.remember, by=answer.reviewer, now=answering.now)]
    if answer.allow_steps:
        report = (
            report_of_edit(answering.edit) if answering.edit else report_of(judgement.inspection)
        )
        terms = (required, report)
        extra += allow_steps(
            answering.approval, answering.steps, terms, answer.reviewer, answering.now
        )
    decision = _decision(answering, judgement, counting)
    return close(decision, actor=answer.actor, extra=tuple(extra), vote=vote)


def _decision(
    answering: AnswerContext, judgement: Judgement, counting: Sequence[Vote]
) -> Decision:
    answer = answering.given
    return Decision(
        approval=answering.approval,
        status=answer.status,
        source=Source.REVIEWER,
        reason=answer.reason,
        decided_by=answer.reviewer,
        decided_at=answering.now,
        judgement=judgement,
        edit=answering.edit,
        steps=answering.edit.steps if answering.edit else "[]",
        shown=canonical_json(dict(answer.shown)),
        counted=canonical_json([vote.person.username for vote in counting]),
        repeats=answer.repeats,
    )


def _answered_already(approval: ApprovalRequest, answer: ReviewerAnswer) -> Decision | Vote:
    """Return the first answer if the same person sends the same one again.

    Raises:
        AlreadyClosed: It is another answer.
    """
    decision, is_own = approval.decision, approval.decision.decided_by_id == answer.reviewer.pk
    if answer.status != decision.status:
        raise AlreadyClosed(approval)
    if answer.status == Status.REJECTED:
        if is_own and decision.reason in _reasons(approval, answer):
            return decision
        raise AlreadyClosed(approval)
    grants = list(approval.grants_made.filter(made_by=answer.reviewer))
    if not is_as_remembered(grants, answer.remember, for_steps=answer.allow_steps):
        raise AlreadyClosed(approval)
    if decision.edit_id != answer.basis.edit_id:
        raise AlreadyClosed(approval)
    vote = approval.votes.filter(person=answer.reviewer, edit=answer.basis.edit_id).last()
    own_answer = decision if is_own else vote
    reason = answer.repeats.reason if answer.repeats else answer.reason
    if own_answer and own_answer.reason == reason:
        return own_answer
    raise AlreadyClosed(approval)


def _reasons(approval: ApprovalRequest, answer: ReviewerAnswer) -> list[str]:
    """What the agent is told if this answer rejects: one of these, as a replacement has an end."""
    if edit := _edit(approval, answer.basis.edit_id):
        ends = approval.grants_made.filter(edit=edit).values_list("expires_at", flat=True)
        return [reason_with(edit, answer.reason, end) for end in (None, *ends)]
    if answer.steps:
        return [reason_with_steps(answer.reason, answer.steps)]
    return [answer.repeats.reason if answer.repeats else answer.reason]


def _answered_as_before(
    approval: ApprovalRequest, answer: ReviewerAnswer, judgement: Judgement
) -> ReviewerAnswer:
    """Repeat an earlier answer with its reason; an end seen then counts as seen.

    Raises:
        StaleBasis: It was not an answer to exactly this question.
    """
    earlier = earlier_answer(approval, judgement)
    if earlier is None or earlier != answer.repeats or earlier.status != answer.status:
        raise StaleBasis
    if answer.basis.edit_id is not None:
        raise StaleBasis
    end_seen = answer.end_seen or saw_the_end(earlier, answer.reviewer)
    display = {**answer.shown, "end_seen": "yes" if end_seen else "", "repeats": earlier.pk}
    return replace(answer, repeats=earlier, reason=earlier.reason, shown=display)
