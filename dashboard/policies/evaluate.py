"""What a policy says about a question. Pure: no clock, no database, no network.

Rules and modes are judged apart and the stricter holds. Rejecting rules come first, wherever they
stand; then the others in their order, and the first that matches decides. A rule that rests on
what the agent says of itself never decides: when it matches, a person is asked and what it demands
is added to what the review asks for. So no claim makes an answer laxer. It is the same with a
rule that matches only because something was not seen: a stricter one may be about just that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import NamedTuple

from dashboard.policies.demands import Required, join, required, shortfalls
from dashboard.policies.facts import Facts
from dashboard.policies.matching import FOUND_BEFORE, Matcher, Outcome, Step
from dashboard.policies.modes import MODES_OF_OTHERS, Said
from dashboard.policies.policy import Policy
from dashboard.policies.problems import PolicyError, parse_rule
from dashboard.policies.questions import Question
from dashboard.policies.rules import Effect

__all__ = [
    "EVERYTHING_TO_A_PERSON",
    "MODES_OF_OTHERS",
    "THE_MODES",
    "Deciding",
    "Effect",
    "Evaluation",
    "Policy",
    "PolicyError",
    "Step",
    "evaluate",
    "is_laxer",
    "parse_rule",
    "stricter",
]

THE_MODES = "Modes"
"""What the step of the modes is called."""
_STRICTNESS = {Effect.APPROVE: 0, Effect.REVIEW: 1, Effect.REJECT: 2}
EVERYTHING_TO_A_PERSON = Policy(
    modes={
        "global_mode": "all_capabilities",
        "capabilities": {
            "python_execution": {"enabled": True, "mode": "all_code"},
            "memory": {"enabled": True},
        },
    }
)


class Deciding(NamedTuple):
    """What an answer rests on: rules by name, the modes, or that not all of it could be seen.

    Several may say the same. Where nothing speaks, nothing of this does: a person is asked.
    """

    rules: tuple[str, ...] = ()
    modes: bool = False
    doubts: bool = False


@dataclass(frozen=True)
class Evaluation:
    """What a policy answers.

    Attributes:
        trace: The sentences that led there.
        demands: What a review asks for; there even where none is needed, should one come about.
        steps: What became of each rule and of the modes, for who wants to follow.
        words: What a rejecting rule has to say to the agent.
        deciding: What the effect rests on.
    """

    effect: Effect
    trace: tuple[str, ...]
    demands: Required = field(default_factory=Required)
    steps: tuple[Step, ...] = ()
    words: str = ""
    deciding: Deciding = field(default_factory=Deciding)

    @property
    def reason(self) -> str:
        """What the agent is told: the rule's own words, else the trace."""
        return self.words or " ".join(self.trace)


def evaluate(policy: Policy, question: Question) -> Evaluation:
    """Say what happens to a question. Total: whatever the content is, it never raises.

    Where nothing speaks a person is asked, and so where something could not be read or followed,
    unless the whole gate is off.
    """
    return _Evaluating(policy, question).result()


def stricter(a: Evaluation, b: Evaluation) -> Evaluation:
    """Return what holds when both have to: the stricter effect, and all that both demand."""
    if a.effect is not b.effect:
        return max(a, b, key=lambda evaluation: _STRICTNESS[evaluation.effect])
    trace = tuple(dict.fromkeys(b.trace + a.trace))
    return replace(b, trace=trace, demands=join(a.demands, b.demands), words=b.words or a.words)


def is_laxer(a: Evaluation, b: Evaluation) -> bool:
    """Whether ``a`` lets through what ``b`` does not, or asks less than ``b`` in any respect."""
    if a.effect is b.effect is Effect.REVIEW:
        return bool(shortfalls(a.demands, b.demands))
    return _STRICTNESS[a.effect] < _STRICTNESS[b.effect]


class _Evaluating:
    """One evaluation, from the rejecting rules to the answer."""

    def __init__(self, policy: Policy, question: Question) -> None:
        self._policy = policy
        self._facts = Facts(question)
        self._steps: dict[int, Step] = {}
        self._speaking: list[Matcher] = []  # up to the rule that decides
        self._asking: list[Matcher] = []  # up to the first rule that asks for a review anyway
        self._review_is_certain = False  # whether there is such a rule

    def result(self) -> Evaluation:
        rejecting = list(self._rejecting())
        if rejecting:
            return self._rejected(min(rejecting, key=lambda step: step.unclear))
        last = self._walk()
        said = self._policy.read_modes.say(
            self._facts.question.kind, may_write=self._facts.may_write, reads=self._facts.reads
        )
        effect, in_doubt = self._effect(said)
        if effect is Effect.REVIEW:
            last = len(self._policy.matchers)
        steps = self._all_steps(said, last)
        sentences = [*self._told(steps), *self._about_modes(said)]
        sentences += [_doubts(self._facts)] if in_doubt else []
        sentences += self._about_demands() if effect is Effect.REVIEW else []
        same = [matcher.rule for matcher in self._speaking if matcher.rule.effect is effect]
        deciding = Deciding(tuple(rule.name for rule in same), said.effect is effect, in_doubt)
        return Evaluation(effect, tuple(sentences), self._demands(), steps, deciding=deciding)

    def _rejecting(self) -> Iterator[Step]:
        """Yield the rules that reject, up to the first of which that is certain."""
        for index in self._policy.rejecting:
            step = self._judged(index)
            if step.matches:
                yield step
            if step.matches and not step.unclear:
                return

    def _rejected(self, step: Step) -> Evaluation:
        rejecting = [i for i in self._policy.rejecting if i in self._steps]
        steps = self._all_steps(None, rejecting[-1])
        rule = next(rule for rule in self._policy.rules if rule.name == step.rule)
        trace = (*self._told(steps), f"Rule '{rule.name}' rejects.")
        words = rule.reason
        if step.unclear:
            told = f" It says: {rule.reason}" if rule.reason else ""
            words = f"{step.why} Rule '{rule.name}' rejects.{told}"
        deciding = Deciding((rule.name,))
        return Evaluation(Effect.REJECT, trace, self._demands(), steps, words, deciding)

    def _walk(self) -> int:
        last = len(self._policy.matchers)
        for index in self._policy.others:
            step, matcher = self._judged(index), self._policy.matchers[index]
            if not step.matches:
                continue
            if step.unclear and index in self._policy.shadowed:
                self._steps[index] = matcher.not_reached
                continue
            if index < last:
                self._speaking.append(matcher)
            if matcher.rule.effect is Effect.REVIEW:
                self._asking.append(matcher)
            if not matcher.claims and not step.unclear:
                last = min(last, index)
                if matcher.rule.effect is Effect.REVIEW:
                    self._review_is_certain = True
                    break
        return last

    def _judged(self, index: int) -> Step:
        step = self._steps[index] = self._policy.matchers[index].judge(self._facts)
        return step

    def _effect(self, said: Said) -> tuple[Effect, bool]:
        """Return what happens, and whether that is so because something is in doubt."""
        spoken = [matcher.rule.effect for matcher in self._speaking]
        spoken += [said.effect] if said.effect else []
        effect = max(spoken, key=_STRICTNESS.__getitem__, default=Effect.REVIEW)
        in_doubt = self._facts.question.report.has_doubts and not self._policy.asks_nobody
        if effect is Effect.APPROVE and in_doubt:
            return Effect.REVIEW, True
        return effect, False

    def _demands(self) -> Required:
        """Add up what the rules ask for; an approving rule hides nothing of it.

        So what an approving rule would let through, but for a doubt or a mode, is asked about in
        the way in which it would be asked about without that rule.
        """
        owners = self._policy.owner_may_approve
        asked = [required(m.rule.demands, owner_may_approve=owners) for m in self._asking]
        if not self._review_is_certain:
            asked.append(Required(owner_may_approve=owners))
        return reduce(join, asked)

    def _all_steps(self, said: Said | None, last: int) -> tuple[Step, ...]:
        rejecting = set(self._policy.rejecting)
        steps = [
            self._steps[index]
            if index in self._steps and (index <= last or index in rejecting)
            else matcher.not_reached
            for index, matcher in enumerate(self._policy.matchers)
        ]
        if said is None:
            return (*steps, Step(THE_MODES, "not reached", FOUND_BEFORE))
        outcome: Outcome = "matches" if said.effect else "does not match"
        return (*steps, Step(THE_MODES, outcome, said.sentence))

    def _told(self, steps: tuple[Step, ...]) -> Iterator[str]:
        yield f"Global mode is '{self._policy.config.global_mode}'."
        for step in steps:
            if step.unclear:
                yield f"Rule '{step.rule}': {step.why}"
        for matcher in self._speaking:
            verb = "asks for a review" if matcher.rule.effect is Effect.REVIEW else "approves"
            because = ", because of what the agent says of itself" if matcher.claims else ""
            yield f"Rule '{matcher.rule.name}' {verb}{because}."

    def _about_modes(self, said: Said) -> Iterator[str]:
        if said.effect:
            yield said.sentence
        elif not self._speaking:
            yield f"{said.sentence.removesuffix('.')}: a person is asked."

    def _about_demands(self) -> Iterator[str]:
        for matcher in self._asking:
            if matcher not in self._speaking:
                yield f"Rule '{matcher.rule.name}' says what the review asks for."


def _doubts(facts: Facts) -> str:
    names = sorted({f.name for f in facts.question.report.findings if f.is_doubt})
    return f"Not all of it could be read or followed ({', '.join(names)}): a person is asked."
