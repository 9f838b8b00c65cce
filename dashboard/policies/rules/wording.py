"""A rule in one plain sentence. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import time
from typing import Any

from approval_client.wire import Kind, canonical_json
from dashboard.inspection.findings import Severity
from dashboard.policies.rules.arguments import places_of
from dashboard.policies.rules.demands import Required, required
from dashboard.policies.rules.rule import (
    DAYS,
    Argument,
    Demands,
    Effect,
    FindingsMatch,
    Hours,
    Rule,
    ToolClass,
    When,
    clock,
)

_SUBJECTS = {
    Kind.CODE: "code",
    Kind.TOOL_CALL: "tool calls",
    Kind.PLAN: "plans",
    Kind.MEMORY: "memory changes",
}
CLASSES: dict[str, str] = {
    ToolClass.READS: "only reads",
    ToolClass.REVERSIBLE: "reversible",
    ToolClass.IRREVERSIBLE: "irreversible",
    ToolClass.EXTERNAL: "leaves the house",
    ToolClass.MONEY: "money",
    ToolClass.CONTROL_SYSTEM: "control system",
}
"""What the classes of tools are called."""

_TESTS = {
    "present": "is given",
    "absent": "is not given",
    "equals": "is {value}",
    "one_of": "is one of {value}",
    "glob": "is like {value}",
    "matches": "matches {value}",
    "within": "lies in {value}",
    "host_is": "leads to {value}",
    "over": "is over {value}",
    "under": "is under {value}",
}
_ALSO = ", also if it could not be followed or calls something unknown"
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_PLAIN = re.compile(r"[\w.@+:/?*\[\]-]+", re.ASCII)
_WILD = frozenset("*?[")


def rule_sentence(rule: Rule) -> str:
    """Say what a rule does, such as ``Code in bash: rejected``."""
    return f"{_what(rule)}: {_then(rule)}."


def demands_in_words(demands: Demands) -> str:
    """Say what a rule asks a review for, as in ``two people must approve, with a reason``."""
    whole = required(demands, owner_may_approve=False)
    return _demanded(whole, owner=demands.owner_may_approve)


def required_in_words(whole: Required) -> str:
    """Say what the review of a request asks for, all rules taken together."""
    return _demanded(whole, owner=whole.owner_may_approve or None)


def people(count: int) -> str:
    """Say how many people."""
    return "a person" if count == 1 else f"{_number(count)} people"


def duration(seconds: int) -> str:
    """Say a length of time in the largest unit that needs no fraction."""
    for unit, length in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        if seconds % length == 0:
            count = seconds // length
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{seconds} seconds"


def _number(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def _what(rule: Rule) -> str:
    when, approving = rule.when, rule.effect is Effect.APPROVE
    parts = [_subject(when, rule.tools or when.tools)]
    for field, say in _CONDITIONS.items():
        value = getattr(when, field)
        if value not in ((), None):
            parts.append(say(value))
    if when.content_matches is not None:
        how = "whose whole text matches" if approving else "whose text contains a match for"
        parts.append(f"{how} '{when.content_matches}'")
    sentence = " ".join(parts)
    return sentence[0].upper() + sentence[1:]


def _subject(when: When, tools: tuple[str, ...]) -> str:
    """Say what a rule is about, given the names of tools that count for it."""
    if tools:
        calls = _named("calls of the tool", "calls of tools")(tools)
        if when.kinds and Kind.TOOL_CALL not in when.kinds:  # such as there are none of
            return f"{calls} that are {_either(_SUBJECTS[kind] for kind in when.kinds)}"
        return calls
    if when.tool_classes and not when.kinds:
        return "calls of tools"
    subjects = [_SUBJECTS[kind] for kind in dict.fromkeys(when.kinds)]
    if not subjects or len(subjects) == len(_SUBJECTS):
        return "requests"
    return _either(subjects)


def _then(rule: Rule) -> str:
    match rule.effect:
        case Effect.APPROVE:
            return "approved without asking"
        case Effect.REJECT:
            return f"rejected{_ALSO if rule.also_if_not_followed else ''}"
        case Effect.REVIEW:
            return demands_in_words(rule.demands)


def _demanded(whole: Required, *, owner: bool | None) -> str:
    phrase = f"{people(whole.approvals)}{_from_groups(whole)} must approve"
    if whole.time_limit_s is not None:
        phrase += f" within {duration(whole.time_limit_s)}"
    if whole.reason_required:
        phrase += ", with a reason"
    if whole.reveal_required:
        phrase += ", with every secret revealed"
    if whole.proof:
        phrase += ", signed with a passkey"
    return "; ".join([phrase, *_allowed(whole, owner=owner)])


def _from_groups(whole: Required) -> str:
    if not whole.circles:
        return ""
    groups = " and also ".join(_either(map(_name, circle.groups)) for circle in whole.circles)
    later = [_either(map(_name, circle.later)) for circle in whole.circles if circle.later]
    also = f" (from half time on also from {' and '.join(later)})" if later else ""
    return f" from {groups}{also}"


def _allowed(whole: Required, *, owner: bool | None) -> Iterator[str]:
    if owner is not None:
        yield f"the agent's owner {'may' if owner else 'may not'} approve"
    if whole.editor_may_approve:
        yield "whoever edits it may approve"
    if whole.grants_allowed:
        yield "the approval may be remembered"
    if not whole.whole_content:
        yield "reading to the end is not required"


def _arguments(conditions: tuple[Argument, ...]) -> str:
    phrases = (
        f"{_name(each.path)} {_TESTS[each.test].format(value=_value(each))}" for each in conditions
    )
    return f"where {' and '.join(phrases)}"


def _value(argument: Argument) -> str:
    if argument.test in ("glob", "matches"):
        return f"'{argument.value}'"
    if argument.test in ("within", "host_is"):
        return " or ".join(f"'{place}'" for place in places_of(argument.value))
    if argument.test == "one_of":
        return ", ".join(canonical_json(value) for value in argument.value)
    return canonical_json(argument.value)


def _findings(match: FindingsMatch) -> str:
    severity = "" if match.at_least is Severity.INFO else f" of {match.at_least} severity"
    if match.at_least not in (Severity.INFO, Severity.HIGH):
        severity += " or higher"
    if "*" in match.names:
        return f"with any finding{severity}"
    return f"{_named('with the finding', 'with findings')(match.names)}{severity}"


def _hours(hours: Hours) -> str:
    days = [day.capitalize() for day in DAYS if day in hours.days]
    on = "" if len(days) == len(DAYS) else f"on {_either(days)} "
    until = "24:00" if hours.until == time(0, 0) else clock(hours.until)
    return f"{on}between {clock(hours.from_)} and {until} ({hours.timezone})"


def _either(names: Any) -> str:
    return " or ".join(names)


def _name(name: str) -> str:
    """Write a name as it is; one that could be taken for our own words stands in quotes."""
    return name if _PLAIN.fullmatch(name) else f"'{name}'"


def _named(one: str, several: str) -> Callable[[tuple[str, ...]], str]:
    """Say which names: ``the tool pay``, but ``tools like pay_*``."""

    def say(names: tuple[str, ...]) -> str:
        is_wild = any(_WILD & set(name) for name in names)
        noun = f"{several} like" if is_wild else one
        return f"{noun} {_either(map(_name, names))}"

    return say


_CONDITIONS: dict[str, Callable[[Any], str]] = {
    "languages": lambda names: f"in {_either(names)}",
    "agents": _named("from the agent", "from agents"),
    "tool_classes": lambda classes: f"classed as {_either(map(CLASSES.__getitem__, classes))}",
    "memory_operations": _named("with the operation", "with an operation"),
    "memory_users": _named("about the user", "about users"),
    "arguments": _arguments,
    "larger_than": lambda size: f"larger than {size} bytes",
    "smaller_than": lambda size: f"smaller than {size} bytes",
    "findings": _findings,
    "no_findings_above": lambda severity: f"without a finding above {severity} severity",
    "hours": _hours,
    "repeated": lambda times: f"asked {times} times or more before in the same run",
    "capabilities": _named("that claim the capability", "that claim a capability"),
    "execution_modes": _named("that claim the execution mode", "that claim an execution mode"),
    "runs": _named("that claim the run", "that claim a run"),
}
