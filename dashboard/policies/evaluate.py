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
from typing import Any

from dashboard.policies.judgements.grounds import Grounds, RuleGround, Says, ToolSays
from dashboard.policies.judgements.matcher import FOUND_BEFORE, Matcher, Outcome, Step
from dashboard.policies.judgements.modes import MODES_OF_OTHERS, ModeVerdict
from dashboard.policies.judgements.wording import TOOLS, plainly
from dashboard.policies.policy import Policy
from dashboard.policies.rules.demands import Required, join, required, shortfalls
from dashboard.policies.rules.facts import Facts, Question
from dashboard.policies.rules.problems import PolicyError, parse_rule
from dashboard.policies.rules.rule import Effect

__all__ = [
    "EVERYTHING_TO_A_PERSON",
    "MODES_OF_OTHERS",
    "THE_MODES",
    "Effect",
    "Evaluation",
    "Grounds",
    "Policy",
    "PolicyError",
    "Step",
    "evaluate",
    "is_laxer",
    "parse_rule",
    "stricter",
]

_STOPPED = "All approving is stopped: a person is asked."
THE_MODES = "Modes"
"""What the step of the modes is called."""
SAYING = {
    Effect.APPROVE: (Says.APPROVES,),
    Effect.REVIEW: (Says.ASKS,),
    Effect.REJECT: (Says.REJECTS,),
}
"""What the rules say that have an effect."""

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


@dataclass(frozen=True)
class Evaluation:
    """What a policy answers.

    Attributes:
        trace: The sentences that led there.
        demands: What a review asks for; there even where none is needed, should one come about.
        steps: What became of each rule and of the modes, for who wants to follow.
        words: What a rejecting rule has to say to the agent.
        grounds: What the effect rests on; None for what was kept before there were grounds.
    """

    effect: Effect
    trace: tuple[str, ...]
    demands: Required = field(default_factory=Required)
    steps: tuple[Step, ...] = ()
    words: str = ""
    grounds: Grounds | None = None

    @property
    def sentences(self) -> list[str]:
        """Why a person is asked, or is not, for people to read.

        Where only what agents were told was kept, it is said as it was.
        """
        if self.grounds is None:
            return list(self.trace)
        return plainly(self.grounds, self.demands if self.effect is Effect.REVIEW else None)

    @property
    def deciding(self) -> list[str]:
        """The rules that had the effect; none where the modes or a doubt had it."""
        return self.grounds.saying(*SAYING[self.effect]) if self.grounds else []

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
    """Return what holds when both have to: the stricter effect, and all that both demand.

    How a tool is classed is as ``b`` says, which is the later one.
    """
    if a.effect is not b.effect:
        strict = max(a, b, key=lambda evaluation: _STRICTNESS[evaluation.effect])
        tool_class = b.grounds.tool_class if b.grounds else ""
        grounds = strict.grounds and replace(strict.grounds, tool_class=tool_class)
        return replace(strict, grounds=grounds)
    trace = tuple(dict.fromkeys(b.trace + a.trace))
    grounds = b.grounds.joined(a.grounds) if a.grounds and b.grounds else None
    demands = join(a.demands, b.demands)
    return replace(b, trace=trace, demands=demands, words=b.words or a.words, grounds=grounds)


def stopped(evaluation: Evaluation) -> Evaluation:
    """Return what holds of an approval while all approving is stopped: a person is asked."""
    grounds = evaluation.grounds and replace(evaluation.grounds, held=True, by_modes=False)
    trace = (*evaluation.trace, _STOPPED)
    return Evaluation(Effect.REVIEW, trace, evaluation.demands, grounds=grounds)


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
        end = self._walk()
        by_mode = self._policy.read_modes.say(
            self._facts.question.kind, may_write=self._facts.may_write, reads=self._facts.reads
        )
        effect, in_doubt = self._effect(by_mode)
        tool_says = self._tool_says(effect)
        effect = Effect.REVIEW if tool_says else effect
        if effect is Effect.REVIEW:
            end = len(self._policy.matchers)
        steps = self._all_steps(by_mode, end)
        sentences = [*self._told(steps), *self._about_modes(by_mode)]
        sentences += [_doubts(self._facts)] if in_doubt else []
        sentences += map(TOOLS.__getitem__, tool_says)
        sentences += self._about_demands() if effect is Effect.REVIEW else []
        grounds = self._grounds(
            steps,
            modes=(by_mode.says,),
            by_modes=by_mode.effect is effect,
            rules=tuple(self._spoken(effect)),
            doubts=_names_of_doubts(self._facts) if in_doubt else (),
            tool=tool_says,
        )
        return Evaluation(effect, tuple(sentences), self._demands(), steps, grounds=grounds)

    def _grounds(self, steps: tuple[Step, ...], **more: Any) -> Grounds:
        unclear = tuple(step.ground for step in steps if step.ground)
        question = self._facts.question
        tool_class = str(question.tool_class or "")
        return Grounds(kind=question.kind, unclear=unclear, tool_class=tool_class, **more)

    def _spoken(self, effect: Effect) -> Iterator[RuleGround]:
        for matcher in self._speaking:
            asks = matcher.rule.effect is Effect.REVIEW
            says = Says.ASKS if asks else Says.APPROVES
            yield RuleGround(matcher.rule.name, says, matcher.claims)
        for matcher in self._asking if effect is Effect.REVIEW else ():
            if matcher not in self._speaking:
                yield RuleGround(matcher.rule.name, Says.DEMANDS, matcher.claims)

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
            saying = f" It says: {rule.reason}" if rule.reason else ""
            words = f"{step.why} Rule '{rule.name}' rejects.{saying}"
        grounds = self._grounds(steps, rules=(RuleGround(rule.name, Says.REJECTS),))
        return Evaluation(Effect.REJECT, trace, self._demands(), steps, words, grounds)

    def _walk(self) -> int:
        end = len(self._policy.matchers)
        for index in self._policy.others:
            step, matcher = self._judged(index), self._policy.matchers[index]
            if not step.matches:
                continue
            if step.unclear and index in self._policy.shadowed:
                self._steps[index] = matcher.not_reached
                continue
            if index < end:
                self._speaking.append(matcher)
            if matcher.rule.effect is Effect.REVIEW:
                self._asking.append(matcher)
            if not matcher.claims and not step.unclear:
                end = min(end, index)
                if matcher.rule.effect is Effect.REVIEW:
                    self._review_is_certain = True
                    break
        return end

    def _judged(self, index: int) -> Step:
        step = self._steps[index] = self._policy.matchers[index].judge(self._facts)
        return step

    def _effect(self, said: ModeVerdict) -> tuple[Effect, bool]:
        """Return what happens, and whether that is so because something is in doubt."""
        spoken = [matcher.rule.effect for matcher in self._speaking]
        spoken += [said.effect] if said.effect else []
        effect = max(spoken, key=_STRICTNESS.__getitem__, default=Effect.REVIEW)
        in_doubt = self._facts.question.report.has_doubts and not self._policy.asks_nobody
        if effect is Effect.APPROVE and in_doubt:
            return Effect.REVIEW, True
        return effect, False

    def _tool_says(self, effect: Effect) -> tuple[ToolSays, ...]:
        """Return why a call that would be approved is for a person all the same.

        Also where the gate is switched off: an admin said of this tool that it takes a person. And
        a tool that nobody classed may be one that a rule rejects, by another schema.
        """
        if effect is not Effect.APPROVE:
            return ()
        if self._facts.is_classed_otherwise:
            return (ToolSays.CLASSED_OTHERWISE,)
        if self._facts.is_unlisted:
            return (ToolSays.UNLISTED,)
        if self._facts.may_be_irreversible:
            return (ToolSays.IRREVERSIBLE,)
        is_doubt = self._facts.is_unclassed and self._policy.rejects_classes
        return (ToolSays.UNCLASSED,) if is_doubt else ()

    def _demands(self) -> Required:
        """Add up what the rules ask for; an approving rule hides nothing of it.

        So what an approving rule would let through, but for a doubt or a mode, is asked about in
        the way in which it would be asked about without that rule.
        """
        owners = self._policy.owner_may_approve
        demands = [required(m.rule.demands, owner_may_approve=owners) for m in self._asking]
        if not self._review_is_certain:
            demands.append(Required(owner_may_approve=owners))
        total = reduce(join, demands)
        # What is remembered would approve the next call without a person.
        return replace(total, grants_allowed=False) if self._facts.may_be_irreversible else total

    def _all_steps(self, said: ModeVerdict | None, end: int) -> tuple[Step, ...]:
        rejecting = set(self._policy.rejecting)
        steps = [
            self._steps[index]
            if index in self._steps and (index <= end or index in rejecting)
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

    def _about_modes(self, said: ModeVerdict) -> Iterator[str]:
        if said.effect:
            yield said.sentence
        elif not self._speaking:
            yield f"{said.sentence.removesuffix('.')}: a person is asked."

    def _about_demands(self) -> Iterator[str]:
        for matcher in self._asking:
            if matcher not in self._speaking:
                yield f"Rule '{matcher.rule.name}' says what the review asks for."


def _doubts(facts: Facts) -> str:
    names = _names_of_doubts(facts)
    return f"Not all of it could be read or followed ({', '.join(names)}): a person is asked."


def _names_of_doubts(facts: Facts) -> tuple[str, ...]:
    return tuple(sorted({f.name for f in facts.question.report.findings if f.is_doubt}))
