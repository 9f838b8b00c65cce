"""The queue: its filters, its tabs, and its rows."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, lru_cache
from threading import Lock
from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from django import forms
from django.db.models import QuerySet
from django.db.models.functions import Left
from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.urls import Resolver404, resolve, reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from approval_client.wire import Kind
from dashboard.accounts.models import User
from dashboard.accounts.queries import names_of_agents_and_groups
from dashboard.approvals.models import (
    ApprovalQuerySet,
    ApprovalRequest,
    Decision,
)
from dashboard.approvals.queries.closing import among_the_latest, lately_closed
from dashboard.approvals.queries.queue import class_of_tool, gravest_rank, last_demands
from dashboard.approvals.rules.answer import votes_that_count
from dashboard.approvals.rules.bulk import MOST
from dashboard.approvals.rules.queue import (
    OpenQueue,
    PersonalQueue,
    QueueFilter,
    Waiting,
    filtered,
    open_queue,
    personal_queue,
)
from dashboard.clock import database_now
from dashboard.inspection.findings import Severity
from dashboard.inspection.headline import Headline
from dashboard.live import push
from dashboard.policies.rules.demands import Required
from dashboard.policies.rules.rule import ToolClass
from dashboard.policies.rules.wording import CLASSES
from dashboard.statements import Many, rows
from dashboard.web import times, words
from dashboard.web.access import for_readers
from dashboard.web.desk.view import viewing_now
from dashboard.web.drawing import moments
from dashboard.web.drawing.markup import EMPTY, trusted, untrusted
from dashboard.web.drawing.redaction import redacted
from dashboard.web.drawing.summary import Summary, headline_of, leading_sentence, summarized
from dashboard.web.findings import SEVERITIES
from dashboard.web.forms import offer_choices, plain
from dashboard.web.http import PersonRequest
from dashboard.web.times import Moment, TimeLeft
from dashboard.web.words import decided_by

LONGEST_SEARCH = 200

MOST_ROWS = 80
"""How many requests stand on one page of the list."""

MOST_PAGES = 10_000

TABS = ("waiting", "assigned", "snoozed", "abandoned", "decided")

_LEFT_OUT = {
    "show": "Unknown tab. Showing the requests that wait.",
    "agent": "There is no agent of that name, so the list holds those of all agents.",
    "kind": "There is no such kind of request, so the list holds all kinds.",
    "capability": "That cannot be the name of a capability, so the list holds all of them.",
    "severity": "There is no such severity, so the list holds all of them.",
    "mine": 'Unknown value for "mine". Showing all requests.',
    "group": "Unknown group. Showing the requests of all groups.",
    "q": f"A search is text of at most {LONGEST_SEARCH} characters, so nothing was searched for.",
    "order": "There is no such order, so what has the least time left comes first.",
    "page": "There is no such page, so this is the first.",
}

_SEVERITIES = [
    ("", "Any or none"),
    (Severity.LOW, "Low or higher"),
    (Severity.MEDIUM, "Medium or high"),
    (Severity.HIGH, "High"),
]


def _choice(label: str, choices: list[tuple[str, str]]) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=choices, required=False)


def _text_field(label: str, **attrs: str) -> forms.CharField:
    widget = plain(**attrs)
    return forms.CharField(label=label, max_length=LONGEST_SEARCH, required=False, widget=widget)


Names = Callable[[], tuple[list[str], list[str]]]
"""Reads the names of agents and of groups."""


_FOLDED = ("agent", "kind", "severity", "group", "capability")


class QueueForm(forms.Form):
    """Asks which requests to list, and which comes first."""

    show = _choice("Which requests", [(tab, "") for tab in TABS])
    q = _text_field(
        "Search content, objective and run", type="search", placeholder="Search", dir="auto"
    )
    mine = _choice("Needs me", [("1", "")])
    order = _choice("Sort", [("", "by time left"), ("risk", "by risk")])
    agent = _choice("Agent", [])
    kind = _choice("Kind", [("", "All kinds"), *((str(k), words.KINDS[k]) for k in Kind)])
    severity = _choice("Risk", [(str(value), label) for value, label in _SEVERITIES])
    group = _choice("Needs approval from", [])
    capability = _text_field("Capability, exactly")
    page = forms.IntegerField(min_value=1, max_value=MOST_PAGES, required=False)

    def __init__(self, data: Any, names: Names) -> None:
        super().__init__(data, auto_id="filter-%s")
        self._offer("agent", "All agents", lambda: names()[0])
        self._offer("group", "Anybody", lambda: names()[1])

    @property
    def folded(self) -> list[forms.BoundField]:
        """The fields that are one press away."""
        return [self[name] for name in _FOLDED]

    @property
    def left_out(self) -> list[str]:
        """What in the address is wrong, and what was done instead, once for each."""
        return [_LEFT_OUT[name] for name in self.errors]

    def _offer(self, name: str, everything: str, names: Callable[[], list[str]]) -> None:
        # Called when they are drawn or checked: a list that is fetched alone does neither.
        offer_choices(self, name, lambda: [("", everything), *((word, word) for word in names())])


# What is decided needs nobody and has no time left; "mine" adds nothing to the others.
_NOT_WITH = {
    "assigned": ("mine",),
    "snoozed": ("mine",),
    "abandoned": ("mine",),
    "decided": ("mine", "order"),
}


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
    names = cache(names_of_agents_and_groups)
    form = QueueForm(address, names)
    problems = form.left_out  # this reads it
    query = {name: str(value) for name, value in form.cleaned_data.items() if value}
    if query.get("show") == "waiting":
        del query["show"]
    query = _without(query, *_NOT_WITH.get(query.get("show", ""), ()))
    return _filters(query, problems, QueueForm(query, names))


def _filters(parameters: dict[str, str], problems: list[str], form: QueueForm) -> Filters:
    tab = [(name, parameters[name]) for name in ("show", "order") if name in parameters]
    return Filters(
        show=parameters.get("show", "waiting"),
        mine="mine" in parameters,
        by_risk="order" in parameters,
        narrowing=_narrowing(parameters),
        page=int(parameters["page"]) if "page" in parameters else None,
        query=urlencode(parameters),
        unfiltered=urlencode(tab),
        tabs=_tabs(parameters),
        problems=problems,
        form=form,
        folded=sum(name in parameters for name in _FOLDED),
    )


def _tabs(parameters: dict[str, str]) -> dict[str, str]:
    base = _without(parameters, "show", "mine", "page")
    shows = {show: {"show": show} | _without(base, *names) for show, names in _NOT_WITH.items()}
    tabs = {"waiting": base, "mine": {"mine": "1"} | base, **shows}
    return {tab: f"?{urlencode(query)}" if query else "" for tab, query in tabs.items()}


def _narrowing(parameters: dict[str, str]) -> QueueFilter:
    return QueueFilter(
        agent=parameters.get("agent", ""),
        kind=parameters.get("kind", ""),
        capability=parameters.get("capability", ""),
        severity=Severity(parameters["severity"]) if "severity" in parameters else None,
        group=parameters.get("group", ""),
        text=parameters.get("q", ""),
    )


def _without(parameters: dict[str, str], *names: str) -> dict[str, str]:
    return {name: value for name, value in parameters.items() if name not in names}


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
        tool_class: Of the tool that is called; empty where nobody has classed it.
        is_due: Whether it waits for the reader's own approval.
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
    progress: tuple[str, str] | None = None
    assigned_words: str = ""
    is_mine: bool = False
    viewing: str = ""
    snoozed_until: SafeString = EMPTY
    alike: tuple[object, ...] | None = None
    tool_class: str = ""
    left: TimeLeft | None = None
    is_abandoned: bool = False
    is_due: bool = False
    closed: Moment | None = None
    closer: str = ""


_MOST_VALUES = 8


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
        texts = [row.summary.values for row in self.rows[:_MOST_VALUES] if row.summary.values]
        return trusted(" · ".join(dict.fromkeys(texts)))

    @property
    def tool_said(self) -> str:
        """How the tool of a fold is classed."""
        tool_class = self.rows[0].tool_class
        return CLASSES[tool_class] if tool_class else "nobody has classed this tool"

    @property
    def has_low_risk(self) -> bool:
        """Whether anything was found in those of a fold."""
        return any(row.risk for row in self.rows)


LEAST_ALIKE = 3
"""Fewer than these are not worth a page of their own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RowContent:
    """What the row of a request says while its version stays, whoever reads it.

    Attributes:
        approval: The request without its texts, with its agent and its token. Rows share it, so
            nothing may be set on it.
        risk: The highest severity of what was found, where that is no mere note.
        required: What the policy asks of the people who approve.
        alike: What those share that may be answered together; None if it is read alone.
        tool_class: Of the tool that is called; empty where nobody has classed it.
    """

    approval: ApprovalRequest
    risk: Severity | None
    risk_said: str
    summary: Summary
    purpose: SafeString
    run: SafeString
    required: Required
    alike: tuple[object, ...] | None
    tool_class: str


_KEPT = 4 * MOST_ROWS
_kept = OrderedDict[tuple[UUID, int], RowContent]()
"""The contents of rows that were shown last, by id and version, under which they never change."""
_keeping = Lock()


def _contents(wanted: Sequence[tuple[UUID, int]]) -> list[RowContent]:
    """Return what rows say, without reading the content or the report of any.

    ``wanted`` are ids and versions. What was read before is not read again.
    """
    with _keeping:
        here = {key: _kept[key] for key in wanted if key in _kept}
    missing_ids = [key[0] for key in wanted if key not in here]
    if missing_ids:
        contents = [_content(approval) for approval in _described(missing_ids)]
        here |= {(row.approval.pk, row.approval.version): row for row in contents}
    # An older version left no headline; as soon as it is made, the row says more.
    lasting = {key: row for key, row in here.items() if hasattr(row.approval, "headline")}
    with _keeping:
        _kept.update(lasting)
        for key in lasting:
            _kept.move_to_end(key)
        while len(_kept) > _KEPT:
            _kept.popitem(last=False)
    # One that changed since its version was read is shown as it is now; the next news say so.
    present = {pk: row for (pk, _), row in here.items()}
    return [here.get(key) or present[key[0]] for key in wanted]


_PURPOSE = 160


@rows(Many(ApprovalRequest.id))
def _described(ids: Iterable[UUID]) -> QuerySet[ApprovalRequest]:
    annotated = ApprovalRequest.objects.filter(pk__among=ids).annotate(
        purpose=Left("objective", _PURPOSE),
        risk=gravest_rank(),
        demands=last_demands(),
        tool_class=class_of_tool(),
    )
    light = annotated.select_related(
        "agent", "headline", "token__agent", "recall__person"
    ).order_by()
    return light.defer("content", "evidence", "objective")


_required = lru_cache(256)(Required.from_json)  # a policy asks the same of many


def _content(approval: Any) -> RowContent:
    headline = headline_of(approval)
    summary = summarized(approval.kind, headline)
    risk = _risk(approval.risk)
    required = _required(approval.demands)
    return RowContent(
        approval=approval,
        risk=risk,
        risk_said=_risk_said(headline, risk),
        summary=summary,
        purpose=EMPTY if summary.line else redacted(approval.purpose),
        run=untrusted(approval.run_id),
        required=required,
        alike=_alike(approval, required, headline),
        tool_class=approval.tool_class or "",
    )


def folded(listed: Sequence[QueueRow], opened: UUID | None) -> list[Entry]:
    """Fold those that are alike, and put rows of one run under one heading. Nothing else moves.

    The row of the request that is open stands for itself.
    """
    keys = [None if row.id == opened else row.alike for row in listed]
    counts = Counter(key for key in keys if key)
    folds: dict[object, Entry] = {}
    entries: list[Entry] = []
    for row, key in zip(listed, keys, strict=True):
        last_entry = entries[-1] if entries else None
        if key and counts[key] >= LEAST_ALIKE:
            if key not in folds or len(folds[key].rows) == MOST:
                folds[key] = Entry([], is_fold=True)
                entries.append(folds[key])
            folds[key].rows.append(row)
        elif last_entry and not last_entry.is_fold and row.together and _is_of(last_entry, row):
            last_entry.rows.append(row)
        else:
            entries.append(Entry([row]))
    return [Entry(entry.rows, is_fold=entry.is_fold and len(entry.rows) > 1) for entry in entries]


def _is_of(entry: Entry, row: QueueRow) -> bool:
    return entry.rows[0].together == row.together


def _waiting_rows(
    shown: Sequence[Waiting], personal: PersonalQueue, person: User
) -> list[QueueRow]:
    contents = _contents([(approval.id, approval.version) for approval in shown])
    pairs = zip(shown, contents, strict=True)
    return [_waiting_row(approval, content, personal, person) for approval, content in pairs]


def _waiting_row(
    one: Waiting, content: RowContent, personal: PersonalQueue, person: User
) -> QueueRow:
    assignment = personal.presence.assignments.get(one.id)
    snoozed_until = personal.presence.snoozed_until.get(one.id)
    is_mine = assignment is not None and assignment.person_id == person.pk
    is_free = not snoozed_until and (assignment is None or is_mine)
    may_join = is_free and one.id in personal.due_ids and not one.is_abandoned
    assigned_to = assignment.person.username if assignment else ""
    return _row(
        content,
        progress=_progress(content, personal.waiting),
        assigned_words="you" if is_mine else assigned_to,
        is_mine=is_mine,
        viewing=viewing_now(personal.presence.viewing.get(one.id, [])),
        snoozed_until=moments.clock(snoozed_until) if snoozed_until else EMPTY,
        alike=content.alike if may_join else None,
        tool_class=content.tool_class,
        left=times.time_left(one.submitted_at, one.expires_at, personal.waiting.now),
        is_abandoned=one.is_abandoned,
        is_due=one.id in personal.due_ids,
    )


def _closed_row(content: RowContent, decision: Decision, person: User, now: datetime) -> QueueRow:
    closed = times.moment(decision.decided_at, now)
    return _row(content, closed=closed, closer=decided_by(decision, person))


def _row(content: RowContent, **more: Any) -> QueueRow:
    approval = content.approval
    status, word = words.standing(approval)
    return QueueRow(
        id=approval.pk,
        risk=content.risk or "",
        risk_said=content.risk_said,
        kind=approval.kind,
        kind_word=words.KINDS[Kind(approval.kind)],
        status=status,
        status_word=word,
        summary=content.summary,
        purpose=content.purpose,
        agent=approval.agent.name,
        run=content.run,
        together=(approval.agent_id, approval.run_id) if approval.run_id else None,
        **more,
    )


_NOT_KEPT = "Not fully inspected"


def _risk_said(headline: Headline | None, risk: Severity | None) -> str:
    if not risk:
        return ""
    gravest = leading_sentence(headline) if headline else _NOT_KEPT
    return f"{SEVERITIES[risk]} risk: {gravest}"


def _alike(
    approval: Any, required: Required, headline: Headline | None
) -> tuple[object, ...] | None:
    """Return what requests share that may be answered together; the page of many compares more.

    Calls of one tool with arguments of the same names; all else is read one by one.
    """
    if (
        headline is None
        or not headline.shape
        or approval.risk > Severity.LOW.rank
        or required.approvals > 1
        or required.proof
        or headline.has_doubts
        or approval.tool_class == ToolClass.IRREVERSIBLE
    ):
        return None
    return (
        approval.agent_id,
        approval.tool_id,
        approval.kind,
        approval.capability,
        approval.demands,
        headline.found,
        headline.shape,
    )


def _risk(rank: int) -> Severity | None:
    return list(Severity)[rank] if rank > Severity.INFO.rank else None


def _progress(content: RowContent, waiting: OpenQueue) -> tuple[str, str] | None:
    """Count the approvals that still count, where several people have to approve."""
    approval, required = content.approval, content.required
    if required.approvals == 1:
        return None
    votes = waiting.votes.get(approval.pk, [])
    counting = len(votes_that_count(approval, required, waiting.now, votes))
    sentence = f"{counting} of {required.approvals} approved"
    return f"{counting}/{required.approvals}", sentence


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
        query = QueryDict(self.filters.query, mutable=True)
        query["page"] = str(page)
        return f"?{query.urlencode()}"


SHARED_FOR = timedelta(seconds=1)


class _SharedQueue:
    """The latest read of all that waits, for all pages that show the list.

    Open pages are told at the same moment and ask at the same moment, and who opens one page after
    the other needs no new list for each: one read serves all of them.
    It is used again only while this process heard of nothing newer, and not for long: what time
    alone changes is told to nobody. Nothing is decided by it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._heard: int | None = None
        self._latest: OpenQueue | None = None

    def read(self) -> OpenQueue:
        """Return what waits, as new as what this process heard of."""
        news = push.heard()  # before the read: what is heard meanwhile may not be in it
        with self._lock:
            now = database_now()
            if not self._latest or news is None or news != self._heard or self._is_old(now):
                self._heard, self._latest = news, open_queue(now)
            return self._latest

    def _is_old(self, now: datetime) -> bool:
        # Neither when a clock was set back.
        return not timedelta() <= now - self._latest.now <= SHARED_FOR if self._latest else True


_shared = _SharedQueue()


def listed(
    filters: Filters,
    person: User,
    personal: PersonalQueue,
    opened: UUID | None = None,
) -> Listing:
    """List what the address of the queue asks for.

    The row of the request that is ``opened`` is on the page where the address does not name one.
    """
    page = 1
    if filters.show == "decided":
        page_rows = _decided_rows(filters, person, personal.waiting.now)
        total = len(page_rows)
    else:
        approvals = _asked(filters, personal, opened)
        total, page = len(approvals), _page(filters.page, approvals, opened)
        start = (page - 1) * MOST_ROWS
        page_rows = _waiting_rows(approvals[start : start + MOST_ROWS], personal, person)
    here = len(personal.waiting.requests) - len(personal.abandoned_ids)
    return Listing(
        filters=filters,
        rows=page_rows,
        entries=folded(page_rows, opened),
        waiting=here,
        here=here - len(personal.snoozed_ids - personal.abandoned_ids),
        mine=len(personal.due_ids),
        assigned_count=len(personal.assigned_ids),
        snoozed=len(personal.snoozed_ids),
        abandoned=len(personal.abandoned_ids),
        found=total,
        page=page,
    )


def _page(page: int | None, asked: Sequence[Waiting], opened: UUID | None) -> int:
    """Return the page that was asked for, else that of the open request, else the first."""
    if page:
        last_page = max(1, -(-len(asked) // MOST_ROWS))
        return min(page, last_page)  # what was on a later one was answered meanwhile
    places = (place for place, approval in enumerate(asked) if approval.id == opened)
    return next(places, 0) // MOST_ROWS + 1


def _asked(filters: Filters, personal: PersonalQueue, opened: UUID | None) -> list[Waiting]:
    """Return what the filters leave, in the order that they ask for."""
    is_on_tab = _tab(filters, personal, opened)
    approvals = [approval for approval in personal.waiting.requests if is_on_tab(approval)]
    pending = ApprovalRequest.objects.open(personal.waiting.now).order_by()
    if filters.narrowing != QueueFilter():
        match = set(filtered(pending, filters.narrowing).values_list("pk", flat=True))
        approvals = [approval for approval in approvals if approval.id in match]
    if filters.by_risk:
        ranks = dict(pending.annotate(rank=gravest_rank()).values_list("pk", "rank"))
        approvals.sort(key=lambda one: -ranks.get(one.id, 0))  # else as before: by time left
    return approvals


def _tab(
    filters: Filters, personal: PersonalQueue, opened: UUID | None
) -> Callable[[Waiting], bool]:
    ids_by_tab = {
        "assigned": personal.assigned_ids,
        "snoozed": personal.snoozed_ids,
        "abandoned": personal.abandoned_ids,
    }
    if filters.show in ids_by_tab:
        ids = ids_by_tab[filters.show]
        return lambda one: one.id in ids
    hidden, due_ids = personal.snoozed_ids, personal.due_ids
    return lambda one: (
        (not one.is_abandoned or one.id == opened)
        and one.id not in hidden
        and (not filters.mine or one.id in due_ids)
    )


def _decided_rows(filters: Filters, person: User, now: datetime) -> list[QueueRow]:
    closed = list(_decided(filters).defer("content", "evidence", "objective"))
    contents = _contents([(approval.pk, approval.version) for approval in closed])
    pairs = zip(closed, contents, strict=True)
    return [_closed_row(content, approval.decision, person, now) for approval, content in pairs]


def _decided(filters: Filters) -> ApprovalQuerySet:
    if not filters.narrows:
        return lately_closed()
    closed = among_the_latest(LOOKED_THROUGH)
    return lately_closed(among=filtered(closed, filters.narrowing))


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


def queue_of(person: User) -> PersonalQueue:
    """Return what waits, for one person."""
    return personal_queue(_shared.read(), person)


def listing_of(request: PersonRequest, personal: PersonalQueue | None = None) -> Listing:
    """Return the list that the address of ``request`` asks for, beside what is open there.

    ``personal`` is what waits, where it was read before.
    """
    personal = personal or queue_of(request.user)
    return listed(filters_of(request.GET), request.user, personal, _opened(request))


def tab_of(request: PersonRequest) -> str:
    """Return which tab the list shows: on this page, or on the page that asks for a part of it."""
    address, query = request.headers.get("HX-Current-URL"), request.GET
    if address is not None:
        try:
            query = QueryDict(urlsplit(address).query)
        except ValueError:
            return TABS[0]
    return next((tab for tab in TABS if tab == query.get("show")), TABS[0])


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
    own_queue = queue_of(request.user)
    needed = [case for case in own_queue.waiting.requests if case.id in own_queue.due_ids]
    newest = max((case.submitted_at for case in needed), default=None)
    soonest = min((case.expires_at for case in needed), default=None)
    return JsonResponse({"mine": len(needed), "newest": newest, "soonest": soonest})
