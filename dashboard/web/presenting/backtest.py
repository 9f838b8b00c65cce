"""What a policy would have done with what was asked lately, held against what people did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import NamedTuple
from uuid import UUID

from django.db.models.functions import Left, Right
from django.utils.safestring import SafeString

from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.rules import past_cases
from dashboard.inspection.findings import INSPECTOR_VERSION
from dashboard.policies.evaluate import Effect
from dashboard.policies.simulating import Case, Simulation, simulate
from dashboard.web.presenting import times, words
from dashboard.web.presenting.candidates import Candidate
from dashboard.web.presenting.gist import HEAD, TAIL, gist
from dashboard.web.presenting.rows import closer
from dashboard.web.presenting.times import Moment
from dashboard.web.presenting.trial import DOES, STATUS_OF
from dashboard.web.rendering.markup import theirs
from dashboard.wire import Kind, Status

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


class Example(NamedTuple):
    """One request to look at. ``gist`` is the agent's voice, ``reason`` that of who decided."""

    id: UUID
    kind: str
    kind_word: str
    agent: str
    gist: SafeString
    what_they_did: str
    at: Moment
    reason: str


class Listed(NamedTuple):
    """Requests to look at, and how many more there are."""

    rows: list[Example]
    total: int
    more: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Backtest:
    """One policy on what was asked lately.

    Attributes:
        total: How many requests.
        remarks: What else to know of these numbers, one sentence each.
        by_people: How many of them people answered: the truth.
        wrongly_approved: What would open by itself and a person rejected or edited.
        wrongly_rejected: What would be refused by itself and a person approved.
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
    """Try a policy on what was asked since then and has its answer."""
    tally = _Tally()
    found = simulate(candidate.policy, tally.counted(past_cases.cases(since, MOST_REQUESTS)))
    waits = [tally.answered_in_s[pk] for pk in found.saved if pk in tally.answered_in_s]
    groups = list(_groups(tally, found))
    return Backtest(
        policy=candidate.name,
        total=found.cases,
        remarks=list(_remarks(since, found.cases, tally.older_findings)),
        by_people=len(tally.answered_in_s),
        effects=[
            EffectRow(said, STATUS_OF[effect], tally.then[effect], found.by_effect[effect])
            for effect, said in _EFFECTS.items()
        ],
        saved=len(found.saved),
        added=len(found.added),
        wrongly_approved=_listed(found.wrongly_approved, person, now),
        wrongly_rejected=_listed(found.wrongly_rejected, person, now),
        answers_saved=len(waits),
        waiting_saved=times.length(sum(waits)),
        waiting_median=_median(waits),
        waiting_usual=_median(tally.answered_in_s.values()),
        groups=groups[:MOST_GROUPS],
        more_groups=max(0, len(groups) - MOST_GROUPS),
        rules=[
            RuleRow(rule.name, DOES[rule.effect], STATUS_OF[rule.effect], found.by_rule[rule.name])
            for rule in candidate.policy.rules
        ],
    )


def _median(waits: Collection[float]) -> str:
    return times.length(median(waits)) if waits else ""


def _remarks(since: datetime, total: int, older_findings: int) -> Iterator[str]:
    waiting = ApprovalRequest.objects.pending().filter(submitted_at__gte=since).count()
    left_out = past_cases.answered(since).count() - total
    for count, one, many in (
        (waiting, "still waits for an answer and is", "still wait for an answer and are"),
        (left_out, "older than these is", "older than these are"),
    ):
        if count:
            yield f"{count:,} {one if count == 1 else many} left out."
    if older_findings:
        were = "was" if older_findings == 1 else "were"
        yield (
            f"{older_findings:,} {were} inspected by an older inspector; today something else "
            "might be found."
        )


@dataclass
class _Tally:
    """Counts what passes by on its way to the simulation."""

    then: Counter[Effect] = field(default_factory=Counter)
    group_of: dict[str, tuple[str, str]] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    answered_in_s: dict[str, float] = field(default_factory=dict)
    older_findings: int = 0

    def counted(self, cases: Iterable[Case]) -> Iterator[Case]:
        for case in cases:
            self.then[_effect_then(case)] += 1
            self.group_of[case.id] = (case.question.agent, case.question.capability)
            if case.was_asked:
                self.asked.add(case.id)
            if case.by_person:
                self.answered_in_s[case.id] = case.waited_s
            self.older_findings += case.question.report.inspector != INSPECTOR_VERSION
            yield case


def _effect_then(case: Case) -> Effect:
    if case.was_asked:
        return Effect.REVIEW
    return Effect.APPROVE if case.answered == "approved" else Effect.REJECT


def _groups(tally: _Tally, found: Simulation) -> Iterator[GroupRow]:
    def count(ids: Collection[str]) -> Counter[tuple[str, str]]:
        return Counter(tally.group_of[pk] for pk in ids)

    total, asked = count(tally.group_of), count(tally.asked)
    saved, added = count(found.saved), count(found.added)
    wrong = count(found.wrongly_approved) + count(found.wrongly_rejected)
    for group, number in total.most_common():
        agent, capability = group
        yield GroupRow(
            agent,
            theirs(capability),
            number,
            asked[group],
            saved[group],
            added[group],
            wrong[group],
        )


def _listed(ids: list[str], person: User, now: datetime) -> Listed:
    shown = ids[:MOST_LISTED]
    light = ApprovalRequest.objects.annotate(
        head=Left("content", HEAD), tail=Right("content", TAIL)
    )
    found = light.select_related("agent", "decision__decided_by").defer("content", "evidence")
    by_id = found.in_bulk(shown)
    examples = [_example(by_id[UUID(pk)], person, now) for pk in shown]
    return Listed(examples, len(ids), len(ids) - len(shown))


def _example(approval: ApprovalRequest, person: User, now: datetime) -> Example:
    decision = approval.decision
    is_edited = decision.status == Status.APPROVED and decision.digest != approval.digest
    did = "Edited" if is_edited else words.STATUSES[Status(decision.status)]
    return Example(
        approval.pk,
        approval.kind,
        words.KINDS[Kind(approval.kind)],
        approval.agent.name,
        gist(approval.kind, approval.head, approval.tail),  # type: ignore[attr-defined] # annotated
        f"{did} {closer(decision, person)}",
        times.moment(decision.decided_at, now),
        decision.reason,
    )
