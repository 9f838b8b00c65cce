"""The queue: its filters, its tabs, and its rows."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import groupby
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.db.models import Max, Min
from django.db.models.functions import Left, Right
from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from approval_client.wire import Kind, Status
from dashboard.accounts.models import Agent, Group, User
from dashboard.accounts.roles import may_decide
from dashboard.approvals import queries
from dashboard.approvals.clock import database_now
from dashboard.approvals.models import (
    ApprovalQuerySet,
    ApprovalRequest,
    Assignment,
    Decision,
    Poll,
)
from dashboard.approvals.rules.answer import votes_that_count
from dashboard.approvals.rules.assignment import Presence, presence
from dashboard.approvals.rules.queue import PersonalQueue, QueueFilter, filtered, personal_queue
from dashboard.inspection.findings import Severity
from dashboard.policies.demands import Required
from dashboard.web import times, words
from dashboard.web.access import for_readers
from dashboard.web.desk.view import viewing_now
from dashboard.web.drawing.markup import untrusted
from dashboard.web.drawing.summary import HEAD, TAIL, summary
from dashboard.web.findings import SEVERITIES
from dashboard.web.forms import offer_choices
from dashboard.web.http import PersonRequest
from dashboard.web.times import Moment, TimeLeft
from dashboard.web.words import decided_by

LONGEST_SEARCH = 200

TABS = ("waiting", "claimed", "later", "decided")

_LEFT_OUT = {
    "show": "There is no such tab, so this is what waits.",
    "agent": "There is no agent of that name, so the list holds those of all agents.",
    "kind": "There is no such kind of request, so the list holds all kinds.",
    "capability": "That cannot be the name of a capability, so the list holds all of them.",
    "severity": "There is no such severity, so the list holds all of them.",
    "mine": "What needs you is asked for by mine=1, so the list holds what others answer too.",
    "group": "There is no group of that name, so the list holds what any group answers.",
    "q": f"A search is text of at most {LONGEST_SEARCH} characters, so nothing was searched for.",
    "order": "There is no such order, so what has the least time left comes first.",
}

_SEVERITIES = [
    ("", "Anything or nothing"),
    (Severity.LOW, "Low or graver"),
    (Severity.MEDIUM, "Medium or graver"),
    (Severity.HIGH, "High"),
]


def _choice(label: str, choices: list[tuple[str, str]]) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=choices, required=False)


def _text_field(label: str, **attrs: str) -> forms.CharField:
    plain = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
    widget = forms.TextInput(attrs={**plain, **attrs})
    return forms.CharField(label=label, max_length=LONGEST_SEARCH, required=False, widget=widget)


class QueueForm(forms.Form):
    """Asks which requests to list, and which comes first."""

    show = _choice("Which requests", [(tab, "") for tab in TABS])
    q = _text_field("Search content, objective and run", type="search", placeholder="Search")
    mine = _choice("Needs me", [("1", "")])
    order = _choice("Order", [("", "By time left"), ("risk", "By risk")])
    agent = _choice("Agent", [])
    kind = _choice("Kind", [("", "All kinds"), *((str(k), words.KINDS[k]) for k in Kind)])
    severity = _choice("Found", [(str(value), label) for value, label in _SEVERITIES])
    group = _choice("Needs a yes from", [])
    capability = _text_field("Capability, exactly")

    def __init__(self, data: Any, agents: Iterable[str], groups: Iterable[str]) -> None:
        super().__init__(data, auto_id="filter-%s")
        self._offer("agent", "All agents", agents)
        self._offer("group", "Anybody", groups)

    @property
    def left_out(self) -> list[str]:
        """What in the address is wrong, and what was done instead, once for each."""
        return [_LEFT_OUT[name] for name in self.errors]

    def _offer(self, name: str, everything: str, names: Iterable[str]) -> None:
        offer_choices(self, name, [("", everything), *((one, one) for one in names)])


# What is decided needs nobody and has no time left; "mine" adds nothing to the other two.
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


def filters_of(address: QueryDict) -> Filters:
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


MOST_ROWS = 100

POLLS_EVERY = timedelta(seconds=40)
"""An agent that waits asks again within this time; after it we say that nobody waits."""

_GRAVE = re.compile(
    rf'"sentence":"((?:[^"\\]|\\.)*)","severity":"{Severity.HIGH}"\Z'  # quotation marks: escaped
)


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueRow:
    """One request in the list. ``summary`` and ``run`` are the agent's voice, drawn.

    Attributes:
        risk: The highest severity of what was found, where that is no mere note.
        finding: Our sentence about the gravest finding, where that is of high severity.
        progress: How many approved, where several have to.
        assigned: Who is assigned, in words; ``is_mine`` says whether that is the reader.
        viewing: Who else has it open, in words.
        snoozed_until: Until when the reader snoozed it.
        may_join: Whether it may be answered together with similar requests on the list.
        together: The same for requests of one run; empty where the agent named none.
    """

    id: UUID
    kind: str
    kind_word: str
    status: str
    status_word: str
    risk: str
    risk_word: str
    finding: SafeString
    summary: SafeString
    agent: str
    run: SafeString
    together: tuple[int, str] | None
    progress: str
    assigned: str
    is_mine: bool
    viewing: str
    snoozed_until: str
    may_join: bool
    asked: Moment
    left: TimeLeft | None
    nobody_waits: bool
    closed: Moment | None
    closer: str


@dataclass(frozen=True, slots=True)
class RunRows:
    """Rows that stand one after the other and are of one run, or one row."""

    rows: list[QueueRow]

    @property
    def is_run(self) -> bool:
        """Whether they stand under a heading of their own."""
        return len(self.rows) > 1


def queue_rows(approvals: ApprovalQuerySet, person: User, now: datetime) -> list[QueueRow]:
    """Present requests, without reading a whole content or report of any."""
    annotated = approvals.annotate(
        head=Left("content", HEAD),
        tail=Right("content", TAIL),
        risk=queries.gravest_rank(),
        grave=queries.about_the_gravest(),
        demands=queries.last_demands(),
    )
    light = list(annotated.defer("content", "evidence", "objective"))
    open_now = [approval.pk for approval in light if approval.status == Status.PENDING]
    queries.fetch_votes([a for a in light if a.status == Status.PENDING and _approvals(a) > 1])
    found = presence(open_now, person, now)
    kinds = [_likeness(approval, found, person) for approval in light]
    joined = {kind for kind, count in Counter(kinds).items() if kind and count > 1}
    return [
        _row(approval, person, now, found, may_join=kind in joined)
        for approval, kind in zip(light, kinds, strict=True)
    ]


def rows_by_run(listed: Iterable[QueueRow]) -> list[RunRows]:
    """Put rows of one run that stand one after the other under one heading. Nothing moves."""
    grouped = groupby(listed, key=lambda row: row.together or row.id)
    return [RunRows(list(group)) for _, group in grouped]


def nobody_is_waiting(approval: ApprovalRequest, now: datetime) -> bool:
    """Say whether the agent of a pending request has stopped asking for the answer."""
    if approval.status != Status.PENDING:
        return False
    poll: Poll | None = getattr(approval, "poll", None)
    last = poll.last_polled_at if poll else approval.submitted_at
    return now - max(last, approval.submitted_at) > POLLS_EVERY


def _row(
    approval: ApprovalRequest,
    person: User,
    now: datetime,
    found: Presence,
    *,
    may_join: bool,
) -> QueueRow:
    is_open = approval.status == Status.PENDING
    decision: Decision | None = None if is_open else approval.decision
    left = times.time_left(approval.submitted_at, approval.expires_at, now) if is_open else None
    assignment = found.assignments.get(approval.pk)
    snoozed_until = found.snoozed_until.get(approval.pk)
    is_mine = assignment is not None and assignment.person_id == person.pk
    risk = _risk(approval.risk)  # type: ignore[attr-defined] # annotated
    return QueueRow(
        id=approval.pk,
        risk=risk or "",
        risk_word=SEVERITIES[risk].lower() if risk else "",
        finding=untrusted(_grave_sentence(approval.grave or "")),  # type: ignore[attr-defined]
        kind=approval.kind,
        kind_word=words.KINDS[Kind(approval.kind)],
        status=approval.status,
        status_word=words.STATUSES[Status(approval.status)],
        summary=_summary(approval),
        agent=approval.agent.name,
        run=untrusted(approval.run_id),
        together=(approval.agent_id, approval.run_id) if approval.run_id else None,
        progress=_progress(approval, now) if is_open else "",
        assigned=_assigned(assignment, is_mine=is_mine),
        is_mine=is_mine,
        viewing=viewing_now(found.viewing.get(approval.pk, [])),
        snoozed_until=times.clock(snoozed_until) if snoozed_until else "",
        may_join=may_join,
        asked=times.moment(approval.submitted_at, now),
        left=left,
        nobody_waits=nobody_is_waiting(approval, now),
        closed=times.moment(decision.decided_at, now) if decision else None,
        closer=decided_by(decision, person) if decision else "",
    )


def _assigned(assignment: Assignment | None, *, is_mine: bool) -> str:
    if assignment is None:
        return ""
    return "you are on this" if is_mine else f"{assignment.person.username} is on this"


def _likeness(
    approval: ApprovalRequest, found: Presence, person: User
) -> tuple[object, ...] | None:
    """Return what requests share that may be answered together; the bulk page compares more."""
    assignment = found.assignments.get(approval.pk)
    is_calm = approval.risk <= Severity.LOW.rank  # type: ignore[attr-defined] # annotated
    is_free = assignment is None or assignment.person_id == person.pk
    if approval.status != Status.PENDING or not (is_calm and is_free and may_decide(person)):
        return None
    if _approvals(approval) > 1:
        return None
    return approval.agent_id, approval.kind, approval.capability


def _approvals(approval: ApprovalRequest) -> int:
    return _required(approval.demands).approvals  # type: ignore[attr-defined] # annotated


_required = lru_cache(256)(Required.from_json)  # a policy asks the same of many


def _risk(rank: int) -> Severity | None:
    return list(Severity)[rank] if rank > Severity.INFO.rank else None


def _summary(approval: ApprovalRequest) -> SafeString:
    return summary(approval.kind, approval.head, approval.tail)  # type: ignore[attr-defined] # the same


def _grave_sentence(part: str) -> str:
    found = _GRAVE.search(part)
    return str(json.loads(f'"{found[1]}"')) if found else ""


def _progress(approval: ApprovalRequest, now: datetime) -> str:
    """Count the approvals that still count; the votes come with the list."""
    if _approvals(approval) == 1:
        return ""
    required = _required(approval.demands)  # type: ignore[attr-defined] # annotated
    approval.token.agent = approval.agent
    counting = votes_that_count(approval, required, now, approval.votes.all())
    return f"{len(counting)} of {required.approvals} approved"


LOOKED_THROUGH = 1000
"""How many of the latest answers are looked through for what is asked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """What a tab of the queue shows.

    Attributes:
        waiting: What waits, whichever tab is open and whatever is left out of it.
        mine: How much of that needs the reader, or is assigned to them, and is not snoozed.
        assigned: How much of that is assigned to the reader.
        snoozed: How much of that the reader snoozed.
        found: How much the filters leave.
        more: How much of that has no row.
    """

    filters: Filters
    rows: list[QueueRow]
    waiting: int
    mine: int
    assigned: int
    snoozed: int
    found: int

    @property
    def show(self) -> str:
        """Which tab is open."""
        return self.filters.show

    @property
    def here(self) -> int:
        """How many waiting requests the reader did not snooze."""
        return self.waiting - self.snoozed

    @property
    def more(self) -> int:
        """How much there is without a row."""
        return self.found - len(self.rows)

    @property
    def groups(self) -> list[RunRows]:
        """The rows, those of one run together where they follow each other."""
        return rows_by_run(self.rows)


def listed(filters: Filters, person: User, now: datetime) -> Listing:
    """List what the address of the queue asks for."""
    own = personal_queue(person, now)
    waiting = queries.queue(now).count()
    if filters.show == "decided":
        shown = queue_rows(_decided(filters), person, now)
        found = len(shown)
    else:
        open_now = queries.queue(now).select_related("agent", "token", "poll")
        asked = filtered(_tab(open_now, filters, own), filters.narrowing)
        asked = asked.filter(pk__in=own.due) if filters.mine else asked
        shown = queue_rows(_ordered(asked, filters)[:MOST_ROWS], person, now)
        found = asked.count() if len(shown) == MOST_ROWS else len(shown)
    return Listing(
        filters=filters,
        rows=shown,
        waiting=waiting,
        mine=len(own.due),
        assigned=len(own.assigned),
        snoozed=len(own.snoozed),
        found=found,
    )


def _tab(approvals: ApprovalQuerySet, filters: Filters, own: PersonalQueue) -> ApprovalQuerySet:
    if filters.show == "claimed":
        return approvals.filter(pk__in=own.assigned)
    if filters.show == "later":
        return approvals.filter(pk__in=own.snoozed)
    return approvals.exclude(pk__in=own.snoozed) if own.snoozed else approvals


def _ordered(approvals: ApprovalQuerySet, filters: Filters) -> ApprovalQuerySet:
    if not filters.by_risk:
        return approvals
    return approvals.alias(first=queries.gravest_rank()).order_by("-first", "expires_at", "pk")


def _decided(filters: Filters) -> ApprovalQuerySet:
    if not filters.narrows:
        return queries.lately_closed()
    closed = queries.among_the_latest(LOOKED_THROUGH)
    return queries.lately_closed(among=filtered(closed, filters.narrowing))


@require_safe
@for_readers
def queue(request: PersonRequest) -> HttpResponse:
    """Show the list, and beside it what to do next."""
    return render(request, "desk/queue.html", {"listing": listing_of(request)})


@require_safe
@for_readers
def queue_list(request: PersonRequest) -> HttpResponse:
    """Show the list alone, for open pages that heard of a change."""
    return render(request, "desk/_news.html", {"listing": listing_of(request)})


def listing_of(request: PersonRequest) -> Listing:
    """Return the list that the address of ``request`` asks for."""
    return listed(filters_of(request.GET), request.user, database_now())


@require_safe
@for_readers
def due(request: PersonRequest) -> HttpResponse:
    """Say how many requests need the reader, when the newest came and the first one ends."""
    due = personal_queue(request.user, database_now()).due
    ends = ApprovalRequest.objects.filter(pk__in=due).aggregate(
        newest=Max("submitted_at"), soonest=Min("expires_at")
    )
    return JsonResponse({"mine": len(due), **ends})
