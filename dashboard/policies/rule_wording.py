"""A rule in one plain sentence. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from approval_client.wire import Kind, canonical_json
from dashboard.inspection.findings import Severity
from dashboard.policies.rules import Argument, Demands, Effect, FindingsMatch, Hours, Rule, When

_SUBJECTS = {
    Kind.CODE: "code",
    Kind.TOOL_CALL: "a tool call",
    Kind.PLAN: "a plan",
    Kind.MEMORY: "a memory operation",
}
_TESTS = {
    "present": "is given",
    "absent": "is not given",
    "equals": "is {value}",
    "one_of": "is one of {value}",
    "glob": "is like {value}",
    "matches": "matches {value}",
    "over": "is over {value}",
    "under": "is under {value}",
}
_ALSO = ", also where it could not be followed or calls something unknown"
_EVERY_DAY = 7


def rule_sentence(rule: Rule) -> str:
    """Say what a rule does, such as ``Code in bash by any agent: rejected``."""
    return f"{_what(rule.when, approving=rule.effect is Effect.APPROVE)}: {_then(rule)}."


def demands_in_words(demands: Demands) -> str:
    """Say what a review asks for, as in ``2 people of 'operators' have to approve``."""
    return "; ".join(_demands(demands))


def _what(when: When, *, approving: bool) -> str:
    parts = [_subject(when)]
    for field, say in _CONDITIONS.items():
        value = getattr(when, field)
        if value not in ((), None):
            parts.append(say(value))
        elif field == "agents":
            parts.append("by any agent")
    if when.content_matches is not None:
        how = "that as a whole matches" if approving else "that somewhere matches"
        parts.append(f"{how} '{when.content_matches}'")
    sentence = " ".join(parts)
    return sentence[0].upper() + sentence[1:]


def _subject(when: When) -> str:
    if when.tools:
        return f"a call of the tool {_either(when.tools)}"
    subjects = [_SUBJECTS[kind] for kind in dict.fromkeys(when.kinds)]
    if not subjects or len(subjects) == len(_SUBJECTS):
        return "anything"
    return ", ".join(subjects[:-1]) + " or " + subjects[-1] if subjects[1:] else subjects[0]


def _then(rule: Rule) -> str:
    match rule.effect:
        case Effect.APPROVE:
            return "approved, nobody is asked"
        case Effect.REJECT:
            return f"rejected{_ALSO if rule.also_if_not_followed else ''}"
        case Effect.REVIEW:
            return demands_in_words(rule.demands)


def _demands(demands: Demands) -> Iterator[str]:
    groups = f" of {_either(demands.groups)}" if demands.groups else ""
    if demands.groups and demands.escalate_to:
        groups += f" (from half time on also of '{demands.escalate_to}')"
    people = "a person" if demands.approvals == 1 else f"{demands.approvals} people"
    yield f"{people}{groups} {'has' if demands.approvals == 1 else 'have'} to approve"
    if demands.owner_may_approve is not None:
        yield f"the agent's owner {'may' if demands.owner_may_approve else 'may not'} approve"
    if demands.editor_may_approve:
        yield "so may who edited the content"
    if demands.time_limit_s is not None:
        yield f"within {duration(demands.time_limit_s)}"
    if demands.reason_required:
        yield "with a reason"
    if demands.grants_allowed:
        yield "the yes may be remembered"
    if not demands.whole_content:
        yield "without having to read the content to its end"


def duration(seconds: int) -> str:
    """Say a length of time in the largest unit that needs no fraction."""
    for unit, length in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        if seconds % length == 0:
            count = seconds // length
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{seconds} seconds"


def _arguments(conditions: tuple[Argument, ...]) -> str:
    said = (f"'{each.path}' {_TESTS[each.test].format(value=_value(each))}" for each in conditions)
    return f"whose argument {' and '.join(said)}"


def _value(argument: Argument) -> str:
    if argument.test in ("glob", "matches"):
        return f"'{argument.value}'"
    if argument.test == "one_of":
        return ", ".join(canonical_json(value) for value in argument.value)
    return canonical_json(argument.value)


def _findings(match: FindingsMatch) -> str:
    names = "" if "*" in match.names else f" {_either(match.names)}"
    severity = "" if match.at_least is Severity.INFO else f" of {match.at_least} severity"
    if match.at_least not in (Severity.INFO, Severity.HIGH):
        severity += " or higher"
    return f"with a finding{names}{severity}"


def _hours(hours: Hours) -> str:
    days = "" if len(set(hours.days)) == _EVERY_DAY else f"on {', '.join(hours.days)} "
    until = f"{hours.until:%H:%M}" if hours.until.isoformat() != "00:00:00" else "24:00"
    return f"{days}between {hours.from_:%H:%M} and {until} ({hours.timezone})"


def _either(names: tuple[str, ...]) -> str:
    return " or ".join(f"'{name}'" for name in names)


def _named(before: str) -> Callable[[Any], str]:
    return lambda names: f"{before} {_either(names)}"


_CONDITIONS: dict[str, Callable[[Any], str]] = {
    "languages": lambda names: f"in {' or '.join(names)}",
    "agents": _named("by the agent"),
    "memory_operations": _named("of the operation"),
    "memory_users": _named("for the user"),
    "arguments": _arguments,
    "larger_than": lambda size: f"larger than {size} bytes",
    "smaller_than": lambda size: f"smaller than {size} bytes",
    "findings": _findings,
    "no_findings_above": lambda severity: f"without a finding above {severity} severity",
    "hours": _hours,
    "repeated": lambda times: f"asked for {times} times or more before in the same run",
    "capabilities": _named("whose agent names the capability"),
    "execution_modes": _named("whose agent names the execution mode"),
    "runs": _named("whose agent names the run"),
}
