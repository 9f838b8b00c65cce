"""The shapes that agents send and are sent. Nothing is converted: a wrong type is refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from difflib import get_close_matches
from typing import Annotated, Any, LiteralString, Self
from uuid import UUID

from ninja import Schema
from ninja.schema import DjangoGetter
from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from approval_client.wire import Kind, OutcomeState, Source, Status, StepAnswer
from dashboard.approvals.models import FINAL
from dashboard.approvals.rules.content import CONTENTS, Line, Name, check, refuse_many_names
from dashboard.approvals.services import OutcomeReport
from dashboard.approvals.services.submit import (
    LONGEST_TIME_LIMIT_S,
    SHORTEST_TIME_LIMIT_S,
    Submission,
)

Text = Annotated[str, Field(max_length=4000)]
# In JSON 60.0 is a whole number too.
_whole = BeforeValidator(lambda n: int(n) if isinstance(n, float) and n.is_integer() else n)
Seconds = Annotated[int, Field(ge=SHORTEST_TIME_LIMIT_S, le=LONGEST_TIME_LIMIT_S), _whole]
ExitCode = Annotated[int, Field(ge=-(2**31), lt=2**31), _whole]


def _one_of(words: Iterable[str], title: str) -> WithJsonSchema:
    """Document words where they stand, not as a schema of their own."""
    return WithJsonSchema({"enum": [*map(str, words)], "title": title, "type": "string"})


AnyKind = Annotated[Kind, Field(strict=False), _one_of(Kind, "Kind")]
AnyState = Annotated[OutcomeState, Field(strict=False), _one_of(OutcomeState, "State")]
AnyStatus = Annotated[Status, _one_of(Status, "Status")]
FinalStatus = Annotated[Status, _one_of(FINAL, "Status")]
AnySource = Annotated[Source, _one_of(Source, "Source")]
AnyStepAnswer = Annotated[StepAnswer, _one_of(StepAnswer, "Answer")]


class Strict(Schema):
    """Unknown fields and wrong types are errors."""

    model_config = ConfigDict(strict=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _is_an_object(cls, body: Any) -> Any:
        # Of anything else ninja reads attributes, so 5 would be a withdrawal without a reason.
        refuse_many_names(body, cls.model_fields)
        if isinstance(body, dict | DjangoGetter):
            return body
        raise PydanticCustomError("not_an_object", "This must be a JSON object")


EXAMPLE = {
    "kind": "code",
    "capability": "python_execution",
    "content": {"code": "print('Hello')", "language": "python"},
    "objective": "Say hello",
    "evidence": {"execution_mode": "readonly", "safety_concerns": []},
    "time_limit_s": 600,
}


def _details(kind: Kind, error: ValidationError) -> Iterator[InitErrorDetails]:
    """Yield the errors of a content as errors of the whole, so that they name the place in it."""
    for details in error.errors(include_url=False, include_input=False):
        pattern = details.get("ctx", {}).get("pattern")
        yield _detail(_said(kind, details), details["loc"], pattern=pattern)


def _detail(sentence: str, loc: tuple[int | str, ...], **context: Any) -> InitErrorDetails:
    template: LiteralString = sentence.replace("{", "{{")
    return InitErrorDetails(
        type=PydanticCustomError("content", template, context), loc=("content", *loc), input=None
    )


def _said(kind: Kind, error: ErrorDetails) -> str:
    if error["type"] != "extra_forbidden" or len(error["loc"]) != 1:
        return error["msg"]
    fields = list(CONTENTS[kind].model_fields)
    close = get_close_matches(str(error["loc"][0]), fields, n=1)
    suggestion = f" Did you mean {close[0]!r}?" if close else ""
    return (
        f"This is not a field of a {kind}, which has {', '.join(map(repr, fields))}.{suggestion}"
    )


def _one_shape_a_kind(schema: dict[str, Any]) -> None:
    """Document that the kind fixes the shape of the content."""
    whole = {key: schema.pop(key) for key in ("type", "properties", "required")}
    whole["additionalProperties"] = schema.pop("additionalProperties")
    schema["examples"] = [EXAMPLE]
    schema["oneOf"] = [
        {
            **whole,
            "title": str(kind),
            "properties": {
                **whole["properties"],
                "kind": {"const": str(kind)},
                "content": shape.model_json_schema(),
            },
        }
        for kind, shape in CONTENTS.items()
    ]


class SubmitIn(Strict):
    """A question: may I do this? ``evidence`` holds the agent's own claims about it.

    The content is checked against the class of its kind and kept as it was sent, because it is
    hashed as it was sent.
    """

    model_config = ConfigDict(strict=True, extra="forbid", json_schema_extra=_one_shape_a_kind)

    kind: AnyKind
    capability: Name
    content: dict[str, Any]
    objective: Text = ""
    evidence: dict[str, Any] = {}
    run_id: Line = ""
    time_limit_s: Seconds | None = None
    max_wait_s: Seconds | None = None
    accepts_edits: bool = False
    accepts_grants: bool = False

    @model_validator(mode="after")
    def _content_is_of_its_kind(self) -> Self:
        try:
            check(self.kind, self.content)
        except ValidationError as error:
            raise ValidationError.from_exception_data(
                error.title, list(_details(self.kind, error))
            ) from None
        except ValueError as error:  # of the tool's name
            detail = _detail(str(error), ("tool",))
            raise ValidationError.from_exception_data(type(self).__name__, [detail]) from None
        return self

    def submission(self) -> Submission:
        """Return what the domain takes."""
        return Submission(**vars(self))


class CancelIn(Strict):
    """Cancelling a request."""

    reason: Text = ""


class OutcomeIn(Strict):
    """What became of something that was approved. ``duration_s`` is in seconds."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        json_schema_extra={"examples": [{"state": "started", "digest": "0" * 64}]},
    )

    state: AnyState
    digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    exit_code: ExitCode | None = None
    error: Text = ""
    duration_s: Annotated[float, Field(ge=0, le=1e9)] | None = None
    output_head: Text = ""

    def report(self) -> OutcomeReport:
        """Return what the domain takes."""
        return OutcomeReport(**vars(self))


class PolicyOut(Schema):
    """The policy revision a request was judged under, and the sentences that led to it."""

    revision: int
    trace: list[str]


class StepOut(Schema):
    """What becomes of one step of a plan; ``index`` counts from 0."""

    index: int
    answer: AnyStepAnswer
    note: str | None = None


class DecisionOut(Schema):
    """The one answer. Only ``status`` "approved" allows a start: once, until ``valid_until``.

    ``content`` is there only where a reviewer changed what was asked, for an agent that said
    ``accepts_edits``: that, and nothing else, may run. ``digest`` is of it.

    ``taken_back`` is there, and true, only where a person took an approval back before it was
    started. The status is "cancelled" then, and ``reason`` says who did it and why.
    """

    status: FinalStatus
    source: AnySource
    reason: str
    decided_by: str | None
    decided_at: datetime
    digest: str
    valid_until: datetime | None
    grant: int | None
    content: dict[str, Any] | None = None
    steps: list[StepOut] | None = None
    taken_back: bool | None = None


class OutcomeOut(Schema):
    """When the agent reported that it began and that it was done."""

    started_at: datetime | None
    finished_at: datetime | None


class AnswerOut(Schema):
    """A request as it stands."""

    id: UUID
    status: AnyStatus
    digest: str
    version: int
    now: datetime
    submitted_at: datetime
    expires_at: datetime
    review_url: str
    policy: PolicyOut
    decision: DecisionOut | None
    outcome: OutcomeOut


class ProblemOut(Schema):
    """A refusal: what happened, what was not done, what to do."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    errors: list[dict[str, Any]] | None = None
