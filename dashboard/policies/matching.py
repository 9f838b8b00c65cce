"""Whether a rule matches a question, and if not, why not. Pure.

An approving rule is read narrowly, any other one widely: where several values are looked at, an
approving rule wants all of them to fit and at least one to be there, any other rule is content
with one. What cannot be judged does not fit an approving rule and does fit any other.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from dashboard.policies.conditions import compiled
from dashboard.policies.facts import Facts
from dashboard.policies.rules import Effect, Rule, When

Outcome = Literal["matches", "does not match", "not reached"]
CLAIMS = ("capabilities", "execution_modes", "runs", "repeated")
"""Conditions on what the agent says of itself: no approving rule may name one."""
FOUND_BEFORE = "The answer was found before."


class Step(NamedTuple):
    """What became of one rule, or of the modes, on the way to an answer.

    Attributes:
        unclear: Whether something about the content could not be judged.
    """

    rule: str
    outcome: Outcome
    why: str
    unclear: bool = False

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
        self.claims = rests_on_claims(rule.when)
        self.not_reached = Step(rule.name, "not reached", FOUND_BEFORE)
        self._approving = rule.effect is Effect.APPROVE
        self._conditions = [
            (field, holds, Step(rule.name, "does not match", sentence))
            for field, holds, sentence in compiled(rule.when, approving=self._approving)
        ]
        why = "All of its conditions hold." if self._conditions else "It has no conditions."
        self._match = Step(rule.name, "matches", why)

    def judge(self, facts: Facts) -> Step:
        """Say whether the rule matches, and why. Never raises."""
        unclear = None
        for field, holds, miss in self._conditions:
            try:
                if not holds(facts):
                    return miss
            except Exception as error:  # noqa: BLE001 - content is hostile: what fails must not open
                unclear = self._unclear(field, error)
                if self._approving:
                    return unclear
        return unclear or self._match

    def _unclear(self, field: str, error: Exception) -> Step:
        why = f"Its condition {field!r} cannot be judged ({type(error).__name__})"
        if self._approving:
            why = f"{why}, so it does not approve."
            return Step(self.rule.name, "does not match", why, unclear=True)
        return Step(self.rule.name, "matches", f"{why}, which counts as holding.", unclear=True)


def rests_on_claims(when: When) -> bool:
    """Whether a condition is about what the agent says of itself."""
    return any(getattr(when, name) for name in CLAIMS)
