"""Closing a request, the one place where a status moves: cancelled, expired, answered."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from approval_client.wire import Source, Status
from dashboard.accounts import roles
from dashboard.accounts.models import Agent, AgentToken, User
from dashboard.approvals.errors import AlreadyClosed, NotAllowed, NotFound, TimeOver
from dashboard.approvals.models import (
    ApprovalQuerySet,
    ApprovalRequest,
    Assignment,
    Closing,
    Decision,
    Signature,
    Snooze,
    Vote,
)
from dashboard.approvals.queries.agent import Answerable, told
from dashboard.approvals.queries.request import whole
from dashboard.approvals.rules.extension import LIMIT_OVER
from dashboard.approvals.rules.fingerprint import fingerprint_of
from dashboard.approvals.rules.step import answers_of
from dashboard.approvals.signals import approval_changed
from dashboard.audit.actions import Action
from dashboard.audit.services import Actor, AuditEvent, record
from dashboard.clock import database_now, now_in
from dashboard.policies.services import lock_for_judging
from dashboard.statements import change, insert, rows

VALID_FOR = timedelta(minutes=10)
"""How long an approval can be started after it was given."""

MOST_TRIES = 3
"""How often a verb begins that finds its request out of date each time."""
_NO_RIGHT = "Only reviewers can do this. Nothing was changed."


class OutOfDate(Exception):
    """A locked request is overdue, or was judged by an earlier policy. Nothing was written.

    A verb raises it out of its transaction. Then the request is brought up to date, which is
    committed by itself, and the verb begins again: so a refusal is always raised, and never has
    to be returned for the sake of what was written before it.
    """


_BATCH = 100


@rows(ApprovalRequest.id)
def _agent_of(approval_id: UUID) -> QuerySet[Agent]:
    return Agent.objects.select_for_update(of=("self",)).filter(approvals=approval_id).order_by()


@rows(ApprovalRequest.id)
def _request(approval_id: UUID) -> QuerySet[ApprovalRequest]:
    locked = ApprovalRequest.objects.select_for_update(of=("self",)).filter(pk=approval_id)
    return locked.select_related("agent", "token__agent").order_by()


def lock(approval_id: UUID) -> ApprovalRequest:
    """Lock a request for the rest of the transaction, after its agent, and return it fresh.

    Always in this order, so no two verbs wait for each other: agent, request, policy and hold
    (``lock_for_judging``), grants, and the audit head last.

    Raises:
        NotFound: There is no such request.
    """
    # SQLite has one lock, which the transaction has taken with its first word.
    if connection.features.has_select_for_update and not _agent_of(approval_id):
        raise NotFound
    approval = _request.first(approval_id)
    if approval is None:
        raise NotFound
    return approval


def lock_to_judge(approval_id: UUID) -> ApprovalRequest:
    """Lock a request as ``lock`` does, and with it the policy and the hold, to judge by them."""
    approval = lock(approval_id)
    lock_for_judging()
    return approval


def close(
    decision: Decision,
    *,
    actor: Actor,
    extra: tuple[AuditEvent, ...] = (),
    vote: Vote | None = None,
) -> Decision:
    """Give a locked, pending request its final answer.

    Args:
        decision: The answer, not inserted yet.
        actor: Who gave it.
        extra: What else there is to record, before it.
        vote: The vote that was inserted with it, which has no entry of its own.

    Raises:
        AlreadyClosed: It has one. The conditional UPDATE says so on every database, also where
            locks do nothing.
    """
    approval = decision.approval
    decision.digest = decision.edit.digest if decision.edit else approval.digest
    if decision.status == Status.APPROVED:
        decision.valid_until = decision.decided_at + VALID_FOR
    insert(decision)
    moved = _move(approval.pk, decision.status)
    if moved is None:
        raise AlreadyClosed(approval)
    approval.status = decision.status
    # So nobody asks the database: what is closed in this moment was not taken back.
    ApprovalRequest.recall.related.set_cached_value(approval, None)
    approval.version, is_assigned, is_snoozed = moved
    if is_assigned:  # what is closed holds nobody's attention
        Assignment.objects.filter(approval=approval).delete()
    if is_snoozed:
        Snooze.objects.filter(approval=approval).delete()
    _take_place(decision, seq=record(actor, *extra, _decided_event(decision, vote)))
    _tell_later(approval, closed=approval)
    return decision


def close_all(pending: ApprovalQuerySet, by: Actor, reason: str) -> int:
    """Cancel pending requests for an admin, in the caller's transaction; returns how many."""
    locked = list(pending.select_for_update().order_by("pk"))
    now = database_now()
    for approval in locked:
        decision = Decision(
            approval=approval,
            status=Status.CANCELLED,
            source=Source.ADMIN,
            reason=reason,
            decided_at=now,
        )
        close(decision, actor=by)
    return len(locked)


_THIS = {"approval": OuterRef("pk")}


@change(
    ApprovalRequest.id,
    ApprovalRequest.status,
    returning=(
        F("version"),
        Exists(Assignment.objects.filter(**_THIS)),
        Exists(Snooze.objects.filter(**_THIS)),
    ),
)
def _move(approval_id: UUID, status: str) -> tuple[QuerySet[ApprovalRequest], dict[str, Any]]:
    pending = ApprovalRequest.objects.pending().filter(pk=approval_id)
    return pending, {"status": status, "version": F("version") + 1}


def _take_place(decision: Decision, *, seq: int) -> None:
    closing = Closing(
        seq=seq,
        approval=decision.approval,
        agent_id=decision.approval.agent_id,
        decided_at=decision.decided_at,
    )
    insert(closing)


def announce(approval: ApprovalRequest, *, in_queue: bool = True) -> None:
    """Tell whoever listens that a request changed, once the change is committed."""
    _tell_later(approval, closed=None, in_queue=in_queue)


def raise_version(approval: ApprovalRequest, *, in_queue: bool = True) -> None:
    """Count a change that open pages should show, and announce it.

    ``in_queue`` is whether lists of requests may show it, and not the request's page alone.
    """
    row = _count(approval.pk)
    if row is None:
        raise NotFound
    [approval.version] = row
    announce(approval, in_queue=in_queue)


@change(ApprovalRequest.id, returning=(F("version"),))
def _count(approval_id: UUID) -> tuple[QuerySet[ApprovalRequest], dict[str, Any]]:
    return ApprovalRequest.objects.filter(pk=approval_id), {"version": F("version") + 1}


def _tell_later(
    approval: ApprovalRequest, *, closed: ApprovalRequest | None, in_queue: bool = True
) -> None:
    change = {
        "approval_id": approval.pk,
        "version": approval.version,
        "closed": closed,
        "in_queue": in_queue,
    }

    # A closure: Django 5.2 cannot name a functools.partial when a robust hook fails.
    def tell() -> None:
        approval_changed.send_robust(ApprovalRequest, **change)

    transaction.on_commit(tell, robust=True)


def _decided_event(decision: Decision, vote: Vote | None) -> AuditEvent:
    details: dict[str, Any] = {
        "source": decision.source,
        "row": fingerprint_of(decision),
    }
    if vote:
        details |= {"vote": fingerprint_of(vote), **signature_in_log(vote)}
    if decision.judgement_id:
        details["judgement"] = decision.judgement_id
    if approved_by := json.loads(decision.counted):
        details["approved_by"] = approved_by
    if decision.repeats:
        details["repeats"] = str(decision.repeats.approval_id)
    if decision.edit:
        details["edit"], details["of"] = decision.edit_id, decision.approval.digest
        details["edited_by"] = decision.edit.edited_by.username
    if decision.has_steps:
        details["steps"] = answers_of(decision.steps)
    action = Action(f"approval.{decision.status}")
    return AuditEvent(action, str(decision.approval_id), decision.digest, details)


def signature_in_log(vote: Vote) -> dict[str, Any]:
    """Return what the log keeps of the signature under a vote, if there is one."""
    # Set where it was inserted with the vote; nobody asks the database for one.
    signature = cast("Signature | None", Vote.signature.related.get_cached_value(vote, None))
    if signature is None:
        return {}
    return {"signature": fingerprint_of(signature), "passkey": signature.passkey_id}


def lock_open(approval_id: UUID, person: User) -> tuple[ApprovalRequest, datetime]:
    """Lock a request that ``person`` could answer now, and say when now is.

    Raises:
        NotFound: There is no such request.
        NotAllowed: The person may not decide.
        AlreadyClosed: It was answered.
        TimeOver: Its time limit has passed.
    """
    approval = lock(approval_id)
    if not roles.may_decide(User.objects.get(pk=person.pk)):
        raise NotAllowed(_NO_RIGHT)
    if approval.status != Status.PENDING:
        raise AlreadyClosed(approval)
    now = database_now()
    if approval.expires_at <= now:
        raise TimeOver
    return approval, now


def event(action: Action, approval: ApprovalRequest, **details: str) -> AuditEvent:
    """The audit entry of what a person did to a request."""
    return AuditEvent(action, str(approval.pk), approval.digest, details)


def expire(approval_id: UUID) -> bool:
    """Close a request as expired if its time limit has passed, and say whether it did so now.

    Raises:
        NotFound: There is no such request.
    """
    with transaction.atomic(durable=True):
        approval = lock(approval_id)
        now = database_now()
        if approval.status != Status.PENDING or approval.expires_at > now:
            return False
        expire_locked(approval, now)
        return True


def expire_overdue() -> int:
    """Close what is overdue, a hundred at the most, each in a transaction of its own.

    Returns:
        How many were closed.
    """
    return sum(map(expire, _overdue(database_now())))


@rows(ApprovalRequest.expires_at)
def _overdue(now: datetime) -> QuerySet[ApprovalRequest, UUID]:
    overdue = ApprovalRequest.objects.overdue(now).order_by("expires_at")
    return overdue.values_list("pk", flat=True)[:_BATCH]


def expire_locked(approval: ApprovalRequest, now: datetime, reason: str = LIMIT_OVER) -> Decision:
    """Close a locked, pending, overdue request."""
    decision = Decision(
        approval=approval,
        status=Status.EXPIRED,
        source=Source.DEADLINE,
        reason=reason,
        decided_at=now,
    )
    return close(decision, actor=Actor("deadline"))


def cancel(*, approval_id: UUID, token: AgentToken, reason: str = "") -> ApprovalRequest:
    """Withdraw an open request; withdrawing it again changes nothing.

    Raises:
        NotFound: There is no such request of this agent.
        AlreadyClosed: It was answered, or has expired.
    """
    try:
        return _cancel(approval_id, token, reason)
    except OutOfDate:
        expire(approval_id)
        return _cancel(approval_id, token, reason)


@transaction.atomic(durable=True)
def _cancel(approval_id: UUID, token: AgentToken, reason: str) -> ApprovalRequest:
    approval = lock(approval_id)
    if approval.agent_id != token.agent_id:
        raise NotFound
    now = database_now()
    if approval.status == Status.CANCELLED:
        return approval
    if approval.status != Status.PENDING:
        raise AlreadyClosed(approval)
    if approval.expires_at <= now:
        raise OutOfDate
    decision = Decision(
        approval=approval,
        status=Status.CANCELLED,
        source=Source.AGENT,
        reason=reason,
        decided_at=now,
    )
    close(decision, actor=Actor.of_agent(token.agent.name, token.prefix))
    return approval


def current(approval_id: UUID) -> ApprovalRequest:
    """Return a request as it stands now, expired first if it is overdue.

    Raises:
        NotFound: There is no such request.
    """
    approvals = whole([approval_id])
    if not approvals:
        raise NotFound
    [approval] = approvals
    if approval.status == Status.PENDING and approval.expires_at <= now_in(approval):
        expire(approval.pk)
        [approval] = whole([approval_id])
    return approval


def of_agent(approval_id: UUID, agent_id: int) -> Answerable:
    """Return how an agent's own request stands now, expired first if it is overdue.

    Raises:
        NotFound: There is no such request, or it is another agent's.
    """
    row = told(approval_id, agent_id)
    if row is None:
        raise NotFound
    answerable, now = row
    if answerable.approval.status == Status.PENDING and answerable.approval.expires_at <= now:
        expire(approval_id)
        return of_agent(approval_id, agent_id)
    return answerable
