"""The insight: figures of a period, a chart of its days, and one table at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from urllib.parse import urlencode

from django.utils.safestring import SafeString

from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.approvals.rules import insight
from dashboard.approvals.rules.insight import (
    NO_RULE,
    AskedRequest,
    CountedVote,
    Period,
    PersonTally,
    Tally,
    percentile,
)
from dashboard.web.forms_insight import TABLES, InsightForm
from dashboard.web.presenting import times
from dashboard.web.presenting.insight_columns import GROUPS, PEOPLE, Column, percent
from dashboard.web.rendering.markup import theirs
from dashboard.wire import Source

MOST_ROWS = 100
_FIRST = {"person": "-answers", "day": "-name"}
_NAMES = {
    "agent": "Agent",
    "capability": "Capability it names",
    "rule": "Rule that decided",
    "person": "Reviewer",
    "day": "Day (UTC)",
}
NO_RULE_WORDS = theirs("no rule: the modes")


class Head(NamedTuple):
    """The head of a column. ``order`` is how the table is sorted by it now, as ARIA says it."""

    words: str
    href: str
    order: str


class Cell(NamedTuple):
    """A value in words, what its column is called, and a share of 100 for a bar, or -1."""

    text: str
    label: str
    tone: str
    bar: int


class TableRow(NamedTuple):
    """A row; ``is_theirs`` where the agent chose the name."""

    name: SafeString
    is_theirs: bool
    note: str
    cells: list[Cell]


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """One table, sorted. ``more`` rows are left out."""

    title: str
    heads: list[Head]
    rows: list[TableRow]
    more: int


class Figure(NamedTuple):
    """One number that says how it goes, with a sentence beside it."""

    words: str
    value: str
    note: str


def overview(asked: Sequence[AskedRequest], yeses: Sequence[CountedVote]) -> list[Figure]:
    """Sum up the period."""
    total = insight.tally(asked)
    alone = Counter(one.source for one in asked)
    reasons = [one.reason for one in asked if one.source == Source.REVIEWER]
    given = insight.share(sum(bool((r or "").strip()) for r in reasons), len(reasons))
    answered = total.approved + total.rejected
    return [
        Figure(
            "Requests",
            f"{total.asked:,}",
            f"{alone[Source.POLICY]:,} answered by the policy, {alone[Source.GRANT]:,} by a "
            f"remembered yes, {total.of_people:,} asked people",
        ),
        Figure(
            "Approved by people",
            _or_none(total.rate, percent),
            f"{total.approved:,} of {answered:,} answers; {_or_none(given, percent)} of them "
            "with a reason",
        ),
        _time("Until somebody looks", total.viewed_s),
        _time("Until somebody decides", total.decided_s),
        Figure(
            "Expired unseen", f"{total.unseen:,}", f"of {total.expired:,} that nobody answered"
        ),
        Figure(
            "Yes in under a second",
            f"{sum(yes.is_quick for yes in yeses):,}",
            f"of {len(yeses):,}; {sum(yes.is_unread for yes in yeses):,} came faster than "
            "anybody reads",
        ),
    ]


def table(
    form: InsightForm,
    asked: Sequence[AskedRequest],
    yeses: Sequence[CountedVote],
    period: Period,
    person: User,
) -> Table:
    """Return the table that the address asks for; reviewers see only their own row of people."""
    by = form.table
    columns = PEOPLE if by == "person" else GROUPS
    found = _people(asked, yeses, person) if by == "person" else _groups(by, asked, period)
    sort = _known(form.cleaned_data.get("sort") or "", columns) or _FIRST.get(by, "-asked")
    ordered = _sorted(found, columns, sort)
    return Table(
        title=TABLES[by],
        heads=_heads(form, by, columns, sort),
        rows=[_row(by, name, sums, columns) for name, sums in ordered[:MOST_ROWS]],
        more=max(0, len(ordered) - MOST_ROWS),
    )


def sees_everybody(person: User) -> bool:
    """Say whether somebody may compare people with each other: admins and auditors may."""
    return roles.may_audit(person)


Sums = Mapping[str, Tally | PersonTally]


def _people(asked: Sequence[AskedRequest], yeses: Sequence[CountedVote], person: User) -> Sums:
    found = insight.by_person(asked, yeses)
    if sees_everybody(person):
        return found
    return {name: sums for name, sums in found.items() if name == person.username}


def _groups(by: str, asked: Sequence[AskedRequest], period: Period) -> Sums:
    if by == "day":
        begin = period.since
        return insight.by(lambda one: _day(begin + timedelta(seconds=one.since_s)), asked)
    if by == "rule":
        return insight.by(lambda one: insight.deciding_rule(one.trace), asked)
    return insight.by(lambda one: str(getattr(one, by)), asked)


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"


def _known(sort: str, columns: Sequence[Column]) -> str:
    return sort if sort.removeprefix("-") in {"name", *(c.key for c in columns)} else ""


def _sorted(
    found: Sums, columns: Sequence[Column], sort: str
) -> list[tuple[str, Tally | PersonTally]]:
    key, falls = sort.removeprefix("-"), sort.startswith("-")
    rows = sorted(found.items(), key=lambda row: row[0].lower(), reverse=falls and key == "name")
    if key == "name":
        return rows
    value = next(column.value for column in columns if column.key == key)
    # What has no value comes last, whichever way it goes.
    rows.sort(key=lambda row: _place(value(row[1]), falls=falls))
    return rows


def _place(value: float | None, *, falls: bool) -> tuple[bool, float]:
    return (True, 0.0) if value is None else (False, -value if falls else value)


def _heads(form: InsightForm, by: str, columns: Sequence[Column], sort: str) -> list[Head]:
    named = [("name", _NAMES[by]), *((column.key, column.words) for column in columns)]
    return [_head(form, key, words, sort) for key, words in named]


def _head(form: InsightForm, key: str, words: str, sort: str) -> Head:
    # Numbers fall first: what is most is what somebody looks for.
    usual, other = (key, f"-{key}") if key == "name" else (f"-{key}", key)
    href = f"?{urlencode(form.address(sort=other if sort == usual else usual))}#table"
    order = {key: "ascending", f"-{key}": "descending"}.get(sort, "")
    return Head(words, href, order)


def _row(by: str, name: str, sums: Tally | PersonTally, columns: Sequence[Column]) -> TableRow:
    drawn = NO_RULE_WORDS if by == "rule" and name == NO_RULE else theirs(name)
    note = _revisions(sums) if by == "rule" and isinstance(sums, Tally) else ""
    cells = [_cell(column, column.value(sums)) for column in columns]
    return TableRow(drawn, by == "capability", note, cells)


def _revisions(sums: Tally) -> str:
    first, last = min(sums.revisions, default=0), max(sums.revisions, default=0)
    return f"revision {first}" if first == last else f"revisions {first} to {last}"


def _cell(column: Column, value: float | None) -> Cell:
    tone = "none" if not value else "figure--bad" if column.is_bad else ""
    bar = round(value * 100) if column.has_bar and value is not None else -1
    return Cell(_or_none(value, column.write), column.words, tone, bar)


def _time(words: str, values: Sequence[float]) -> Figure:
    most = percentile(values, 90)
    note = (
        f"at the median; 90 % within {times.length(most)}" if most is not None else "nothing yet"
    )
    return Figure(words, _or_none(percentile(values, 50), times.length), note)


def _or_none(value: float | None, write: Callable[[float], str]) -> str:
    return "—" if value is None else write(value)
