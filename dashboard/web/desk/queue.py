"""The queue: its filters, its tabs, and its rows."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from django import forms
from django.db.models import Case, Max, Min, Q, Value, When
from django.db.models.functions import Left, Length, Replace, Right
from django.db.models.lookups import GreaterThan, LessThan
from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.urls import Resolver404, resolve, reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from approval_client.wire import Kind, Status
from dashboard.accounts.models import Agent, Group, User
from dashboard.approvals import queries
from dashboard.approvals.clock import database_now
from dashboard.approvals.models import (
    ApprovalQuerySet,
    ApprovalRequest,
    Decision,
)
from dashboard.approvals.rules.answer import votes_that_count
from dashboard.approvals.rules.bulk import MOST
from dashboard.approvals.rules.queue import (
    PersonalQueue,
    QueueFilter,
    filtered,
    is_abandoned,
    personal_queue,
)
from dashboard.approvals.rules.view import Presence, presence
from dashboard.inspection.findings import Finding, Report, Severity
from dashboard.policies.demands import Required
from dashboard.web import times, words
from dashboard.web.access import for_readers
from dashboard.web.desk.view import viewing_now
from dashboard.web.drawing.markup import EMPTY, trusted, untrusted
from dashboard.web.drawing.redaction import redacted
from dashboard.web.drawing.summary import HEAD, TAIL, Summary, summarized
from dashboard.web.findings import SEVERITIES
from dashboard.web.forms import offer_choices
from dashboard.web.http import PersonRequest
from dashboard.web.times import Moment, TimeLeft
from dashboard.web.words import decided_by

LONGEST_SEARCH = 200

MOST_ROWS = 80
"""How many requests stand on one page of the list."""

MOST_PAGES = 10_000

TABS = ("waiting", "assigned", "snoozed", "abandoned", "decided")

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
    "page": "There is no such page, so this is the first.",
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
    order = _choice("Sort", [("", "by time left"), ("risk", "by risk")])
    agent = _choice("Agent", [])
    kind = _choice("Kind", [("", "All kinds"), *((str(k), words.KINDS[k]) for k in Kind)])
    severity = _choice("Found", [(str(value), label) for value, label in _SEVERITIES])
    group = _choice("Needs approval from", [])
    capability = _text_field("Capability, exactly")
    page = forms.IntegerField(min_value=1, max_value=MOST_PAGES, required=False)

    def __init__(self, data: Any, agents: Iterable[str], groups: Iterable[str]) -> None:
        super().__init__(data, auto_id="filter-%s")
        self._offer("agent", "All agents", agents)
        self._offer("group", "Anybody", groups)

    @property
    def folded(self) -> list[forms.BoundField]:
        """The fields that are one press away."""
        return [self[name] for name in _FOLDED]

    @property
    def left_out(self) -> list[str]:
        """What in the address is wrong, and what was done instead, once for each."""
        return [_LEFT_OUT[name] for name in self.errors]

    def _offer(self, name: str, everything: str, names: Iterable[str]) -> None:
        offer_choices(self, name, [("", everything), *((one, one) for one in names)])


# What is decided needs nobody and has no time left; "mine" adds nothing to the others.
_NOT_WITH = {
    "assigned": ("mine",),
    "snoozed": ("mine",),
    "abandoned": ("mine",),
    "decided": ("mine", "order"),
}

_FOLDED = ("agent", "kind", "severity", "group", "capability")


@dataclass(frozen=True, kw_only=True, slots=True)
class Filters:
    """Which requests are listed, and which comes first.

    Attributes:
        page: Which page of the list, from 1; None where the address names none.
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
    page: int | None
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
    said = {name: str(value) for name, value in asked.cleaned_data.items() if value}
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
        page=int(said["page"]) if "page" in said else None,
        query=urlencode(said),
        unfiltered=urlencode(tab),
        tabs=_tabs(said),
        problems=problems,
        form=form,
        folded=sum(name in said for name in _FOLDED),
    )


def _tabs(said: dict[str, str]) -> dict[str, str]:
    kept = _without(said, "show", "mine", "page")
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


_FINDING = re.compile(
    r'\{"block":(\d+),"end_line":(\d+),"line":(\d+),"name":"([a-z-]+)",'
    r'"sentence":"((?:[^"\\]|\\.){0,1000})","severity":"([a-z]+)"'
)  # as reports are written; quotation marks within a sentence are escaped

REPORT = 12_000
"""How many characters of a report are read for a row. Most are shorter."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueRow:
    """One request in the list. What is the agent's voice in it is drawn.

    Attributes:
        risk: The highest severity of what was found, where that is no mere note.
        risk_said: The same in words, with our sentence about the gravest finding.
        summary: Its title, and the line below that.
        purpose: What the agent says it is for, where there is no line.
        together: The agent and the run; empty where the agent named none.
        progress: How many approved, where several have to: the numbers, and in words.
        assigned_words: Who is assigned, in words; ``is_mine`` says whether that is the reader.
        viewing: Who else has it open, in words.
        snoozed_until: Until when the reader snoozed it.
        alike: What those share that may be answered together; None if it is read alone.
    """

    id: UUID
    kind: str
    kind_word: str
    status: str
    status_word: str
    risk: str
    risk_said: str
    summary: Summary
    purpose: SafeString
    agent: str
    run: SafeString
    together: tuple[int, str] | None
    progress: tuple[str, str] | None
    assigned_words: str
    is_mine: bool
    viewing: str
    snoozed_until: str
    alike: tuple[object, ...] | None
    asked: Moment
    left: TimeLeft | None
    is_abandoned: bool
    closed: Moment | None
    closer: str


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands in the list: a row, rows of one run under a heading, or a fold of alike ones."""

    rows: list[QueueRow]
    is_fold: bool = False

    @property
    def is_run(self) -> bool:
        """Whether they stand under a heading of their own."""
        return len(self.rows) > 1 and not self.is_fold

    @property
    def href(self) -> str:
        """Where those of a fold are answered together."""
        return f"{reverse('web:bulk')}?{urlencode([('id', row.id) for row in self.rows])}"

    @property
    def values(self) -> SafeString:
        """What tells the first of a fold from each other."""
        told = [row.summary.values for row in self.rows[:_MOST_VALUES] if row.summary.values]
        return trusted(" · ".join(dict.fromkeys(told)))

    @property
    def has_low_risk(self) -> bool:
        """Whether anything was found in those of a fold."""
        return any(row.risk for row in self.rows)


_MOST_VALUES = 8

LEAST_ALIKE = 3
"""Fewer than these are not worth a page of their own."""


def queue_rows(
    approvals: ApprovalQuerySet, person: User, now: datetime, due: Collection[UUID] = ()
) -> list[QueueRow]:
    """Present requests, without reading a whole content or report of any.

    Args:
        approvals: Which ones, in order.
        person: Who reads.
        now: The moment.
        due: What needs this person.
    """
    annotated = approvals.annotate(
        abandoned=is_abandoned(now),
        head=Left("content", HEAD),
        tail=Right("content", TAIL),
        lines=_lines_of_code(),
        purpose=Left("objective", _PURPOSE),
        risk=queries.gravest_rank(),
        report=Left(queries.last_report(), REPORT),
        grave=queries.about_the_gravest(),
        demands=queries.last_demands(),
    )
    light = list(annotated.defer("content", "evidence", "objective"))
    open_now = [approval.pk for approval in light if approval.status == Status.PENDING]
    queries.fetch_votes([a for a in light if a.status == Status.PENDING and _approvals(a) > 1])
    found = presence(open_now, person, now)
    return [_row(approval, person, now, found, due) for approval in light]


def folded(listed: Sequence[QueueRow], opened: UUID | None) -> list[Entry]:
    """Fold those that are alike, and put rows of one run under one heading. Nothing else moves.

    The row of the request that is open stands for itself.
    """
    keys = [None if row.id == opened else row.alike for row in listed]
    counts = Counter(key for key in keys if key)
    folds: dict[object, Entry] = {}
    entries: list[Entry] = []
    for row, key in zip(listed, keys, strict=True):
        before = entries[-1] if entries else None
        if key and counts[key] >= LEAST_ALIKE:
            if key not in folds or len(folds[key].rows) == MOST:
                folds[key] = Entry([], is_fold=True)
                entries.append(folds[key])
            folds[key].rows.append(row)
        elif before and not before.is_fold and row.together and _is_of(before, row):
            before.rows.append(row)
        else:
            entries.append(Entry([row]))
    return [Entry(entry.rows, is_fold=entry.is_fold and len(entry.rows) > 1) for entry in entries]


def _is_of(entry: Entry, row: QueueRow) -> bool:
    return entry.rows[0].together == row.together


_PURPOSE = 160

_COUNTED = 200_000
"""Characters; the lines of what is longer are not counted for a row."""


def _lines_of_code() -> Case:
    """Count the lines of a code that is too long for its row to hold; 0 for any other content."""
    written = Replace("content", Value("\\\\"), Value(""))
    without = Replace(written, Value("\\n"), Value(""))
    count = (Length(written) - Length(without)) / 2 + 1
    is_long = Q(GreaterThan(Length("content"), HEAD), LessThan(Length("content"), _COUNTED))
    return Case(When(is_long, kind=Kind.CODE, then=count), default=Value(0))


_LAST_LINE = re.compile(r'\\n"(?:,"language":"[^"]*")?\}\Z')


def _lines(approval: Any) -> int:
    ends_line = approval.lines and _LAST_LINE.search(approval.tail)
    return int(approval.lines) - bool(ends_line)


def _row(
    approval: Any, person: User, now: datetime, found: Presence, due: Collection[UUID]
) -> QueueRow:
    is_open = approval.status == Status.PENDING
    decision: Decision | None = None if is_open else approval.decision
    left = times.time_left(approval.submitted_at, approval.expires_at, now) if is_open else None
    assignment = found.assignments.get(approval.pk)
    snoozed_until = found.snoozed_until.get(approval.pk)
    is_mine = assignment is not None and assignment.person_id == person.pk
    report = _report(approval.report or "", approval.grave or "")
    summary = summarized(
        approval.kind, approval.head, approval.tail, report, lines=_lines(approval)
    )
    risk = _risk(approval.risk)
    is_free = is_open and not snoozed_until and (assignment is None or is_mine)
    may_join = is_free and approval.pk in due and not approval.abandoned
    return QueueRow(
        id=approval.pk,
        risk=risk or "",
        risk_said=_risk_said(risk, report),
        kind=approval.kind,
        kind_word=words.KINDS[Kind(approval.kind)],
        status=approval.status,
        status_word=words.STATUSES[Status(approval.status)],
        summary=summary,
        purpose=EMPTY if summary.line else redacted(approval.purpose),
        agent=approval.agent.name,
        run=untrusted(approval.run_id),
        together=(approval.agent_id, approval.run_id) if approval.run_id else None,
        progress=_progress(approval, now) if is_open else None,
        assigned_words=""
        if assignment is None
        else "you"
        if is_mine
        else assignment.person.username,
        is_mine=is_mine,
        viewing=viewing_now(found.viewing.get(approval.pk, [])),
        snoozed_until=times.clock(snoozed_until) if snoozed_until else "",
        alike=_alike(approval, report, summary) if may_join else None,
        asked=times.moment(approval.submitted_at, now),
        left=left,
        is_abandoned=approval.abandoned and is_open,
        closed=times.moment(decision.decided_at, now) if decision else None,
        closer=decided_by(decision, person) if decision else "",
    )


def _report(text: str, grave: str) -> Report:
    """Read a report, or as much of it as is here; ``grave`` ends with its first high finding."""
    found = [
        Finding(name, Severity(severity), int(line), int(end), json.loads(f'"{said}"'), int(block))
        for part in (text, grave)
        for block, end, line, name, said, severity in _FINDING.findall(part)
    ]
    languages = _LANGUAGES.search(text)
    named = tuple(json.loads(languages[1])) if languages else ()
    return Report(tuple(dict.fromkeys(found)), named)


_LANGUAGES = re.compile(r'"languages":(\["[a-z", +#-]*\]|\[\])\}\Z')


def _risk_said(risk: Severity | None, report: Report) -> str:
    if not risk:
        return ""
    said = next((f.sentence for f in report.findings if f.severity is risk), "")
    ours = said.partition(": ")[0].rstrip(".")  # what stands behind the colon, the agent chose
    return f"{SEVERITIES[risk]} risk: {ours}" if ours else f"{SEVERITIES[risk]} risk"


def _alike(approval: Any, report: Report, summary: Summary) -> tuple[object, ...] | None:
    """Return what requests share that may be answered together; the page of many compares more.

    Calls of one tool with arguments of the same names; all else is read one by one.
    """
    if (
        not summary.shape
        or approval.risk > Severity.LOW.rank
        or _approvals(approval) > 1
        or report.has_doubts
    ):
        return None
    if len(approval.report) == REPORT:
        return None
    return (
        approval.agent_id,
        approval.kind,
        approval.capability,
        approval.demands,
        report.names,
        summary.shape,
    )


def _approvals(approval: Any) -> int:
    return _required(approval.demands).approvals


_required = lru_cache(256)(Required.from_json)  # a policy asks the same of many


def _risk(rank: int) -> Severity | None:
    return list(Severity)[rank] if rank > Severity.INFO.rank else None


def _progress(approval: Any, now: datetime) -> tuple[str, str] | None:
    """Count the approvals that still count; the votes come with the list."""
    if _approvals(approval) == 1:
        return None
    required = _required(approval.demands)
    approval.token.agent = approval.agent
    counting = len(votes_that_count(approval, required, now, approval.votes.all()))
    said = f"{counting} of {required.approvals} approved"
    return f"{counting}/{required.approvals}", said


LOOKED_THROUGH = 1000
"""How many of the latest answers are looked through for what is asked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """What a tab of the queue shows.

    Attributes:
        rows: The requests of this page, one by one; ``entries`` is how they stand in the list.
        waiting: What waits and is not abandoned, whichever tab is open.
        mine: How much of that needs the reader, or is assigned to them, and is not snoozed.
        assigned_count: How much is assigned to the reader.
        snoozed: How much the reader snoozed.
        abandoned: How much no agent waits for any more.
        found: How much the filters leave.
        page: Which page this is, from 1.
    """

    filters: Filters
    rows: list[QueueRow]
    entries: list[Entry]
    waiting: int
    here: int
    mine: int
    assigned_count: int
    snoozed: int
    abandoned: int
    found: int
    page: int

    @property
    def show(self) -> str:
        """Which tab is open."""
        return self.filters.show

    @property
    def hidden(self) -> int:
        """How much of what waits the filters leave out."""
        return max(0, self.waiting - self.found)

    @property
    def number(self) -> int:
        """Which of those that were found comes first on this page."""
        return (self.page - 1) * MOST_ROWS + 1

    @property
    def last_number(self) -> int:
        """Which of those that were found comes last on this page."""
        return self.number + len(self.rows) - 1

    @property
    def before(self) -> str:
        """The query of the page before this; empty if it is the first."""
        return self._page(self.page - 1) if self.page > 1 else ""

    @property
    def after(self) -> str:
        """The query of the page after this; empty if it is the last."""
        return self._page(self.page + 1) if self.last_number < self.found else ""

    def _page(self, page: int) -> str:
        said = QueryDict(self.filters.query, mutable=True)
        said["page"] = str(page)
        return f"?{said.urlencode()}"


def listed(filters: Filters, person: User, now: datetime, opened: UUID | None = None) -> Listing:
    """List what the address of the queue asks for.

    The row of the request that is ``opened`` is on the page where the address does not name one.
    """
    own = personal_queue(person, now)
    waiting = queries.queue(now).count() - len(own.abandoned_ids)
    page = 1
    if filters.show == "decided":
        shown = queue_rows(_decided(filters), person, now)
        found = len(shown)
    else:
        open_now = queries.queue(now).select_related("agent", "token", "poll")
        asked = filtered(_tab(open_now, filters, own, opened, now), filters.narrowing)
        ordered = _ordered(asked, filters)
        page, shown = _page_of(ordered, filters.page, opened, person, now, own.due_ids)
        is_all = page == 1 and len(shown) < MOST_ROWS
        found = len(shown) if is_all else asked.count()
    return Listing(
        filters=filters,
        rows=shown,
        entries=folded(shown, opened),
        waiting=waiting,
        here=waiting - len(own.snoozed_ids - own.abandoned_ids),
        mine=len(own.due_ids),
        assigned_count=len(own.assigned_ids),
        snoozed=len(own.snoozed_ids),
        abandoned=len(own.abandoned_ids),
        found=found,
        page=page,
    )


def _page_of(
    ordered: ApprovalQuerySet,
    page: int | None,
    opened: UUID | None,
    person: User,
    now: datetime,
    due: Collection[UUID],
) -> tuple[int, list[QueueRow]]:
    """Return the page that was asked for, else that of the open request, else the first."""

    def rows(number: int) -> list[QueueRow]:
        first = (number - 1) * MOST_ROWS
        return queue_rows(ordered[first : first + MOST_ROWS], person, now, due)

    shown = rows(page or 1)
    if page and page > 1 and not shown:  # it was answered meanwhile
        page = max(1, -(-ordered.count() // MOST_ROWS))
        return page, rows(page)
    if page or not opened or len(shown) < MOST_ROWS or opened in {row.id for row in shown}:
        return page or 1, shown
    ids = list(ordered.values_list("pk", flat=True))
    number = ids.index(opened) // MOST_ROWS + 1 if opened in ids else 1
    return number, rows(number) if number > 1 else shown


def _tab(
    approvals: ApprovalQuerySet,
    filters: Filters,
    own: PersonalQueue,
    opened: UUID | None,
    now: datetime,
) -> ApprovalQuerySet:
    if filters.show == "assigned":
        return approvals.filter(pk__in=own.assigned_ids)
    if filters.show == "snoozed":
        return approvals.filter(pk__in=own.snoozed_ids)
    if filters.show == "abandoned":
        return approvals.filter(pk__in=own.abandoned_ids)
    listed = approvals.alias(gone=is_abandoned(now)).filter(Q(gone=False) | Q(pk=opened))
    if filters.mine:
        listed = listed.filter(pk__in=own.due_ids)
    return listed.exclude(pk__in=own.snoozed_ids) if own.snoozed_ids else listed


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
    """Return the list that the address of ``request`` asks for, beside what is open there."""
    return listed(filters_of(request.GET), request.user, database_now(), _opened(request))


def _opened(request: PersonRequest) -> UUID | None:
    """Return which request is open: on this page, or on the page that fetches the list."""
    match = request.resolver_match
    opened = match.kwargs.get("approval_id") if match else None
    if opened is None:
        try:
            path = urlsplit(request.headers.get("HX-Current-URL", "")).path
            opened = resolve(path).kwargs.get("approval_id")
        except (ValueError, Resolver404):
            return None
    return opened if isinstance(opened, UUID) else None


@require_safe
@for_readers
def due(request: PersonRequest) -> HttpResponse:
    """Say how many requests need the reader, when the newest came and the first one ends."""
    due = personal_queue(request.user, database_now()).due_ids
    ends = ApprovalRequest.objects.filter(pk__in=due).aggregate(
        newest=Max("submitted_at"), soonest=Min("expires_at")
    )
    return JsonResponse({"mine": len(due), **ends})
