"""What a dashboard accepts, for ``approval_client.testing``: the server's rules, field by field.

The server reads with a library that agents do not need. A test sends the same bodies to both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from approval_client.wire import Kind, OutcomeState

Rule: TypeAlias = Callable[[Any], str]
Problem: TypeAlias = tuple[str, str]

TIME_LIMITS_S = (5, 2_592_000)
_MOST_TEXT, _MOST_NAME = 4000, 200
_MODES = {"python_execution", "memory"}  # capabilities; no tool may be called so
_KEY = re.compile(r"[\x21-\x7e]{1,200}")
_DIGEST = re.compile("[0-9a-f]{64}")
_UNSEEN = re.compile(  # control characters, and those that nobody sees
    "[\\x00-\\x1f\\x7f-\\x9f\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f"
    "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb"
    "\\U0001d173-\\U0001d17a\\U000e0000-\\U000e0fff]"
)


class Field(NamedTuple):
    """What a member has to be, and whether it has to be there."""

    rule: Rule
    required: bool = False


def submission_problem(body: Mapping[str, Any]) -> Problem | None:
    """Return the first place of a question that the dashboard refuses, and why."""
    found = next(_problems(body, _SUBMISSION, ""), None)
    if found is None:
        kind = Kind(body["kind"])
        found = next(_problems(body["content"], _CONTENTS[kind], "content."), None)
    if found is None and body["content"].get("tool") in _MODES:
        found = ("content.tool", "no tool may be called like a capability")
    return found


def report_problem(body: Mapping[str, Any]) -> Problem | None:
    """Return the first place of a report that the dashboard refuses, and why."""
    return next(_problems(body, _REPORT, ""), None)


def cancel_problem(body: Mapping[str, Any]) -> Problem | None:
    """Return the first place of a withdrawal that the dashboard refuses, and why."""
    return next(_problems(body, {"reason": Field(_text())}, ""), None)


def is_key(key: str) -> bool:
    """Say whether the dashboard takes this idempotency key."""
    return _KEY.fullmatch(key) is not None


def _problems(found: Any, shape: Mapping[str, Field], where: str) -> Iterator[Problem]:
    for name, (_, required) in shape.items():
        if required and name not in found:
            yield f"{where}{name}", "is missing"
    for name, value in found.items():
        if name not in shape:
            yield f"{where}{name}", f"is not known; there are {', '.join(shape)}"
        elif why := shape[name].rule(value):
            yield f"{where}{name}", why


def _text(least: int = 0, most: int | None = _MOST_TEXT) -> Rule:
    def rule(value: Any) -> str:
        if not isinstance(value, str):
            return "must be a text"
        if len(value) < least:
            return "must not be empty"
        too_long = most is not None and len(value) > most
        return f"must not have more than {most} characters" if too_long else ""

    return rule


def _line(least: int = 0) -> Rule:
    text = _text(least, _MOST_NAME)

    def rule(value: Any) -> str:
        unseen = isinstance(value, str) and _UNSEEN.search(value)
        return text(value) or ("must be one line, without hidden characters" if unseen else "")

    return rule


def _number(low: float, high: float, *, whole: bool) -> Rule:
    def rule(value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return "must be a number"
        if whole and value != int(value):
            return "must be a whole number"
        return "" if low <= value <= high else f"must be {low} to {high}"

    return rule


def _one_of(words: Any) -> Rule:
    return lambda value: "" if value in list(words) else f"must be one of {', '.join(words)}"


def _matching(pattern: re.Pattern[str]) -> Rule:
    def rule(value: Any) -> str:
        return "" if isinstance(value, str) and pattern.fullmatch(value) else "is not one"

    return rule


def _nothing_or(rule: Rule) -> Rule:
    return lambda value: "" if value is None else rule(value)


def _yes_or_no(value: Any) -> str:
    return "" if isinstance(value, bool) else "must be true or false"


def _object(value: Any) -> str:
    return "" if isinstance(value, dict) else "must be an object"


def _steps(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return "must be a list that is not empty"
    return "" if all(isinstance(step, dict) for step in value) else "must hold objects"


_SECONDS = _nothing_or(_number(*TIME_LIMITS_S, whole=True))
_SUBMISSION = {
    "kind": Field(_one_of(Kind), required=True),
    "capability": Field(_line(1), required=True),
    "content": Field(_object, required=True),
    "objective": Field(_text()),
    "evidence": Field(_object),
    "run_id": Field(_line()),
    "time_limit_s": Field(_SECONDS),
    "max_wait_s": Field(_SECONDS),
    "accepts_edits": Field(_yes_or_no),
    "accepts_grants": Field(_yes_or_no),
}
_CONTENTS = {
    Kind.CODE: {
        "code": Field(_text(1, None), required=True),
        "language": Field(_nothing_or(_line())),
    },
    Kind.TOOL_CALL: {
        "tool": Field(_line(1), required=True),
        "arguments": Field(_object, required=True),
    },
    Kind.PLAN: {"steps": Field(_steps, required=True)},
    Kind.MEMORY: {
        "operation": Field(_line(1), required=True),
        "user_id": Field(_line(), required=True),
        "content": Field(_text(0, None), required=True),
        "existing": Field(_nothing_or(_text(0, None))),
    },
}
_REPORT = {
    "state": Field(_one_of(OutcomeState), required=True),
    "digest": Field(_matching(_DIGEST), required=True),
    "exit_code": Field(_nothing_or(_number(-(2**31), 2**31 - 1, whole=True))),
    "error": Field(_text()),
    "duration_s": Field(_nothing_or(_number(0, 1e9, whole=False))),
    "output_head": Field(_text()),
}
