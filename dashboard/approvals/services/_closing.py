"""Closing a request: the one place where a status moves."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F

from approval_client.wire import Status
from dashboard.accounts.models import Agent
from dashboard.approvals.errors import AlreadyClosed, NotFound
from dashboard.approvals.models import ApprovalRequest, Claim, Closing, Decision, Looking, PutOff
from dashboard.approvals.signals import approval_changed
from dashboard.audit.services import Actor, Event, record
from dashboard.policies.services import lock_for_judging

VALID_FOR = timedelta(minutes=10)
"""How long an approval can be started after it was given."""


def lock(approval_id: UUID) -> ApprovalRequest:
    """Lock a request for the rest of the transaction, after its agent, and return it fresh.

    Always in this order, so no two verbs wait for each other: agent, request, policy and hold
    (``lock_for_judging``), grants, and the audit head last.

    Raises:
        NotFound: There is no such request.
    """
    agents = Agent.objects.select_for_update(of=("self",)).filter(approvals=approval_id)
    if not list(agents):
        raise NotFound
    return (
        ApprovalRequest.objects.select_for_update(of=("self",))
        .select_related("agent", "token__agent")
        .get(pk=approval_id)
    )


def lock_to_judge(approval_id: UUID) -> ApprovalRequest:
    """Lock a request as ``lock`` does, and with it the policy and the hold, to judge by them."""
    approval = lock(approval_id)
    lock_for_judging()
    return approval


def close(decision: Decision, *, actor: Actor, extra: tuple[Event, ...] = ()) -> Decision:
    """Give a locked, pending request its final answer.

    Raises:
        AlreadyClosed: It has one. The conditional UPDATE says so on every database, also where
            locks do nothing.
    """
    approval = decision.approval
    decision.digest = decision.edit.digest if decision.edit else approval.digest
    if decision.status == Status.APPROVED:
        decision.valid_until = decision.decided_at + VALID_FOR
    decision.save(force_insert=True)
    won = (
        ApprovalRequest.objects.pending()
        .filter(pk=approval.pk)
        .update(status=decision.status, version=F("version") + 1)
    )
    if not won:
        raise AlreadyClosed(approval)
    approval.refresh_from_db(fields=["status", "version"])
    for attention in (Claim, PutOff, Looking):  # what is closed holds nobody's
        attention.objects.filter(approval=approval).delete()
    _take_place(decision, seq=record(actor, *extra, _event(decision)))
    announce(approval)
    return decision


def _take_place(decision: Decision, *, seq: int) -> None:
    closing = Closing(
        seq=seq,
        approval=decision.approval,
        agent_id=decision.approval.agent_id,
        decided_at=decision.decided_at,
    )
    closing.save(force_insert=True)


def announce(approval: ApprovalRequest) -> None:
    """Tell whoever listens that a request changed, once the change is committed."""
    transaction.on_commit(_teller(approval.pk, approval.version), robust=True)


def raise_version(approval: ApprovalRequest) -> None:
    """Count a change that open pages should show, and announce it."""
    ApprovalRequest.objects.filter(pk=approval.pk).update(version=F("version") + 1)
    approval.refresh_from_db(fields=["version"])
    announce(approval)


def _teller(approval_id: UUID, version: int) -> Callable[[], None]:
    # A closure: Django 5.2 cannot name a functools.partial when a robust hook fails.
    def tell() -> None:
        approval_changed.send_robust(ApprovalRequest, approval_id=approval_id, version=version)

    return tell


def _event(decision: Decision) -> Event:
    details: dict[str, Any] = {"source": decision.source, "reason": decision.reason}
    if decision.judgement_id:
        details["judgement"] = decision.judgement_id
    if decision.counted != "[]":
        details["approved_by"] = json.loads(decision.counted)
    if decision.repeats:
        details["repeats"] = str(decision.repeats.approval_id)
    if decision.edit:
        details["edit"], details["of"] = decision.edit_id, decision.approval.digest
        details["edited_by"] = decision.edit.edited_by.username
    if decision.steps != "[]":
        details["steps"] = json.loads(decision.steps)
    action = f"approval.{decision.status}"
    return Event(action, str(decision.approval_id), decision.digest, details)
