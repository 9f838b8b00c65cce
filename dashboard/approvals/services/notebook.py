"""Agents send notebooks, requests name them, and what no request names is deleted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Case, F, IntegerField, Sum, Value, When

from approval_client.wire import MAX_NOTEBOOK_BYTES, parse_json
from dashboard.accounts import tokens
from dashboard.accounts.models import Agent, AgentToken
from dashboard.approvals.errors import (
    NotAllowed,
    NotebookRefused,
    NotebooksFull,
    NotebookTooLarge,
)
from dashboard.approvals.models import ApprovalRequest, Notebook, NotebookPin
from dashboard.approvals.rules import notebook as notebook_rules
from dashboard.audit.actions import Action
from dashboard.audit.services import Actor, AuditEvent, record
from dashboard.clock import database_now

KEPT_UNNAMED = timedelta(days=1)
_SENT_ANEW_AFTER = KEPT_UNNAMED / 2  # so that it is there for a day when a retry found it
_SMALLEST = 4096  # what a notebook counts for at least: a row is never free
_BATCH = 500
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def send_notebook(*, token: AgentToken, digest: str, body: bytes) -> tuple[Notebook, bool]:
    """Save a notebook of an agent, and return whether it is new.

    The same bytes again change nothing.

    Raises:
        NotebookTooLarge: It has more bytes than a notebook may have.
        NotebookRefused: The digest is of other bytes, or they are no notebook.
        NotebooksFull: The agent has as much here as it may.
        NotAllowed: The token or its agent was shut out in the meantime.
    """
    if len(body) > MAX_NOTEBOOK_BYTES:
        raise NotebookTooLarge
    if hashlib.sha256(body).hexdigest() != digest:
        raise NotebookRefused(
            "digest_mismatch", "The bytes have another SHA-256 than the address."
        )
    own_notebooks = Notebook.objects.filter(agent=token.agent_id, digest=digest).defer("body")
    if earlier := own_notebooks.filter(sent_at__gt=database_now() - _SENT_ANEW_AFTER).first():
        return earlier, False
    # Before the transaction: SQLite has one writer, which must not wait for a parser.
    outline = notebook_rules.check(body)
    with transaction.atomic(durable=True):
        agent = Agent.objects.select_for_update().get(pk=token.agent_id)
        now = database_now()
        own_notebooks.filter(pins=None, sent_at__lte=now - _SENT_ANEW_AFTER).only("pk").delete()
        if earlier := own_notebooks.first():
            return earlier, False
        _check(token, agent, len(body))
        fields = {"digest": digest, "size": len(body), "sent_at": now}
        notebook = Notebook.objects.create(agent=agent, outline=outline, body=body, **fields)
        event = AuditEvent(Action.NOTEBOOK_SENT, agent.name, digest, {"size": len(body)})
        record(Actor.of_agent(agent.name, token.prefix), event)
        return notebook, True


def pin_notebook(approval: ApprovalRequest) -> Mapping[str, str]:
    """Bind a request to the notebook that its evidence names, and say so for the log.

    Called in the transaction that submits it, which has locked the agent. A notebook that the
    agent has not sent by then is never part of the request.
    """
    digest = parse_json(approval.evidence).get("notebook")
    if not notebook_rules.is_digest(digest):
        return {}
    own_notebooks = Notebook.objects.filter(agent=approval.agent_id, digest=digest).only("pk")
    notebook = own_notebooks.first()
    if notebook is None:
        return {}
    NotebookPin.objects.create(approval=approval, notebook=notebook)
    return {"notebook": digest}


def forget_notebooks(looked_at: datetime | None = None) -> int:
    """Delete notebooks that no request has named within a day; returns how many.

    Args:
        looked_at: When this was last done to its end. What was a day old by then is not looked at
            again: a notebook that was named stays named. Without it all are looked through.
    """
    end, forgotten = database_now() - KEPT_UNNAMED, 0
    start = looked_at - KEPT_UNNAMED if looked_at else _LONG_AGO
    while start < end:
        until = _end_of_batch(start, end)
        unnamed = Notebook.objects.filter(pins=None, sent_at__gt=start, sent_at__lte=until)
        agents = unnamed.order_by().values_list("agent_id", flat=True)
        forgotten += sum(_forget(agent, start, until) for agent in sorted(set(agents)))
        start = until
    return forgotten


def _end_of_batch(since: datetime, until: datetime) -> datetime:
    """Where to pause, so that no statement reads long: on SQLite nobody commits meanwhile."""
    moments = Notebook.objects.filter(sent_at__gt=since, sent_at__lte=until).order_by("sent_at")
    last_moment = moments.values_list("sent_at", flat=True)[_BATCH - 1 : _BATCH].first()
    return last_moment or until


def _forget(agent_id: int, since: datetime, until: datetime) -> int:
    with transaction.atomic(durable=True):
        agent = Agent.objects.select_for_update().get(pk=agent_id)
        between = agent.notebooks.filter(pins=None, sent_at__gt=since, sent_at__lte=until)
        chosen = list(between.order_by("sent_at").values_list("pk", "digest"))
        Notebook.objects.filter(pk__in=[pk for pk, _ in chosen]).only("pk").delete()
        events = [AuditEvent(Action.NOTEBOOK_DELETED, agent.name, digest) for _, digest in chosen]
        if events:
            record(Actor("retention"), *events)
        return len(events)


def _check(token: AgentToken, agent: Agent, size: int) -> None:
    token.refresh_from_db(fields=["revoked_at", "expires_at"])
    token.agent = agent
    if not tokens.works(token, database_now()):
        raise NotAllowed("This token was revoked or has expired. The notebook was not kept.")
    counted_size = Case(
        When(size__lt=_SMALLEST, then=Value(_SMALLEST)),
        default=F("size"),
        output_field=IntegerField(),
    )
    used = agent.notebooks.aggregate(bytes=Sum(counted_size))["bytes"] or 0
    if used + max(size, _SMALLEST) > settings.NOTEBOOK_MIB_PER_AGENT << 20:
        raise NotebooksFull(settings.NOTEBOOK_MIB_PER_AGENT)
