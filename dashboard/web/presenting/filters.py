"""What the address of the queue asks for, read once and kept in every link."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict

from dashboard.accounts.models import Agent, Group
from dashboard.approvals.narrowing import Narrowing
from dashboard.inspection.findings import Severity
from dashboard.web.forms_queue import QueueForm

_ONLY_WAITING = ("mine", "order")  # what is decided needs nobody, and has no time left
_FOLDED = ("agent", "kind", "severity", "group", "capability")


@dataclass(frozen=True, kw_only=True, slots=True)
class Filters:
    """Which requests are listed, and which comes first.

    Attributes:
        query: All of it as an address says it; empty for the list as it comes.
        unfiltered: The same without what narrows the list.
        waiting, decided: The same in the one and the other tab.
        problems: What in the address was left out, in sentences.
        form: Offers to ask for something else; holds what is asked for now.
        folded: How many of the filters that are not on sight narrow the list.
    """

    show: str
    mine: bool
    by_risk: bool
    narrowing: Narrowing
    query: str
    unfiltered: str
    waiting: str
    decided: str
    problems: list[str]
    form: QueueForm
    folded: int

    @property
    def narrows(self) -> bool:
        """Whether the list may hold less than there is."""
        return self.mine or self.narrowing != Narrowing()


def read(address: QueryDict) -> Filters:
    """Read the query string of a page; what is wrong in it is left out."""
    agents = list(Agent.objects.order_by("name").values_list("name", flat=True))
    groups = list(Group.objects.order_by("name").values_list("name", flat=True))
    asked = QueueForm(address, agents, groups)
    problems = asked.left_out  # this reads it
    said = {name: value for name, value in asked.cleaned_data.items() if value}
    if said.get("show") == "waiting":
        del said["show"]
    if "show" in said:
        said = _without(said, *_ONLY_WAITING)
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
        waiting=urlencode(_without(said, "show")),
        decided=urlencode({"show": "decided"} | _without(said, *_ONLY_WAITING)),
        problems=problems,
        form=form,
        folded=sum(name in said for name in _FOLDED),
    )


def _narrowing(said: dict[str, str]) -> Narrowing:
    return Narrowing(
        agent=said.get("agent", ""),
        kind=said.get("kind", ""),
        capability=said.get("capability", ""),
        severity=Severity(said["severity"]) if "severity" in said else None,
        group=said.get("group", ""),
        text=said.get("q", ""),
    )


def _without(said: dict[str, str], *names: str) -> dict[str, str]:
    return {name: value for name, value in said.items() if name not in names}
