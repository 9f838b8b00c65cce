"""What the address of the queue asks for, read once and kept in every link."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict

from dashboard.accounts.models import Agent, Group
from dashboard.approvals.rules.queue import QueueFilter
from dashboard.inspection.findings import Severity
from dashboard.web.forms_queue import QueueForm

# What is decided needs nobody and has no time left; what I claimed or put off is mine anyway.
_NOT_WITH = {"decided": ("mine", "order"), "claimed": ("mine",), "later": ("mine",)}
_FOLDED = ("agent", "kind", "severity", "group", "capability")


@dataclass(frozen=True, kw_only=True, slots=True)
class Filters:
    """Which requests are listed, and which comes first.

    Attributes:
        query: All of it as an address says it; empty for the list as it comes.
        unfiltered: The same without what narrows the list.
        tabs: The same in each of the tabs, by the tab's name.
        problems: What in the address was left out, in sentences.
        form: Offers to ask for something else; holds what is asked for now.
        folded: How many of the filters that are not on sight narrow the list.
    """

    show: str
    mine: bool
    by_risk: bool
    narrowing: QueueFilter
    query: str
    unfiltered: str
    tabs: dict[str, str]
    problems: list[str]
    form: QueueForm
    folded: int

    @property
    def narrows(self) -> bool:
        """Whether the list may hold less than there is."""
        return self.mine or self.narrowing != QueueFilter()


def read(address: QueryDict) -> Filters:
    """Read the query string of a page; what is wrong in it is left out."""
    agents = list(Agent.objects.order_by("name").values_list("name", flat=True))
    groups = list(Group.objects.order_by("name").values_list("name", flat=True))
    asked = QueueForm(address, agents, groups)
    problems = asked.left_out  # this reads it
    said = {name: value for name, value in asked.cleaned_data.items() if value}
    if said.get("show") == "waiting":
        del said["show"]
    said = _without(said, *_NOT_WITH.get(said.get("show", ""), ()))
    return _filters(said, problems, QueueForm(said, agents, groups))


def _filters(said: dict[str, str], problems: list[str], form: QueueForm) -> Filters:
    tab = [(name, said[name]) for name in ("show", "order") if name in said]
    return Filters(
        show=said.get("show", "waiting"),
        mine="mine" in said,
        by_risk="order" in said,
        narrowing=_narrowing(said),
        query=urlencode(said),
        unfiltered=urlencode(tab),
        tabs=_tabs(said),
        problems=problems,
        form=form,
        folded=sum(name in said for name in _FOLDED),
    )


def _tabs(said: dict[str, str]) -> dict[str, str]:
    kept = _without(said, "show", "mine")
    shows = {show: {"show": show} | _without(kept, *names) for show, names in _NOT_WITH.items()}
    tabs = {"waiting": kept, "mine": {"mine": "1"} | kept, **shows}
    return {tab: f"?{urlencode(asked)}" if asked else "" for tab, asked in tabs.items()}


def _narrowing(said: dict[str, str]) -> QueueFilter:
    return QueueFilter(
        agent=said.get("agent", ""),
        kind=said.get("kind", ""),
        capability=said.get("capability", ""),
        severity=Severity(said["severity"]) if "severity" in said else None,
        group=said.get("group", ""),
        text=said.get("q", ""),
    )


def _without(said: dict[str, str], *names: str) -> dict[str, str]:
    return {name: value for name, value in said.items() if name not in names}
