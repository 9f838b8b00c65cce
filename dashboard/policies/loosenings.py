"""What a policy asks less about than the one before it. Pure.

Two policies are compared as texts, not by trying questions. Nothing is missed: where no sentence
comes out, no question gets a laxer answer. Something may be named that makes no difference.

The reasoning: in a row of rules the first that matches decides. For each rule that can decide
afterwards, those that can have decided before about the same question are looked for; it has to be
at least as strict as each of them. That is done twice: for what happens, which rules that review
or approve decide, and for what a review asks for, which those that review decide.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from approval_client.wire import Kind
from dashboard.policies.policy import Policy
from dashboard.policies.rules.demands import Required, required, shortfalls
from dashboard.policies.rules.implication import implies, kinds_of
from dashboard.policies.rules.rule import Demands, Effect, Rule

_STRICTNESS = {Effect.APPROVE: 0, None: 1, Effect.REVIEW: 2}
_DECIDING = frozenset({Effect.APPROVE, Effect.REVIEW})
_SUBJECTS = {
    Kind.CODE: "code",
    Kind.MEMORY: "memory changes",
    Kind.TOOL_CALL: "tool calls",
    Kind.PLAN: "plans",
}


def loosenings(old_policy: Policy | None, new_policy: Policy) -> list[str]:
    """Say in what the new policy asks less than the old one; the first policy loosens nothing."""
    if old_policy is None or old_policy == new_policy:
        return []
    comparison = _Comparison(old_policy, new_policy)
    return list(dict.fromkeys(comparison.sentences()))


class _Rules:
    """The rules of one policy, by the part that they play."""

    def __init__(self, policy: Policy) -> None:
        self.rejecting = [rule for rule in policy.rules if rule.effect is Effect.REJECT]
        rest = [rule for rule in policy.rules if rule.effect is not Effect.REJECT]
        self.claiming = [rule for rule in rest if rule.when.rests_on_claims]
        self.deciding = [rule for rule in rest if not rule.when.rests_on_claims]
        self._place = {rule.name: place for place, rule in enumerate(policy.rules)}

    def rejects(self, rule: Rule) -> bool:
        """Whether whatever matches ``rule`` is certainly rejected."""
        return any(implies(rule, rejecting) for rejecting in self.rejecting)

    def before(self, claiming: Rule, effects: Container[Effect]) -> list[Rule]:
        """Return the deciding rules that are tried earlier and have one of these effects."""
        place = self._place[claiming.name]
        earlier = (rule for rule in self.deciding if self._place[rule.name] < place)
        return [rule for rule in earlier if rule.effect in effects]


class _Comparison:
    def __init__(self, old_policy: Policy, new_policy: Policy) -> None:
        self._before, self._after = old_policy, new_policy
        self._old, self._new = _Rules(old_policy), _Rules(new_policy)
        # That owners may approve from now on is one sentence, not one for each rule.
        self._owners_before = old_policy.owner_may_approve or new_policy.owner_may_approve

    def sentences(self) -> Iterator[str]:
        yield from self._modes()
        if self._after.owner_may_approve and not self._before.owner_may_approve:
            yield "Owners may approve requests of their own agents."
        for rule in self._old.rejecting:
            if not self._new.rejects(rule):
                yield f"Some requests that rule '{rule.name}' rejected are no longer rejected."
        for rule in self._old.claiming:
            if not self._is_moot(rule) and not any(
                self._replaces(now, rule) for now in self._new.claiming
            ):
                yield f"Some of what rule '{rule.name}' required is no longer required."
        if self._before.rejects_classes and not self._after.rejects_classes:
            yield "No rule rejects by class any more, so calls of unclassed tools may be approved."
        yield from self._effects()
        yield from self._demands()

    def _modes(self) -> Iterator[str]:
        if self._after.asks_nobody:
            if not self._before.asks_nobody:
                yield "The gate is switched off: nobody is asked, unless a rule says so."
            return
        for kind in Kind:
            if any(self._opens(kind, may_write=may_write) for may_write in (False, True)):
                yield f"The modes require less for {_SUBJECTS[kind]}."

    def _opens(self, kind: Kind, *, may_write: bool) -> bool:
        then, now = (
            policy.read_modes.say(kind, may_write=may_write, reads=False).effect
            for policy in (self._before, self._after)
        )
        matters = now is Effect.APPROVE or any(
            rule.effect is Effect.APPROVE and kind in kinds_of(rule) for rule in self._new.deciding
        )
        return matters and _STRICTNESS[now] < _STRICTNESS[then]

    def _is_moot(self, claiming: Rule) -> bool:
        never_reached = self._old.before(claiming, {Effect.REVIEW})
        return self._new.rejects(claiming) or _implies_any(claiming, never_reached)

    def _replaces(self, now: Rule, then: Rule) -> bool:
        if not implies(then, now) or shortfalls(self._now(now), self._then(then)):
            return False
        # Where a rule decides before it is reached, one did so before as well.
        return all(
            _are_apart(rule, then)
            or _implies_any(rule, self._old.before(then, {Effect.REVIEW, rule.effect}))
            for rule in self._new.before(now, _DECIDING)
        )

    def _effects(self) -> Iterator[str]:
        for now, then in self._pairs(self._old.deciding, self._new.deciding):
            if self._strictness(now, then) >= _STRICTNESS[then.effect if then else None]:
                continue
            if now is None:
                yield (
                    f"Some requests that rule '{_name(then)}' had reviewed are no longer reviewed."
                )
            elif then is None:
                yield f"Rule '{now.name}' approves requests that no rule approved before."
            else:
                yield f"Rule '{now.name}' approves requests that rule '{then.name}' had reviewed."

    def _demands(self) -> Iterator[str]:
        old, new = (
            [rule for rule in rules.deciding if rule.effect is Effect.REVIEW]
            for rules in (self._old, self._new)
        )
        for now, then in self._pairs(old, new):
            if gaps := "; ".join(shortfalls(self._now(now), self._then(then))):
                subject = f"Rule '{now.name}'" if now else "The default"
                earlier = f"rule '{then.name}' did" if then else "the default"
                yield f"{subject} requires less than {earlier}: {gaps}."

    def _pairs(
        self, old: list[Rule], new: list[Rule]
    ) -> Iterator[tuple[Rule | None, Rule | None]]:
        """Return which rule can decide now where which could before; None stands for no rule."""
        old = [rule for rule in _reached(old) if not self._is_rejected(rule)]
        new = [rule for rule in _reached(new) if not self._new.rejects(rule)]
        covered = [_first_implied(rule, new) for rule in old]
        for place, now in enumerate(new):
            forced = _first_implied(now, old)
            for index, then in enumerate(old[: forced + 1]):
                if covered[index] >= place and not _are_apart(now, then):
                    yield now, then
            if forced == len(old):
                yield now, None
        for index, then in enumerate(old):
            if covered[index] == len(new):
                yield None, then

    def _is_rejected(self, rule: Rule) -> bool:
        return self._old.rejects(rule) or self._new.rejects(rule)

    def _strictness(self, now: Rule | None, then: Rule | None) -> int:
        # Where the modes see to it that a person is asked, a rule cannot weaken that.
        kinds = frozenset(Kind)
        for rule in (now, then):
            kinds &= kinds_of(rule) if rule else kinds
        effects = {effect for kind in kinds for effect in self._after.read_modes.effects(kind)}
        harmless = {Effect.REVIEW} if now else {Effect.REVIEW, None}
        if effects <= harmless:
            return _STRICTNESS[Effect.REVIEW]
        return _STRICTNESS[now.effect if now else None]

    def _now(self, rule: Rule | None) -> Required:
        demands = rule.demands if rule else Demands()
        return required(demands, owner_may_approve=self._after.owner_may_approve)

    def _then(self, rule: Rule | None) -> Required:
        demands = rule.demands if rule else Demands()
        return required(demands, owner_may_approve=self._owners_before)


def _reached(rules: list[Rule]) -> list[Rule]:
    return [rule for i, rule in enumerate(rules) if not _implies_any(rule, rules[:i])]


def _implies_any(rule: Rule, rules: list[Rule]) -> bool:
    return any(implies(rule, another) for another in rules)


def _first_implied(rule: Rule, rules: list[Rule]) -> int:
    places = (place for place, another in enumerate(rules) if implies(rule, another))
    return next(places, len(rules))


def _are_apart(rule: Rule, other: Rule) -> bool:
    return not kinds_of(rule) & kinds_of(other)


def _name(rule: Rule | None) -> str:
    return rule.name if rule else ""
