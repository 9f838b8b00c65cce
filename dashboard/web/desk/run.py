"""A run as a story: what an agent asked in it, what was answered, and what came of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from approval_client.wire import Kind, Source, Status
from dashboard.accounts.models import Agent, User
from dashboard.approvals import queries
from dashboard.approvals.clock import database_now
from dashboard.approvals.models import ApprovalRequest, Decision
from dashboard.approvals.rules import likeness
from dashboard.approvals.rules import run as run_rules
from dashboard.approvals.rules.likeness import EarlierRequest
from dashboard.web import errors, times, words
from dashboard.web.access import for_readers
from dashboard.web.desk.answer import RequestResult, result_of
from dashboard.web.desk.likeness import how_much_changed
from dashboard.web.desk.queue import nobody_is_waiting
from dashboard.web.drawing.markup import untrusted
from dashboard.web.drawing.summary import summary
from dashboard.web.http import PersonRequest
from dashboard.web.times import Moment, TimeLeft


@dataclass(frozen=True, slots=True)
class StepLikeness:
    """Which earlier step of the story one resembles.

    Attributes:
        changed: How many lines are different; empty if it is the same.
    """

    number: int
    id: UUID
    became: str
    changed: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStep:
    """One request in its place in the story. ``summary`` is the agent's voice, drawn.

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
    summary: SafeString
    asked: Moment
    left: TimeLeft | None
    nobody_waits: bool
    result: RequestResult | None
    reason: str
    waited: str
    like: StepLikeness | None


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStory:
    """What one agent asked in one run. ``name`` is the agent's voice, drawn.

    Attributes:
        total: How many requests there are; ``steps`` are the newest of them.
        counts: Status, our word for it, and how many steps have it.
    """

    agent: str
    run_id: str
    name: SafeString
    steps: list[RunStep]
    total: int
    counts: list[tuple[str, str, int]]

    @property
    def left_out(self) -> int:
        """How many older requests are not told."""
        return self.total - len(self.steps)


def run_story(agent: Agent, run_id: str, person: User, now: datetime) -> RunStory:
    """Tell a run, in the order in which things were asked."""
    story = run_rules.story(agent.pk, run_id)
    resembles = likeness.earlier_in_run(story.approvals)
    held = queries.active_hold() is not None
    number_of = {one.pk: story.total - len(story.approvals) + n for n, one in _from_1(story)}
    steps = [
        _step(
            one,
            number_of[one.pk],
            _like(one, resembles.get(one.pk), number_of),
            result_of(one, person, now, held=held),
            now,
        )
        for one in story.approvals
    ]
    return RunStory(
        agent=agent.name,
        run_id=run_id,
        name=untrusted(run_id),
        steps=steps,
        total=story.total,
        counts=_counts(steps),
    )


def _from_1(story: run_rules.Story) -> list[tuple[int, ApprovalRequest]]:
    return list(enumerate(story.approvals, 1))


def _counts(steps: list[RunStep]) -> list[tuple[str, str, int]]:
    found = Counter(step.status for step in steps)
    return [(s.value, words.STATUSES[s].lower(), found[s]) for s in Status if found[s]]


def _like(
    approval: ApprovalRequest, earlier: EarlierRequest | None, number_of: dict[UUID, int]
) -> StepLikeness | None:
    if earlier is None:
        return None
    one = earlier.approval
    old, new = likeness.text_of(one), likeness.text_of(approval)
    changed = "" if earlier.is_same else how_much_changed(old, new)
    became = words.STATUSES[Status(one.status)].lower()
    return StepLikeness(number_of[one.pk], one.pk, became, changed)


def _step(
    approval: ApprovalRequest,
    number: int,
    like: StepLikeness | None,
    result: RequestResult | None,
    now: datetime,
) -> RunStep:
    is_open = approval.status == Status.PENDING
    decision: Decision | None = getattr(approval, "decision", None)
    waited_s = (decision.decided_at - approval.submitted_at).total_seconds() if decision else 0
    left = times.time_left(approval.submitted_at, approval.expires_at, now) if is_open else None
    return RunStep(
        number=number,
        id=approval.pk,
        kind=approval.kind,
        kind_word=words.KINDS[Kind(approval.kind)],
        status=approval.status,
        status_word=words.STATUSES[Status(approval.status)],
        summary=summary(approval.kind, approval.head, approval.tail),  # type: ignore[attr-defined] # annotated
        asked=times.moment(approval.submitted_at, now),
        left=left,
        nobody_waits=nobody_is_waiting(approval, now),
        result=result,
        reason=_reason(decision),
        waited=times.length(max(0.0, waited_s)) if decision else "",
        like=like,
    )


def _reason(decision: Decision | None) -> str:
    """Return the reason if a person or the agent gave it."""
    spoke = (Source.REVIEWER, Source.ADMIN, Source.AGENT)
    return decision.reason if decision and decision.source in spoke else ""


@require_safe
@for_readers
def run(request: PersonRequest, agent_name: str) -> HttpResponse:
    """Show the run that ``?run=`` names; without it, the requests that had no run."""
    run_id = request.GET.get("run", "")
    if "\x00" in agent_name + run_id:  # no database takes that, so no run has it
        return errors.not_found(request)
    agent = Agent.objects.filter(name=agent_name).first()
    if agent is None:
        return errors.not_found(request)
    story = run_story(agent, run_id, request.user, database_now())
    return render(request, "desk/run.html", {"run": story})
