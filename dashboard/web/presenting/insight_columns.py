"""The columns of the insight's tables: what stands in them, and how they are sorted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dashboard.approvals.rules.insight import PersonTally, Tally, percentile, share
from dashboard.web.presenting import times

Number = float | None


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        key: How an address names it.
        value: What a row is sorted by; None where there is nothing to say.
        write: Puts that into words.
        has_bar: Whether it is a share, drawn as a bar beside the words.
        is_bad: Whether anything but nothing is worth a look.
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


def _half(values: list[float]) -> Number:
    return percentile(values, 50)


def _most(values: list[float]) -> Number:
    return percentile(values, 90)


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
    Column("answers", "Answers", lambda a: a.yeses + a.noes, count),
    Column("rate", "Approved", lambda a: a.rate, percent, has_bar=True),
    Column("waited", "Answered after, median", lambda a: _half(a.waited_s), times.length),
    Column("looked", "From sight to yes, median", lambda a: _half(a.after_s), times.length),
    Column("quick", "Yes in under 1 s", lambda a: a.quick, count, is_bad=True),
    Column("unread", "Faster than reading", lambda a: a.unread, count, is_bad=True),
    Column("overruled", "Yes, then rejected", lambda a: a.overruled, count, is_bad=True),
    Column("reasons", "With a reason", lambda a: share(a.reasons, a.yeses + a.noes), percent),
)


def columns(of: type[Tally | PersonTally]) -> tuple[Column, ...]:
    """Return the columns of a table over ``of``."""
    return PEOPLE if of is PersonTally else GROUPS
