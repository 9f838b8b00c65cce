"""What the reviews of several rules ask for together, and which asks less. Pure.

A rule says what it asks for in ``Demands``, which is easy to write. ``Required`` is what holds for
one request: every setting decided, and as many circles of people as rules named groups.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Self

from dashboard.policies.rules import Demands
from dashboard.wire import canonical_json


@dataclass(frozen=True, order=True)
class Circle:
    """Some groups of which an approving person has to be in one.

    Attributes:
        groups: Whose members count from the beginning.
        later: Whose members count too, from half of the time limit on.
    """

    groups: tuple[str, ...]
    later: tuple[str, ...] = ()

    def members(self, *, half_time_reached: bool) -> frozenset[str]:
        """Return the groups that count at this time."""
        return frozenset(self.groups + self.later if half_time_reached else self.groups)

    def implies(self, other: Circle) -> bool:
        """Whether whoever is in this circle is in the other one, at any time."""
        return all(
            self.members(half_time_reached=late) <= other.members(half_time_reached=late)
            for late in (False, True)
        )


@dataclass(frozen=True, kw_only=True)
class Required:
    """What a review asks for. Without arguments: what it asks for where no rule says anything.

    Attributes:
        approvals: How many distinct people have to approve.
        circles: Each has to hold every person whose vote counts; none means every reviewer.
        time_limit_s: The longest time limit, in seconds; None leaves it to the agent.

    The others are those of ``rules.Demands``.
    """

    approvals: int = 1
    circles: tuple[Circle, ...] = ()
    owner_may_approve: bool = False
    editor_may_approve: bool = False
    time_limit_s: int | None = None
    reason_required: bool = False
    grants_allowed: bool = False
    whole_content: bool = True

    def admits(self, groups: Collection[str], *, half_time_reached: bool) -> bool:
        """Whether the vote of a person in these groups counts."""
        mine = frozenset(groups)
        return all(
            mine & circle.members(half_time_reached=half_time_reached) for circle in self.circles
        )

    def groups_in_words(self, *, half_time_reached: bool) -> str:
        """Name the groups that count, as in ``operators or managers, and also safety``."""
        late = half_time_reached
        circles = [
            circle.groups + circle.later if late else circle.groups for circle in self.circles
        ]
        return ", and also ".join(" or ".join(circle) for circle in circles)

    def to_json(self) -> str:
        """Write the text that is stored; equal demands have equal texts."""
        return canonical_json(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what ``to_json`` wrote."""
        data: dict[str, Any] = json.loads(text)
        circles = (Circle(tuple(c["groups"]), tuple(c["later"])) for c in data.pop("circles"))
        return cls(circles=tuple(circles), **data)


def required(demands: Demands, *, owner_may_approve: bool) -> Required:
    """Decide what a rule left open; ``owner_may_approve`` is what the policy says of owners."""
    ours = demands.owner_may_approve
    return Required(
        approvals=demands.approvals,
        circles=_circles_of(demands),
        owner_may_approve=owner_may_approve if ours is None else ours,
        editor_may_approve=demands.editor_may_approve,
        time_limit_s=demands.time_limit_s,
        reason_required=demands.reason_required,
        grants_allowed=demands.grants_allowed,
        whole_content=demands.whole_content,
    )


def join(a: Required, b: Required) -> Required:
    """Return the stricter of both, setting by setting; a vote has to be in the circles of both."""
    limits = [limit for limit in (a.time_limit_s, b.time_limit_s) if limit is not None]
    return Required(
        approvals=max(a.approvals, b.approvals),
        circles=_narrowest(a.circles + b.circles),
        owner_may_approve=a.owner_may_approve and b.owner_may_approve,
        editor_may_approve=a.editor_may_approve and b.editor_may_approve,
        time_limit_s=min(limits, default=None),
        reason_required=a.reason_required or b.reason_required,
        grants_allowed=a.grants_allowed and b.grants_allowed,
        whole_content=a.whole_content or b.whole_content,
    )


def shortfalls(of: Required, than: Required) -> list[str]:
    """Say in what respects one asks less than the other; empty if in none."""
    return list(_shortfalls(of, than))


def _shortfalls(of: Required, than: Required) -> Iterator[str]:
    if of.approvals < than.approvals:
        yield f"{of.approvals} instead of {than.approvals} people have to approve"
    if not _reaches(of.circles, than.circles):
        yield "people outside of the groups that had to approve may do so"
    if of.owner_may_approve and not than.owner_may_approve:
        yield "the agent's owner may approve"
    if of.editor_may_approve and not than.editor_may_approve:
        yield "who edited the content may approve it"
    if (of.time_limit_s or float("inf")) > (than.time_limit_s or float("inf")):
        yield "it may stay open for longer"
    if than.reason_required and not of.reason_required:
        yield "no reason is needed to approve"
    if of.grants_allowed and not than.grants_allowed:
        yield "a yes may be remembered"
    if than.whole_content and not of.whole_content:
        yield "the content need not be read to its end"


def _circles_of(demands: Demands) -> tuple[Circle, ...]:
    groups = tuple(sorted(set(demands.groups)))
    if not groups:  # everybody counts, so nobody can be added later
        return ()
    escalated = demands.escalate_to
    return (Circle(groups, (escalated,) if escalated and escalated not in groups else ()),)


def _narrowest(circles: tuple[Circle, ...]) -> tuple[Circle, ...]:
    different = sorted(set(circles))
    return tuple(
        circle
        for circle in different
        if not any(other != circle and other.implies(circle) for other in different)
    )


def _reaches(narrow: tuple[Circle, ...], wide: tuple[Circle, ...]) -> bool:
    # At each time: whoever is in all of ``narrow`` is in all of ``wide``.
    return all(
        any(
            inner.members(half_time_reached=late) <= outer.members(half_time_reached=late)
            for inner in narrow
        )
        for outer in wide
        for late in (False, True)
    )
