"""The rows of the history."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils.safestring import SafeString

from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest, Decision
from dashboard.web import times, words
from dashboard.web.drawing.markup import untrusted
from dashboard.web.drawing.summary import summary
from dashboard.web.presenting import rows
from dashboard.wire import Kind, OutcomeState, Status


@dataclass(frozen=True, kw_only=True, slots=True)
class HistoryRow:
    """One request. ``gist`` and ``run`` are the agent's voice, drawn.

    Attributes:
        closer: By whom it was answered, as far as the status does not say it.
        waited: How long the agent had to wait for that.
        ran: What the agent reports; empty where nothing could run.
    """

    id: UUID
    kind: str
    kind_word: str
    status: str
    status_word: str
    gist: SafeString
    agent: str
    run_id: str
    run: SafeString
    asked_at: datetime
    closer: str
    waited: str
    ran: str


def history_rows(
    approvals: Iterable[ApprovalRequest], person: User, now: datetime
) -> list[HistoryRow]:
    """Describe requests that were read with ``archive.page()``."""
    return [_row(approval, person, now) for approval in approvals]


def _row(approval: ApprovalRequest, person: User, now: datetime) -> HistoryRow:
    decision: Decision | None = getattr(approval, "decision", None)
    waited_s = (decision.decided_at - approval.submitted_at).total_seconds() if decision else 0
    return HistoryRow(
        id=approval.pk,
        kind=approval.kind,
        kind_word=words.KINDS[Kind(approval.kind)],
        status=approval.status,
        status_word=words.STATUSES[Status(approval.status)],
        gist=summary(approval.kind, approval.head, approval.tail),  # type: ignore[attr-defined] # annotated
        agent=approval.agent.name,
        run_id=approval.run_id,
        run=untrusted(approval.run_id),
        asked_at=approval.submitted_at,
        closer=rows.closer(decision, person) if decision else "",
        waited=times.length(max(0.0, waited_s)) if decision else "",
        ran=_ran(approval, decision, now) if decision else "",
    )


def _ran(approval: ApprovalRequest, decision: Decision, now: datetime) -> str:
    if decision.status != Status.APPROVED:
        return ""
    reported = {outcome.state: outcome for outcome in approval.outcomes.all()}
    finished = reported.get(OutcomeState.FINISHED)
    if finished:
        code = f", exit code {finished.exit_code}" if finished.exit_code is not None else ""
        return f"{'ended with an error' if finished.error else 'finished'}{code}"
    if OutcomeState.STARTED in reported:
        return "started, no end reported"
    is_over = decision.valid_until is None or decision.valid_until <= now
    return "never started" if is_over else "not started yet"
