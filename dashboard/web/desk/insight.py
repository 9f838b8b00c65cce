"""The insight: figures of a period, charts, one table at a time, and notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from http import HTTPStatus
from itertools import islice
from math import ceil
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode
from uuid import UUID
from zoneinfo import ZoneInfo, available_timezones

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from approval_client.wire import Status
from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest, Decision
from dashboard.approvals.rules import insight as insight_rules
from dashboard.approvals.rules.insight import (
    MOST_LISTED,
    NO_RULE,
    PERSON,
    PLACES,
    WAITS,
    WHOLE,
    Days,
    DaySums,
    FastVote,
    Period,
    PersonTally,
    Tally,
    Times,
    percentile,
    share,
)
from dashboard.clock import database_now
from dashboard.web import times, words
from dashboard.web.access import for_readers
from dashboard.web.drawing import charts
from dashboard.web.drawing.charts import (
    DaysChart,
    DecisionChart,
    HoursChart,
    ReadingChart,
    Sparkline,
)
from dashboard.web.drawing.markup import untrusted
from dashboard.web.drawing.summary import title_of
from dashboard.web.forms import BAD_DAY
from dashboard.web.http import PersonRequest

T = TypeVar("T")

LAST_DAYS = (7, 30, 90)

USUAL_DAYS = 30

MOST_DAYS = 366

TABLES = {
    "agent": "Agents",
    "capability": "Capabilities",
    "rule": "Rules",
    "person": "Reviewers",
    "day": "Days",
}


def _day_field(label: str) -> forms.DateField:
    return forms.DateField(
        label=label,
        required=False,
        input_formats=["%Y-%m-%d"],
        error_messages={"invalid": BAD_DAY},
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
    )


class InsightForm(forms.Form):
    """A period, by days back or by its first and last day, and a table with its order."""

    since = _day_field("Asked from (day, UTC)")
    until = _day_field("Asked until (day, UTC)")
    days = forms.TypedChoiceField(
        choices=[(days, days) for days in LAST_DAYS],
        coerce=int,
        required=False,
        widget=forms.HiddenInput,
        error_messages={"invalid_choice": "Choose 7, 30 or 90 days, or name the first one."},
    )
    by = forms.ChoiceField(
        choices=list(TABLES.items()),
        required=False,
        widget=forms.HiddenInput,
        error_messages={"invalid_choice": "There is no such table. Choose one of them."},
    )
    sort = forms.CharField(max_length=20, required=False, widget=forms.HiddenInput)
    zone = forms.CharField(max_length=64, required=False, widget=forms.HiddenInput)

    def clean_zone(self) -> str:
        """Take only the name of a zone that there is."""
        name: str = self.cleaned_data["zone"]
        if name and name not in available_timezones():
            raise ValidationError("There is no such time zone. Use a name such as Europe/Berlin.")
        return name

    def clean(self) -> dict[str, Any]:
        """Refuse days that are in the wrong order, or too many of them."""
        chosen: dict[str, Any] = super().clean() or {}
        since, until = chosen.get("since"), chosen.get("until")
        if until and not since and "since" not in self.errors:
            self.add_error("since", "Name the first day too.")
        elif since and until and until < since:
            self.add_error("until", "This is before the first day, so no day is left.")
        elif since and until and (until - since).days >= MOST_DAYS:
            self.add_error("since", f"These are more than {MOST_DAYS} days. Choose fewer.")
        return chosen

    @property
    def table(self) -> str:
        """Which table is open."""
        return str(self.cleaned_data.get("by") or "agent")

    @property
    def time_zone(self) -> ZoneInfo:
        """In which zone weekdays and hours are drawn."""
        return ZoneInfo(self.cleaned_data.get("zone") or "UTC")

    @property
    def kept_beside_days(self) -> list[forms.BoundField]:
        """What stays where other days are chosen: the table, its order and the zone."""
        fields = [self[name] for name in ("by", "sort", "zone")]
        return [field for field in fields if field.value() and not field.errors]

    @property
    def is_own_days(self) -> bool:
        """Whether days were named."""
        return bool(self.cleaned_data.get("since"))

    @property
    def days_back(self) -> int:
        """How many days back, where none were named."""
        return int(self.cleaned_data.get("days") or USUAL_DAYS)

    def period(self, now: datetime) -> Period:
        """Return what is asked for; a day begins at midnight UTC, and today belongs to it."""
        today = now.astimezone(UTC).date()
        since: date | None = self.cleaned_data["since"]
        if since is None:
            since, last_day = today - timedelta(days=self.days_back - 1), today
        else:
            usual = min(max(today, since), _days_after(since, MOST_DAYS - 1))
            last_day = self.cleaned_data["until"] or usual
        return Period(_midnight(since), _midnight(_days_after(last_day, 1)))

    def address(self, **changes: object) -> dict[str, str]:
        """Return what the address says, with some of it changed; ``None`` leaves something out."""
        query = {name: value for name, value in self.cleaned_data.items() if value}
        return {name: str(value) for name, value in (query | changes).items() if value}


def _days_after(day: date, days: int) -> date:
    return min(day, date.max - timedelta(days=days)) + timedelta(days=days)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


Number = float | None


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        key: How an address names it.
        value: What a row is sorted by; None where there is nothing to say.
        write: Puts that into words.
        has_bar: Whether it is a share, drawn as a bar beside the words.
        is_bad: Whether any value but zero is worth a look.
    """

    key: str
    words: str
    value: Callable[[Any], Number]
    write: Callable[[float], str]
    has_bar: bool = False
    is_bad: bool = False


def count(number: float) -> str:
    """Write how many."""
    return f"{number:,.0f}"


def percent(part: float) -> str:
    """Write a share."""
    return f"{part * 100:.0f} %"


def _half(times: Times) -> Number:
    return percentile(times, 50)


def _most(times: Times) -> Number:
    return percentile(times, 90)


GROUPS: tuple[Column, ...] = (
    Column("asked", "Requests", lambda t: t.asked, count),
    Column("people", "Asked people", lambda t: t.of_people, count),
    Column("rate", "Approved by them", lambda t: t.rate, percent, has_bar=True),
    Column("viewed", "First view, median", lambda t: _half(t.viewed_s), times.length),
    Column("viewed90", "90 % within", lambda t: _most(t.viewed_s), times.length),
    Column("decided", "Decision, median", lambda t: _half(t.decided_s), times.length),
    Column("decided90", "90 % within", lambda t: _most(t.decided_s), times.length),
    Column("unseen", "Expired unseen", lambda t: t.unseen, count, is_bad=True),
)

PEOPLE: tuple[Column, ...] = (
    Column("answers", "Answers", lambda a: a.approvals + a.rejections, count),
    Column("rate", "Approved", lambda a: a.rate, percent, has_bar=True),
    Column("waited", "Answered after, median", lambda a: _half(a.waited_s), times.length),
    Column("looked", "First view to approval, median", lambda a: _half(a.after_s), times.length),
    Column("quick", "In view under 2 s", lambda a: a.quick, count, is_bad=True),
    Column("unread", "Over 10 lines a second", lambda a: a.unread, count, is_bad=True),
    Column("overruled", "Approved, then rejected", lambda a: a.overruled, count, is_bad=True),
    Column(
        "reasons", "With a reason", lambda a: share(a.reasons, a.approvals + a.rejections), percent
    ),
)

MOST_ROWS = 100

_FIRST = {"person": "-answers", "day": "-name"}

_NAMES = {
    "agent": "Agent",
    "capability": "Capability it names",
    "rule": "Rule that decided",
    "person": "Reviewer",
    "day": "Day (UTC)",
}

NO_RULE_WORDS = untrusted("no rule: the modes")


class TableHead(NamedTuple):
    """The head of a column. ``order`` is how the table is sorted by it now, as ARIA says it."""

    words: str
    href: str
    order: str


class TableCell(NamedTuple):
    """A value in words, what its column is called, and a share of 100 for a bar, or -1."""

    text: str
    label: str
    tone: str
    bar: int


class TableRow(NamedTuple):
    """A row; ``is_untrusted`` if the agent chose its name."""

    name: SafeString
    is_untrusted: bool
    note: str
    cells: list[TableCell]
    approvals: Sparkline | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """One table, sorted. ``more`` rows are left out; ``has_lines`` if each has a sparkline."""

    title: str
    heads: list[TableHead]
    has_lines: bool
    rows: list[TableRow]
    more: int


class Figure(NamedTuple):
    """One number that says how it goes, with a sentence beside it."""

    words: str
    value: str
    note: str


def overview(sums: DaySums) -> list[Figure]:
    """Sum up the period."""
    total = sums.whole
    answers = total.approved + total.rejected
    reason_rate = share(total.reasons, answers)
    people = sums.people.values()
    return [
        Figure(
            "Requests",
            f"{total.asked:,}",
            f"{total.by_policy:,} answered by the policy, {total.by_grant:,} by a "
            f"remembered approval, {total.of_people:,} asked people",
        ),
        Figure(
            "Approved by people",
            _or_none(total.rate, percent),
            f"{total.approved:,} of {answers:,} answers; {_or_none(reason_rate, percent)} of them "
            "with a reason",
        ),
        _time("Time to first view", total.viewed_s),
        _time("Time to decision", total.decided_s),
        Figure(
            "Expired unseen", f"{total.unseen:,}", f"of {total.expired:,} that nobody answered"
        ),
        Figure(
            "Fast approvals",
            f"{sum(tally.fast for tally in people):,}",
            f"of {sum(tally.approvals for tally in people):,}: in view under 2 s, or over 10 "
            "lines a second",
        ),
    ]


def table(form: InsightForm, days: Days, sums: DaySums, period: Period, person: User) -> Table:
    """Return the table that the address asks for; reviewers see only their own row of people."""
    by = form.table
    columns = PEOPLE if by == "person" else GROUPS
    groups = _groups(by, days, sums, person)
    sort = _known(form.cleaned_data.get("sort") or "", columns) or _FIRST.get(by, "-asked")
    ordered = _sorted(groups, columns, sort)
    names = [name for name, _ in ordered[:MOST_ROWS]]
    lines = _sparklines(names, days, period) if by == "agent" else {}
    return Table(
        title=TABLES[by],
        heads=_heads(form, by, columns, sort),
        has_lines=bool(lines),
        rows=[_row(by, name, row, columns, lines.get(name)) for name, row in ordered[:MOST_ROWS]],
        more=max(0, len(ordered) - MOST_ROWS),
    )


def _sparklines(names: Sequence[str], days: Days, period: Period) -> dict[str, Sparkline]:
    each = days_each(period)
    counts_by_name = insight_rules.approvals_by_day(days, period, each)
    none = [0] * insight_rules.stretches(period, each)
    return {name: charts.sparkline(counts_by_name.get(name, none), each) for name in names}


Sums = Mapping[str, Tally | PersonTally]


def _groups(by: str, days: Days, sums: DaySums, person: User) -> Sums:
    if by == PERSON:
        return _seen_by(person, sums.people)
    if by == "day":
        return {f"{day:%Y-%m-%d}": day_sums.whole for day, day_sums in days.items()}
    return sums.groups[by]


def _seen_by(person: User, people: Mapping[str, T]) -> Mapping[str, T]:
    if roles.may_audit(person):
        return people
    return {name: sums for name, sums in people.items() if name == person.username}


def _known(sort: str, columns: Sequence[Column]) -> str:
    return sort if sort.removeprefix("-") in {"name", *(c.key for c in columns)} else ""


def _sorted(
    sums: Sums, columns: Sequence[Column], sort: str
) -> list[tuple[str, Tally | PersonTally]]:
    key, falls = sort.removeprefix("-"), sort.startswith("-")
    rows = sorted(sums.items(), key=lambda row: row[0].lower(), reverse=falls and key == "name")
    if key == "name":
        return rows
    value = next(column.value for column in columns if column.key == key)
    # What has no value comes last, whichever way it goes.
    rows.sort(key=lambda row: _place(value(row[1]), falls=falls))
    return rows


def _place(value: float | None, *, falls: bool) -> tuple[bool, float]:
    return (True, 0.0) if value is None else (False, -value if falls else value)


def _heads(form: InsightForm, by: str, columns: Sequence[Column], sort: str) -> list[TableHead]:
    heads = [("name", _NAMES[by]), *((column.key, column.words) for column in columns)]
    return [_head(form, key, words, sort) for key, words in heads]


def _head(form: InsightForm, key: str, words: str, sort: str) -> TableHead:
    # Numbers fall first: what is most is what somebody looks for.
    usual, opposite = (key, f"-{key}") if key == "name" else (f"-{key}", key)
    href = f"?{urlencode(form.address(sort=opposite if sort == usual else usual))}#table"
    order = {key: "ascending", f"-{key}": "descending"}.get(sort, "")
    return TableHead(words, href, order)


def _row(
    by: str,
    name: str,
    sums: Tally | PersonTally,
    columns: Sequence[Column],
    line: Sparkline | None,
) -> TableRow:
    label = NO_RULE_WORDS if by == "rule" and name == NO_RULE else untrusted(name)
    note = _revisions(sums) if by == "rule" and isinstance(sums, Tally) else ""
    cells = [_cell(column, column.value(sums)) for column in columns]
    return TableRow(label, by == "capability", note, cells, line)


def _revisions(sums: Tally) -> str:
    numbers = [int(number) for number in sums.revisions]
    oldest, newest = min(numbers, default=0), max(numbers, default=0)
    return f"revision {oldest}" if oldest == newest else f"revisions {oldest} to {newest}"


def _cell(column: Column, value: float | None) -> TableCell:
    tone = "none" if not value else "figure--bad" if column.is_bad else ""
    bar = round(value * 100) if column.has_bar and value is not None else -1
    return TableCell(_or_none(value, column.write), column.words, tone, bar)


def _time(words: str, times_: Times) -> Figure:
    most = percentile(times_, 90)
    note = (
        f"at the median; 90 % within {times.length(most)}" if most is not None else "nothing yet"
    )
    return Figure(words, _or_none(percentile(times_, 50), times.length), note)


def _or_none(value: float | None, write: Callable[[float], str]) -> str:
    return "—" if value is None else write(value)


MOST_COLUMNS = 92
"""How many columns the days are drawn in at most; each holds several days then."""

_DAY = timedelta(days=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class InsightCharts:
    """The pictures of a period.

    Attributes:
        decisions: How many decisions the time to decision is of.
        unknown: How many approvals have no record of the time or of the lines.
        zone: How the zone of the weekdays and hours is called.
    """

    days: DaysChart
    outcomes: list[tuple[str, str]]
    decision: DecisionChart
    decisions: int
    hours: HoursChart
    has_waits: bool
    levels: list[str]
    zone: str
    reading: ReadingChart
    unknown: int


def insight_charts(
    form: InsightForm, days: Days, sums: DaySums, period: Period, person: User
) -> InsightCharts:
    """Draw the period; reviewers see only their own approvals one by one."""
    each = days_each(period)
    histogram = insight_rules.time_to_decision(sums.whole)
    places = _seen_by(person, sums.places)
    dots = insight_rules.readings(places)
    outcomes = insight_rules.outcomes_by_day(days, period, each)
    zone = form.time_zone
    waits = insight_rules.waiting_by_hour(days, zone)
    return InsightCharts(
        days=charts.days_chart(outcomes, period.since.date(), each),
        outcomes=list(charts.OUTCOME_WORDS.items()),
        decision=charts.decision_chart(histogram),
        decisions=sum(histogram.counts),
        hours=charts.hours_chart(waits),
        has_waits=any(hour.asked for row in waits for hour in row),
        levels=charts.level_words(),
        zone=str(zone),
        reading=charts.reading_chart(dots),
        unknown=sum(place.unknown for place in places.values()),
    )


def days_each(period: Period) -> int:
    """Say how many days a column holds."""
    return max(1, ceil((period.until - period.since) / _DAY / MOST_COLUMNS))


@dataclass(frozen=True, kw_only=True, slots=True)
class ToldAnswer:
    """One answer to one request. ``title`` is what the queue says of it."""

    id: UUID
    kind: str
    title: SafeString
    agent: str
    person: str
    said: str
    status: str
    at: datetime
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class QuickApproval:
    """An approval within a second of the first view, or after more than ten lines a second."""

    told: ToldAnswer
    in_view: str
    lines: int


@dataclass(frozen=True, kw_only=True, slots=True)
class InsightNotes:
    """What is listed; each list holds the newest ``MOST_LISTED`` at most."""

    quick: list[QuickApproval]
    more_quick: int
    disagreements: list[list[ToldAnswer]]
    more_disagreements: int


def notes(sums: DaySums, disputed: Sequence[str], period: Period, person: User) -> InsightNotes:
    """List what is worth a look; reviewers see only their own quick answers."""
    tallies = _seen_by(person, sums.people).values()
    newest = {number: vote for tally in tallies for number, vote in tally.newest.items()}
    quick = insight_rules.newest_fast(newest)
    listed = _disagreements(disputed[:MOST_LISTED], period)
    return InsightNotes(
        quick=_quick(quick),
        more_quick=sum(tally.fast for tally in tallies) - len(quick),
        disagreements=listed,
        more_disagreements=len(disputed) - len(listed),
    )


def _quick(few: Sequence[FastVote]) -> list[QuickApproval]:
    votes_by_number = insight_rules.votes(int(number) for number, _ in few)
    listed = []
    for number, (_, in_view_s, lines) in few:
        vote = votes_by_number[int(number)]
        status, at = Status.APPROVED, vote.voted_at
        answer = _told(vote.approval, vote.person.username, status, at, vote.reason)
        in_view = times.length(in_view_s or 0.0)
        listed.append(QuickApproval(told=answer, in_view=in_view, lines=lines or 0))
    return listed


def _disagreements(digests: Sequence[str], period: Period) -> list[list[ToldAnswer]]:
    answers: dict[str, list[Decision]] = {digest: [] for digest in digests}
    for decision in insight_rules.answers_to(digests, period):
        answers[decision.approval.digest].append(decision)
    return [_both(decisions) for decisions in answers.values() if decisions]


def _both(given: Sequence[Decision]) -> list[ToldAnswer]:
    """Take the newest approval and the newest rejection, and up to two others."""
    newest = {decision.status: decision for decision in reversed(given)}
    extras = islice((d for d in given if d not in newest.values()), 2)
    few = sorted([*newest.values(), *extras], key=lambda d: d.decided_at, reverse=True)
    return [_of(decision) for decision in few]


def _of(decision: Decision) -> ToldAnswer:
    person = decision.decided_by.username if decision.decided_by else ""
    status, at = Status(decision.status), decision.decided_at
    return _told(decision.approval, person, status, at, decision.reason)


def _told(
    approval: ApprovalRequest, person: str, status: Status, at: datetime, reason: str
) -> ToldAnswer:
    return ToldAnswer(
        id=approval.pk,
        kind=approval.kind,
        title=title_of(approval),
        agent=approval.agent.name,
        person=person,
        said=words.STATUSES[status],
        status=status,
        at=at,
        reason=reason,
    )


@require_safe
@for_readers
def insight(request: PersonRequest) -> HttpResponse:
    """Show the figures of a period, and one table of them."""
    form = InsightForm(request.GET)
    if not form.is_valid():
        context = {"form": form}
        return render(request, "desk/insight.html", context, status=HTTPStatus.BAD_REQUEST)
    return render(request, "desk/insight.html", {"form": form, **_found(form, request)})


def _found(form: InsightForm, request: PersonRequest) -> dict[str, Any]:
    person, period = request.user, form.period(database_now())
    table_of = {form.table} - {"day"}
    summary = insight_rules.found_in(period, WHOLE, PERSON, WAITS, PLACES, *table_of)
    days = summary.days
    sums = insight_rules.together(days, WHOLE, PERSON, PLACES, *table_of - {PERSON})
    return {
        "asked": sums.whole.asked,
        "behind": summary.behind,
        "charts_since": summary.charts_since,
        "is_cut": summary.is_cut,
        "most": f"{insight_rules.MOST:,}",
        "figures": overview(sums),
        "charts": insight_charts(form, days, sums, period, person),
        "table": table(form, days, sums, period, person),
        "notes": notes(sums, summary.disputed, period, person),
        "sees_everybody": roles.may_audit(person),
        "first": period.since.date(),
        "periods": [(days, _period(form, days), _is_open(form, days)) for days in LAST_DAYS],
        "tables": [(words, _table(form, by), by == form.table) for by, words in TABLES.items()],
    }


def _period(form: InsightForm, days: int) -> str:
    return urlencode(form.address(days=days, since=None, until=None))


def _is_open(form: InsightForm, days: int) -> bool:
    return not form.is_own_days and form.days_back == days


def _table(form: InsightForm, by: str) -> str:
    return urlencode(form.address(by=by, sort=None))
