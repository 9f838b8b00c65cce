"""Conditions on the arguments of a tool call. Pure.

A path can lead to several values. An approving rule needs every one of them to pass and none to
be missing. Other rules need one to pass. An unclear value does not pass for an approving rule. For
other rules it may pass, which is returned as None:

- ``over`` and ``under`` compare numbers exactly, by their digits. A value that is not a number
  may pass.
- ``equals`` and ``one_of`` compare numbers by value and anything else as canonical JSON. A text
  may pass for the number or word that it spells.
- ``glob`` and ``matches`` look at texts, ``matches`` of an approving rule at the whole of one.
  Other values may pass, as canonical JSON.
- ``within`` and ``host_is`` look at texts: whether a path lies in a folder, whether an address
  leads to a host. What cannot be told, and any other value, may pass.
- What is missing passes ``absent`` and nothing else.
- More values than ``MOST_REACHED``, and lists and objects that hold more, are not looked through:
  they may pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Any, Final

from approval_client.wire import JsonError, canonical_json
from dashboard.policies.rules import places
from dashboard.policies.rules.patterns import PatternRefused, glob, pattern
from dashboard.policies.rules.rule import Argument

MISSING: Final = object()
TOO_MUCH: Final = object()
MOST_CHOICES = 100
MOST_REACHED = 1000  # values; a hostile agent sends half a million
LONGEST_TEXT = 1000
_PLACES = {"within": places.within, "host_is": places.host_is}
_PROBLEMS = {"within": places.problem_with_folder, "host_is": places.problem_with_host}
_LONGEST_NUMBER = 5000  # characters; JSON numbers are shorter
Test = Callable[[Any], bool | None]


def condition(argument: Argument, *, approving: bool) -> Test:
    """Return a test for all the arguments of a call."""
    segments = argument.path.split(".")
    passes = _test(argument, strict=approving)

    def holds(arguments: Any) -> bool | None:
        values = _few(arguments, segments)
        if approving:
            return bool(values) and all(map(passes, values))
        verdicts = [passes(value) for value in values or [TOO_MUCH]]
        return True if True in verdicts else None if None in verdicts else False

    return holds


def problem_with(argument: Argument) -> str:
    """Say why the value does not fit the test; empty if it does."""
    value = argument.value
    match argument.test:
        case "present" | "absent":
            return "" if value is None else f"The test {argument.test!r} takes no value."
        case "over" | "under":
            return "" if _number(value) is not None else "This must be a number."
        case "glob" | "matches":
            return _problem_with_text(argument.test, value)
        case "one_of":
            fits = isinstance(value, list | tuple) and 0 < len(value) <= MOST_CHOICES
            return "" if fits else f"This must be a list of 1 to {MOST_CHOICES} values."
        case "within" | "host_is":
            return _problem_with_places(value, _PROBLEMS[argument.test])
        case "equals":
            return _problem_with_json(value)


def _problem_with_text(test: str, value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_TEXT:
        return f"This must be a text of 1 to {LONGEST_TEXT} characters."
    try:
        pattern(value) if test == "matches" else glob(value)
    except PatternRefused as error:
        return f"This is not a valid RE2 pattern: {error}."
    return ""


def places_of(value: Any) -> list[str]:
    """Return the folders or hosts that a condition names: one, or a list of them."""
    return [value] if isinstance(value, str) else list(value)


def _problem_with_places(value: Any, problem: Callable[[str], str]) -> str:
    if not isinstance(value, str | list | tuple) or not all(
        isinstance(place, str) for place in places_of(value)
    ):
        return "This must be a text, or a list of texts."
    if not 0 < len(places_of(value)) <= MOST_CHOICES:
        return f"This must be 1 to {MOST_CHOICES} texts."
    return next(filter(None, map(problem, places_of(value))), "")


def _problem_with_json(value: Any) -> str:
    try:
        canonical_json(value)
    except (TypeError, JsonError) as error:
        return f"This cannot be a value of JSON: {error}."
    return ""


def _few(arguments: Any, segments: list[str]) -> list[Any]:
    """Return what a path leads to, with ``TOO_MUCH`` for what is too large; [] for too many."""
    values = list(islice(_reached(arguments, segments), MOST_REACHED + 1))
    if len(values) > MOST_REACHED:
        return []
    return [TOO_MUCH if _is_large(value) else value for value in values]


def _is_large(value: Any) -> bool:
    """Say whether a list or an object holds more than is looked through, at any depth."""
    room, pending = MOST_REACHED, [value]
    while pending and room >= 0:
        part = pending.pop()
        if isinstance(part, dict | list):
            room -= len(part)
            if room >= 0:
                pending += part.values() if isinstance(part, dict) else part
    return room < 0


def _reached(value: Any, segments: list[str]) -> Iterator[Any]:
    if not segments:
        yield value
        return
    segment, rest = segments[0], segments[1:]
    steps = list(_steps(value, segment))
    if not steps:
        yield MISSING
    for step in steps:
        yield from _reached(step, rest)


def _steps(value: Any, segment: str) -> Iterator[Any]:
    if isinstance(value, dict):
        if segment == "*":
            yield from value.values()
        elif segment in value:
            yield value[segment]
    elif isinstance(value, list):
        if segment == "*":
            yield from value
        elif segment.isascii() and segment.isdigit() and len(segment) < 10:  # noqa: PLR2004 - no list is longer
            yield from value[int(segment) : int(segment) + 1]


def _test(argument: Argument, *, strict: bool) -> Test:
    value = argument.value
    match argument.test:
        case "present" | "absent":
            wants_absence = argument.test == "absent"
            return lambda found: (
                (found is MISSING) == wants_absence or _unclear(found is TOO_MUCH, strict)
            )
        case "equals" | "one_of":
            choices = [value] if argument.test == "equals" else list(value)
            return _one_of(choices, strict=strict)
        case "glob":
            return _of_text(glob(value), strict=strict)
        case "matches":
            compiled = pattern(value)
            look = compiled.fits if strict else compiled.occurs_in
            return _of_text(lambda text: look(text.encode()), strict=strict)
        case "within" | "host_is":
            place = _PLACES[argument.test](places_of(value))
            return _at_place(place, strict=strict)
        case "over" | "under":
            return _compared(argument.test, _number(value), strict=strict)


def _unclear(may_pass: bool, strict: bool) -> bool | None:  # noqa: FBT001 - read in one line each
    return None if may_pass and not strict else False


def _one_of(choices: list[Any], *, strict: bool) -> Test:
    numbers = {number for choice in choices if (number := _number(choice)) is not None}
    texts = {canonical_json(choice) for choice in choices}
    loose = {_spelled(choice) for choice in choices}

    def passes(argument: Any) -> bool | None:
        if argument is MISSING or argument is TOO_MUCH:
            return _unclear(argument is TOO_MUCH, strict)
        number = _number(argument)
        if number in numbers or (number is None and canonical_json(argument) in texts):
            return True
        return _unclear(
            _spelled(argument) in loose or _read_as_number(argument) in numbers, strict
        )

    return passes


def _of_text(test: Callable[[str], bool], *, strict: bool) -> Test:
    def passes(argument: Any) -> bool | None:
        if argument is MISSING or argument is TOO_MUCH:
            return _unclear(argument is TOO_MUCH, strict)
        if isinstance(argument, str):
            return test(argument)
        return _unclear(test(canonical_json(argument)), strict)

    return passes


def _at_place(place: places.Place, *, strict: bool) -> Test:
    def passes(argument: Any) -> bool | None:
        if argument is MISSING:
            return False
        is_there = place(argument) if isinstance(argument, str) else None
        return _unclear(True, strict) if is_there is None else is_there

    return passes


def _compared(test: str, limit: Decimal | None, *, strict: bool) -> Test:
    def passes(argument: Any) -> bool | None:
        if argument is MISSING or argument is TOO_MUCH:
            return _unclear(argument is TOO_MUCH, strict)
        number = _number(argument)
        if number is None or limit is None:
            return _unclear(True, strict)
        return number > limit if test == "over" else number < limit

    return passes


def _number(value: Any) -> Decimal | None:
    """The exact number, by the digits its sender wrote; None if it is not one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return _decimal(canonical_json(value))
    except JsonError:  # infinite, or none at all
        return None


def _read_as_number(value: Any) -> Decimal | None:
    if isinstance(value, str):
        return _decimal(value) if len(value) <= _LONGEST_NUMBER else None
    return _number(value)


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _spelled(value: Any) -> str:
    return value if isinstance(value, str) else canonical_json(value)
