"""A yes that is remembered: written down in one way, whatever it came from."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from approval_client.wire import canonical_json, parse_json
from dashboard.accounts.models import User
from dashboard.approvals.errors import GrantRefused
from dashboard.approvals.granting import (
    LONGEST_FOR_S,
    MOST_USES,
    Scope,
    Terms,
    scopes,
    severities,
    why_not_by,
    why_not_grantable,
)
from dashboard.approvals.judging import demands_of, report_of
from dashboard.approvals.models import ApprovalRequest, Grant, Judgement
from dashboard.audit.services import Event
from dashboard.inspection.findings import Report


def keep(grant: Grant, *, of: ApprovalRequest, by: User, now: datetime, report: Report) -> Event:
    """Save a new grant within the caller's transaction; return what there is to record of it.

    Args:
        grant: What it covers, for how long and how often.
        of: The request that was answered when it was made.
        report: What was found in what it covers, and is covered too.
    """
    grant.agent, grant.made_from, grant.made_by, grant.made_at = of.agent, of, by, now
    grant.findings = canonical_json(severities(report))
    grant.save(force_insert=True)
    return Event("grant.made", f"grant:{grant.pk}", grant.digest, _described(grant))


def remember_yes(judgement: Judgement, terms: Terms, *, by: User, now: datetime) -> Event:
    """Remember the yes that somebody is just giving to a request, as they said.

    Raises:
        GrantRefused: This yes cannot be remembered, or not so.
    """
    approval, report = judgement.approval, report_of(judgement.inspection)
    required = demands_of(judgement)
    why_not = why_not_grantable(approval, required, report) or why_not_by(by, required)
    if why_not:
        raise GrantRefused(why_not)
    content = parse_json(approval.content)
    grant = Grant(
        run_id=_run(approval, terms),
        scope=_scope(approval, terms),
        kind=approval.kind,
        digest=approval.digest,
        tool=content.get("tool", ""),
        arguments=canonical_json(_arguments(content, terms)),
        expires_at=now + _length(terms),
        most_uses=_most_uses(terms),
    )
    return keep(grant, of=approval, by=by, now=now, report=report)


def _described(grant: Grant) -> dict[str, Any]:
    return {
        "agent": grant.agent.name,
        "run": grant.run_id,
        "scope": grant.scope,
        "kind": grant.kind,
        "tool": grant.tool,
        "arguments": sorted(parse_json(grant.arguments)),  # names only: values may be secret
        "expires_at": grant.expires_at.isoformat(),
        "most_uses": grant.most_uses,
        "made_from": str(grant.made_from_id),
        "edit": grant.edit_id,
    }


def _scope(approval: ApprovalRequest, terms: Terms) -> Scope:
    if terms.scope not in scopes(approval):
        raise GrantRefused("Only a tool call can be allowed with other content than this.")
    return terms.scope


def _run(approval: ApprovalRequest, terms: Terms) -> str:
    if terms.this_run and not approval.run_id:
        raise GrantRefused("This request belongs to no run, so nothing is allowed for its run.")
    return approval.run_id if terms.this_run else ""


def _arguments(content: Any, terms: Terms) -> dict[str, Any]:
    if terms.scope is not Scope.ARGUMENTS:
        return {}
    present = content.get("arguments", {})
    if not terms.arguments or not set(terms.arguments) <= set(present):
        raise GrantRefused(
            "Choose at least one argument of this call whose value has to be the same."
        )
    return {name: present[name] for name in terms.arguments}


def _length(terms: Terms) -> timedelta:
    if not 0 < terms.for_s <= LONGEST_FOR_S:
        raise GrantRefused(
            "A yes is remembered for 30 days at the most, and for some time at least."
        )
    return timedelta(seconds=terms.for_s)


def _most_uses(terms: Terms) -> int | None:
    if terms.most_uses is not None and not 0 < terms.most_uses <= MOST_USES:
        raise GrantRefused(f"A yes is used between once and {MOST_USES} times.")
    return terms.most_uses
