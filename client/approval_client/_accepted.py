"""What a dashboard accepts, for ``approval_client.testing``: the server's rules, field by field.

The server reads with a library that agents do not need. A test sends the same bodies to both.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeAlias

from approval_client.wire import OF_TOOL, JsonError, Kind, OutcomeState

# --- questions and reports ---------------------------------------------------------------------

Rule: TypeAlias = Callable[[Any], str]
Problem: TypeAlias = tuple[str, str]

TIME_LIMITS_S = (5, 2_592_000)
_MOST_TEXT, _MOST_NAME = 4000, 200
_MODES = {"python_execution", "memory"}  # capabilities; no tool may be called so
_KEY = re.compile(r"[\x21-\x7e]{1,200}")
_DIGEST = re.compile("[0-9a-f]{64}")
_LONG_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_ID = re.compile(
    rf"[0-9a-f]{{32}}|{_LONG_ID}|urn:uuid:{_LONG_ID}|\{{{_LONG_ID}\}}", re.ASCII | re.IGNORECASE
)
_UNSEEN = re.compile(  # control characters, and those that nobody sees
    "[\\x00-\\x1f\\x7f-\\x9f\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f"
    "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0"
    "\\ufff0-\\ufffc\\U00013430-\\U0001343f\\U00016fe4\\U0001bca0-\\U0001bca3\\U0001d159"
    "\\U0001d173-\\U0001d17a\\U000e0000-\\U000e0fff]"
)


class Field(NamedTuple):
    """What a member has to be, and whether it has to be there."""

    rule: Rule
    required: bool = False


def submission_problem(body: Mapping[str, Any]) -> Problem | None:
    """Return the first place of a question that the dashboard refuses, and why."""
    problem = next(_problems(body, _SUBMISSION, ""), None)
    if problem is None:
        kind = Kind(body["kind"])
        problem = next(_problems(body["content"], _CONTENTS[kind], "content."), None)
    if problem is None and body["content"].get("tool") in _MODES:
        problem = ("content.tool", "no tool may be called like a capability")
    if problem is None and body["kind"] == Kind.PLAN:
        steps = enumerate(body["content"]["steps"])
        wrong = (f"content.steps.{n}" for n, step in steps if not isinstance(step, dict))
        problem = next(((where, "must be an object") for where in wrong), None)
    return problem


_NOTHING_ASKED: dict[str, Any] = {
    "objective": "",
    "evidence": {},
    "run_id": "",
    "time_limit_s": None,
    "max_wait_s": None,
    "accepts_edits": False,
    "accepts_grants": False,
}


def whole_submission(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a question with what it leaves out: a retry may write it otherwise.

    Without what describes the tool: an agent may be upgraded while it waits.
    """
    whole = _NOTHING_ASKED | _whole(body, "time_limit_s", "max_wait_s")
    evidence = whole["evidence"].items()
    return whole | {"evidence": {name: value for name, value in evidence if name not in OF_TOOL}}


_NOTHING_TOLD: dict[str, Any] = {
    "exit_code": None,
    "error": "",
    "duration_s": None,
    "output_head": "",
}


def whole_report(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a report with what it leaves out."""
    report = _NOTHING_TOLD | _whole(body, "exit_code")
    took_s = report["duration_s"]
    return report | {"duration_s": None if took_s is None else float(took_s)}


def _whole(body: Mapping[str, Any], *names: str) -> dict[str, Any]:
    # 60.0 and 60 are one number.
    whole = {name: int(body[name]) for name in names if body.get(name) is not None}
    return {**body, **whole}


def report_problem(body: Mapping[str, Any]) -> Problem | None:
    """Return the first place of a report that the dashboard refuses, and why."""
    return next(_problems(body, _REPORT, ""), None)


def cancel_problem(body: Mapping[str, Any]) -> Problem | None:
    """Return the first place of a withdrawal that the dashboard refuses, and why."""
    return next(_problems(body, {"reason": Field(_text())}, ""), None)


def is_id(text: str) -> bool:
    """Say whether the dashboard reads this as the id of a request."""
    return _ID.fullmatch(text) is not None


def is_digest(text: str) -> bool:
    """Say whether this could be a digest."""
    return _DIGEST.fullmatch(text) is not None


def is_key(key: str) -> bool:
    """Say whether the dashboard takes this idempotency key."""
    return _KEY.fullmatch(key) is not None


def _problems(fields: Any, shape: Mapping[str, Field], where: str) -> Iterator[Problem]:
    for name, (_, required) in shape.items():
        if required and name not in fields:
            yield f"{where}{name}", "is missing"
    for name, value in fields.items():
        if name not in shape:
            yield f"{where}{name}", f"is not known; there are {', '.join(shape)}"
        elif reason := shape[name].rule(value):
            yield f"{where}{name}", reason


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
    is_list = isinstance(value, list) and value
    return "" if is_list else "must be a list that is not empty"


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

# --- parameters of addresses -------------------------------------------------------------------

MOST_DECISIONS, MOST_HOLD_S = 100, 50
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[t _][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"
    r"(?:z|[+-][0-9]{2}:?[0-5][0-9])",
    re.ASCII | re.IGNORECASE,
)
_SECONDS_SINCE_1970 = re.compile(r"[+-]?(?:[0-9]{1,10}(?:\.[0-9]{0,6})?|\.[0-9]{1,6})")
_WHOLE = re.compile(r"\s*\+?[0-9]+(?:_[0-9]+)*(?:\.0+)?\s*", re.ASCII)


def parameter_problem(parameters: Mapping[str, str], path: str) -> Problem | None:
    """Return the first parameter of an address that the dashboard refuses, and why."""
    rules = _PARAMETERS[path]
    for name, value in parameters.items():
        if name in rules and not rules[name](value):
            return name, f"cannot be {value[:40]!r}"
    unknown_names = sorted(parameters.keys() - rules.keys())
    return (unknown_names[0], "is not known") if unknown_names else None


def moment(text: str) -> datetime:
    """Return a moment as the dashboard reads it.

    Raises:
        ValueError: It is none, or says no time zone.
    """
    if _SECONDS_SINCE_1970.fullmatch(text):
        return datetime.fromtimestamp(float(text), UTC)
    if not _MOMENT.fullmatch(text):
        raise ValueError(text)
    return datetime.fromisoformat(text.upper())


def _is_moment(text: str) -> bool:
    try:
        moment(text)
    except ValueError:
        return False
    return True


def _is_limit(text: str) -> bool:
    return _WHOLE.fullmatch(text) is not None and 1 <= float(text) <= MOST_DECISIONS


def _is_hold(text: str) -> bool:
    return 0 <= _number_of(text) <= MOST_HOLD_S


def _number_of(text: str) -> float:
    try:
        return float(text) if text.isascii() else math.nan
    except ValueError:
        return math.nan


_PARAMETERS: dict[str, dict[str, Callable[[str], bool]]] = {
    "agent": {},
    "decisions": {"after": is_id, "since": _is_moment, "limit": _is_limit},
    "wait": {"hold": _is_hold},
}

# --- notebooks ---------------------------------------------------------------------------------

_MOST_LEVELS, _MOST_CELLS = 500, 5_000
_MOST_DIGITS = 18
_CELLS = ("code", "markdown", "raw")


def check_notebook(body: bytes) -> None:
    """Refuse what the dashboard cannot show as a notebook.

    Raises:
        JsonError: It is not the JSON of one; the code is that of the refusal.
    """
    if reason := _why_no_notebook(_read_notebook(body)):
        raise JsonError("not_a_notebook", f"This is not a notebook of nbformat 4: {reason}.")


def _read_notebook(body: bytes) -> Any:
    too_deep = JsonError("too_deep", f"It is nested deeper than {_MOST_LEVELS} levels.")
    try:
        notebook = json.loads(
            body.decode("utf-8-sig"), parse_int=_number_in, object_pairs_hook=_named_once
        )
    except UnicodeDecodeError:
        raise JsonError("not_utf8", "The notebook is not UTF-8 text.") from None
    except json.JSONDecodeError as error:
        raise JsonError("not_json", f"The notebook is not valid JSON: {error}.") from None
    except RecursionError:
        raise too_deep from None
    level = [notebook]
    for _ in range(_MOST_LEVELS + 1):
        level = [inner for value in level for inner in _inside(value)]
        if not level:
            return notebook
    raise too_deep


def _number_in(text: str) -> float:
    return int(text) if len(text) <= _MOST_DIGITS else float(text)


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise JsonError("duplicate_key", "An object in the notebook names the same key twice.")
    return members


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _why_no_notebook(notebook: Any) -> str:
    if not isinstance(notebook, dict) or notebook.get("nbformat") != 4:  # noqa: PLR2004 - the format's
        return "it does not say that it is"
    cells = notebook.get("cells")
    if not isinstance(cells, list):
        return "it has no list of cells"
    if len(cells) > _MOST_CELLS:
        return f"it has more than {_MOST_CELLS:,} cells"
    wrong = (
        (number, reason) for number, cell in enumerate(cells, 1) if (reason := _why_no_cell(cell))
    )
    return next((f"cell {number} {reason}" for number, reason in wrong), "")


def _why_no_cell(cell: Any) -> str:
    if not isinstance(cell, dict):
        return "is not an object"
    source = cell.get("source", "")
    lines = source if isinstance(source, list) else [source]
    if cell.get("cell_type") not in list(_CELLS):
        return "is of a type that is not code, markdown or raw"
    if not all(isinstance(line, str) for line in lines):
        return "has a source that is not text"
    return "" if isinstance(cell.get("outputs", []), list) else "has outputs that are not a list"
