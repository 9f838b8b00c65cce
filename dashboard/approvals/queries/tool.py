"""Reads of tools and their classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import (
    Case,
    CharField,
    Count,
    Exists,
    F,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Replace

from approval_client.wire import Status
from dashboard.approvals.models import ApprovalRequest, Tool
from dashboard.policies.rules.rule import ToolClass


class ToolStanding(NamedTuple):
    """How the class of a tool stands that is called.

    Attributes:
        tool_class: None where nobody has classed it.
        classed_otherwise: Whether it is not classed, and a tool of this name and this agent is,
            with another schema or spelling.
        is_unlisted: Whether it is not among the agent's tools, which are as many as are listed.
    """

    tool_class: ToolClass | None = None
    classed_otherwise: bool = False
    is_unlisted: bool = False

    @property
    def takes_a_person(self) -> bool:
        """Whether each call is for a person, whatever was approved before."""
        is_irreversible = self.tool_class is ToolClass.IRREVERSIBLE
        return is_irreversible or self.classed_otherwise or self.is_unlisted


class ToolCalls(NamedTuple):
    """What became of the calls of a tool."""

    approved: int = 0
    rejected: int = 0
    last_asked_at: datetime | None = None


NOT_CLASSED = ToolStanding()
UNLISTED = ToolStanding(is_unlisted=True)


def standing(tool_class: str | None, *, is_name_classed: bool) -> ToolStanding:
    """Return how a class stands, of what was read."""
    if tool_class:
        return ToolStanding(ToolClass(tool_class))
    return ToolStanding(None, is_name_classed)


def standings(ids: Iterable[int | None]) -> dict[int | None, ToolStanding]:
    """Return how the classes of some tools stand, by their ids."""
    numbers = {pk for pk in ids if pk}
    tools = Tool.objects.filter(pk__in=numbers).order_by()
    rows = tools.annotate(
        is_name_classed=Exists(classed(OuterRef("agent"), bare_spelling(OuterRef("spelling"))))
    ).values_list("pk", "tool_class", "is_name_classed")
    standing_by_id: dict[int | None, ToolStanding] = {None: NOT_CLASSED}
    for pk, tool_class, is_name_classed in rows if numbers else ():
        standing_by_id[pk] = standing(tool_class, is_name_classed=is_name_classed)
    return standing_by_id


def tool_names(subjects: Iterable[str]) -> dict[str, str]:
    """Return the names of tools by what the log calls them, such as ``tool:12``."""
    numbers = {subject: subject.removeprefix("tool:") for subject in subjects}
    tools = Tool.objects.in_bulk([int(n) for n in numbers.values() if n.isdecimal()])
    present = {str(pk): tool.name for pk, tool in tools.items()}
    return {name: present[n] for name, n in numbers.items() if n in present}


def classed(agent: Any, bare: Any) -> QuerySet[Tool]:
    """Tools of an agent that are classed, by the spelling of their names without joints."""
    return spelled(agent, bare).exclude(tool_class="").order_by()


def any_classed(agent_name: str, bare: str) -> bool:
    """Whether the agent of a name has a classed tool of a name, spelled without joints."""
    tools = Tool.objects.alias(bare=bare_spelling(F("spelling")))
    return tools.filter(agent__name=agent_name, bare=bare).exclude(tool_class="").exists()


def spelled(agent: Any, bare: Any) -> QuerySet[Tool]:
    """Tools of an agent whose names are spelled alike but for what joins their words."""
    return Tool.objects.alias(bare=bare_spelling(F("spelling"))).filter(agent=agent, bare=bare)


def bare_spelling(spelling: Any) -> Replace:
    """Return a spelling without joints, as the index on it has that."""
    return Replace(spelling, Value("_"), Value(""), output_field=TextField())


def approved_schema(agent: Any, name: Any, schema: Any) -> Subquery:
    """Return the schema with which a tool of a name was last approved for an agent.

    Where a schema is asked about, one that was approved without any in between says nothing.
    """
    requests = ApprovalRequest.objects.filter(tool=OuterRef("pk"), status=Status.APPROVED)
    newest = requests.order_by("-submitted_at").values("submitted_at")[:1]
    tools = Tool.objects.filter(agent=agent, name=name).annotate(approved_at=Subquery(newest))
    tools = tools.alias(none=Value("", CharField())).filter(~Q(schema_digest="") | Q(none=schema))
    approved = tools.exclude(approved_at=None)
    newest_first = approved.order_by(F("approved_at").desc())
    return Subquery(newest_first.values("schema_digest")[:1])


def tools_like(search: str) -> QuerySet[Tool]:
    """Tools with a text in their name or their agent's, those first that nobody has classed."""
    tools = Tool.objects.select_related("agent")
    if search:
        tools = tools.filter(Q(name__icontains=search) | Q(agent__name__icontains=search))
    return tools.order_by(Case(When(tool_class="", then=0), default=1), "-pk")


def calls_of(ids: Sequence[int]) -> dict[int, ToolCalls]:
    """Return what became of the calls of some tools. Read from an index alone."""
    requests = ApprovalRequest.objects.filter(tool__in=ids).order_by()
    rows = requests.values_list("tool", "status").annotate(Count("tool"), Max("submitted_at"))
    calls = {pk: ToolCalls() for pk in ids}
    for pk, status, count, asked_at in rows:
        sums = calls[pk]
        newest = max(filter(None, (sums.last_asked_at, asked_at)))
        by_status = {status: count} if status in ("approved", "rejected") else {}
        calls[pk] = sums._replace(last_asked_at=newest, **by_status)
    return calls
