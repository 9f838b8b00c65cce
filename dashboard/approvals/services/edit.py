"""A reviewer makes something else of what was asked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from approval_client.wire import Kind, Status, canonical_json, digest, parse_json
from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.approvals import editing, partial
from dashboard.approvals.clock import database_now
from dashboard.approvals.errors import (
    AlreadyClosed,
    EditRefused,
    NotAllowed,
    NotFound,
    Refused,
    StepsRefused,
)
from dashboard.approvals.models import ApprovalRequest, Edit, Judgement
from dashboard.approvals.partial import StepSaid
from dashboard.approvals.services._closing import lock_to_judge, raise_version
from dashboard.approvals.services._judging import judge_under_present
from dashboard.approvals.services.expire import expire_locked
from dashboard.audit.services import Actor, Event, record
from dashboard.inspection.findings import Report
from dashboard.policies.evaluate import Effect, Evaluation
from dashboard.policies.inspecting import inspect

_NO_RIGHT = "You are not a reviewer (any more). Your change was not recorded."
_FORBIDDEN = "The policy rejects this: {}"
_TOO_MANY = f"This request has {editing.MOST_EDITS} changes already, which is as many as it may."


def propose_edit(*, approval_id: UUID, editor: User, auth: str, content: Any) -> Edit:
    """Keep what a reviewer makes of a pending request, inspected and judged. It decides nothing.

    The same once more is the same edit, whoever sends it.

    Args:
        content: The whole content after the change, parsed; numbers keep their digits.

    Raises:
        NotFound: There is no such request.
        AlreadyClosed: It was closed first, or its time limit has passed.
        NotAllowed: The person is no reviewer.
        EditRefused: This cannot be made of it, or the policy rejects it.
    """
    return _keep(_asked(approval_id), editor, auth, content)


def propose_part(*, approval_id: UUID, editor: User, auth: str, steps: Sequence[StepSaid]) -> Edit:
    """Keep a plan without the steps that are held or refused, as ``propose_edit`` keeps an edit.

    Raises:
        StepsRefused: These are not its steps, or all of them are allowed, or none.
        NotFound, AlreadyClosed, NotAllowed, EditRefused: As for an edit.
    """
    asked = _asked(approval_id)
    if why_not := editing.taken_whole(asked):
        raise EditRefused(why_not)
    why_not = partial.why_not_said(asked.kind, asked.content, steps) or partial.why_no_part(steps)
    if why_not:
        raise StepsRefused(why_not)
    left = partial.only_allowed(parse_json(asked.content), steps)
    return _keep(asked, editor, auth, left, steps)


def _asked(approval_id: UUID) -> ApprovalRequest:
    asked = ApprovalRequest.objects.filter(pk=approval_id).first()
    if asked is None:
        raise NotFound
    return asked


def _keep(
    asked: ApprovalRequest, editor: User, auth: str, content: Any, steps: Sequence[StepSaid] = ()
) -> Edit:
    if why_not := editing.why_not(asked, content):
        raise EditRefused(why_not)
    # Before the transaction: SQLite has one writer, which must not wait for a parser.
    report = inspect(Kind(asked.kind), content)
    edit = _drafted(asked, editor, content, report, steps)
    with transaction.atomic():
        edit.approval = lock_to_judge(asked.pk)
        outcome = _propose(edit, report, auth)
    # Raised here, after the commit: an expiry or a new judgement is kept.
    if isinstance(outcome, Refused):
        raise outcome
    return outcome


def _drafted(
    asked: ApprovalRequest, editor: User, content: Any, report: Report, steps: Sequence[StepSaid]
) -> Edit:
    return Edit(
        content=canonical_json(content),
        digest=digest(asked.kind, content),
        report=report.to_json(),
        steps=partial.steps_json(steps),
        # Read again: the session may be older than the loss of the right.
        edited_by=User.objects.get(pk=editor.pk),
    )


def _propose(edit: Edit, report: Report, auth: str) -> Edit | Refused:
    approval = edit.approval
    if not roles.may_decide(edit.edited_by):
        raise NotAllowed(_NO_RIGHT)
    if approval.status != Status.PENDING:
        raise AlreadyClosed(approval)
    now = database_now()
    if approval.expires_at <= now:
        expire_locked(approval, now)
        return AlreadyClosed(approval)
    judgement, _ = judge_under_present(approval)
    if approval.status != Status.PENDING:
        return AlreadyClosed(approval)
    for earlier in approval.edits.filter(digest=edit.digest, steps=edit.steps):
        return earlier
    if approval.edits.count() >= editing.MOST_EDITS:
        return EditRefused(_TOO_MANY)
    evaluation = editing.judged(approval, edit.content, report, judgement)
    if evaluation.effect is Effect.REJECT:
        return EditRefused(_FORBIDDEN.format(evaluation.reason))
    _insert(edit, judgement, evaluation, now)
    record(Actor(f"user:{edit.edited_by.username}", auth), _event(edit, evaluation))
    return edit


def _insert(edit: Edit, judgement: Judgement, evaluation: Evaluation, now: datetime) -> None:
    edit.revision = judgement.revision
    edit.effect = evaluation.effect
    edit.demands = evaluation.demands.to_json()
    edit.trace = canonical_json(evaluation.trace)
    edit.edited_at = now
    edit.save(force_insert=True)
    raise_version(edit.approval)


def _event(edit: Edit, evaluation: Evaluation) -> Event:
    details = {
        "edit": edit.pk,
        "of": edit.approval.digest,
        "effect": evaluation.effect,
        "demands": edit.demands,
        "findings": sorted(editing.report_of_edit(edit).names),
        "steps": edit.steps,
    }
    return Event("approval.edited", str(edit.approval_id), edit.digest, details)
