"""A run as a story: what an agent asked in it, what was answered, and what came of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils.safestring import SafeString

from dashboard.accounts.models import Agent, User
from dashboard.approvals import queries
from dashboard.approvals.models import ApprovalRequest, Decision
from dashboard.approvals.rules import likeness, run
from dashboard.approvals.rules.likeness import EarlierRequest
from dashboard.web.presenting import chain, outcomes, rows, times, words
from dashboard.web.presenting.gist import gist
from dashboard.web.presenting.outcomes import Result
from dashboard.web.presenting.times import Moment, TimeLeft
from dashboard.web.rendering.markup import theirs
from dashboard.wire import Kind, Source, Status


@dataclass(frozen=True, slots=True)
class Likeness:
    """Which earlier step of the story one resembles.

    Attributes:
        changed: How many lines are different; empty if it is the same.
    """

    number: int
    id: UUID
    became: str
    changed: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One request in its place in the story. ``gist`` is the agent's voice, drawn.

    Attributes:
        waited: How long the agent had to wait for the answer.
        reason: The words of whoever answered, a person or the agent.
    """

    number: int
    id: UUID
    kind: str
    kind_word: str
    status: str
    status_word: str
    gist: SafeString
    asked: Moment
    left: TimeLeft | None
    nobody_waits: bool
    result: Result | None
    reason: str
    waited: str
    like: Likeness | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """What one agent asked in one run. ``name`` is the agent's voice, drawn.

    Attributes:
        total: How many requests there are; ``steps`` are the newest of them.
        counts: Status, our word for it, and how many steps have it.
    """

    agent: str
    run_id: str
    name: SafeString
    steps: list[Step]
    total: int
    counts: list[tuple[str, str, int]]

    @property
    def left_out(self) -> int:
        """How many older requests are not told."""
        return self.total - len(self.steps)


def tell(agent: Agent, run_id: str, person: User, now: datetime) -> Run:
    """Tell a run, in the order in which things were asked."""
    story = run.story(agent.pk, run_id)
    resembles = likeness.earlier_in_run(story.approvals)
    held = queries.active_hold() is not None
    number_of = {one.pk: story.total - len(story.approvals) + n for n, one in _from_1(story)}
    steps = [
        _step(
            one,
            number_of[one.pk],
            _like(one, resembles.get(one.pk), number_of),
            outcomes.result(one, person, now, held=held),
            now,
        )
        for one in story.approvals
    ]
    return Run(
        agent=agent.name,
        run_id=run_id,
        name=theirs(run_id),
        steps=steps,
        total=story.total,
        counts=_counts(steps),
    )


def _from_1(story: run.Story) -> list[tuple[int, ApprovalRequest]]:
    return list(enumerate(story.approvals, 1))


def _counts(steps: list[Step]) -> list[tuple[str, str, int]]:
    found = Counter(step.status for step in steps)
    return [(s.value, words.STATUSES[s].lower(), found[s]) for s in Status if found[s]]


def _like(
    approval: ApprovalRequest, earlier: EarlierRequest | None, number_of: dict[UUID, int]
) -> Likeness | None:
    if earlier is None:
        return None
    one = earlier.approval
    old, new = likeness.text_of(one), likeness.text_of(approval)
    changed = "" if earlier.is_same else chain.how_much_changed(old, new)
    became = words.STATUSES[Status(one.status)].lower()
    return Likeness(number_of[one.pk], one.pk, became, changed)


def _step(
    approval: ApprovalRequest,
    number: int,
    like: Likeness | None,
    result: Result | None,
    now: datetime,
) -> Step:
    is_open = approval.status == Status.PENDING
    decision: Decision | None = getattr(approval, "decision", None)
    waited_s = (decision.decided_at - approval.submitted_at).total_seconds() if decision else 0
    left = times.time_left(approval.submitted_at, approval.expires_at, now) if is_open else None
    return Step(
        number=number,
        id=approval.pk,
        kind=approval.kind,
        kind_word=words.KINDS[Kind(approval.kind)],
        status=approval.status,
        status_word=words.STATUSES[Status(approval.status)],
        gist=gist(approval.kind, approval.head, approval.tail),  # type: ignore[attr-defined] # annotated
        asked=times.moment(approval.submitted_at, now),
        left=left,
        nobody_waits=rows.nobody_waits(approval, now),
        result=result,
        reason=_reason(decision),
        waited=times.length(max(0.0, waited_s)) if decision else "",
        like=like,
    )


def _reason(decision: Decision | None) -> str:
    """Give the words of a person or of the agent; the policy's are told on its own page."""
    spoke = (Source.REVIEWER, Source.ADMIN, Source.AGENT)
    return decision.reason if decision and decision.source in spoke else ""
