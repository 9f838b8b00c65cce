"""What a policy answers to one question, laid out to be followed step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from dashboard.inspection.findings import INSPECTOR_VERSION
from dashboard.policies.demands import Required
from dashboard.policies.evaluate import Effect, Evaluation, evaluate
from dashboard.policies.questions import Question
from dashboard.policies.rules import Rule
from dashboard.web.content import Content, render_content
from dashboard.web.findings import Found, found
from dashboard.web.presenting.candidates import Candidate
from dashboard.web.presenting.reading import may_mask, too_long
from dashboard.web.times import length
from dashboard.wire import Kind, canonical_json

HEADLINES = {
    Effect.APPROVE: "It is approved at once. Nobody is asked.",
    Effect.REVIEW: "A person is asked.",
    Effect.REJECT: "It is rejected at once. Nobody is asked.",
}
STATUS_OF = {Effect.APPROVE: "approved", Effect.REVIEW: "pending", Effect.REJECT: "rejected"}
"""The colour and the icon of an effect are those of the status that it leads to."""
DOES = {Effect.APPROVE: "approves", Effect.REVIEW: "asks", Effect.REJECT: "rejects"}
_MOST_LINES = 20_000  # what is longer is judged, and not drawn here
_OUTCOMES_OF_MODES = {"matches": "speak", "does not match": "say nothing"}


class StepRow(NamedTuple):
    """One rule, or the modes, with what became of it.

    Attributes:
        does: What the rule does where it matches; empty for the modes.
        status: The status that leads to.
    """

    number: int
    name: str
    does: str
    status: str
    outcome: str
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """One policy tried on one question.

    Attributes:
        policy: What to call the policy in a sentence.
        told: What a rejecting rule tells the agent.
        demands: What a review asks for, one sentence each.
        found: What was found in the content.
        content: What was tried, with marks where findings are; empty if it is too long.
        is_older: Whether an older inspector looked.
        steps: Every rule in its order, then the modes.
        rejects_first: Whether rules that reject stand after others, which they go before.
        trace: How the answer came about, as the request itself would keep it.
    """

    policy: str
    kind: Kind
    headline: str
    status: str
    told: str
    demands: list[str]
    found: Found
    content: Content
    is_older: bool
    steps: list[StepRow]
    rejects_first: bool
    trace: tuple[str, ...]


def tried(candidate: Candidate, question: Question) -> Trial:
    """Ask a policy, and lay out its answer."""
    answer, report = evaluate(candidate.policy, question), question.report
    described, content = found(report, _drawn(question))
    return Trial(
        policy=candidate.name,
        kind=question.kind,
        headline=HEADLINES[answer.effect],
        status=STATUS_OF[answer.effect],
        told=answer.reason if answer.effect is Effect.REJECT else "",
        demands=list(_demanded(answer.demands)) if answer.effect is Effect.REVIEW else [],
        found=described,
        content=content,
        is_older=report.inspector != INSPECTOR_VERSION,
        steps=list(_steps(candidate.policy.rules, answer)),
        rejects_first=_rejects_first(candidate.policy.rules),
        trace=answer.trace,
    )


def _drawn(question: Question) -> Content:
    text = canonical_json(question.content)
    if too_long(question.kind, text, _MOST_LINES):
        return Content([])
    return render_content(question.kind, text, masks=may_mask(question.report))


def _steps(rules: tuple[Rule, ...], answer: Evaluation) -> Iterator[StepRow]:
    *of_rules, of_modes = answer.steps
    for number, (rule, step) in enumerate(zip(rules, of_rules, strict=True), 1):
        does, status = DOES[rule.effect], STATUS_OF[rule.effect]
        yield StepRow(number, rule.name, does, status, step.outcome, step.why)
    outcome = _OUTCOMES_OF_MODES.get(of_modes.outcome, of_modes.outcome)
    yield StepRow(len(rules) + 1, "Modes", "", "", outcome, of_modes.why)


def _rejects_first(rules: tuple[Rule, ...]) -> bool:
    effects = [rule.effect for rule in rules]
    return effects != sorted(effects, key=lambda effect: effect is not Effect.REJECT)


def _demanded(demands: Required) -> Iterator[str]:
    people = demands.approvals
    yield "One person approves." if people == 1 else f"{people} different people approve."
    for circle in demands.circles:
        later = " or ".join(circle.later)
        yield (
            f"Who approves is a member of {' or '.join(circle.groups)}"
            + (f", after {length(int(circle.later_from_s))} also of {later}." if later else ".")
        )
    yield f"The agent's owner {'may approve' if demands.owner_may_approve else 'does not count'}."
    yield f"Who edits it {'may approve' if demands.editor_may_approve else 'does not count'}."
    if demands.time_limit_s is not None:
        yield f"It expires after {length(demands.time_limit_s)} at the latest."
    if demands.reason_required:
        yield "A reason is needed to approve."
    if demands.grants_allowed:
        yield "The yes may be remembered for later."
    if demands.whole_content:
        yield "The content has to be read to its end before anybody approves."
