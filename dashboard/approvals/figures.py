"""What the answers of a period come to: counts, shares and times. Pure."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from approval_client.wire import Source, Status

QUICK_S = 1.0
"""A yes within less than this after the page was in sight is one that nobody thought about."""

MOST_LINES_A_SECOND = 10
"""Nobody reads faster than this."""

IN_SIGHT_S = 1.0
"""How long a page is in sight before that is recorded."""

NO_RULE = ""
_ANSWERED_ALONE = (Source.POLICY, Source.GRANT)
_RULE = re.compile(r"Rule '(.*)' (?:asks for a review|approves|rejects)\b", re.DOTALL)


class Asked(NamedTuple):
    """One request of the period; times are seconds since it was asked.

    ``since_s`` is when that was, in seconds since the period began.
    """

    agent: str
    capability: str
    status: str
    source: str | None
    decided_by: str | None
    reason: str | None
    digest: str
    since_s: float
    waited_s: float | None
    viewed_s: float | None
    revision: int | None = None
    trace: str | None = None


class Yes(NamedTuple):
    """One yes of one person; ``after_s`` is how long after the page was in sight."""

    id: int
    person: str
    reason: str
    became: str
    waited_s: float
    after_s: float | None
    lines: int | None

    @property
    def is_quick(self) -> bool:
        """Whether it came before anybody could have thought."""
        return self.after_s is not None and self.after_s < QUICK_S

    @property
    def is_unread(self) -> bool:
        """Whether it came before anybody could have read all the lines that were shown."""
        if self.after_s is None or self.lines is None:
            return False
        return self.lines > (max(0.0, self.after_s) + IN_SIGHT_S) * MOST_LINES_A_SECOND


@dataclass(slots=True)
class Tally:
    """Sums over requests.

    Attributes:
        asked: How many; ``of_people`` of them waited for a person.
        approved, rejected: What people answered.
        unseen: What expired without anybody having opened it.
        viewed_s, decided_s: How long until somebody saw one, and until somebody decided it.
        revisions: The policy revisions that were asked.
    """

    asked: int = 0
    of_people: int = 0
    approved: int = 0
    rejected: int = 0
    expired: int = 0
    unseen: int = 0
    viewed_s: list[float] = field(default_factory=list)
    decided_s: list[float] = field(default_factory=list)
    revisions: set[int] = field(default_factory=set)

    def add(self, one: Asked) -> None:
        """Count one more."""
        self.asked += 1
        if one.revision is not None:
            self.revisions.add(one.revision)
        if one.source in _ANSWERED_ALONE:
            return
        self.of_people += 1
        if one.viewed_s is not None:
            self.viewed_s.append(one.viewed_s)
        if one.status == Status.EXPIRED:
            self.expired += 1
            self.unseen += one.viewed_s is None
        elif one.source == Source.REVIEWER and one.waited_s is not None:
            self.approved += one.status == Status.APPROVED
            self.rejected += one.status == Status.REJECTED
            self.decided_s.append(one.waited_s)

    @property
    def rate(self) -> float | None:
        """The share of yeses among what people decided."""
        return share(self.approved, self.approved + self.rejected)


@dataclass(slots=True)
class Answers:
    """Sums over the answers of one person."""

    yeses: int = 0
    noes: int = 0
    quick: int = 0
    unread: int = 0
    overruled: int = 0
    reasons: int = 0
    waited_s: list[float] = field(default_factory=list)
    after_s: list[float] = field(default_factory=list)

    def add_yes(self, yes: Yes) -> None:
        """Count a yes; it is overruled if somebody else's no closed the request."""
        self.yeses += 1
        self.quick += yes.is_quick
        self.unread += yes.is_unread
        self.overruled += yes.became == Status.REJECTED
        self.reasons += bool(yes.reason.strip())
        self.waited_s.append(yes.waited_s)
        if yes.after_s is not None:
            self.after_s.append(max(0.0, yes.after_s))

    def add_no(self, one: Asked) -> None:
        """Count a no."""
        self.noes += 1
        self.reasons += bool((one.reason or "").strip())
        self.waited_s.append(one.waited_s or 0.0)

    @property
    def rate(self) -> float | None:
        """The share of yeses."""
        return share(self.yeses, self.yeses + self.noes)


def share(part: int, whole: int) -> float | None:
    """Return what part of a whole something is; nothing is no part of nothing."""
    return part / whole if whole else None


def percentile(values: Sequence[float], percent: int) -> float | None:
    """Return the smallest value that this percentage of all does not exceed; None of nothing."""
    rank = math.ceil(len(values) * percent / 100)
    return sorted(values)[max(0, rank - 1)] if values else None


def tally(asked: Iterable[Asked]) -> Tally:
    """Sum up requests."""
    total = Tally()
    for one in asked:
        total.add(one)
    return total


def by(key: Callable[[Asked], str], asked: Iterable[Asked]) -> dict[str, Tally]:
    """Sum up requests, those with the same key together."""
    found: dict[str, Tally] = defaultdict(Tally)
    for one in asked:
        found[key(one)].add(one)
    return dict(found)


def by_person(asked: Iterable[Asked], yeses: Iterable[Yes]) -> dict[str, Answers]:
    """Sum up what each person answered."""
    found: dict[str, Answers] = defaultdict(Answers)
    for yes in yeses:
        found[yes.person].add_yes(yes)
    for one in asked:
        if one.decided_by and one.status == Status.REJECTED and one.source == Source.REVIEWER:
            found[one.decided_by].add_no(one)
    return dict(found)


def disagreements(asked: Sequence[Asked]) -> Iterator[str]:
    """Return the digests of whatever one person approved and another rejected."""
    first, mixed = dict[str, str](), dict[str, tuple[set[str], set[str]]]()
    by_people = [one for one in asked if one.source == Source.REVIEWER and one.decided_by]
    for one in by_people:
        if first.setdefault(one.digest, one.status) != one.status:
            mixed[one.digest] = (set(), set())
    for one in by_people:
        if one.digest in mixed:
            mixed[one.digest][one.status == Status.APPROVED].add(one.decided_by or "")
    return (digest for digest, (no, yes) in mixed.items() if len(yes | no) > 1)


@lru_cache(maxsize=4096)
def deciding_rule(trace: str | None) -> str:
    """Return the rule that the sentences of a judgement name as the one that decided.

    Where several speak, the last one did; where none does, the modes did.
    """
    named = [_RULE.match(str(sentence)) for sentence in json.loads(trace or "[]")]
    return next((found[1] for found in reversed(named) if found), NO_RULE)
