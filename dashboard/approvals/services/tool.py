"""Tools: listed when they are asked for, and classed by admins."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F

from dashboard.accounts import roles
from dashboard.accounts.models import Agent, AgentToken, User
from dashboard.approvals.errors import NotAllowed
from dashboard.approvals.models import ApprovalRequest, Tool
from dashboard.approvals.queries.tool import spelled
from dashboard.approvals.rules.fingerprint import tool_fingerprint
from dashboard.approvals.rules.tool import (
    MOST_TOOLS,
    bare_spelling_of,
    claims_of,
    schema_digest,
    spelling_of,
)
from dashboard.audit.actions import Action
from dashboard.audit.names import agent_name
from dashboard.audit.services import Actor, AuditEvent, record
from dashboard.clock import database_now
from dashboard.policies.rules.rule import ToolClass
from dashboard.statements import insert


class ClassChange(NamedTuple):
    """What an admin wants a tool to be classed as.

    Attributes:
        before: As what the page showed it; empty for a tool that nobody has classed.
        after: Empty to take the class away.
    """

    before: str
    after: str


class ClassesChanged(NamedTuple):
    """What became of some changes: the tools that were classed, and those that had moved on."""

    classed: list[Tool]
    stale: list[Tool]


def tool_of(
    asking: AgentToken, name: str, evidence: Mapping[str, Any], now: datetime
) -> Tool | None:
    """Return the tool that a request would call, and list it if it is new.

    Args:
        asking: With the columns ``tool_id`` and ``tool_claims``, read under the agent's lock.
        name: Empty where no tool is called.

    Returns:
        None where nothing is called, or the agent has named more tools than are listed.
    """
    if not name:
        return None
    columns, claims = vars(asking), claims_of(evidence)
    tool = Tool(
        pk=columns["tool_id"],
        agent=asking.agent,
        name=name,
        spelling=spelling_of(name),
        schema_digest=schema_digest(evidence),
        claims=claims,
        first_asked_at=now,
    )
    if tool.pk is None:
        return _listed(tool)
    if claims != columns["tool_claims"]:
        Tool.objects.filter(pk=tool.pk).update(claims=claims)
    return tool


def _listed(tool: Tool) -> Tool | None:
    is_full = Tool.objects.filter(agent=tool.agent).count() >= MOST_TOOLS
    return None if is_full else insert(tool)


def class_tools(changes: Mapping[int, ClassChange], *, by: User, auth: str) -> ClassesChanged:
    """Class some tools. Pending calls of them are judged again.

    A tool whose class is no longer what the page showed is left as it is.

    Raises:
        NotAllowed: The person is not an admin.
    """
    with transaction.atomic(durable=True):
        if not roles.may_administer(User.objects.get(pk=by.pk)):
            raise NotAllowed("Only admins can do this. Nothing was changed.")
        outcome = ClassesChanged([], [])
        agents = Tool.objects.filter(pk__in=changes).values("agent")
        # As a submission does: what it reads of a tool under this lock holds until it is stored.
        list(Agent.objects.select_for_update().filter(pk__in=agents).order_by("pk"))
        tools = Tool.objects.select_for_update(of=("self",)).select_related("agent")
        now = database_now()
        for tool in tools.filter(pk__in=changes).order_by("pk"):
            change = changes[tool.pk]
            if tool.tool_class != change.before:
                outcome.stale.append(tool)
            elif change.after != change.before:
                tool.tool_class = ToolClass(change.after).value if change.after else ""
                tool.classed_by, tool.classed_at = by, now
                tool.save(update_fields=["tool_class", "classed_by", "classed_at"])
                outcome.classed.append(tool)
        _judge_later(outcome.classed)
        events = [_event(tool, changes[tool.pk].before) for tool in outcome.classed]
        if events:
            record(Actor.of_user(by.username, auth), *events)
    return outcome


def _judge_later(tools: list[Tool]) -> None:
    """Have pending calls judged again before anything is decided: also of tools of the same name.

    Whether one of a name is classed counts for its other schemas and spellings too. Each is a new
    version at once: what a list has read of one says how its tool was classed.
    """
    for tool in tools:
        same_name = spelled(tool.agent, bare_spelling_of(tool.name))
        pending = ApprovalRequest.objects.pending().filter(tool__in=same_name)
        ids = list(pending.order_by("pk").values_list("pk", flat=True))
        ApprovalRequest.objects.filter(pk__in=ids).update(judged_under=0, version=F("version") + 1)


def _event(tool: Tool, before: str) -> AuditEvent:
    details = {
        "agent": agent_name(tool.agent.name),
        "schema": tool.schema_digest,
        "before": before,
        "class": tool.tool_class,
        "row": tool_fingerprint(tool),
    }
    return AuditEvent(Action.TOOL_CLASSED, f"tool:{tool.pk}", details=details)
