"""A reviewer edits a content, or rejects a request with a replacement."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from approval_client.wire import Kind, Status, canonical_json, digest, parse_json
from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.approvals.errors import (
    AlreadyClosed,
    EditRefused,
    InspectionBusy,
    NotAllowed,
    NotFound,
    StepsRefused,
)
from dashboard.approvals.models import (
    ApprovalRequest,
    Edit,
    Grant,
    Judgement,
    RequestHeadline,
)
from dashboard.approvals.rules import edit as edit_rules
from dashboard.approvals.rules import step
from dashboard.approvals.rules.answer import ReviewerAnswer
from dashboard.approvals.rules.edit import (
    ALLOWED_FOR,
    LONGEST_REPLACEMENT,
    judged_now,
    reason_with,
    report_of_edit,
    text_of,
)
from dashboard.approvals.rules.fingerprint import fingerprint_of
from dashboard.approvals.rules.grant import GrantScope
from dashboard.approvals.rules.step import StepSaid
from dashboard.approvals.rules.view import masks_of
from dashboard.approvals.services.closing import (
    MOST_TRIES,
    OutOfDate,
    lock_to_judge,
    raise_version,
)
from dashboard.approvals.services.grant import keep
from dashboard.approvals.services.headline import insert_headline
from dashboard.approvals.services.judgement import (
    bring_up_to_date,
    insert_grounds,
    latest_judgement,
)
from dashboard.audit.actions import Action
from dashboard.audit.services import Actor, AuditEvent, record
from dashboard.clock import database_now
from dashboard.inspection.findings import Report
from dashboard.policies.evaluate import Effect, Evaluation
from dashboard.policies.inspections import Headed, InspectorsBusy, inspect_and_head

_NO_RIGHT = "Only reviewers can change this. Your change was not recorded."
_FORBIDDEN = "The policy rejects this: {}"
_POLICY_MOVES = "The policy is being changed. Nothing was kept. Try again in a moment."
_TOO_MANY = f"This request has {edit_rules.MOST_EDITS} changes already, the most it may have."

_TOO_LONG = (
    f"A replacement of more than {LONGEST_REPLACEMENT:,} characters cannot be sent as a reason."
)
_UNSEEN = "The end of it was not in sight."
_NO_WORDS = "The policy requires a reason, and none was given."


def propose_edit(*, approval_id: UUID, editor: User, auth: str, content: Any) -> Edit:
    """Save a reviewer's edit of a pending request, inspected and judged. It decides nothing.

    Sending the same edit again returns the first one, whoever sends it.

    Args:
        content: The whole content after the change, parsed; numbers keep their digits.

    Raises:
        NotFound: There is no such request.
        AlreadyClosed: It was closed first, or its time limit has passed.
        NotAllowed: The person is not a reviewer.
        EditRefused: The content cannot be edited like this, or the policy rejects it.
    """
    return _keep(_asked(approval_id), editor, auth, content)


def propose_part(*, approval_id: UUID, editor: User, auth: str, steps: Sequence[StepSaid]) -> Edit:
    """Save a plan without the steps that are held or refused, as an edit.

    Raises:
        StepsRefused: These are not its steps, or all of them are allowed, or none.
        NotFound, AlreadyClosed, NotAllowed, EditRefused: As for an edit.
    """
    approval = _asked(approval_id)
    if why_not := edit_rules.taken_whole(approval):
        raise EditRefused(why_not)
    why_not = step.why_not_said(approval.kind, approval.content, steps) or step.why_no_part(steps)
    if why_not:
        raise StepsRefused(why_not)
    remainder = step.only_allowed(parse_json(approval.content), steps)
    return _keep(approval, editor, auth, remainder, steps)


def _asked(approval_id: UUID) -> ApprovalRequest:
    approval = ApprovalRequest.objects.filter(pk=approval_id).first()
    if approval is None:
        raise NotFound
    return approval


def _keep(
    approval: ApprovalRequest,
    editor: User,
    auth: str,
    content: Any,
    steps: Sequence[StepSaid] = (),
) -> Edit:
    if why_not := edit_rules.why_not(approval, content):
        raise EditRefused(why_not)
    # Before the transaction: SQLite has one writer, which must not wait for a parser.
    try:
        headed = inspect_and_head(Kind(approval.kind), content, asker=f"user:{editor.pk}")
    except InspectorsBusy:
        raise InspectionBusy from None
    edit = _drafted(approval, editor, content, headed.report, steps)
    for _ in range(MOST_TRIES):
        try:
            return _propose(approval.pk, edit, headed, auth)
        except OutOfDate:
            bring_up_to_date(approval.pk)
    raise EditRefused(_POLICY_MOVES)


def _drafted(
    approval: ApprovalRequest,
    editor: User,
    content: Any,
    report: Report,
    steps: Sequence[StepSaid],
) -> Edit:
    return Edit(
        content=canonical_json(content),
        digest=digest(approval.kind, content),
        report=report.to_json(),
        steps=step.steps_json(steps),
        # Read again: the session may be older than the loss of the right.
        edited_by=User.objects.get(pk=editor.pk),
    )


@transaction.atomic(durable=True)
def _propose(approval_id: UUID, edit: Edit, headed: Headed, auth: str) -> Edit:
    edit.approval = approval = lock_to_judge(approval_id)
    if not roles.may_decide(edit.edited_by):
        raise NotAllowed(_NO_RIGHT)
    if approval.status != Status.PENDING:
        raise AlreadyClosed(approval)
    now = database_now()
    if approval.expires_at <= now:
        raise OutOfDate
    judgement = latest_judgement(approval)
    if earlier := approval.edits.filter(digest=edit.digest, steps=edit.steps).first():
        return earlier
    if approval.edits.count() >= edit_rules.MOST_EDITS:
        raise EditRefused(_TOO_MANY)
    evaluation = edit_rules.judged(approval, edit.content, headed.report, judgement)
    if evaluation.effect is Effect.REJECT:
        raise EditRefused(_FORBIDDEN.format(evaluation.reason))
    _insert(edit, judgement, evaluation, now)
    headline = insert_headline(edit, headed.headline)
    record(Actor.of_user(edit.edited_by.username, auth), _event(edit, evaluation, headline))
    return edit


def _insert(edit: Edit, judgement: Judgement, evaluation: Evaluation, now: datetime) -> None:
    edit.revision = judgement.revision
    edit.effect = evaluation.effect
    edit.demands = evaluation.demands.to_json()
    edit.trace = canonical_json(evaluation.trace)
    edit.edited_at = now
    edit.save(force_insert=True)
    if evaluation.grounds:
        insert_grounds(edit, evaluation.grounds)
    raise_version(edit.approval)


def _event(edit: Edit, evaluation: Evaluation, headline: RequestHeadline) -> AuditEvent:
    details = {
        "edit": edit.pk,
        "of": edit.approval.digest,
        "effect": evaluation.effect,
        "demands": edit.demands,
        "findings": sorted(edit_rules.report_of_edit(edit).names),
        "steps": step.answers_of(edit.steps),
        "row": fingerprint_of(edit),
        "headline": fingerprint_of(headline),
    }
    if hasattr(edit, "grounds"):
        details["grounds"] = fingerprint_of(edit.grounds)
    return AuditEvent(Action.APPROVAL_EDITED, str(edit.approval_id), edit.digest, details)


def replace_with(
    edit: Edit, judgement: Judgement, answer: ReviewerAnswer, now: datetime
) -> tuple[str, tuple[AuditEvent, ...]]:
    """Return the reason of a rejection with a replacement, and what there is to record.

    Within the caller's transaction. Where the approval of its writer alone is enough, exactly the
    replacement is pre-approved once, in the run of the request.

    Raises:
        EditRefused: It is too long for a reason.
    """
    if len(text_of(edit)) > LONGEST_REPLACEMENT:
        raise EditRefused(_TOO_LONG)
    reason = answer.reason
    why_not = edit_rules.why_not_allowed(edit, judgement, answer.reviewer, now)
    demands = judged_now(edit, edit.approval, judgement).demands
    is_masked = demands.reveal_required and masks_of(answer.shown, demands)
    if is_masked or (demands.whole_content and not answer.end_seen):
        why_not = why_not or _UNSEEN
    if demands.reason_required and not reason.strip():
        why_not = why_not or _NO_WORDS
    if why_not:
        return reason_with(edit, reason, None), ()
    grant = _allowed_once(edit, now + ALLOWED_FOR)
    report = report_of_edit(edit)
    event = keep(grant, of=edit.approval, by=edit.edited_by, now=now, report=report)
    return reason_with(edit, reason, grant.expires_at), (event,)


def _allowed_once(edit: Edit, expires_at: datetime) -> Grant:
    return Grant(
        run_id=edit.approval.run_id,
        scope=GrantScope.CONTENT,
        kind=edit.approval.kind,
        digest=edit.digest,
        tool=parse_json(edit.content).get("tool", ""),
        content=edit.content,
        edit=edit,
        expires_at=expires_at,
        most_uses=1,
    )
