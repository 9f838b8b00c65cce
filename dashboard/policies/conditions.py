"""The conditions of a rule, compiled: each a test and the sentence for when it fails. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from dashboard.inspection.findings import Finding, Severity
from dashboard.policies import arguments, hours
from dashboard.policies.facts import Facts
from dashboard.policies.patterns import fits_any, pattern
from dashboard.policies.rules import Argument, FindingsMatch, Hours, When
from dashboard.wire import Kind

Test = Callable[[Facts], bool]
Built = tuple[Test, str]
Globs = tuple[str, ...]


def compiled(when: When, *, approving: bool) -> Iterator[tuple[str, Test, str]]:
    """Return each condition that is given: its field, its test, and why a rule fails by it.

    A test may raise where it meets what it cannot judge.
    """
    for field, build in _PLAIN.items():
        value = getattr(when, field)
        if value not in ((), None):
            yield field, *build(value)
    for field, build_for in _BY_EFFECT.items():
        value = getattr(when, field)
        if value not in ((), None):
            yield field, *build_for(value, approving=approving)
    for each in when.arguments:
        yield "arguments", *_argument(each, approving=approving)


def _kinds(kinds: tuple[Kind, ...]) -> Built:
    words = " or ".join(kind.replace("_", " ") for kind in kinds)
    return lambda facts: facts.question.kind in kinds, f"It is no {words}."


def _agents(globs: Globs) -> Built:
    fits = fits_any(globs)
    return lambda facts: fits(facts.question.agent), f"The agent is not {_either(globs)}."


def _claim(attribute: str, what: str) -> Callable[[Globs], Built]:
    def build(globs: Globs) -> Built:
        fits = fits_any(globs)

        def holds(facts: Facts) -> bool:
            said = getattr(facts.question, attribute)
            return said != "" and fits(said)  # an agent that says nothing claims nothing

        return holds, f"The agent does not say that the {what} is {_either(globs)}."

    return build


def _part(look: Callable[[Facts], Any], what: str) -> Callable[[Globs], Built]:
    def build(globs: Globs) -> Built:
        fits = fits_any(globs)

        def holds(facts: Facts) -> bool:
            found = look(facts)
            if found is not None and not isinstance(found, str):
                raise TypeError("This should be a text.")
            return found is not None and fits(found)

        return holds, f"The {what} is not {_either(globs)}."

    return build


def _repeated(times: int) -> Built:
    sentence = f"It was asked for less than {times} times before in this run."
    return lambda facts: facts.question.repeated >= times, sentence


def _no_findings_above(severity: Severity) -> Built:
    most = severity.rank
    sentence = f"There is a finding above {severity} severity."
    return lambda facts: facts.highest_rank <= most, sentence


def _hours(window: Hours) -> Built:
    def holds(facts: Facts) -> bool:
        return hours.includes(window, facts.question.asked_at)

    return holds, "It was asked at another time."


def _larger_than(size: int) -> Built:
    return lambda facts: len(facts.canonical) > size, f"It is not larger than {size} bytes."


def _smaller_than(size: int) -> Built:
    return lambda facts: len(facts.canonical) < size, f"It is not smaller than {size} bytes."


def _languages(globs: Globs, *, approving: bool) -> Built:
    fits = fits_any(globs)
    if not approving:
        sentence = f"No language of it is {_either(globs)}."
        return lambda facts: any(map(fits, facts.question.report.languages)), sentence

    def holds(facts: Facts) -> bool:
        languages = facts.question.report.languages
        return bool(languages) and all(language and fits(language) for language in languages)

    return holds, f"Not every language of it is {_either(globs)}, or there is none."


def _findings(match: FindingsMatch, *, approving: bool) -> Built:
    fits, least = fits_any(match.names), match.at_least.rank

    def counts(finding: Finding) -> bool:
        return finding.severity.rank >= least and fits(finding.name)

    def holds(facts: Facts) -> bool:
        found = facts.question.report.findings
        only_these = not approving or all(fits(finding.name) for finding in found)
        return only_these and any(map(counts, found))

    what = f"finding {_either(match.names)} of {match.at_least} severity or higher"
    return holds, f"There is no {what}{', or there are others' if approving else ''}."


def _argument(condition: Argument, *, approving: bool) -> Built:
    passes = arguments.condition(condition, approving=approving)

    def holds(facts: Facts) -> bool:
        is_call = facts.question.kind is Kind.TOOL_CALL
        return is_call and passes(facts.question.content.get("arguments", {}))

    return holds, f"The argument {condition.path!r} is not as the rule wants it."


def _content_matches(text: str, *, approving: bool) -> Built:
    wanted = pattern(text)
    if approving:
        sentence = f"The content as a whole does not match {text!r}."
        return lambda facts: wanted.fits(facts.whole), sentence
    sentence = f"The content does not match {text!r} anywhere."
    return lambda facts: any(map(wanted.occurs_in, facts.texts)), sentence


def _either(names: Globs) -> str:
    return " or ".join(repr(name) for name in names)


# The cheap ones first.
_PLAIN: dict[str, Callable[[Any], Built]] = {
    "kinds": _kinds,
    "agents": _agents,
    "tools": _part(lambda facts: facts.tool, "tool"),
    "memory_operations": _part(lambda facts: facts.memory("operation"), "memory operation"),
    "memory_users": _part(lambda facts: facts.memory("user_id"), "memory's user"),
    "capabilities": _claim("capability", "capability"),
    "execution_modes": _claim("execution_mode", "execution mode"),
    "runs": _claim("run_id", "run"),
    "repeated": _repeated,
    "no_findings_above": _no_findings_above,
    "hours": _hours,
    "larger_than": _larger_than,
    "smaller_than": _smaller_than,
}
_BY_EFFECT: dict[str, Callable[..., Built]] = {
    "languages": _languages,
    "findings": _findings,
    "content_matches": _content_matches,
}
