"""Conditions on the arguments of a tool call. Pure.

A path can lead to several values. An approving rule needs every one of them to pass and none to
be missing. Other rules need one to pass. An unclear value does not pass for an approving rule. For
other rules it may pass, which is returned as None:

- ``over`` and ``under`` compare numbers exactly, by their digits. A value that is not a number
  may pass.
- ``equals`` and ``one_of`` compare numbers by value and anything else as canonical JSON. A text
  may pass for the number or word that it spells, also where the rule has the text.
- ``glob`` and ``matches`` look at texts, ``matches`` of an approving rule at the whole of one.
  Other values may pass, as canonical JSON.
- ``within`` and ``host_is`` look at texts: whether a path lies in a folder, whether an address
  leads to a host. What cannot be told, and any other value, may pass.
- A list or an object may pass where a text or a number is compared, if one of its values passes;
  so may a text that is JSON, for many tools unpack it. A word may pass for one that differs in
  case, in blanks around it or in hidden characters, and true, 1, "yes" and "on" for one another.
- What is missing passes ``absent`` and nothing else. What the path cannot be followed through,
  such as a list where the path has a name, is not missing: it may pass every test.
- More values than ``MOST_REACHED``, and lists and objects that hold more, are not looked through:
  they may pass.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from typing import Any, Final
from urllib.parse import unquote

from approval_client.wire import JsonError, canonical_json
from dashboard.inspection.hidden import replaced
from dashboard.policies.rules import places
from dashboard.policies.rules.patterns import PatternRefused, glob, loose_glob, pattern
from dashboard.policies.rules.readings import (
    decimal,
    folded,
    is_word_of_truth,
    leaves,
    may_be_truth,
    numbers_in,
    with_single_blanks,
    without_hidden,
)
from dashboard.policies.rules.rule import Argument

MISSING: Final = object()
UNREACHED: Final = object()
TOO_MUCH: Final = object()
_NOT_LOOKED_AT = (UNREACHED, TOO_MUCH)
MOST_CHOICES = 100
MOST_REACHED = 1000  # values; a hostile agent sends half a million
_MORE = MOST_REACHED + 1
LONGEST_TEXT = 1000
_PLACES = {"within": places.within, "host_is": places.host_is}
_PROBLEMS = {"within": places.problem_with_folder, "host_is": places.problem_with_host}
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))")
_HEAD = re.compile(r"[\W_]*[^\x00-\x1f!-,./:-@\[-^`{-\x7f]*")
"""A name up to a sign that may lead into its value: ``repo`` of ``repo[0]``."""

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
    values = list(islice(_reached(arguments, segments), _MORE))
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
    """Yield what a path leads to, ``MISSING`` or ``UNREACHED`` where it leads to nothing."""
    if not segments:
        yield value
        return
    segment, rest = segments[0], segments[1:]
    steps = _steps(value, segment, ".".join(segments))
    if steps is None:
        yield UNREACHED
    elif not steps:
        yield MISSING
    else:
        for step in steps:
            yield from _reached(step, rest)


def _steps(value: Any, segment: str, path: str) -> list[Any] | None:
    """Return what one segment leads to; None where the tool may find something and we do not.

    Args:
        path: All that is left of it, which may be one name: ``options.env`` or ``options[env]``.
    """
    if value is None:
        return []
    if isinstance(value, dict | list) and segment == "*":
        return list(islice(value.values() if isinstance(value, dict) else value, _MORE))
    if isinstance(value, dict):
        is_place = segment.isdigit() and segment not in value and bool(value)
        unreached = [UNREACHED] if is_place or has_alike(value, segment, path) else []
        return [value[segment], *unreached] if segment in value else unreached
    is_place = segment.isascii() and segment.isdigit() and len(segment) < 10  # noqa: PLR2004 - no list is longer
    if isinstance(value, list) and is_place:
        return value[int(segment) : int(segment) + 1]
    return None


def has_alike(names: Collection[str], name: str, path: str = "") -> bool:
    """Whether one of the names is what some tools read as this one, or cannot be told from it.

    Args:
        names: All that stand in one object, this one too if it does.
        path: A path that begins with this name, and may be one name as well.
    """
    if len(names) > MOST_REACHED:
        return True
    whole, head = _readings(name)
    wholes = {whole, _readings(path or name)[0]}
    return any(_is_alike(key, wholes, head) for key in names if key != name)


def are_distinct(names: Collection[str]) -> bool:
    """Whether ``has_alike`` is true of none of these names."""
    if len(names) > MOST_REACHED or any(len(name) > LONGEST_TEXT for name in names):
        return False
    readings = [_readings(name) for name in names]
    wholes = {whole for whole, _ in readings}
    return len(wholes) == len(readings) and not any(
        head in wholes for whole, head in readings if head != whole
    )


def _is_alike(name: str, wholes: set[str], head: str) -> bool:
    if len(name) > LONGEST_TEXT:
        return True
    own_whole, own_head = _readings(name)
    return own_whole in wholes or own_whole == head or own_head in wholes


@lru_cache(maxsize=4096)
def _readings(name: str) -> tuple[str, str]:
    """Return the letters and digits of a name, and those up to where it leads into its value."""
    text = _ESCAPE.sub(lambda match: chr(int(match[1] or match[2], 16)), unquote(unquote(name)))
    head = _HEAD.match(text)
    return _bare(text), _bare(head[0] if head else "")


def _bare(text: str) -> str:
    characters = replaced(folded(text), lambda *_: "")
    return "".join(c for c in characters if c.isalnum() or unicodedata.category(c)[0] == "M")


def _test(argument: Argument, *, strict: bool) -> Test:
    value = argument.value
    match argument.test:
        case "present" | "absent":
            wants_absence = argument.test == "absent"
            return lambda found: (
                _unclear(True, strict)
                if found is UNREACHED
                else (found is MISSING) == wants_absence or _unclear(found is TOO_MUCH, strict)
            )
        case "equals" | "one_of":
            choices = [value] if argument.test == "equals" else list(value)
            return _one_of(choices, strict=strict)
        case "glob":
            return _of_text(glob(value), strict=strict, loosely=loose_glob(value))
        case "matches":
            compiled = pattern(value)
            look = compiled.fits if strict else compiled.occurs_in

            def test(text: str) -> bool:
                return look(text.encode())

            return _of_text(test, strict=strict)
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
    words = {folded(text) for choice in choices for text in _spellings(choice)}
    readings = {number for choice in choices for number in _numbers(choice)}
    may_be_bool = [_bool_test(choice) for choice in choices]

    def is_one(value: Any) -> bool:
        number = _number(value)
        return number in numbers or (number is None and canonical_json(value) in texts)

    def may_be_one(value: Any) -> bool:
        return (
            folded(_spelled(value)) in words
            or not readings.isdisjoint(_numbers(value))
            or any(test(value) for test in may_be_bool if test)
        )

    return _test_of(is_one, may_be_one, strict=strict)


def _spellings(value: Any) -> set[str]:
    text = _spelled(value)
    return {text, without_hidden(text)}


def _numbers(value: Any) -> set[Decimal]:
    """Return the numbers that a value is, or may be read as."""
    if isinstance(value, str):
        return numbers_in(value)
    number = _number(value)
    return set() if number is None else {number}


def _bool_test(choice: Any) -> Test | None:
    """Return whether a value may be read as the truth that a rule names; None if it names none."""
    if isinstance(choice, bool):
        return lambda value: may_be_truth(value, truth=choice)
    for truth in (True, False):
        if _may_mean(choice, truth=truth):
            return lambda value, truth=truth: _may_mean(value, truth=truth)  # type: ignore[misc]
    return None


def _may_mean(value: Any, *, truth: bool) -> bool:
    """Whether a value is true or false, or is written for it: a word such as yes, or 1 or 0."""
    is_written = is_word_of_truth(value, truth=truth) or Decimal(truth) in _numbers(value)
    return value is truth or is_written


def _of_text(
    fits: Callable[[str], bool], *, strict: bool, loosely: Callable[[str], bool] | None = None
) -> Test:
    def may_fit(value: Any) -> bool:
        text = _spelled(value)
        return fits(text) or (loosely is not None and loosely(folded(text)))

    def is_fitting(value: Any) -> bool:
        return isinstance(value, str) and fits(value)

    return _test_of(is_fitting, may_fit, strict=strict)


def _test_of(
    passes: Callable[[Any], bool], may_pass: Callable[[Any], bool], *, strict: bool
) -> Test:
    """Return a test of a value, and where it is not strict, of all that is within the value."""

    def test(argument: Any) -> bool | None:
        if argument is MISSING or argument in _NOT_LOOKED_AT:
            return _unclear(argument is not MISSING, strict)
        if passes(argument):
            return True
        return _unclear(not strict and (may_be_read(argument) or _may_within(argument)), strict)

    def may_be_read(part: Any) -> bool:
        if may_pass(part):
            return True
        text = with_single_blanks(without_hidden(part)) if isinstance(part, str) else part
        return text != part and may_pass(text)

    def _may_within(argument: Any) -> bool:
        if not isinstance(argument, str | list | dict):
            return False
        parts = leaves(argument)
        return parts is None or any(map(may_be_read, parts))

    return test


def _at_place(place: places.Place, *, strict: bool) -> Test:
    def passes(argument: Any) -> bool | None:
        if argument is MISSING:
            return False
        is_there = place(argument) if isinstance(argument, str) else None
        return _unclear(True, strict) if is_there is None else is_there

    return passes


def _compared(test: str, limit: Decimal | None, *, strict: bool) -> Test:
    def passes(argument: Any) -> bool | None:
        if argument is MISSING or argument in _NOT_LOOKED_AT:
            return _unclear(argument is not MISSING, strict)
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
        return decimal(canonical_json(value))
    except JsonError:  # infinite, or none at all
        return None


def _spelled(value: Any) -> str:
    return value if isinstance(value, str) else canonical_json(value)
