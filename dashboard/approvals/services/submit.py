"""An agent submits a request."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from approval_client.wire import OF_TOOL, Kind, canonical_json, digest
from dashboard.accounts import tokens
from dashboard.accounts.models import Agent, AgentToken
from dashboard.approvals.errors import (
    IdempotencyConflict,
    InspectionBusy,
    NotAllowed,
    TooManyPending,
)
from dashboard.approvals.models import ApprovalRequest, Grant, Judgement, Tool
from dashboard.approvals.queries.agent import Answerable, answerable
from dashboard.approvals.queries.hold import stop_in, with_stop
from dashboard.approvals.queries.tool import approved_schema, classed, standing
from dashboard.approvals.rules.fingerprint import fingerprint_of
from dashboard.approvals.rules.judgement import asked_since, judged_by, question_of
from dashboard.approvals.rules.tool import (
    SCHEMA_CHANGED,
    bare_spelling_of,
    has_changed,
    schema_digest,
)
from dashboard.approvals.services.closing import announce, close
from dashboard.approvals.services.grant import answer_by_grant, end_grants_of_tool
from dashboard.approvals.services.headline import insert_headline
from dashboard.approvals.services.judgement import (
    by_policy,
    insert_inspection,
    insert_judgement,
    judged_event,
)
from dashboard.approvals.services.notebook import pin_notebook
from dashboard.approvals.services.tool import tool_of
from dashboard.audit.actions import Action
from dashboard.audit.services import Actor, AuditEvent, record
from dashboard.clock import Now, database_now, now_in
from dashboard.policies.evaluate import Effect, Evaluation, stopped
from dashboard.policies.inspections import Headed, InspectorsBusy, inspect_and_head
from dashboard.policies.models import PolicyRevision
from dashboard.policies.rules.rule import DEFAULT_TIME_LIMIT_S
from dashboard.policies.services import current_revision, lock_for_judging, published_revision
from dashboard.statements import insert, rows

SHORTEST_TIME_LIMIT_S = 5
LONGEST_TIME_LIMIT_S = 30 * 24 * 3600


@dataclass(frozen=True, kw_only=True)
class Submission:
    """One question, as sent. ``content`` and ``evidence`` are JSON values that keep their digits.

    Attributes:
        time_limit_s: How long reviewers have, in seconds; None leaves it to the policy.
        max_wait_s: How long the agent means to wait at most, in seconds.
    """

    kind: Kind
    capability: str
    content: dict[str, Any]
    objective: str = ""
    evidence: dict[str, Any]
    run_id: str = ""
    time_limit_s: int | None = None
    max_wait_s: int | None = None
    accepts_edits: bool = False
    accepts_grants: bool = False

    @property
    def digest(self) -> str:
        """The name of the content: what a decision is about."""
        return digest(self.kind, self.content)

    @property
    def tool(self) -> str:
        """The name of the tool that would be called; empty where none would."""
        return str(self.content["tool"]) if self.kind == Kind.TOOL_CALL else ""

    @property
    def hash(self) -> str:
        """The name of the whole submission: a retry has the same one.

        An agent that was upgraded while it waited may describe its tool otherwise. It gets the
        answer about the call that people saw, which has the same content.
        """
        evidence = {name: value for name, value in self.evidence.items() if name not in OF_TOOL}
        text = canonical_json({**vars(self), "kind": str(self.kind), "evidence": evidence})
        return hashlib.sha256(text.encode()).hexdigest()


def submit(
    *,
    token: AgentToken,
    idempotency_key: str,
    submission: Submission,
    traceparent: str | None = None,
) -> tuple[Answerable, bool]:
    """Store a request, let the policy judge it, and return how it stands and whether it is new.

    Asking again with the same key and the same submission returns the first request.
    ``traceparent`` is the span of the agent's trace that asks, of which nothing depends.

    Raises:
        IdempotencyConflict: The key was used for another submission.
        TooManyPending: The token may not have more open questions.
        InspectionBusy: Nobody was free to inspect it; nothing was stored.
        NotAllowed: The token or its agent was shut out in the meantime.
    """
    if earlier := _earlier.first(token.agent_id, idempotency_key):
        return _same(earlier, submission), False
    # Before the transaction: SQLite has one writer, which must not wait for a parser.
    asker = f"agent:{token.agent_id}"
    try:
        headed = inspect_and_head(submission.kind, submission.content, asker=asker)
    except InspectorsBusy:
        raise InspectionBusy from None
    with transaction.atomic(durable=True):
        # SQLite has one lock, which the transaction has taken with its first word.
        if connection.features.has_select_for_update:
            [agent] = _lock_agent(token.agent_id)
            locked_at = now_in(agent)
        else:
            locked_at = database_now()
        lock_for_judging()
        asking = _locked(token, idempotency_key, submission, locked_at)
        if vars(asking)["is_retry"] and (
            earlier := _earlier.first(asking.agent_id, idempotency_key)
        ):
            return _same(earlier, submission), False
        now = now_in(asking)
        _check(asking, now)
        approval = _request(asking, idempotency_key, submission, now)
        approval.traceparent = traceparent
        approval.tool = tool_of(asking, submission.tool, submission.evidence, now)
        judgement = _store(approval, asking, headed, submission)
        return Answerable(approval, judgement, []), True


@rows(Agent.id, ApprovalRequest.idempotency_key)
def _earlier(agent_id: int, key: str) -> QuerySet[ApprovalRequest]:
    return ApprovalRequest.objects.filter(agent_id=agent_id, idempotency_key=key).order_by()


@rows(Agent.id)
def _lock_agent(agent_id: int) -> QuerySet[Agent]:
    return Agent.objects.select_for_update().filter(pk=agent_id).annotate(now=Now()).order_by()


def _locked(token: AgentToken, key: str, submission: Submission, now: datetime) -> AgentToken:
    """Read all that a submission needs at first, under the locks, in one statement."""
    parameters = (
        token.pk,
        key,
        submission.digest,
        submission.run_id,
        asked_since(submission.run_id, now),
        now,
        submission.tool,
        bare_spelling_of(submission.tool),
        schema_digest(submission.evidence),
    )
    [asking] = _asking(*parameters)
    if vars(asking)["number"] is None:
        current_revision()  # makes the first
        [asking] = _asking(*parameters)
    return asking


@rows(
    AgentToken.id,
    ApprovalRequest.idempotency_key,
    ApprovalRequest.digest,
    ApprovalRequest.run_id,
    ApprovalRequest.submitted_at,
    Grant.expires_at,
    Tool.name,
    Tool.spelling,
    Tool.schema_digest,
)
def _asking(  # noqa: PLR0913, PLR0917 - all that one statement is about
    token_id: int,
    key: str,
    digest_: str,
    run_id: str,
    since: datetime,
    at: datetime,
    tool: str,
    bare: str,
    schema: str,
) -> QuerySet[AgentToken]:
    """Read a token with its agent, and what holds while its request is judged.

    ``number`` and ``published_at`` are those of the policy in force. ``repeated`` is how often
    the same was asked before; ``has_grants``, whether one may answer. ``tool_id``, its ``claims``
    and its class are those of the tool; ``name_classed`` is whether one of its name has a class,
    and ``approved_schema`` that with which one of its name was approved last.
    """
    requests = ApprovalRequest.objects.filter(agent=OuterRef("agent")).order_by()
    pending = ApprovalRequest.objects.pending().filter(token=OuterRef("pk")).order_by()
    same = requests.filter(digest=digest_, run_id=run_id, submitted_at__gt=since)
    newest = PolicyRevision.objects.order_by("-number")
    tools = Tool.objects.filter(agent=OuterRef("agent"), name=tool, schema_digest=schema)
    tools = tools.order_by()
    tokens = AgentToken.objects.select_related("agent").filter(pk=token_id).order_by()
    return tokens.annotate(
        pending_now=Coalesce(Subquery(_count(pending, "token")), 0),
        is_retry=Exists(requests.filter(idempotency_key=key)),
        number=Subquery(newest.values("number")[:1]),
        published_at=Subquery(newest.values("published_at")[:1]),
        repeated=Coalesce(Subquery(_count(same, "agent")), 0),
        has_grants=Exists(Grant.objects.in_force(at).filter(agent=OuterRef("agent")).order_by()),
        tool_id=Subquery(tools.values("pk")),
        tool_claims=Subquery(tools.values("claims")),
        tool_class=Subquery(tools.values("tool_class")),
        name_classed=Exists(classed(OuterRef("agent"), bare)),
        approved_schema=approved_schema(OuterRef("agent"), tool, schema),
        **with_stop(),
    )


def _count(requests: QuerySet[ApprovalRequest], of: str) -> Any:
    return requests.values(of).annotate(count=Count("pk")).values("count")


def _same(approval: ApprovalRequest, submission: Submission) -> Answerable:
    if approval.submission_hash != submission.hash:
        raise IdempotencyConflict(approval.idempotency_key)
    return answerable(approval)


def _check(token: AgentToken, now: datetime) -> None:
    if not tokens.works(token, now):
        raise NotAllowed("This token was revoked or has expired. Nothing was submitted.")
    if vars(token)["pending_now"] >= settings.PENDING_PER_TOKEN:
        raise TooManyPending(settings.PENDING_PER_TOKEN)


def _request(
    token: AgentToken, key: str, submission: Submission, now: datetime
) -> ApprovalRequest:
    return ApprovalRequest(
        agent=token.agent,
        token=token,
        idempotency_key=key,
        submission_hash=submission.hash,
        log_key=secrets.token_hex(32),
        kind=submission.kind,
        capability=submission.capability,
        content=canonical_json(submission.content),
        digest=submission.digest,
        objective=submission.objective,
        evidence=canonical_json(submission.evidence),
        run_id=submission.run_id,
        max_wait_s=submission.max_wait_s,
        accepts_edits=submission.accepts_edits,
        accepts_grants=submission.accepts_grants,
        submitted_at=now,
    )


def _store(
    approval: ApprovalRequest, token: AgentToken, headed: Headed, submission: Submission
) -> Judgement:
    """Insert a request with what was found in it and what the policy says, and follow that."""
    columns = vars(token)
    is_stopped, repeated = stop_in(token) is not None, columns["repeated"]
    agent = Actor.of_agent(approval.agent.name, token.prefix)
    has_grants = bool(columns["has_grants"])
    schema = schema_digest(submission.evidence) if submission.tool else ""
    grant_events = list[AuditEvent]()
    if submission.tool and has_changed(schema, columns["approved_schema"]):
        headed = headed.with_finding(SCHEMA_CHANGED.finding())
        if has_grants:
            grant_events = end_grants_of_tool(approval.agent, submission.tool, schema, by=agent)
    revision = published_revision(columns["number"], columns["published_at"])
    tool = standing(columns["tool_class"], is_name_classed=bool(columns["name_classed"]))
    if submission.tool and approval.tool is None:
        tool = tool._replace(is_unlisted=True)
    evaluation = judged_by(revision, question_of(approval, headed.report, repeated, tool))
    if evaluation.effect is Effect.APPROVE and is_stopped:
        evaluation = stopped(evaluation)
    limits = (submission.time_limit_s or DEFAULT_TIME_LIMIT_S, evaluation.demands.time_limit_s)
    limit_s = min(limit for limit in limits if limit)
    approval.expires_at = approval.submitted_at + timedelta(seconds=limit_s)
    approval.judged_under = revision.number
    insert(approval)
    pinned = pin_notebook(approval)
    inspection = insert_inspection(approval, headed.report, repeated)
    headline = insert_headline(approval, headed.headline)
    judgement = insert_judgement(inspection, revision, evaluation, approval.submitted_at)
    details = {
        **pinned,
        "expires_at": approval.expires_at.isoformat(),
        **({"tool_schema": approval.tool.schema_digest} if approval.tool else {}),
        "row": fingerprint_of(approval),
        "headline": fingerprint_of(headline),
    }
    submitted = AuditEvent(
        Action.APPROVAL_SUBMITTED, str(approval.pk), approval.digest, details, agent
    )
    events = (*grant_events, submitted)
    _follow(judgement, evaluation, events, by_grant=has_grants and not is_stopped)
    return judgement


def _follow(
    judgement: Judgement, evaluation: Evaluation, begun: tuple[AuditEvent, ...], *, by_grant: bool
) -> None:
    """Close a request as the policy says, or by a grant where one may answer, or announce it."""
    policy = Actor(f"policy:{judgement.revision_id}")
    events = (*begun, judged_event(judgement, evaluation))
    if evaluation.effect is not Effect.REVIEW:
        decision = by_policy(judgement, evaluation, judgement.judged_at)
        close(decision, actor=policy, extra=events)
    elif not by_grant or not answer_by_grant(judgement, evaluation, actor=policy, extra=events):
        record(policy, *events)
        announce(judgement.approval)
