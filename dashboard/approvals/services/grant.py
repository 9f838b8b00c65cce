"""Grants: made, used, and ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet, Value
from django.db.models.functions import Coalesce

from approval_client.wire import Kind, Source, Status, canonical_json, parse_json
from dashboard.accounts.models import Agent, User
from dashboard.approvals.errors import GrantRefused, NotAllowed, NotFound
from dashboard.approvals.models import ApprovalRequest, Decision, Grant, Judgement, Vote
from dashboard.approvals.rules.answer import is_enough, why_not_count
from dashboard.approvals.rules.edit import report_of_edit, why_not_once
from dashboard.approvals.rules.fingerprint import fingerprint_of
from dashboard.approvals.rules.grant import (
    CIRCUMSTANCES,
    LONGEST_FOR_S,
    MOST_USES,
    GrantScope,
    GrantTerms,
    covers,
    may_end,
    scopes,
    severities,
    why_not_by,
    why_not_grantable,
)
from dashboard.approvals.rules.judgement import demands_of, judged_anew, report_of, standing_of
from dashboard.approvals.services.closing import close
from dashboard.audit.actions import Action
from dashboard.audit.services import Actor, AuditEvent, record
from dashboard.clock import database_now
from dashboard.inspection.findings import Report
from dashboard.policies.evaluate import Effect, Evaluation
from dashboard.policies.models import PolicyRevision
from dashboard.policies.rules.demands import Required
from dashboard.policies.services import current_revision
from dashboard.statements import rows

_SCHEMA = Coalesce("made_from__tool__schema_digest", Value(""))
"""That of the tool when a grant was given; nobody sent one before there were tools."""

_OTHER_SCHEMA = "The tool has another schema now."
_FORBIDDEN = "The policy no longer allows remembering this approval."


def keep(
    grant: Grant, *, of: ApprovalRequest, by: User, now: datetime, report: Report
) -> AuditEvent:
    """Save a new grant within the caller's transaction; return what there is to record of it.

    Args:
        grant: What it covers, for how long and how often.
        of: The request that was answered when it was made.
        report: What was found in what it covers, and is covered too.
    """
    grant.agent, grant.made_from, grant.made_by, grant.made_at = of.agent, of, by, now
    grant.findings = canonical_json(severities(report))
    grant.save(force_insert=True)
    return AuditEvent(Action.GRANT_MADE, f"grant:{grant.pk}", grant.digest, _described(grant))


def remember_yes(
    judgement: Judgement, terms: GrantTerms, *, by: User, now: datetime
) -> AuditEvent:
    """Make a grant of the approval that somebody is just giving, on their terms.

    Raises:
        GrantRefused: This approval cannot be remembered, or not on these terms.
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
        "scope": grant.scope,
        "kind": grant.kind,
        "expires_at": grant.expires_at.isoformat(),
        "most_uses": grant.most_uses,
        "made_from": str(grant.made_from_id),
        "edit": grant.edit_id,
        "row": fingerprint_of(grant),
    }


def _scope(approval: ApprovalRequest, terms: GrantTerms) -> GrantScope:
    if terms.scope not in scopes(approval):
        raise GrantRefused(
            "Only a tool call can be allowed with different content, and by values of its "
            "arguments only if their names are plain words that no tool reads as one another."
        )
    return terms.scope


def _run(approval: ApprovalRequest, terms: GrantTerms) -> str:
    if terms.this_run and not approval.run_id:
        raise GrantRefused(
            "This request belongs to no run, so an approval cannot be remembered for its run."
        )
    return approval.run_id if terms.this_run else ""


def _arguments(content: Any, terms: GrantTerms) -> dict[str, Any]:
    if terms.scope is not GrantScope.ARGUMENTS:
        return {}
    present = content.get("arguments", {})
    if not terms.arguments or not set(terms.arguments) <= set(present):
        raise GrantRefused(
            "Choose at least one argument of this call whose value has to be the same."
        )
    return {name: present[name] for name in terms.arguments}


def _length(terms: GrantTerms) -> timedelta:
    if not 0 < terms.for_s <= LONGEST_FOR_S:
        raise GrantRefused("An approval can be remembered for at most 30 days.")
    return timedelta(seconds=terms.for_s)


def _most_uses(terms: GrantTerms) -> int | None:
    if terms.most_uses is not None and not 0 < terms.most_uses <= MOST_USES:
        raise GrantRefused(f"A remembered approval can be used 1 to {MOST_USES} times.")
    return terms.most_uses


def answer_by_grant(
    judgement: Judgement, evaluation: Evaluation, *, actor: Actor, extra: tuple[AuditEvent, ...]
) -> Decision | None:
    """Approve a new, locked request by a grant that covers it, if there is one in force.

    Not while all approving is stopped: the caller knows.
    """
    approval, report = judgement.approval, report_of(judgement.inspection)
    now, content = judgement.judged_at, parse_json(approval.content)
    for grant in _that_may_answer(judgement, evaluation.demands, report):
        is_covered = covers(grant, approval, content, report) and _is_as_it_was(grant, approval)
        if is_covered and _is_by_somebody(grant, judgement, now):
            if not Grant.objects.in_force(now).filter(pk=grant.pk).update(uses=F("uses") + 1):
                continue  # the last use was taken by another request
            decision = Decision(
                approval=approval,
                status=Status.APPROVED,
                source=Source.GRANT,
                reason=_said(grant),
                decided_at=now,
                judgement=judgement,
                grant=grant,
            )
            return close(decision, actor=Actor(f"grant:{grant.pk}", str(actor.name)), extra=extra)
    return None


def _that_may_answer(judgement: Judgement, required: Required, report: Report) -> Iterator[Grant]:
    """Grants in force that may answer this request; a replacement may where others may not."""
    approval, now = judgement.approval, judgement.judged_at
    is_grantable = not why_not_grantable(approval, required, report)
    for grant in _in_force_of(approval.agent_id, now):
        if not (is_grantable or grant.edit_id) or not _is_for_schema(grant, approval):
            continue
        if grant.edit_id and standing_of(approval).takes_a_person:
            continue  # its tool may have been classed since the replacement was written
        edit = grant.edit
        present = judgement.revision
        if not edit or not why_not_once(edit, required, report, present):
            yield grant


def _is_as_it_was(grant: Grant, approval: ApprovalRequest) -> bool:
    """Whether the same content would do what was approved, as far as its agent says so.

    ``rm -rf data`` is another deed in another folder, and code may write in another mode.
    """
    if grant.scope != GrantScope.CONTENT:
        return True
    source = ApprovalRequest.objects.filter(pk=grant.made_from_id)
    kind, evidence = source.values_list("kind", "evidence").get()
    statements = parse_json(evidence)
    # A plan is asked before anybody knows how its steps will run.
    names = [
        name
        for name in CIRCUMSTANCES
        if kind != Kind.PLAN or name in {*statements, "working_directory"}
    ]
    return _circumstances(statements, names) == _circumstances(
        parse_json(approval.evidence), names
    )


def _circumstances(statements: Mapping[str, Any], names: Sequence[str]) -> str:
    return canonical_json([statements.get(name) for name in names])


def _is_for_schema(grant: Grant, approval: ApprovalRequest) -> bool:
    """Whether a grant was given for the schema with which a tool is called now.

    A step of a plan names no schema; that it changed is a finding, which no grant covers.
    """
    columns = vars(grant)
    if approval.kind != Kind.TOOL_CALL or columns["made_from_kind"] == Kind.PLAN:
        return True
    return approval.tool is not None and columns["schema"] == approval.tool.schema_digest


@rows(Agent.id, Grant.expires_at)
def _in_force_of(agent_id: int, at: datetime) -> QuerySet[Grant]:
    in_force = Grant.objects.in_force(at).filter(agent_id=agent_id)
    whole = in_force.select_related("made_by", "edit")
    return whole.annotate(schema=_SCHEMA, made_from_kind=F("made_from__kind"))


_ALLOWED = {
    GrantScope.CONTENT: "approved this before",
    GrantScope.ARGUMENTS: "allowed this tool with these values of some arguments",
    GrantScope.TOOL: "allowed this tool with any arguments",
}


def _said(grant: Grant) -> str:
    name, number = grant.made_by.username, grant.pk
    if grant.edit_id:
        return f"{name} wrote this as a replacement and allowed it once (grant {number})."
    return f"{name} {_ALLOWED[GrantScope(grant.scope)]} (grant {number})."


@transaction.atomic(durable=True)
def revoke_grant(grant_id: int, *, by: User, auth: str) -> Grant:
    """End a grant at once; ending it again changes nothing.

    Raises:
        NotFound: There is no such grant.
        NotAllowed: The person neither made it nor is an admin.
    """
    person = User.objects.get(pk=by.pk)
    grant = Grant.objects.select_for_update(of=("self",)).filter(pk=grant_id).first()
    if grant is None:
        raise NotFound
    if not may_end(grant, person):
        raise NotAllowed(
            "Only whoever made a grant, or an admin, can end it. Nothing was changed."
        )
    if grant.ended_at is None:
        _end([grant], "revoked", Actor.of_user(person.username, auth), person)
    return grant


def end_grants_of(agent: Agent, *, by: Actor, because: str) -> None:
    """End all grants of an agent, within the caller's transaction."""
    grants = _in_force().filter(agent=agent)
    _end(list(grants), because, by)


@transaction.atomic(durable=True)
def end_all_grants(*, by: User, auth: str, because: str) -> int:
    """End every grant in force; returns how many there were."""
    grants = list(_in_force())
    _end(grants, because, Actor.of_user(by.username, auth), by)
    return len(grants)


def end_grants_of_tool(agent: Agent, tool: str, schema: str, *, by: Actor) -> list[AuditEvent]:
    """End grants for a tool that is called with a schema now, and were given for another one.

    Returns:
        What the caller records, at the end of its transaction.
    """
    grants = _in_force().filter(agent=agent, kind=Kind.TOOL_CALL)
    of_tool = grants.annotate(schema=_SCHEMA).filter(tool=tool)
    return _ended(list(of_tool.exclude(schema=schema)), _OTHER_SCHEMA, by)


@transaction.atomic(durable=True)
def end_forbidden_grants() -> int:
    """End grants that the policy in force does not allow any more; returns how many."""
    present = current_revision()
    forbidden = [grant for grant in _in_force() if not _is_allowed(grant, present)]
    _end(forbidden, _FORBIDDEN, Actor(f"policy:{present.number}"))
    return len(forbidden)


def _in_force() -> QuerySet[Grant]:
    """Lock the grants in force; those that are over keep their own reason."""
    # In an order that an index has, or SQLite reads every grant that there ever was.
    in_force = Grant.objects.in_force(database_now()).order_by("expires_at", "pk")
    return in_force.select_for_update(of=("self",))


def _is_by_somebody(grant: Grant, judgement: Judgement, now: datetime) -> bool:
    """Whether the maker of the grant could approve this today, and their vote is enough today."""
    required = demands_of(judgement)
    if why_not_count(judgement.approval, required, grant.made_by, now):
        return False
    votes = Vote.objects.filter(approval=grant.made_from_id, person=grant.made_by_id)
    # A replacement was sent with a rejection, and holds under the policy of that moment only.
    return bool(grant.edit_id) or any(is_enough(vote, required) for vote in votes.defer("shown"))


def _is_allowed(grant: Grant, present: PolicyRevision) -> bool:
    if grant.edit:
        required = Required.from_json(grant.edit.demands)
        return not why_not_once(grant.edit, required, report_of_edit(grant.edit), present)
    approval = grant.made_from
    inspection = approval.inspections.latest("id")
    evaluation = judged_anew(present, approval, inspection)
    if evaluation.effect is Effect.REJECT:
        return False
    return not why_not_grantable(approval, evaluation.demands, report_of(inspection))


def _end(grants: Iterable[Grant], because: str, by: Actor, person: User | None = None) -> None:
    if events := _ended(grants, because, by, person):
        record(by, *events)


def _ended(
    grants: Iterable[Grant], because: str, by: Actor, person: User | None = None
) -> list[AuditEvent]:
    now, events = database_now(), list[AuditEvent]()
    for grant in grants:
        Grant.objects.filter(pk=grant.pk, ended_at=None).update(
            ended_at=now, ended_by=person, ended_because=because
        )
        grant.ended_at, grant.ended_by, grant.ended_because = now, person, because
        details = {"because": because, "uses": grant.uses}
        subject = f"grant:{grant.pk}"
        events.append(AuditEvent(Action.GRANT_ENDED, subject, grant.digest, details, by))
    return events
