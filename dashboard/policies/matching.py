"""Whether a rule matches a question, and if not, why not. Pure.

An approving rule is read narrowly, any other one widely: where several values are looked at, an
approving rule wants all of them to fit and at least one to be there, any other rule is content
with one. What cannot be judged does not fit an approving rule and does fit any other. What was
not seen fits a rule that reviews, and one that rejects as far as ``Rule.holds_on`` says.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from dashboard.inspection.sentences import why_unseen
from dashboard.policies.conditions import Unsure, compiled
from dashboard.policies.facts import Facts
from dashboard.policies.rules import Effect, Rule, When

Outcome = Literal["matches", "does not match", "not reached"]
CLAIMS = ("capabilities", "execution_modes", "runs", "repeated")
"""Conditions on what the agent says of itself: no approving rule may name one."""
_TREATED = {
    "findings": "This rule treats it as if it had the finding.",
    "no_findings_above": "This rule treats it as if nothing graver was found.",
    "languages": "This rule treats it as if it were in that language.",
}
FOUND_BEFORE = "The answer was found before."


class Step(NamedTuple):
    """What became of one rule, or of the modes, on the way to an answer.

    Attributes:
        unclear: Whether that is so because something was not seen or could not be judged. A
            rule that matches so adds what it asks for, and the rules after it are tried too.
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
        self._conditions = [
            (field, holds, Step(rule.name, "does not match", sentence))
            for field, holds, sentence in compiled(rule)
        ]
        why = "All of its conditions hold." if self._conditions else "It has no conditions."
        self._match = Step(rule.name, "matches", why)

    def judge(self, facts: Facts) -> Step:
        """Say whether the rule matches, and why. Never raises."""
        unclear = None
        for field, holds, miss in self._conditions:
            try:
                held = holds(facts)
            except Exception as error:  # noqa: BLE001 - content is hostile: what fails must not open
                step = self._unjudged(f"{field!r} cannot be judged ({type(error).__name__})")
            else:
                if held is True:
                    continue
                if held is False:
                    return miss
                step = self._unsure(field, held, facts)
            # One that does not match outweighs those that do.
            unclear = step if unclear is None or not step.matches else unclear
        return unclear or self._match

    def _unsure(self, field: str, held: Unsure, facts: Facts) -> Step:
        if not held.unseen:
            return self._unjudged(f"{field!r} cannot be judged")
        counting = held.unseen & self.rule.holds_on
        why = f"{why_unseen(facts.question.report, counting or held.unseen)}."
        if counting:
            return self._unclear("matches", f"{why} {_TREATED[field]}")
        if self.rule.effect is Effect.APPROVE:
            return self._unclear("does not match", f"{why} So this rule does not approve it.")
        return Step(self.rule.name, "does not match", f"{why} This rule does not reject for that.")

    def _unjudged(self, what: str) -> Step:
        if self.rule.effect is Effect.APPROVE:
            return self._unclear(
                "does not match", f"Its condition {what}, so it does not approve."
            )
        return self._unclear("matches", f"Its condition {what}, which counts as holding.")

    def _unclear(self, outcome: Outcome, why: str) -> Step:
        return Step(self.rule.name, outcome, why, unclear=True)


def rests_on_claims(when: When) -> bool:
    """Whether a condition is about what the agent says of itself."""
    return any(getattr(when, name) for name in CLAIMS)
