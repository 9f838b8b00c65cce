"""What a content may be, by its kind."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dashboard.policies.evaluate import MODES_OF_OTHERS
from dashboard.wire import Kind

_Line = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
_Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
_MOST_PROBLEMS, _LONGEST_NAME = 5, 100
_LINE = "must be one line of text, without control characters"
_SENTENCES = {
    "missing": "is missing",
    "extra_forbidden": "is not known",
    "string_type": "must be a text",
    "string_too_short": "must not be empty",
    "string_too_long": "must not be longer than {max_length} characters",
    "string_pattern_mismatch": _LINE,
    "dict_type": "must be an object",
    "list_type": "must be a list",
    "too_short": "must not be empty",
}


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class _Code(_Shape):
    code: Annotated[str, Field(min_length=1)]
    language: _Line | None = None


class _ToolCall(_Shape):
    tool: _Name
    arguments: dict[str, Any]


class _Plan(_Shape):
    steps: Annotated[list[dict[str, Any]], Field(min_length=1)]


class _Memory(_Shape):
    operation: _Name
    user_id: _Line
    content: str
    existing: str | None = None


_SHAPES: dict[Kind, type[_Shape]] = {
    Kind.CODE: _Code,
    Kind.TOOL_CALL: _ToolCall,
    Kind.PLAN: _Plan,
    Kind.MEMORY: _Memory,
}


def problems_with(kind: Kind, content: Any) -> list[str]:
    """Say what keeps ``content`` from being one of its kind; nothing if it is one."""
    if not isinstance(content, dict):
        return ["This must be a JSON object, in braces."]
    return list(islice(_problems(kind, content), _MOST_PROBLEMS))


def _problems(kind: Kind, content: dict[str, Any]) -> Iterator[str]:
    try:
        _SHAPES[kind].model_validate(content)
    except ValidationError as error:
        for details in error.errors():
            where = ".".join(map(str, details["loc"]))[:_LONGEST_NAME]
            what = _SENTENCES.get(details["type"], "is not right")
            yield f"{where!r} {what.format(**details.get('ctx', {}))}."
        return
    if kind is Kind.TOOL_CALL and content["tool"] in MODES_OF_OTHERS:
        yield f"No tool may be called {content['tool']!r}, which is a capability."
