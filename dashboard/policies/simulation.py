"""What a policy would have done with past requests, held against what people did. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from dashboard.policies.evaluate import Effect, Evaluation, Policy, evaluate
from dashboard.policies.rules.facts import Question

Answer = Literal["approved", "rejected", "expired", "cancelled", "edited"]


@dataclass(frozen=True, kw_only=True)
class PastCase:
    """One past request.

    Attributes:
        answered: What became of it; "edited" is approved with changes.
        by_person: Whether a person answered, rather than a policy, a grant or a deadline.
        was_asked: Whether a person was asked about it.
        waited_s: How long the agent waited for the answer.
    """

    id: str
    question: Question
    answered: Answer
    by_person: bool
    was_asked: bool
    waited_s: float


@dataclass
class Simulation:
    """What came out.

    Attributes:
        by_effect: How many cases each effect had.
        by_rule: How many cases each rule matched before the answer was found.
        saved: Ids of what a person was asked about and would not have been.
        added: Ids of what a person would have been asked about and was not.
        wrongly_approved: Ids of what would have been approved and a person rejected or edited.
        wrongly_rejected: Ids of what would have been rejected and a person approved.
    """

    cases: int = 0
    by_effect: Counter[Effect] = field(default_factory=Counter)
    by_rule: Counter[str] = field(default_factory=Counter)
    saved: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    wrongly_approved: list[str] = field(default_factory=list)
    wrongly_rejected: list[str] = field(default_factory=list)


def simulate(policy: Policy, cases: Iterable[PastCase]) -> Simulation:
    """Judge past requests by a policy and count what would have been different."""
    simulation = Simulation()
    for case in cases:
        _count(simulation, case, evaluate(policy, case.question))
    return simulation


def _count(simulation: Simulation, case: PastCase, evaluation: Evaluation) -> None:
    effect = evaluation.effect
    simulation.cases += 1
    simulation.by_effect[effect] += 1
    # The last step is that of the modes.
    simulation.by_rule.update(step.rule for step in evaluation.steps[:-1] if step.matches)
    is_asked = effect is Effect.REVIEW
    if case.was_asked and not is_asked:
        simulation.saved.append(case.id)
    elif is_asked and not case.was_asked:
        simulation.added.append(case.id)
    if not case.by_person:
        return
    if effect is Effect.APPROVE and case.answered in ("rejected", "edited"):
        simulation.wrongly_approved.append(case.id)
    elif effect is Effect.REJECT and case.answered == "approved":
        simulation.wrongly_rejected.append(case.id)
