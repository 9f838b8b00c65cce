"""Try a policy on past requests, and compare it with what people decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from typing import Any, NamedTuple
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods

from approval_client.wire import Kind, Status
from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest, Recall
from dashboard.approvals.rules import past_cases
from dashboard.approvals.rules.recall import recall_of
from dashboard.clock import database_now
from dashboard.inspection.findings import INSPECTOR_VERSION
from dashboard.policies.evaluate import Effect
from dashboard.policies.simulation import PastCase, Simulation, simulate
from dashboard.web import times, words
from dashboard.web.access import any_role
from dashboard.web.drawing.markup import untrusted
from dashboard.web.drawing.summary import headline_of, one_line
from dashboard.web.forms import LengthOfTime, status_of
from dashboard.web.http import PersonRequest
from dashboard.web.office.policies.bench import DOES, IN_FORCE, STATUS_OF, Candidate, CandidateForm
from dashboard.web.times import Moment
from dashboard.web.words import decided_by

LONGEST_DAYS, USUAL_DAYS = 365, 30


_DAY_S = 86_400


class DaysBack(LengthOfTime):
    """A length of time of which days are counted; a bare number means days."""

    def clean(self, value: Any) -> Any:
        """Return whole days."""
        text = str(value or "").strip()
        seconds = super().clean(f"{text} days" if text.isdecimal() else text)
        return None if seconds is None else max(1, seconds // _DAY_S)

    def prepare_value(self, value: Any) -> Any:
        """Write days with their unit."""
        text = str(value or "")
        return f"{text} day{'' if text == '1' else 's'}" if text.isdecimal() else value


class BacktestForm(CandidateForm):
    """Which policy, and how far back."""

    days = DaysBack(label="How far back", shortest_s=_DAY_S, longest_s=LONGEST_DAYS * _DAY_S)


MOST_REQUESTS = 10_000

MOST_LISTED = 50

MOST_GROUPS = 20

_EFFECTS = {
    Effect.APPROVE: "Approved, nobody asked",
    Effect.REVIEW: "A person asked",
    Effect.REJECT: "Rejected, nobody asked",
}


class EffectRow(NamedTuple):
    """How often something was the answer: then, and with the policy that is tried."""

    words: str
    status: str
    then: int
    now: int


class GroupRow(NamedTuple):
    """What would change for one agent and one capability."""

    agent: str
    capability: SafeString
    total: int
    asked: int
    saved: int
    added: int
    wrong: int


class RuleRow(NamedTuple):
    """How often a rule matched."""

    name: str
    does: str
    status: str
    matched: int


class ExampleRow(NamedTuple):
    """One request to look at. ``summary`` is the agent's voice, ``reason`` that of who decided."""

    id: UUID
    kind: str
    kind_word: str
    agent: str
    summary: SafeString
    what_they_did: str
    at: Moment
    reason: str


class Listed(NamedTuple):
    """Requests to look at, and how many more there are."""

    rows: list[ExampleRow]
    total: int
    more: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Backtest:
    """One policy on what was asked lately.

    Attributes:
        total: How many requests.
        remarks: What else to know of these numbers, one sentence each.
        by_people: How many of them people answered: the truth.
        wrongly_approved: Requests that the policy would approve and a person rejected, edited or
            took back.
        wrongly_rejected: Requests that the policy would reject and a person approved.
        answers_saved: How many of the prompts saved a person had answered.
        waiting_saved: How long agents waited for these answers, in words: all, and the median.
        waiting_usual: The median of all answers by people: what an added prompt may cost.
    """

    policy: str
    total: int
    remarks: list[str]
    by_people: int
    effects: list[EffectRow]
    saved: int
    added: int
    wrongly_approved: Listed
    wrongly_rejected: Listed
    answers_saved: int
    waiting_saved: str
    waiting_median: str
    waiting_usual: str
    groups: list[GroupRow]
    more_groups: int
    rules: list[RuleRow]


def replay(candidate: Candidate, since: datetime, person: User, now: datetime) -> Backtest:
    """Try a policy on the requests that were submitted since then and answered."""
    tally = _Tally()
    trial = simulate(candidate.policy, tally.counted(past_cases.cases(since, MOST_REQUESTS)))
    waits = [tally.answered_in_s[pk] for pk in trial.saved if pk in tally.answered_in_s]
    groups = list(_groups(tally, trial))
    grants = len(trial.granted)
    effects_now = trial.by_effect + Counter({Effect.APPROVE: grants})
    effects_now[Effect.REVIEW] -= grants
    return Backtest(
        policy=candidate.name,
        total=trial.cases,
        remarks=list(_remarks(since, trial.cases, grants, tally.older_findings)),
        by_people=len(tally.answered_in_s),
        effects=[
            EffectRow(label, STATUS_OF[effect], tally.then[effect], effects_now[effect])
            for effect, label in _EFFECTS.items()
        ],
        saved=len(trial.saved),
        added=len(trial.added),
        wrongly_approved=_listed(trial.wrongly_approved, person, now),
        wrongly_rejected=_listed(trial.wrongly_rejected, person, now),
        answers_saved=len(waits),
        waiting_saved=times.length(sum(waits)),
        waiting_median=_median(waits),
        waiting_usual=_median(tally.answered_in_s.values()),
        groups=groups[:MOST_GROUPS],
        more_groups=max(0, len(groups) - MOST_GROUPS),
        rules=[
            RuleRow(rule.name, DOES[rule.effect], STATUS_OF[rule.effect], trial.by_rule[rule.name])
            for rule in candidate.policy.rules
        ],
    )


def _median(waits: Collection[float]) -> str:
    return times.length(median(waits)) if waits else ""


def _remarks(since: datetime, total: int, grants: int, older_findings: int) -> Iterator[str]:
    waiting = ApprovalRequest.objects.pending().filter(submitted_at__gte=since).count()
    left_out = past_cases.answered(since).count() - total
    for count, singular, many in (
        (waiting, "still waits for an answer and is", "still wait for an answer and are"),
        (left_out, "older than these is", "older than these are"),
    ):
        if count:
            yield f"{count:,} {singular if count == 1 else many} left out."
    if grants:
        were = "was" if grants == 1 else "were"
        yield (
            f"{grants:,} that this policy would have reviewed {were} answered by a remembered "
            "approval or a replacement. It allows that, so no prompt is added."
        )
    if older_findings:
        were = "was" if older_findings == 1 else "were"
        yield (
            f"{older_findings:,} {were} inspected by an older inspector; today something else "
            "might be found."
        )


@dataclass
class _Tally:
    """Counts the cases on their way to the simulation."""

    then: Counter[Effect] = field(default_factory=Counter)
    group_of: dict[str, tuple[str, str]] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    answered_in_s: dict[str, float] = field(default_factory=dict)
    older_findings: int = 0

    def counted(self, cases: Iterable[PastCase]) -> Iterator[PastCase]:
        for case in cases:
            self.then[_effect_then(case)] += 1
            self.group_of[case.id] = (case.question.agent, case.question.capability)
            if case.was_asked:
                self.asked.add(case.id)
            if case.by_person and case.was_asked:
                self.answered_in_s[case.id] = case.waited_s
            self.older_findings += case.question.report.inspector != INSPECTOR_VERSION
            yield case


def _effect_then(case: PastCase) -> Effect:
    if case.was_asked:
        return Effect.REVIEW
    return Effect.APPROVE if case.answered in ("approved", "recalled") else Effect.REJECT


def _groups(tally: _Tally, found: Simulation) -> Iterator[GroupRow]:
    def count(ids: Collection[str]) -> Counter[tuple[str, str]]:
        return Counter(tally.group_of[pk] for pk in ids)

    total, asked_counts = count(tally.group_of), count(tally.asked)
    saved, added = count(found.saved), count(found.added)
    wrong = count(found.wrongly_approved) + count(found.wrongly_rejected)
    for group, number in total.most_common():
        agent, capability = group
        yield GroupRow(
            agent,
            untrusted(capability),
            number,
            asked_counts[group],
            saved[group],
            added[group],
            wrong[group],
        )


def _listed(ids: list[str], person: User, now: datetime) -> Listed:
    shown_ids = ids[:MOST_LISTED]
    approvals = ApprovalRequest.objects.select_related(
        "agent", "headline", "decision__decided_by", "recall__person"
    )
    by_id = approvals.defer("content", "evidence").in_bulk(shown_ids)
    examples = [_example(by_id[UUID(pk)], person, now) for pk in shown_ids]
    return Listed(examples, len(ids), len(ids) - len(shown_ids))


def _example(approval: ApprovalRequest, person: User, now: datetime) -> ExampleRow:
    decision, recall = approval.decision, recall_of(approval)
    is_edited = decision.status == Status.APPROVED and decision.digest != approval.digest
    did = "Edited" if is_edited else words.STATUSES[Status(decision.status)]
    return ExampleRow(
        approval.pk,
        approval.kind,
        words.KINDS[Kind(approval.kind)],
        approval.agent.name,
        one_line(headline_of(approval)),
        _taken_back(recall, person) if recall else f"{did} {decided_by(decision, person)}",
        times.moment(recall.taken_back_at if recall else decision.decided_at, now),
        recall.reason if recall else decision.reason,
    )


def _taken_back(recall: Recall, person: User) -> str:
    name = "you" if recall.person_id == person.pk else recall.person.username
    return f"Taken back by {name}"


@any_role
@require_http_methods(["GET", "HEAD"])
def backtest(request: PersonRequest) -> HttpResponse:
    """Show the form, and what came out once it was sent: it takes a while, and changes nothing."""
    if "days" not in request.GET:
        initial = {"policy": request.GET.get("policy", ""), "days": USUAL_DAYS}
        return _page(request, BacktestForm(request.user, initial=initial))
    form = BacktestForm(request.user, {"policy": IN_FORCE, **request.GET.dict()})
    return _page(request, form, _run(request, form) if form.is_valid() else None)


def _run(request: PersonRequest, form: BacktestForm) -> Backtest:
    now = database_now()
    since = now - timedelta(days=form.cleaned_data["days"])
    return replay(form.cleaned_data["policy"], since, request.user, now)


def _page(
    request: PersonRequest, form: BacktestForm, result: Backtest | None = None
) -> HttpResponse:
    context = {"form": form, "result": result, "most": MOST_REQUESTS}
    return render(request, "office/backtest.html", context, status=status_of(form))
