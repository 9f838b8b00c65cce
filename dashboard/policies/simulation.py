"""What a policy would have done with past requests, held against what people did. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from dashboard.policies.evaluate import Effect, Evaluation, Policy, evaluate
from dashboard.policies.rules.facts import Question

Answer = Literal["approved", "rejected", "expired", "cancelled", "edited", "recalled"]
GrantKind = Literal["", "remembered", "replacement"]


@dataclass(frozen=True, kw_only=True)
class PastCase:
    """One past request.

    Attributes:
        answered: What became of it; "edited" is approved with changes, and "recalled" is approved
            and taken back by a person.
        by_person: Whether a person answered or took it back, rather than a policy, a grant or a
            deadline.
        was_asked: Whether a person was asked about it.
        grant: Whether a remembered approval answered it, or the replacement of a reviewer.
        waited_s: How long the agent waited for the answer.
    """

    id: str
    question: Question
    answered: Answer
    by_person: bool
    was_asked: bool
    waited_s: float
    grant: GrantKind = ""


@dataclass
class Simulation:
    """What came out.

    Attributes:
        by_effect: How many cases each effect had.
        by_rule: How many cases each rule matched before the answer was found.
        saved: Ids of what a person was asked about and would not have been.
        added: Ids of what a person would have been asked about and was not.
        granted: Ids of what a person would have been asked about, if a grant had not answered it,
            as it may with this policy.
        wrongly_approved: Ids of what would have been approved and a person rejected, edited or
            took back.
        wrongly_rejected: Ids of what would have been rejected and a person approved.
    """

    cases: int = 0
    by_effect: Counter[Effect] = field(default_factory=Counter)
    by_rule: Counter[str] = field(default_factory=Counter)
    saved: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    granted: list[str] = field(default_factory=list)
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
        (simulation.granted if _may_be_granted(case, evaluation) else simulation.added).append(
            case.id
        )
    if not case.by_person:
        return
    if effect is Effect.APPROVE and case.answered in ("rejected", "edited", "recalled"):
        simulation.wrongly_approved.append(case.id)
    elif effect is Effect.REJECT and case.answered == "approved":
        simulation.wrongly_rejected.append(case.id)


def _may_be_granted(case: PastCase, evaluation: Evaluation) -> bool:
    """Whether the grant that answered would answer again, as far as the demands tell."""
    demands = evaluation.demands
    may_be_remembered = demands.grants_allowed and demands.approvals == 1
    # A replacement is allowed once, whatever may be remembered.
    return case.grant == "replacement" or (case.grant == "remembered" and may_be_remembered)
