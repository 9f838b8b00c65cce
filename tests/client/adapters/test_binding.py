"""What a model wrote, bound to a tool: asked as it will be called, or not asked, and said why."""

import json
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Predicate
from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    ImportString,
    PrivateAttr,
    RootModel,
    SecretStr,
    Tag,
    create_model,
)

from approval_client.adapters._binding import (
    Unaskable,
    bound,
    check_schema,
    edited,
    read,
    settled,
)


def tool(**fields):
    return create_model("tool", **fields)


class Colour(Enum):
    RED = "red"


class Options(BaseModel):
    deep: bool = False


class Aliased(BaseModel):
    origin: str = Field(alias="from")


@dataclass
class Point:
    x: int
    y: int = 0


class Lax(BaseModel):
    tag: str = None


@dataclass(eq=False)
class Uncomparable:
    x: int


class Keeping(BaseModel):
    x: int
    y: int = 2
    _kept: int = PrivateAttr(default=0)


PURGE = tool(pattern=(str, "*"))

READ = [
    ("", {}),
    (None, {}),
    ("{}", {}),
    ('{"pattern": "*.tmp"}', {"pattern": "*.tmp"}),
    ({"pattern": "*.tmp"}, {"pattern": "*.tmp"}),
]
UNREADABLE = [
    ('"{\\"pattern\\": \\"*.tmp\\"}"', "are a text, and a JSON object is taken"),
    ('{"pattern": "*.tmp"', "cut off, or written in another way than JSON"),
    ('{"pattern": "C:\\tmp\\*.log"}', "cut off, or written in another way than JSON"),
    ("{'pattern': '*.tmp'}", "cut off, or written in another way than JSON"),
    ('{"pattern": "*.tmp",}', "cut off, or written in another way than JSON"),
    ('```json\n{"pattern": "*"}\n```', "cut off, or written in another way than JSON"),
    ('{"pattern": "a"} {"pattern": "b"}', "cut off, or written in another way than JSON"),
    (" ", "cut off, or written in another way than JSON"),
    ('["*.tmp"]', "are a list, and a JSON object is taken"),
    ("null", "are null, and a JSON object is taken"),
    ("5", "are a number, and a JSON object is taken"),
    ("true", "are a boolean, and a JSON object is taken"),
    (["*.tmp"], "are a list, and a JSON object is taken"),
    ('{"pattern": "a", "pattern": "b"}', "they name one key twice"),
    ('{"amount": NaN}', "NaN, Infinity and numbers beyond the range of a double are not JSON"),
    ('{"amount": -Infinity}', "NaN, Infinity and numbers beyond the range"),
    ('{"amount": 1e400}', "NaN, Infinity and numbers beyond the range"),
    ({"amount": float("nan")}, "NaN, Infinity and numbers beyond the range"),
    ({"amount": float("inf")}, "NaN, Infinity and numbers beyond the range"),
    ('{"a": "\\ud800"}', "a text holds half of a surrogate pair"),
    ('{"a": "\\u0000"}', "a text holds a NUL character"),
    ('{"a": ' + "[" * 40 + "]" * 40 + "}", "something is nested deeper than 32 levels"),
    ('{"a": ' + "[" * 99_999, "nested deeper than 32 levels"),
    ('{"a": ' + "9" * 5000 + "}", "a number has too many digits"),
    ({"a": b"bytes"}, "The arguments are not JSON"),
    ({1: "a"}, "The arguments are not JSON"),
]
BOUND = [
    (PURGE, {}, {"pattern": "*"}),
    (PURGE, {"pattern": ""}, {"pattern": ""}),
    (tool(n=(int, ...)), {"n": "5"}, {"n": 5}),
    (tool(n=(int, ...)), {"n": 2**64 + 1}, {"n": 2**64 + 1}),
    (tool(n=(int, ...)), {"n": 1.0}, {"n": 1}),
    (tool(n=(float, ...)), {"n": 5}, {"n": 5.0}),
    (tool(n=(float, ...)), {"n": "0.1"}, {"n": 0.1}),
    (tool(n=(int | None, 3)), {"n": None}, {"n": None}),
    (tool(n=(int | None, 3)), {}, {"n": 3}),
    (tool(b=(bool, ...)), {"b": "yes"}, {"b": True}),
    (tool(c=(Colour, Colour.RED)), {}, {"c": "red"}),
    (tool(c=(Literal["a", "b"], ...)), {"c": "a"}, {"c": "a"}),
    (tool(d=(date, ...)), {"d": "2026-01-31"}, {"d": "2026-01-31"}),
    (tool(d=(Decimal, ...)), {"d": "1.10"}, {"d": "1.10"}),
    (tool(p=(Path, ...)), {"p": "/a/b"}, {"p": "/a/b"}),
    (tool(b=(bytes, ...)), {"b": "text"}, {"b": "text"}),
    (tool(s=(set[str], ...)), {"s": ["b", "a", "b"]}, {"s": ["a", "b"]}),
    (tool(o=(Options, ...)), {"o": {}}, {"o": {"deep": False}}),
    (tool(o=(Point, ...)), {"o": {"x": 1}}, {"o": {"x": 1, "y": 0}}),
    (Aliased, {"from": "here"}, {"from": "here"}),
    # Defaults are the author's, and need not be what a model may write.
    (tool(s=(str, None)), {}, {"s": None}),
    (tool(n=(Annotated[int, Field(ge=1)], 0)), {}, {"n": 0}),
    (tool(p=(Path, ".")), {}, {"p": "."}),
    (tool(o=(Lax, ...)), {"o": {}}, {"o": {"tag": None}}),
    (tool(r=(RootModel[list[int]], ...)), {"r": [1]}, {"r": [1]}),
    (tool(p=(Uncomparable, ...)), {"p": {"x": 1}}, {"p": {"x": 1}}),
    (tool(p=(Keeping, ...)), {"p": {"x": 1}}, {"p": {"x": 1, "y": 2}}),
    (tool(d=(Decimal, ...)), {"d": 0.1}, {"d": "0.1"}),
    (tool(m=(dict[str, Any], ...)), {"m": {"x": [1, None]}}, {"m": {"x": [1, None]}}),
    (
        create_model("open", __config__=ConfigDict(extra="allow"), a=(int, 1)),
        {"b": 2},
        {"a": 1, "b": 2},
    ),
]
NOT_BOUND = [
    (PURGE, {"Pattern": "*.tmp"}, "The tool does not take 'Pattern'. It takes 'pattern'."),
    (PURGE, {"pattern ": "*.tmp"}, "does not take 'pattern '"),
    (PURGE, {"pattern": "a", "dry_run": True}, "does not take 'dry_run'"),
    (tool(), {"x": 1}, "does not take 'x'. It takes no arguments."),
    (Aliased, {"origin": "x"}, "does not take 'origin'. It takes 'from'."),
    (tool(n=(int, ...)), {}, "arguments.n: Field required"),
    (tool(n=(int, ...)), {"n": 1.9}, "arguments.n: Input should be a valid integer"),
    (tool(n=(int, ...)), {"n": None}, "arguments.n: Input should be a valid integer"),
    (tool(n=(float, ...)), {"n": "1e400"}, "cannot be shown"),
    (tool(n=(float, ...)), {"n": "nan"}, "cannot be shown"),
    (tool(n=(float, ...)), {"n": 2**53 + 1}, "arguments.n would become 9007199254740992.0"),
    (tool(n=(float, ...)), {"n": str(2**63 + 1)}, "arguments.n would become"),
    (tool(o=(Options, ...)), {"o": {"dry_run": True}}, "arguments.o.dry_run would be dropped"),
    (tool(o=(list[Options], ...)), {"o": [{"x": 1}]}, "arguments.o[0].x would be dropped"),
    (tool(o=(Point, ...)), {"o": {"x": 1, "z": 2}}, "arguments.o.z would be dropped"),
    (tool(s=(SecretStr, ...)), {"s": "hunter2"}, "a SecretStr does not say all that it holds"),
    (tool(n=(Annotated[int, Field(le=3)], ...)), {"n": 4}, "arguments.n: Input should be less"),
]


class Missing(Enum):
    RED = "red"

    @classmethod
    def _missing_(cls, _):
        raise AssertionError("not to be run")


@dataclass
class Made:
    n: int

    def __post_init__(self):
        raise AssertionError("not to be run")


class Overridden(BaseModel):
    n: int

    def __init__(self, **_):
        raise AssertionError("not to be run")


def fails(_):
    raise AssertionError("not to be run")


class Left(BaseModel):
    n: int


class Right(BaseModel):
    m: int


RUNS_CODE = [
    Missing,
    Made,
    Overridden,
    Annotated[int, BeforeValidator(eval)],
    ImportString,
    Annotated[str, Predicate(fails)],
    Annotated[Annotated[Left, Tag("l")] | Annotated[Right, Tag("r")], Discriminator(fails)],
    Annotated[int, AfterValidator(lambda n: n // 2)],
    Annotated[int, BeforeValidator(lambda n: 5 if n is None else n)],
]


@pytest.mark.parametrize(("written", "arguments"), READ)
def test_arguments_are_read(written, arguments):
    assert read(written) == arguments


@pytest.mark.parametrize(("written", "why"), UNREADABLE)
def test_what_cannot_be_read_in_one_way_is_named(written, why):
    with pytest.raises(Unaskable) as caught:
        read(written)

    assert why in str(caught.value)
    assert "Nobody was asked and nothing was run. Call the tool again" in str(caught.value)


@pytest.mark.parametrize(("model", "given", "asked"), BOUND)
def test_what_is_asked_is_what_will_be_called(model, given, asked):
    found = bound(model, read(json.dumps(given)))

    assert found == asked
    assert json.dumps(found, sort_keys=True) == json.dumps(asked, sort_keys=True)  # 1 is not 1.0


@pytest.mark.parametrize(("model", "given", "why"), NOT_BOUND)
def test_what_would_be_lost_is_not_asked(model, given, why):
    with pytest.raises(Unaskable) as caught:
        bound(model, read(json.dumps(given)))

    assert why in str(caught.value)


def test_digits_that_a_decimal_would_lose_are_not_asked():
    with pytest.raises(Unaskable, match=r"arguments\.d would become '9007199254740994\.0'"):
        bound(tool(d=(Decimal, ...)), read('{"d": 9007199254740993.25}'))


@pytest.mark.parametrize("kind", RUNS_CODE)
def test_code_of_the_author_is_not_run_before_it_is_approved(kind):
    assert bound(tool(n=(kind, ...)), {"n": "8"}) == {"n": "8"}


def test_a_value_of_the_author_is_made_once():
    made = iter(range(9))
    model = tool(n=(int, Field(default_factory=lambda: next(made))))

    assert bound(model, {}) == {}
    assert next(made) == 0


def test_a_name_that_is_not_taken_is_refused_where_the_author_has_a_validator_too():
    with pytest.raises(Unaskable, match="does not take 'm'"):
        bound(tool(n=(RUNS_CODE[0], 1)), {"m": 8})


def test_a_model_that_takes_a_name_in_two_ways_is_bound_to_its_own_name_or_refused():
    model = tool(n=(int, Field(validation_alias=AliasChoices("n", "number"))))

    assert bound(model, {"n": 1}) == {"n": 1}
    with pytest.raises(Unaskable, match="does not take 'number'"):
        bound(model, {"number": 1})


def test_what_a_framework_reads_under_other_names_is_asked_under_those_it_calls_with():
    found = settled({"from": "x"}, lambda given: {"origin": given["from"]}, as_written=dict)

    assert found == {"origin": "x"}


def test_a_schema_that_takes_other_names_is_given_them():
    check_schema({"x": 1}, {"properties": {"y": {}}})


def test_a_schema_that_forbids_other_names_refuses_them():
    with pytest.raises(Unaskable, match=r"does not take 'x'\. It takes 'y'"):
        check_schema({"x": 1}, {"properties": {"y": {}}, "additionalProperties": False})


def test_what_is_not_asked_is_not_written_into_the_sentence():
    with pytest.raises(Unaskable) as caught:
        bound(tool(n=(int, ...)), {"n": "my-password"})

    assert "my-password" not in str(caught.value)


LAX = tool(n=(int, ...), s=(str, None))


def test_an_edit_leaves_out_the_defaults_that_nobody_changed():
    ask = partial(bound, LAX)

    assert edited(ask, {"n": 1}, {"n": 2, "s": None}) == {"n": 2}


@pytest.mark.parametrize("changed", [{"n": 2}, {"n": "2", "s": None}, {"n": 1, "s": None, "x": 1}])
def test_an_edit_that_would_be_called_otherwise_is_refused(changed):
    with pytest.raises(Unaskable):
        edited(partial(bound, LAX), {"n": 1}, changed)


def test_beside_code_of_the_author_defaults_that_are_passed_as_they_are_are_shown():
    lower = Annotated[str, BeforeValidator(str.lower)]
    model = tool(
        path=(lower, ...),
        force=(bool, True),
        mode=(str, Field(default="hard", alias="how")),
        made=(list[str], Field(default_factory=lambda: ["a"])),
        read=(lower, Field(default="A", validate_default=True)),
    )

    assert bound(model, {"path": "A"}) == {"path": "A", "force": True, "how": "hard"}
