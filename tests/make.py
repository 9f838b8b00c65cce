"""Makes what tests need, through the same services as everybody else."""

import json
from collections.abc import Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from importlib import import_module
from uuid import uuid4

from django.db import connection, transaction
from django.utils import timezone

from approval_client.wire import Kind, OutcomeState, Status, canonical_json
from dashboard.accounts import tokens
from dashboard.accounts.models import Agent, AgentToken, Group, User
from dashboard.accounts.services import agents, groups, people
from dashboard.approvals import guards, services
from dashboard.approvals.models import ApprovalRequest, Edit, Grant
from dashboard.approvals.rules.grant import GrantScope, GrantTerms
from dashboard.approvals.rules.step import StepSaid
from dashboard.approvals.services import Basis, OutcomeReport
from dashboard.approvals.services.submit import Submission
from dashboard.audit.models import AuditHead
from dashboard.audit.services import Actor
from dashboard.clock import database_now
from dashboard.inspection.findings import Report
from dashboard.inspection.headline import make_headline, parse_content
from dashboard.policies.evaluate import EVERYTHING_TO_A_PERSON, Policy, parse_rule
from dashboard.policies.inspections import Headed
from dashboard.policies.models import PolicyRevision
from dashboard.policies.services import current_revision

BY = Actor("operator", "command")
CODE = {"code": "print(1)"}
REMEMBERS = {"name": "May", "effect": "review", "demands": {"grants_allowed": True}}


@contextmanager
def undone():
    """Undo in the end what happens inside, durable verbs included: they see only the test's own
    transaction around them.
    """
    with transaction.atomic():
        allow_durable()
        yield
        transaction.set_rollback(True)


def allow_durable() -> None:
    """Let a durable verb run within the present transaction, as if it had its own connection."""
    connection.atomic_blocks[-1]._from_testcase = True


def person(name: str, *, password: str | None = "a long password", **roles: bool) -> User:
    return people.create_person(username=name, roles=roles, by=BY, password=password)


def group(name: str, *members: User) -> Group:
    made = groups.create_group(name=name, by=BY)
    groups.set_members(made, members=members, by=BY)
    return made


def in_force(*rules: dict, modes: dict | None = None, **more: bool) -> PolicyRevision:
    """Put a policy in force, without asking anybody to confirm what it loosens."""
    present = current_revision()
    policy = Policy(
        modes=modes or EVERYTHING_TO_A_PERSON.modes, rules=tuple(map(parse_rule, rules)), **more
    )
    return PolicyRevision.objects.create(
        number=present.number + 1, document=policy.to_json(), published_at=timezone.now()
    )


def agent(name: str = "beamline", owner: User | None = None) -> Agent:
    return agents.create_agent(name=name, by=BY, owner=owner)


def secret(of: Agent) -> str:
    return tokens.issue(of, by=BY)[1]


def token(of: Agent) -> AgentToken:
    return tokens.find(secret(of))


def submission(**changes) -> Submission:
    fields = {"kind": Kind.CODE, "capability": "python_execution", "content": CODE, "evidence": {}}
    return Submission(**(fields | changes))


def pending(of: AgentToken, *, key: str | None = None, **changes) -> ApprovalRequest:
    return services.submit(
        token=of, idempotency_key=key or uuid4().hex, submission=submission(**changes)
    )[0].approval


def inspected(monkeypatch, report: Report) -> None:
    """Have our inspection find just this in whatever is submitted from now on."""

    def inspect(kind: Kind, content: dict, **_) -> Headed:
        return Headed(report, make_headline(kind, parse_content(canonical_json(content)), report))

    submitting = import_module("dashboard.approvals.services.submit")
    monkeypatch.setattr(submitting, "inspect_and_head", inspect)


def basis(approval: ApprovalRequest, edit: Edit | None = None) -> Basis:
    judgement = approval.judgements.latest("id").pk
    return Basis(approval.digest, judgement, edit.pk if edit else None)


def decided(approval: ApprovalRequest, by: User, status: Status = Status.APPROVED, **more):
    return services.decide(
        approval_id=approval.pk,
        answer=services.ReviewerAnswer(
            reviewer=by,
            auth="session:password",
            status=status,
            basis=more.pop("basis", None) or basis(approval),
            shown={"end_seen": "yes"} | more.pop("shown", {}),
            **more,
        ),
    )


def edited(approval: ApprovalRequest, by: User, *, content: dict | None = None) -> Edit:
    """What somebody makes of a pending request."""
    return services.propose_edit(
        approval_id=approval.pk,
        editor=by,
        auth="session:password",
        content=content or {**json.loads(approval.content), "code": "print(2)"},
    )


def part_of(plan: ApprovalRequest, by: User, steps: Sequence[StepSaid]) -> Edit:
    """What somebody leaves of a pending plan."""
    return services.propose_part(
        approval_id=plan.pk, editor=by, auth="session:password", steps=steps
    )


def approved(of: AgentToken, by: User, **changes) -> ApprovalRequest:
    approval = pending(of, **changes)
    decided(approval, by)
    approval.refresh_from_db()
    return approval


def granted(of: AgentToken, by: User, *, terms: GrantTerms | None = None, **changes) -> Grant:
    """A yes that is remembered, under a policy that allows it."""
    in_force(REMEMBERS)
    approval = pending(of, accepts_grants=True, **changes)
    terms = terms or GrantTerms(
        scope=GrantScope.CONTENT, this_run=bool(approval.run_id), most_uses=10
    )
    decided(approval, by, remember=terms)
    return Grant.objects.latest("pk")


def report(approval: ApprovalRequest, of: AgentToken, state=OutcomeState.STARTED, **more):
    return services.report_outcome(
        approval_id=approval.pk,
        token=of,
        idempotency_key=more.pop("key", "k"),
        report=OutcomeReport(state=state, digest=more.pop("digest", approval.digest), **more),
    ).approval


def overdue(of: AgentToken, **changes) -> ApprovalRequest:
    """A pending request whose time limit has passed, which no service can make."""
    approval = pending(of, **changes)
    past = timezone.now() - timedelta(seconds=1)
    early = past - timedelta(seconds=60)
    return ApprovalRequest.objects.get(pk=_backdate(approval, submitted_at=early, expires_at=past))


def half_over(of: AgentToken, **changes) -> ApprovalRequest:
    """A pending request that is near its end, after half of the default time limit."""
    approval = pending(of, **changes)
    now = timezone.now()
    early, later = now - timedelta(minutes=20), now + timedelta(minutes=1)
    return ApprovalRequest.objects.get(
        pk=_backdate(approval, submitted_at=early, expires_at=later)
    )


def silent(approval: ApprovalRequest) -> None:
    """Turn back a request to a minute ago, since when its agent did not ask for the answer."""
    _backdate(approval, submitted_at=timezone.now() - timedelta(seconds=60))


def outdated(grant: Grant) -> None:
    """Turn back the time of a grant, so that it is over."""
    past = timezone.now() - timedelta(seconds=1)
    with _unguarded():
        Grant.objects.filter(pk=grant.pk).update(
            made_at=past - timedelta(hours=1), expires_at=past
        )


def own(agent: Agent, owner: User) -> None:
    Agent.objects.filter(pk=agent.pk).update(owner=owner)


def clock_set_back(**by: float) -> datetime:
    """Have the log end at a moment that is to come; returns that moment."""
    latest_at = database_now() + timedelta(**by)
    AuditHead.objects.update(latest_at=latest_at)
    return latest_at


def _backdate(approval: ApprovalRequest, **moments):
    with _unguarded():
        ApprovalRequest.objects.filter(pk=approval.pk).update(**moments)
    return approval.pk


@contextmanager
def _unguarded():
    guards.remove()
    yield
    guards.install()
