"""The conditions of a rule, compiled: each a test and the sentence for when it fails. Pure.

A condition about findings that did not come true cannot be denied as long as something was not
seen, so its answer is ``Unsure`` then. What follows from that is for the rule to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from approval_client.wire import Kind
from dashboard.inspection.findings import Finding, Severity, Unseen
from dashboard.policies.rules import arguments, hours
from dashboard.policies.rules.facts import Facts
from dashboard.policies.rules.patterns import (
    Pattern,
    PatternRefused,
    fits_any,
    fits_any_loosely,
    pattern,
)
from dashboard.policies.rules.readings import operation_spellings, spellings, tool_spellings
from dashboard.policies.rules.rule import Argument, Effect, FindingsMatch, Hours, Rule, ToolClass


class Unsure(NamedTuple):
    """A condition that may hold.

    Attributes:
        unseen: What would have to be seen to tell; empty where the content cannot be judged.
    """

    unseen: frozenset[Unseen] = frozenset()


Test = Callable[[Facts], bool | Unsure]
Built = tuple[Test, str]
Globs = tuple[str, ...]


def compiled(rule: Rule) -> Iterator[tuple[str, Test, str]]:
    """Return each condition that is given: its field, its test, and why a rule fails by it.

    A test may raise where it meets what it cannot judge.
    """
    when = rule.when
    if rule.takes_no_calls:
        yield "tools", _is_no_call, "It names no tool, so it approves no call of one."
    for field, build in _PLAIN.items():
        value = getattr(when, field)
        if value not in ((), None):
            yield field, *build(value)
    for field, build_for in _BY_EFFECT.items():
        value = getattr(when, field)
        if value not in ((), None):
            yield field, *build_for(rule.tools if field == "tools" else value, rule.effect)
    for each in when.arguments:
        yield "arguments", *_argument(each, rule.effect)


def _kinds(kinds: tuple[Kind, ...]) -> Built:
    words = " or ".join(kind.replace("_", " ") for kind in kinds)
    return lambda facts: facts.question.kind in kinds, f"Its kind is not {words}."


def _is_no_call(facts: Facts) -> bool:
    return facts.question.kind is not Kind.TOOL_CALL


def _agents(globs: Globs) -> Built:
    fits = fits_any(globs)
    return lambda facts: fits(facts.question.agent), f"The agent is not {_either(globs)}."


def _claim(attribute: str, what: str) -> Callable[[Globs], Built]:
    def build(globs: Globs) -> Built:
        fits = fits_any(globs)

        def holds(facts: Facts) -> bool:
            claim = getattr(facts.question, attribute)
            return claim != "" and fits(claim)  # an agent that says nothing claims nothing

        return holds, f"The agent does not say that the {what} is {_either(globs)}."

    return build


def _part(
    look: Callable[[Facts], Any], what: str, spelled: Callable[[str], Iterable[str]]
) -> Callable[[Globs, Effect], Built]:
    """Return what builds a test of a name that the agent sends.

    Whoever runs it may mind neither case nor blanks. So a name that fits by another spelling may
    be what a rule rejects or reviews; what a rule approves has to fit as it is.
    """

    def build(globs: Globs, effect: Effect) -> Built:
        fits, may_fit = fits_any(globs), fits_any_loosely(globs)

        def holds(facts: Facts) -> bool | Unsure:
            text = look(facts)
            if text is not None and not isinstance(text, str):
                raise TypeError("This should be a text.")
            if text is None or fits(text):
                return text is not None
            is_alike = effect is not Effect.APPROVE and any(map(may_fit, spelled(text)))
            return Unsure() if is_alike else False

        return holds, f"The {what} is not {_either(globs)}."

    return build


def _repeated(times: int) -> Built:
    sentence = f"It was asked for fewer than {times} times before in this run."
    return lambda facts: facts.question.repeated >= times, sentence


def _hours(window: Hours) -> Built:
    def holds(facts: Facts) -> bool:
        return hours.includes(window, facts.question.asked_at)

    return holds, "It was asked at another time."


def _larger_than(size: int) -> Built:
    return lambda facts: len(facts.canonical) > size, f"It is not larger than {size} bytes."


def _smaller_than(size: int) -> Built:
    return lambda facts: len(facts.canonical) < size, f"It is not smaller than {size} bytes."


def _tool_classes(classes: tuple[ToolClass, ...], effect: Effect) -> Built:
    def holds(facts: Facts) -> bool | Unsure:
        # An agent can have its tool unclassed, by another schema. That must not spare it what a
        # review asks for. What is merely new is not rejected: see ``Policy.rejects_classes``.
        if facts.is_unclassed and effect is Effect.REVIEW:
            return Unsure()
        return facts.question.tool_class in classes

    return holds, f"The tool is not classed as {_either(classes)}."


def _languages(globs: Globs, effect: Effect) -> Built:
    fits = fits_any(globs)

    def all_of_them(facts: Facts) -> bool:
        languages = facts.question.report.languages
        return bool(languages) and all(language and fits(language) for language in languages)

    def any_of_them(facts: Facts) -> bool | Unsure:
        report = facts.question.report
        if any(map(fits, report.languages)):
            return True
        if report.is_unread or "" in report.languages:
            return Unsure(facts.unseen | {Unseen.NOT_FOLLOWED})
        return False

    if effect is Effect.APPROVE:
        return all_of_them, f"Not every language of it is {_either(globs)}, or there is none."
    return any_of_them, f"No language of it is {_either(globs)}."


_FORMERLY = {"parsed-in-part": "does-not-parse", "too-many-findings": "too-large"}
"""What a finding was called when rules that are still in force were written."""


def _findings(match: FindingsMatch, effect: Effect) -> Built:
    fits, least = fits_any(match.names), match.at_least.rank

    def counts(finding: Finding) -> bool:
        names = (finding.name, _FORMERLY.get(finding.name, finding.name))
        return finding.severity.rank >= least and any(map(fits, names))

    def only_these(facts: Facts) -> bool | Unsure:
        if not all(fits(finding.name) for finding in facts.seen):
            return False
        return Unsure(facts.unseen) if facts.unseen else any(map(counts, facts.seen))

    def any_of_them(facts: Facts) -> bool | Unsure:
        # A rule that rejects may name what was not seen. One that reviews must not decide by
        # that alone: what was not seen may be what a stricter rule is about.
        rejects = effect is Effect.REJECT
        findings: Iterable[Finding] = facts.question.report.findings if rejects else facts.seen
        if any(map(counts, findings)):
            return True
        return Unsure(facts.unseen) if facts.unseen else False

    noun = f"finding {_either(match.names)} of {match.at_least} severity or higher"
    if effect is Effect.APPROVE:
        return only_these, f"There is no {noun}, or there are others."
    return any_of_them, f"There is no {noun}."


def _no_findings_above(severity: Severity, effect: Effect) -> Built:
    most = severity.rank

    def none(facts: Facts) -> bool | Unsure:
        if _highest(facts.seen) > most:
            return False
        if effect is Effect.REJECT and _highest(facts.question.report.findings) <= most:
            return True  # also what was not seen counts as no graver than that
        return Unsure(facts.unseen) if facts.unseen else True

    return none, f"There is a finding above {severity} severity."


def _highest(findings: Iterable[Finding]) -> int:
    return max((finding.severity.rank for finding in findings), default=-1)


def _argument(condition: Argument, effect: Effect) -> Built:
    passes = arguments.condition(condition, approving=effect is Effect.APPROVE)

    def holds(facts: Facts) -> bool | Unsure:
        if facts.question.kind is not Kind.TOOL_CALL:
            return False
        passed = passes(facts.question.content.get("arguments", {}))
        return Unsure() if passed is None else passed

    return holds, f"The argument {condition.path!r} is not as the rule requires."


def _content_matches(text: str, effect: Effect) -> Built:
    compiled = pattern(text)
    if effect is Effect.APPROVE:
        sentence = f"The content as a whole does not match {text!r}."
        return lambda facts: compiled.fits(facts.whole), sentence

    at_lines = _at_lines(text)

    def holds(facts: Facts) -> bool | Unsure:
        if any(map(compiled.occurs_in, facts.texts)):
            return True
        values = facts.values
        return Unsure() if values is None or at_lines.occurs_in(values) else False

    return holds, f"The content does not match {text!r} anywhere."


def _at_lines(text: str) -> Pattern:
    """Return a pattern whose ``^`` and ``$`` are at each line: one search sees all values."""
    try:
        return pattern(f"(?m){text}")
    except PatternRefused:  # just too large with it
        return pattern(text)


def _either(names: Iterable[str]) -> str:
    return " or ".join(repr(str(name)) for name in names)


# The cheap ones first.
_PLAIN: dict[str, Callable[[Any], Built]] = {
    "kinds": _kinds,
    "agents": _agents,
    "capabilities": _claim("capability", "capability"),
    "execution_modes": _claim("execution_mode", "execution mode"),
    "runs": _claim("run_id", "run"),
    "repeated": _repeated,
    "hours": _hours,
    "larger_than": _larger_than,
    "smaller_than": _smaller_than,
}
_BY_EFFECT: dict[str, Callable[..., Built]] = {
    "tools": _part(lambda facts: facts.tool, "tool", tool_spellings),
    "memory_operations": _part(
        lambda facts: facts.memory("operation"), "memory operation", operation_spellings
    ),
    "memory_users": _part(lambda facts: facts.memory("user_id"), "memory's user", spellings),
    "tool_classes": _tool_classes,
    "languages": _languages,
    "findings": _findings,
    "no_findings_above": _no_findings_above,
    "content_matches": _content_matches,
}
