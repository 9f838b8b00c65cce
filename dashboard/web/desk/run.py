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

from approval_client.wire import Kind, OutcomeState, Source, Status
from dashboard.accounts.models import Agent, User
from dashboard.approvals.models import ApprovalRequest, Decision
from dashboard.approvals.queries.hold import present_stop
from dashboard.approvals.rules import likeness
from dashboard.approvals.rules import run as run_rules
from dashboard.approvals.rules.likeness import EarlierRequest
from dashboard.approvals.rules.queue import was_abandoned
from dashboard.approvals.rules.recall import recall_of
from dashboard.clock import database_now
from dashboard.web import errors, times, words
from dashboard.web.access import for_readers
from dashboard.web.desk.answer import RequestResult, result_of
from dashboard.web.desk.likeness import how_much_changed
from dashboard.web.drawing import charts
from dashboard.web.drawing.charts import Stages, Timeline, TimelineRow
from dashboard.web.drawing.markup import untrusted
from dashboard.web.drawing.summary import headline_of, summarized
from dashboard.web.http import PersonRequest
from dashboard.web.times import Moment, TimeLeft

ROW = 26
"""How many pixels of the picture each request has."""


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
    title: SafeString
    summary: SafeString
    asked: Moment
    left: TimeLeft | None
    is_abandoned: bool
    result: RequestResult | None
    reason: str
    waited: str
    like: StepLikeness | None


@dataclass(frozen=True, kw_only=True, slots=True)
class RunLine:
    """One request along the time of the run.

    Attributes:
        says: What happened when, in a sentence.
        cells: First view, answer, start and end, as times after it was asked; empty if none.
        is_failed: Whether it ended with an error, says the agent.
    """

    number: int
    y: int
    status: str
    drawn: TimelineRow
    says: str
    asked_at: datetime
    cells: list[str]
    is_failed: bool


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
    lines: list[RunLine]
    timeline: Timeline | None
    total: int
    counts: list[tuple[str, str, int]]

    @property
    def height(self) -> int:
        """How high the picture is, in pixels."""
        return len(self.lines) * ROW

    @property
    def has_failed(self) -> bool:
        """Whether something ended with an error, says the agent."""
        return any(line.is_failed for line in self.lines)

    @property
    def left_out(self) -> int:
        """How many older requests are not told."""
        return self.total - len(self.steps)


def run_story(agent: Agent, run_id: str, person: User, now: datetime) -> RunStory:
    """Tell a run, in the order in which things were asked."""
    story = run_rules.story(agent.pk, run_id)
    resembles = likeness.earlier_in_run(story.approvals)
    stop = present_stop()
    number_of = {entry.pk: story.total - len(story.approvals) + n for n, entry in _from_1(story)}
    steps = [
        _step(
            entry,
            number_of[entry.pk],
            _like(entry, resembles.get(entry.pk), number_of),
            result_of(entry, person, now, stop=stop),
            now,
        )
        for entry in story.approvals
    ]
    lines, timeline = _lines(story.approvals, number_of, now)
    return RunStory(
        agent=agent.name,
        run_id=run_id,
        name=untrusted(run_id),
        steps=steps,
        lines=lines,
        timeline=timeline,
        total=story.total,
        counts=_counts(steps),
    )


def _lines(
    approvals: list[ApprovalRequest], number_of: dict[UUID, int], now: datetime
) -> tuple[list[RunLine], Timeline | None]:
    if not approvals:
        return [], None
    stages = [stages_of(entry, now) for entry in approvals]
    timeline = charts.timeline(stages)
    lines = [
        RunLine(
            number=number_of[entry.pk],
            y=place * ROW,
            status=words.standing(entry)[0],
            drawn=row,
            says=_says(number_of[entry.pk], entry, when),
            asked_at=when.asked,
            cells=[_after(when.asked, at) for at in when[1:5]],
            is_failed=_has_failed(entry),
        )
        for place, (entry, when, row) in enumerate(
            zip(approvals, stages, timeline.rows, strict=True)
        )
    ]
    return lines, timeline


def stages_of(approval: ApprovalRequest, now: datetime) -> Stages:
    """Return when what happened to a request; until now if it is open."""
    decision: Decision | None = getattr(approval, "decision", None)
    decided = decision.decided_at if decision else None
    reported = {outcome.state: outcome.reported_at for outcome in approval.outcomes.all()}
    started, finished = reported.get(OutcomeState.STARTED), reported.get(OutcomeState.FINISHED)
    ends = [at for at in (decided or now, started, finished) if at]
    return Stages(
        asked=approval.submitted_at,
        seen=approval.first_seen_at,  # type: ignore[attr-defined] # annotated
        decided=decided,
        started=started,
        finished=finished,
        until=max(ends),
    )


_STAGES = ("first viewed", "", "started", "finished")  # the answer has its own word


def _says(number: int, approval: ApprovalRequest, when: Stages) -> str:
    """Tell one line of the picture, such as "No. 2, Code: approved after 42 s"."""
    answer = words.STATUSES[Status(approval.status)].lower()
    phrases = [
        f"{name or answer} after {_after(when.asked, at)}"
        for name, at in zip(_STAGES, when[1:5], strict=True)
        if at
    ]
    if phrases and when.finished and _has_failed(approval):
        phrases[-1] += " with an error"
    if when.decided is None:
        phrases.append(f"waiting for {_after(when.asked, when.until)}")
    if recall := recall_of(approval):
        phrases.append(f"taken back after {_after(when.asked, recall.taken_back_at)}")
    return f"No. {number}, {words.KINDS[Kind(approval.kind)]}: {', '.join(phrases)}"


def _has_failed(approval: ApprovalRequest) -> bool:
    return any(outcome.exit_code or outcome.error for outcome in approval.outcomes.all())


def _after(begin: datetime, at: datetime | None) -> str:
    return times.length(max(0.0, (at - begin).total_seconds())) if at else ""


def _from_1(story: run_rules.Story) -> list[tuple[int, ApprovalRequest]]:
    return list(enumerate(story.approvals, 1))


def _counts(steps: list[RunStep]) -> list[tuple[str, str, int]]:
    counts = Counter((step.status, step.status_word.lower()) for step in steps)
    order = [status.value for status in Status]
    ordered_counts = sorted(counts.items(), key=lambda counted: order.index(counted[0][0]))
    return [(status, word, count) for (status, word), count in ordered_counts]


def _like(
    approval: ApprovalRequest, earlier: EarlierRequest | None, number_of: dict[UUID, int]
) -> StepLikeness | None:
    if earlier is None:
        return None
    past_request = earlier.approval
    old, new = likeness.text_of(past_request), likeness.text_of(approval)
    changed = "" if earlier.is_same else how_much_changed(old, new)
    became = words.standing(past_request)[1].lower()
    return StepLikeness(number_of[past_request.pk], past_request.pk, became, changed)


def _step(
    approval: ApprovalRequest,
    number: int,
    like: StepLikeness | None,
    result: RequestResult | None,
    now: datetime,
) -> RunStep:
    is_open = approval.status == Status.PENDING
    decision: Decision | None = getattr(approval, "decision", None)
    expiry = times.time_left(approval.submitted_at, approval.expires_at, now) if is_open else None
    summary = summarized(approval.kind, headline_of(approval))
    status, word = words.standing(approval)
    return RunStep(
        number=number,
        id=approval.pk,
        kind=approval.kind,
        kind_word=words.KINDS[Kind(approval.kind)],
        status=status,
        status_word=word,
        title=summary.title,
        summary=summary.line,
        asked=times.moment(approval.submitted_at, now),
        left=expiry,
        is_abandoned=was_abandoned(approval, now),
        result=result,
        reason=_reason(decision),
        waited=times.length(decision.waited_s) if decision else "",
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
