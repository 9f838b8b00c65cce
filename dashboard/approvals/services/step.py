"""Steps of an approved plan that may run when they are asked exactly so in its run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from approval_client.wire import Kind, canonical_json
from dashboard.accounts.models import User
from dashboard.approvals.errors import GrantRefused
from dashboard.approvals.models import ApprovalRequest, Edit, Grant
from dashboard.approvals.rules.grant import (
    DEFAULT_FOR_S,
    GrantScope,
    why_not_by,
    why_not_grantable,
)
from dashboard.approvals.rules.step import ExactStep, Inspected, exact_steps
from dashboard.approvals.services.grant import keep
from dashboard.audit.services import AuditEvent
from dashboard.inspection.findings import Report
from dashboard.policies.inspections import inspect
from dashboard.policies.rules.demands import Required

_NO_RUN = "The agent names no run, so its steps cannot be allowed for this run alone."
_NOTHING = "No step of this plan says exactly what would run, so none can be allowed to run."


def inspected_steps(approval_id: UUID, edit_id: int | None) -> list[Inspected]:
    """Inspect the steps of a plan that say exactly what runs. Never within a transaction.

    The plan is the one that is asked, or what a reviewer made of it.
    """
    edits = Edit.objects.filter(pk=edit_id or 0, approval=approval_id, approval__kind=Kind.PLAN)
    plans = ApprovalRequest.objects.filter(pk=approval_id, kind=Kind.PLAN)
    content = (edits if edit_id else plans).values_list("content", flat=True).first()
    if content is None:
        return []
    return [Inspected(step, inspect(step.kind, step.content)) for step in exact_steps(content)]


def allow_steps(
    approval: ApprovalRequest,
    steps: Sequence[Inspected],
    terms: tuple[Required, Report],
    person: User,
    now: datetime,
) -> tuple[AuditEvent, ...]:
    """Make a grant for each step, for the run, within the caller's transaction.

    A step in which more than a note was found is left out: it is asked about when it comes.

    Args:
        steps: Those of the plan that is approved, as ``inspected_steps`` returns them.
        terms: What approving the plan takes, and what was found in it.

    Raises:
        GrantRefused: An approval of this plan cannot be remembered for its steps.
    """
    required, report = terms
    if not approval.run_id:
        raise GrantRefused(_NO_RUN)
    why_not = why_not_grantable(approval, required, report) or why_not_by(person, required)
    if why_not:
        raise GrantRefused(why_not)
    if not any(step.is_clean for step in steps):
        raise GrantRefused(_NOTHING)
    return tuple(_made(approval, steps, person, now))


def _made(
    approval: ApprovalRequest, steps: Sequence[Inspected], person: User, now: datetime
) -> Iterator[AuditEvent]:
    often = Counter(inspected.step.digest for inspected in steps if inspected.is_clean)
    for inspected in {
        inspected.step.digest: inspected for inspected in steps if inspected.is_clean
    }.values():
        grant = _for_the_run(approval.run_id, inspected.step, often[inspected.step.digest])
        grant.expires_at = now + timedelta(seconds=DEFAULT_FOR_S)
        yield keep(grant, of=approval, by=person, now=now, report=inspected.report)


def _for_the_run(run_id: str, step: ExactStep, most_uses: int) -> Grant:
    return Grant(
        run_id=run_id,
        scope=GrantScope.CONTENT,
        kind=step.kind,
        digest=step.digest,
        tool=str(step.content.get("tool", "")),
        content=canonical_json(step.content),
        most_uses=most_uses,
    )
