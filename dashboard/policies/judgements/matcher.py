"""Whether a rule matches a question, and if not, why not. Pure.

Of several values, an approving rule needs at least one, and every one to match. Other rules need
one to match. A condition that cannot be judged fails for an approving rule and holds for others.
Content that was not inspected matches a rule that reviews, and a rule that rejects as far as
``Rule.holds_on`` says.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from dashboard.inspection.sentences import plain_sentence, worst_unseen
from dashboard.policies.judgements.grounds import UnclearGround
from dashboard.policies.judgements.wording import why_unclear
from dashboard.policies.rules.conditions import Unsure, compiled
from dashboard.policies.rules.facts import Facts
from dashboard.policies.rules.rule import Effect, Rule, When

Outcome = Literal["matches", "does not match", "not reached"]
FOUND_BEFORE = "The answer was found before."


class Step(NamedTuple):
    """What became of one rule, or of the modes, on the way to an answer.

    Attributes:
        ground: What could not be judged, where that is why. A rule that matches so adds what it
            asks for, and the rules after it are tried too.
    """

    rule: str
    outcome: Outcome
    why: str
    ground: UnclearGround | None = None

    @property
    def unclear(self) -> bool:
        """Whether something was not seen or could not be judged."""
        return self.ground is not None

    @property
    def matches(self) -> bool:
        """Whether the rule applies."""
        return self.outcome == "matches"


class Matcher:
    """A rule, compiled.

    Attributes:
        claims: Whether it rests on what the agent says of itself.
        not_reached: What became of it where the answer was found before.
    """

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.claims = rule.when.rests_on_claims
        self.not_reached = Step(rule.name, "not reached", FOUND_BEFORE)
        self._conditions = [
            (field, holds, Step(rule.name, "does not match", sentence))
            for field, holds, sentence in compiled(rule)
        ]
        reason = "All of its conditions hold." if rule.when != When() else "It has no conditions."
        self._match = Step(rule.name, "matches", reason)

    def judge(self, facts: Facts) -> Step:
        """Say whether the rule matches, and why. Never raises."""
        unclear = None
        for field, holds, miss in self._conditions:
            try:
                verdict = holds(facts)
            except Exception as error:  # noqa: BLE001 - content is hostile: what fails must not open
                step = self._unjudged(field, type(error).__name__)
            else:
                if verdict is True:
                    continue
                if verdict is False:
                    return miss
                step = self._unsure(field, verdict, facts)
            # One that does not match outweighs those that do.
            unclear = step if unclear is None or not step.matches else unclear
        return unclear or self._match

    def _unsure(self, field: str, held: Unsure, facts: Facts) -> Step:
        if not held.unseen:
            return self._unjudged(field)
        counting = held.unseen & self.rule.holds_on
        unseen, finding = worst_unseen(facts.question.report, counting or held.unseen)
        ground = UnclearGround(
            rule=self.rule.name,
            field=field,
            unseen=unseen,
            finding=finding.name if finding else "",
            code=finding.code if finding else "",
            kept=plain_sentence(finding) if finding and finding.kept else "",
            error="",
            effect=self.rule.effect,
            counts=bool(counting),
        )
        reason = why_unclear(ground)
        if counting:
            return Step(self.rule.name, "matches", reason, ground)
        if self.rule.effect is Effect.APPROVE:
            return Step(self.rule.name, "does not match", reason, ground)
        return Step(self.rule.name, "does not match", reason)

    def _unjudged(self, field: str, error: str = "") -> Step:
        counts = self.rule.effect is not Effect.APPROVE
        ground = UnclearGround(
            rule=self.rule.name,
            field=field,
            unseen="",
            finding="",
            code="",
            kept="",
            error=error,
            effect=self.rule.effect,
            counts=counts,
        )
        outcome: Outcome = "matches" if counts else "does not match"
        return Step(self.rule.name, outcome, why_unclear(ground), ground)
