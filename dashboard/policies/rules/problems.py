"""What is wrong with a rule or a policy, each problem beside the field that has it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from approval_client.wire import JsonError, Kind, canonical_json
from dashboard.policies.rules import hours
from dashboard.policies.rules.arguments import problem_with
from dashboard.policies.rules.patterns import PatternRefused, glob, loose_globs, pattern
from dashboard.policies.rules.rule import CLAIMS, Demands, Effect, Rule, ToolClass, When

Problem = tuple[str, str]
_GLOBS = (
    "agents",
    "tools",
    "languages",
    "memory_operations",
    "memory_users",
    "capabilities",
    "execution_modes",
    "runs",
)
_SENTENCES = {
    "missing": "This is missing.",
    "extra_forbidden": "This is not known. It may be misspelt, or belong elsewhere.",
    "string_too_short": "This must not be empty.",
    "string_too_long": "This must not be longer than {max_length} characters.",
    "too_long": "These must not be more than {max_length}.",
    "string_type": "This must be a text; in YAML, put it in quotes.",
    "bool_type": "This must be true or false.",
    "int_type": "This must be a whole number.",
    "greater_than_equal": "This must not be less than {ge}.",
    "less_than_equal": "This must not be more than {le}.",
    "literal_error": "This must be one of {expected}.",
    "enum": "This must be one of {expected}.",
    "tuple_type": "This must be a list.",
    "dict_type": "This must be a mapping.",
    "model_type": "This must be a mapping.",
    "model_attributes_type": "This must be a mapping.",
}


class PolicyError(ValueError):
    """A rule or a policy does not hold together.

    Attributes:
        problems: Where each problem is, such as ``"rules.2.when.hours.timezone"``, and a sentence.
    """

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        lines = (f"{where}: {sentence}" if where else sentence for where, sentence in problems)
        super().__init__("\n".join(lines))


def parse_rule(data: Mapping[str, Any]) -> Rule:
    """Make a rule of what a form or a document says.

    Raises:
        PolicyError: It is not a rule, or one that does not hold together.
    """
    try:
        rule = Rule.model_validate(data)
    except ValidationError as error:
        raise PolicyError([_readable(details) for details in error.errors()]) from None
    if problems := problems_of(rule):
        raise PolicyError(problems)
    return rule


def problems_of(rule: Rule) -> list[Problem]:
    """Return what does not hold together in a rule of the right shape."""
    return [*_of_effect(rule), *_of_conditions(rule.when), *_of_examples(rule)]


def _of_effect(rule: Rule) -> Iterator[Problem]:
    if rule.effect is Effect.APPROVE:
        for claim in CLAIMS:
            if getattr(rule.when, claim):
                yield (
                    f"when.{claim}",
                    ("The agent says this of itself, so a rule that approves cannot rest on it."),
                )
        yield from _of_classes(rule)
    if rule.effect is not Effect.REVIEW and rule.demands != Demands():
        yield "demands", "Only a rule that asks for review can ask for something."
    if rule.effect is not Effect.REJECT and rule.reason:
        yield "reason", "Only a rule that rejects gives the agent a reason."
    if rule.effect is not Effect.REJECT and rule.also_if_not_followed:
        yield (
            "also_if_not_followed",
            "Only a rule that rejects has this choice. One that reviews always holds there.",
        )


def _of_classes(rule: Rule) -> Iterator[Problem]:
    if not rule.when.tool_classes:
        return
    if not rule.tools:
        yield (
            "when.tools",
            (
                "Name the tools that this approves. What a tool is called, and its schema, are "
                "the agent's word, so a class alone does not approve."
            ),
        )
    if ToolClass.IRREVERSIBLE in rule.when.tool_classes:
        yield (
            "when.tool_classes",
            "A call of a tool that is classed as irreversible is never approved without a person.",
        )


def _of_conditions(when: When) -> Iterator[Problem]:
    for field in _GLOBS:
        for index, text in enumerate(getattr(when, field)):
            yield from _of_glob(f"when.{field}.{index}", text)
    for index, text in enumerate(when.findings.names if when.findings else ()):
        yield from _of_glob(f"when.findings.names.{index}", text)
    if when.findings and not when.findings.names:
        yield "when.findings.names", "Name at least one finding; '*' is any."
    for index, argument in enumerate(when.arguments):
        if sentence := problem_with(argument):
            yield f"when.arguments.{index}.value", sentence
    yield from _of_sizes(when)
    yield from _of_pattern(when)
    yield from _of_hours(when)


def _of_sizes(when: When) -> Iterator[Problem]:
    if when.larger_than is None or when.smaller_than is None:
        return
    if when.smaller_than <= when.larger_than + 1:
        yield "when.smaller_than", "No size is larger than larger_than and smaller than this."


def _of_glob(where: str, text: str) -> Iterator[Problem]:
    try:
        for each in (text, *loose_globs((text,))):
            glob(each)
    except PatternRefused as error:
        yield where, f"This cannot be read as a name with * and ?: {error}."


def _of_pattern(when: When) -> Iterator[Problem]:
    try:
        pattern(when.content_matches or "")
    except PatternRefused as error:
        yield "when.content_matches", f"This is not a valid RE2 pattern: {error}."


def _of_hours(when: When) -> Iterator[Problem]:
    if when.hours is None:
        return
    try:
        hours.zone(when.hours.timezone)
    except ValueError as error:
        yield "when.hours.timezone", str(error)
    # Of seconds only a warning tells: a policy in force may have them, and has to stay readable.
    if when.hours.from_ == when.hours.until and (when.hours.from_.hour or when.hours.from_.minute):
        yield (
            "when.hours.until",
            "The hours end when they begin. Enter another end; 00:00 to 00:00 is the whole day.",
        )
    if not when.hours.days:
        yield "when.hours.days", "Name at least one day."


def _of_examples(rule: Rule) -> Iterator[Problem]:
    for field in ("match", "not_match"):
        for index, example in enumerate(getattr(rule, field)):
            try:
                canonical_json(example.content)
            except (TypeError, JsonError) as error:
                yield f"{field}.{index}.content", f"This cannot be sent as JSON: {error}."
            if example.tool_class and example.kind is not Kind.TOOL_CALL:
                yield (
                    f"{field}.{index}.tool_class",
                    "Only a tool has a class; this is no tool call.",
                )


def _readable(details: ErrorDetails) -> Problem:
    where = ".".join(str(part) for part in details["loc"])
    sentence = _SENTENCES.get(details["type"], "This is not right: {message}.")
    message = details["msg"].removeprefix("Value error, ")
    if details["type"] == "value_error":
        sentence = "{message}."
    return where, sentence.format(**{"message": message, **details.get("ctx", {})})
