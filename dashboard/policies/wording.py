"""A policy in plain sentences, and what changed between two of them. Pure.

Each sentence about the modes asks them what they would say, so that none can say something else
than what is done.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from approval_client.wire import Kind
from dashboard.policies.judgements.modes import MEMORY, PYTHON
from dashboard.policies.loosenings import loosenings
from dashboard.policies.policy import Policy
from dashboard.policies.rules.rule import Effect, Rule
from dashboard.policies.rules.wording import rule_sentence

__all__ = ["Sentence", "changes", "loosens", "rule_sentence", "sentences"]

_SUBJECTS = {
    Kind.CODE: "Code",
    Kind.MEMORY: "Memory changes",
    Kind.TOOL_CALL: "Tool calls",
    Kind.PLAN: "Plans",
}
_ALWAYS = frozenset({Effect.REVIEW})
_NEVER = frozenset({Effect.APPROVE})
_SILENT = frozenset({None})
_NOT_COVERED = {Kind.TOOL_CALL, Kind.PLAN}
_ON = {True: "on", False: "off"}
_NOUNS = {
    "effect": ("effect", "also_if_not_followed"),
    "conditions": ("when",),
    "demands": ("demands",),
    "reason": ("reason",),
    "examples": ("match", "not_match"),
}
"""What a rule has, by what it is called."""
_UNSAID = {"reason", "examples"}
"""What no sentence of a rule says."""


@dataclass(frozen=True)
class Sentence:
    """What the policy says about one subject.

    Attributes:
        asks: Whether somebody is asked; False where something opens by itself.
    """

    subject: str
    text: str
    asks: bool


def sentences(policy: Policy) -> list[Sentence]:
    """Say in plain words what the modes do with each kind of question, and each rule."""
    rules = [_about_rule(rule) for rule in policy.rules]
    if policy.asks_nobody:
        text = "Nobody is asked. Every request is approved."
        if rules:
            text = "Nobody is asked. Every request is approved, unless a rule stops it."
        return [Sentence("Everything", text, asks=False), *rules]
    return [*(_about(policy, kind) for kind in _SUBJECTS), _about_owners(policy), *rules]


def changes(old_policy: Policy | None, new_policy: Policy) -> list[str]:
    """Say what ``new_policy`` changed, a sentence for each setting and each rule."""
    if old_policy is None:
        return ["The first policy."]
    old, new = dict(_settings(old_policy)), dict(_settings(new_policy))
    settings = [
        f"{name}: {old[name]} → {value}" for name, value in new.items() if old[name] != value
    ]
    return settings + list(_changed_rules(old_policy.rules, new_policy.rules))


def loosens(old_policy: Policy | None, new_policy: Policy) -> bool:
    """Whether the new policy may let through, or ask less about, what the old one did not."""
    return bool(loosenings(old_policy, new_policy))


def _about(policy: Policy, kind: Kind) -> Sentence:
    effects = policy.read_modes.effects(kind)
    text = _of_modes(kind, effects, {rule.effect for rule in policy.rules})
    return Sentence(_SUBJECTS[kind], text, asks=Effect.APPROVE not in effects)


def _of_modes(kind: Kind, said: frozenset[Effect | None], of_rules: set[Effect]) -> str:
    if said == _NEVER:
        rule = "a rule says otherwise or " if of_rules else ""
        return f"Approved without asking, unless {rule}it could not be read or followed."
    if said == _ALWAYS:
        rejects = Effect.REJECT in of_rules
        return f"A person is {'asked, unless a rule rejects it' if rejects else 'always asked'}."
    if said == _SILENT:
        reason = "there is no mode for them" if kind in _NOT_COVERED else "the mode is not set"
        if of_rules:
            return f"A person is asked, unless a rule decides ({reason})."
        return f"A person is always asked ({reason})."
    rule = ", unless a rule says otherwise" if of_rules else ""
    return (
        "A person is asked about code that writes to the control system, is not Python, could not "
        "be read or followed, or calls something unknown. Other code is approved without asking"
        f"{rule}."
    )


def _about_owners(policy: Policy) -> Sentence:
    if policy.owner_may_approve:
        text = "May approve requests of their own agents, if they are reviewers."
    else:
        text = "May not approve requests of their own agents; another reviewer must."
    return Sentence("Owners of agents", text, not policy.owner_may_approve)


def _about_rule(rule: Rule) -> Sentence:
    asks = rule.effect is not Effect.APPROVE
    return Sentence(f"Rule '{rule.name}'", rule_sentence(rule), asks)


def _settings(policy: Policy) -> Iterator[tuple[str, str]]:
    config, unset = policy.config, policy.read_modes.left_unset
    python_is_set = PYTHON not in unset
    yield "Global mode", config.global_mode
    yield "Asking about code", _ON[config.python_execution.enabled] if python_is_set else "not set"
    yield "Mode for code", config.python_execution.mode.value if python_is_set else "not set"
    yield "Asking about memory", _ON[config.memory.enabled] if MEMORY not in unset else "not set"
    yield "Owners may approve", "yes" if policy.owner_may_approve else "no"


def _changed_rules(old_rules: tuple[Rule, ...], new_rules: tuple[Rule, ...]) -> Iterator[str]:
    old = {rule.name: (place, rule) for place, rule in enumerate(old_rules, 1)}
    new = {rule.name: (place, rule) for place, rule in enumerate(new_rules, 1)}
    for name, (place, rule) in new.items():
        if name not in old:
            yield f"Rule '{name}' was added as number {place}. {rule_sentence(rule)}"
    for name, (_, rule) in old.items():
        if name not in new:
            yield f"Rule '{name}' was removed. It said: {rule_sentence(rule)}"
    for name, (_, rule) in new.items():
        if name in old and old[name][1] != rule:
            yield _changed(old[name][1], rule)
    common = [name for name in new if name in old]
    staying = _longest_ascending([old[name][0] for name in common])
    for name in common:
        if old[name][0] not in staying:
            yield f"Rule '{name}' was moved from number {old[name][0]} to {new[name][0]}."


def _changed(old_rule: Rule, new_rule: Rule) -> str:
    old, new = rule_sentence(old_rule), rule_sentence(new_rule)
    if old != new:
        more = [noun for noun in _differences(old_rule, new_rule) if noun in _UNSAID]
        also = f" Its {' and '.join(more)} changed too." if more else ""
        return f"Rule '{new_rule.name}' was changed. It said: {old} It says: {new}{also}"
    nouns = " and ".join(_differences(old_rule, new_rule))
    return f"The {nouns} of rule '{new_rule.name}' changed."


def _differences(old: Rule, new: Rule) -> Iterator[str]:
    for noun, fields in _NOUNS.items():
        if any(getattr(old, field) != getattr(new, field) for field in fields):
            yield noun


def _longest_ascending(places: list[int]) -> set[int]:
    """Return the most places that can stay as they are; the others were moved."""
    ends: list[int] = []
    lengths = []
    for place in places:
        length = bisect_left(ends, place)
        ends[length : length + 1] = [place]
        lengths.append(length)
    staying, next_length = set(), len(ends) - 1
    for place, length in zip(reversed(places), reversed(lengths), strict=True):
        if length == next_length:
            staying.add(place)
            next_length -= 1
    return staying
