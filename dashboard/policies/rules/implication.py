"""Whether what matches one rule always matches another, as far as that can be read off. Pure.

True is certain, False only means that nobody can tell without trying.
"""

from __future__ import annotations

from collections.abc import Iterable

from approval_client.wire import Kind, canonical_json
from dashboard.policies.rules.arguments import places_of
from dashboard.policies.rules.patterns import PatternRefused, glob, is_literal, loose_globs
from dashboard.policies.rules.places import folder_implies, host_implies
from dashboard.policies.rules.rule import Argument, Effect, FindingsMatch, Rule, When

_GLOBS = (
    "agents",
    "memory_operations",
    "memory_users",
    "capabilities",
    "execution_modes",
    "runs",
    "languages",
)
_SPELLED = ("memory_operations", "memory_users")
_REACHES = {"within": folder_implies, "host_is": host_implies}
_NOT_KINDS = frozenset(When.model_fields) - {"kinds"}


def implies(rule: Rule, other: Rule) -> bool:
    """Whether ``other`` certainly matches whatever ``rule`` matches, each by its own effect."""
    if not kinds_of(other):  # it matches nothing, such as one that approves calls of any tool
        return not kinds_of(rule)
    if not kinds_of(rule) <= _kinds_wanted(other):
        return False
    if not any(getattr(other.when, field) not in ((), None) for field in _NOT_KINDS):
        return True
    # An approving rule is read more narrowly than any other with the same conditions.
    is_comparable = rule.effect is Effect.APPROVE or other.effect is not Effect.APPROVE
    sees_as_much = not other.looks_at_findings or rule.holds_on <= other.holds_on
    return (
        is_comparable
        and sees_as_much
        and _names_imply(rule, other)
        and _classes_imply(rule, other)
        and _when_implies(rule.when, other.when)
    )


def kinds_of(rule: Rule) -> frozenset[Kind]:
    """Return the kinds of which a question can be that matches."""
    kinds = kinds_that_fit(rule.when)
    return kinds - {Kind.TOOL_CALL} if rule.takes_no_calls else kinds


def kinds_that_fit(when: When) -> frozenset[Kind]:
    """Return the kinds of which a question can be that fits all conditions; perhaps none."""
    kinds = frozenset(when.kinds or Kind)
    if when.tools or when.arguments or when.tool_classes:
        kinds &= {Kind.TOOL_CALL}
    if when.memory_operations or when.memory_users:
        kinds &= {Kind.MEMORY}
    return kinds


def _kinds_wanted(rule: Rule) -> frozenset[Kind]:
    kinds = frozenset(rule.when.kinds or Kind)
    return kinds - {Kind.TOOL_CALL} if rule.takes_no_calls else kinds


def _names_imply(rule: Rule, other: Rule) -> bool:
    """Whether names that fit by another spelling do so for both, where neither rule approves."""
    if not _globs_imply(rule.tools, other.tools):
        return False
    if rule.effect is Effect.APPROVE or other.effect is Effect.APPROVE:
        return True
    pairs = [
        (rule.tools, other.tools),
        *((getattr(rule.when, field), getattr(other.when, field)) for field in _SPELLED),
    ]
    return all(_globs_imply(loose_globs(globs), loose_globs(wider)) for globs, wider in pairs)


def _classes_imply(rule: Rule, other: Rule) -> bool:
    classes, wider = rule.when.tool_classes, other.when.tool_classes
    if not wider:
        return True
    # Only a review also holds where nobody has classed the tool.
    sees_unclassed = other.effect is Effect.REVIEW or rule.effect is not Effect.REVIEW
    return sees_unclassed and bool(classes) and set(classes) <= set(wider)


def _when_implies(when: When, other: When) -> bool:
    return (
        all(_globs_imply(getattr(when, field), getattr(other, field)) for field in _GLOBS)
        and _numbers_imply(when, other)
        and _findings_imply(when, other)
        and other.content_matches in (None, when.content_matches)
        and other.hours in (None, when.hours)
        and _arguments_imply(when.arguments, other.arguments)
    )


def _globs_imply(globs: tuple[str, ...], others: tuple[str, ...]) -> bool:
    return not others or (bool(globs) and all(_is_covered(each, others) for each in globs))


def _is_covered(name: str, globs: tuple[str, ...]) -> bool:
    if name in globs or "*" in globs:
        return True
    return is_literal(name) and any(_fits(each, name) for each in globs)


def _fits(text: str, name: str) -> bool:
    try:
        return glob(text)(name)
    except PatternRefused:  # spelled loosely it may be too large
        return False


def _numbers_imply(when: When, other: When) -> bool:
    return (
        _reaches(when.larger_than, other.larger_than)
        and _reaches(when.repeated, other.repeated)
        and (
            other.smaller_than is None
            or (when.smaller_than is not None and when.smaller_than <= other.smaller_than)
        )
    )


def _reaches(number: int | None, other: int | None) -> bool:
    return other is None or (number is not None and number >= other)


def _findings_imply(when: When, other: When) -> bool:
    above, above_other = when.no_findings_above, other.no_findings_above
    if above_other is not None and (above is None or above.rank > above_other.rank):
        return False
    return other.findings is None or (
        when.findings is not None and _match_implies(when.findings, other.findings)
    )


def _match_implies(match: FindingsMatch, other: FindingsMatch) -> bool:
    is_as_severe = match.at_least.rank >= other.at_least.rank
    return is_as_severe and _globs_imply(match.names, other.names)


def _arguments_imply(arguments: Iterable[Argument], others: Iterable[Argument]) -> bool:
    texts = _spelled(arguments)
    return all(
        _spelled([condition]) <= texts
        or any(_is_narrower(argument, condition) for argument in arguments)
        for condition in others
    )


def _is_narrower(argument: Argument, other: Argument) -> bool:
    """Whether each place that one condition names lies in one that the other names."""
    reaches = _REACHES.get(argument.test)
    if reaches is None or (argument.path, argument.test) != (other.path, other.test):
        return False
    return all(
        any(reaches(place, wider) for wider in places_of(other.value))
        for place in places_of(argument.value)
    )


def _spelled(arguments: Iterable[Argument]) -> frozenset[str]:
    return frozenset(canonical_json(argument.model_dump()) for argument in arguments)
