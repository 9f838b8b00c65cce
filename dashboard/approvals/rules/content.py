"""What a content may be, by its kind."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from approval_client.wire import Kind
from dashboard.policies.evaluate import MODES_OF_OTHERS

# Control characters, and those that nobody sees or that turn the text around: two names that look
# the same would be two. Written out, because not every reader of a JSON schema knows \p{Cf}.
_UNSEEN = (
    "\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc"
    "\U00013430-\U0001343f\U00016fe4\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
ONE_LINE = (f"^[^{_UNSEEN}]*$", f"^[^{_UNSEEN}]+$")
"""The patterns of ``Line`` and of ``Name``."""
NOT_ONE_LINE = "must be one line of text, without control characters and hidden ones"
Line = Annotated[str, Field(max_length=200, pattern=ONE_LINE[0])]
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=ONE_LINE[1])]
_MOST_PROBLEMS, _LONGEST_NAME = 5, 100
_SENTENCES = {
    "missing": "is missing",
    "extra_forbidden": "is not known",
    "string_type": "must be a text",
    "string_too_short": "must not be empty",
    "string_too_long": "must not be longer than {max_length} characters",
    "string_pattern_mismatch": NOT_ONE_LINE,
    "dict_type": "must be an object",
    "list_type": "must be a list",
    "too_short": "must not be empty",
}


_MOST_UNKNOWN = 20


def refuse_many_names(members: Any, allowed_names: Collection[str]) -> None:
    """Refuse an object with far more members than there are: each would be an error of its own.

    Raises:
        PydanticCustomError: It has.
    """
    if isinstance(members, dict) and len(members) > len(allowed_names) + _MOST_UNKNOWN:
        names = ", ".join(map(repr, allowed_names))
        raise PydanticCustomError(
            "too_many_names",
            "This has {count} members; there are only {names}",
            {"count": len(members), "names": names},
        )


class StrictContent(BaseModel):
    """A content of any kind. Nothing is converted: unknown members and wrong types are errors."""

    model_config = ConfigDict(strict=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _is_not_too_much(cls, content: Any) -> Any:
        refuse_many_names(content, cls.model_fields)
        return content


class CodeContent(StrictContent):
    """Code that would run, as it is; several fenced blocks may stand in one text."""

    code: Annotated[str, Field(min_length=1)]
    language: Line | None = None


class ToolCallContent(StrictContent):
    """A tool that would be called."""

    tool: Annotated[Name, Field(json_schema_extra={"not": {"enum": sorted(MODES_OF_OTHERS)}})]
    arguments: dict[str, Any]


class PlanContent(StrictContent):
    """A plan that would be followed."""

    steps: Annotated[list[dict[str, Any]], Field(min_length=1), FailFast()]


class MemoryContent(StrictContent):
    """Something that would be remembered, changed or forgotten."""

    operation: Name
    user_id: Line
    content: str
    existing: str | None = None


CONTENTS: dict[Kind, type[StrictContent]] = {
    Kind.CODE: CodeContent,
    Kind.TOOL_CALL: ToolCallContent,
    Kind.PLAN: PlanContent,
    Kind.MEMORY: MemoryContent,
}
"""What a content may be, by its kind: for what agents submit, for edits and for steps."""


def check(kind: Kind, content: Any) -> None:
    """Refuse what is not a content of its kind.

    Raises:
        ValueError: It is not one; a ``ValidationError`` where its members are wrong.
    """
    shape = CONTENTS[kind].model_validate(content)
    if isinstance(shape, ToolCallContent) and shape.tool in MODES_OF_OTHERS:
        raise ValueError(f"no tool may be called {shape.tool!r}, which is a capability")


def problems_with(kind: Kind, content: Any) -> list[str]:
    """Say what keeps ``content`` from being one of its kind; nothing if it is one."""
    if not isinstance(content, dict):
        return ["This must be a JSON object, in braces."]
    return list(islice(_problems(kind, content), _MOST_PROBLEMS))


def _problems(kind: Kind, content: dict[str, Any]) -> Iterator[str]:
    try:
        check(kind, content)
    except ValidationError as error:
        for details in error.errors():
            where = ".".join(map(str, details["loc"]))[:_LONGEST_NAME]
            problem = _SENTENCES.get(details["type"], "is not right")
            yield f"{where!r} {problem.format(**details.get('ctx', {}))}."
    except ValueError as error:
        sentence = str(error)
        yield f"{sentence[0].upper()}{sentence[1:]}."
