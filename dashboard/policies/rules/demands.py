"""What the reviews of several rules ask for together, and which asks less. Pure.

A rule says what it asks for in ``Demands``, which is easy to write. ``Required`` is what holds for
one request: every setting decided, and as many circles of people as rules named groups.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Self

from approval_client.wire import canonical_json
from dashboard.policies.rules.rule import DEFAULT_TIME_LIMIT_S, Demands


@dataclass(frozen=True, order=True)
class Circle:
    """Some groups of which an approving person has to be in one.

    Attributes:
        groups: Whose members count from the beginning.
        later: Whose members count too, from ``later_from_s`` on.
        later_from_s: Seconds after the request was submitted: half of the time limit of the rule
            that named the group, or of the default. Neither the agent's own time limit nor that
            of another rule moves it.
    """

    groups: tuple[str, ...]
    later: tuple[str, ...] = ()
    later_from_s: float = DEFAULT_TIME_LIMIT_S / 2

    def members(self, *, after_s: float) -> frozenset[str]:
        """Return the groups that count so long after the request was submitted."""
        return frozenset(self.groups + self.later if after_s >= self.later_from_s else self.groups)

    def implies(self, other: Circle) -> bool:
        """Whether whoever is in this circle is in the other one, at any time."""
        return _reaches((self,), (other,))


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
    reveal_required: bool = False
    proof: str | None = None

    def admits(self, groups: Collection[str], *, after_s: float) -> bool:
        """Whether a person in these groups counts so long after the request was submitted."""
        own_groups = frozenset(groups)
        return all(own_groups & circle.members(after_s=after_s) for circle in self.circles)

    def groups_in_words(self, *, after_s: float) -> str:
        """Name the groups that count then, as in ``operators or managers, and also safety``."""
        circles = (
            circle.groups + (circle.later if after_s >= circle.later_from_s else ())
            for circle in self.circles
        )
        return ", and also ".join(" or ".join(circle) for circle in circles)

    def to_json(self) -> str:
        """Write the text that is stored; equal demands have equal texts."""
        fields = asdict(self)
        if not self.reveal_required:  # as it was written before there was such a demand
            del fields["reveal_required"]
        if not self.proof:  # the same
            del fields["proof"]
        return canonical_json(fields)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what ``to_json`` wrote."""
        data: dict[str, Any] = json.loads(text)
        half_s = (data["time_limit_s"] or DEFAULT_TIME_LIMIT_S) / 2  # of before circles kept it
        circles = (
            Circle(tuple(c["groups"]), tuple(c["later"]), c.get("later_from_s", half_s))
            if c["later"]
            else Circle(tuple(c["groups"]))
            for c in data.pop("circles")
        )
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
        grants_allowed=demands.grants_allowed and not demands.proof,
        whole_content=demands.whole_content,
        reveal_required=demands.reveal_required,
        proof=demands.proof,
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
        grants_allowed=a.grants_allowed and b.grants_allowed and not (a.proof or b.proof),
        whole_content=a.whole_content or b.whole_content,
        reveal_required=a.reveal_required or b.reveal_required,
        proof=a.proof or b.proof,
    )


def shortfalls(of: Required, than: Required) -> list[str]:
    """Say in what respects one asks less than the other; empty if in none."""
    return list(_shortfalls(of, than))


def _shortfalls(of: Required, than: Required) -> Iterator[str]:
    if of.approvals < than.approvals:
        yield f"{of.approvals} instead of {than.approvals} people must approve"
    if not _reaches(of.circles, than.circles):
        yield "people outside the required groups may approve, or may approve earlier"
    for name, sentence in _PERMITTED.items():
        if getattr(of, name) and not getattr(than, name):
            yield sentence
    if (of.time_limit_s or float("inf")) > (than.time_limit_s or float("inf")):
        yield "it may stay open longer"
    for name, sentence in _NOT_DEMANDED.items():
        if getattr(than, name) and not getattr(of, name):
            yield sentence


_PERMITTED = {
    "owner_may_approve": "the agent's owner may approve",
    "editor_may_approve": "whoever edited the content may approve it",
    "grants_allowed": "the approval may be remembered",
}
_NOT_DEMANDED = {
    "reason_required": "a reason is not required",
    "whole_content": "reading to the end is not required",
    "reveal_required": "masked tokens need not be revealed",
    "proof": "nobody has to sign with a passkey",
}


def _circles_of(demands: Demands) -> tuple[Circle, ...]:
    groups = tuple(sorted(set(demands.groups)))
    if not groups:  # everybody counts, so nobody can be added later
        return ()
    escalated = demands.escalate_to
    if not escalated or escalated in groups:
        return (Circle(groups),)
    return (Circle(groups, (escalated,), (demands.time_limit_s or DEFAULT_TIME_LIMIT_S) / 2),)


def _narrowest(circles: tuple[Circle, ...]) -> tuple[Circle, ...]:
    different = sorted(set(circles))
    return tuple(
        circle
        for circle in different
        if not any(narrower != circle and narrower.implies(circle) for narrower in different)
    )


def _reaches(narrow: tuple[Circle, ...], wide: tuple[Circle, ...]) -> bool:
    # At each time: whoever is in all of ``narrow`` is in all of ``wide``.
    return all(
        any(inner.members(after_s=after_s) <= outer.members(after_s=after_s) for inner in narrow)
        for outer in wide
        for after_s in {0, *(circle.later_from_s for circle in (*narrow, *wide))}
    )
