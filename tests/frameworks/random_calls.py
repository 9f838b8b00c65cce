"""Random tools and random arguments: whatever is approved is what the tool gets."""

import json
import os
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Any, Literal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from approval_client.testing import FakeDashboard
from approval_client.wire import canonical_json

EXAMPLES = int(os.environ.get("EXAMPLES", "100"))


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Place(BaseModel):
    host: str
    port: int = 1
    tags: list[str] = []
    origin: str = Field(default="", alias="from")


NAMES = ("a", "b", "c_d", "pattern", "dry_run")
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
INTS = st.integers(-(2**63), 2**63)
PLACES = st.fixed_dictionaries({"host": TEXTS}, optional={"port": INTS, "from": TEXTS})
# Of each type: its annotation, and what a model may well write for it.
KINDS = {
    "str": TEXTS,
    "int": INTS,
    "float": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-99, 99),
    "bool": st.booleans(),
    "int | None": st.none() | INTS,
    "list[int]": st.lists(INTS, max_size=3),
    "dict[str, float]": st.dictionaries(TEXTS, st.floats(0, 1), max_size=2),
    "set[str]": st.lists(TEXTS, max_size=3),
    "tuple[int, str]": st.tuples(INTS, TEXTS).map(list),
    "Literal['x', 'y']": st.sampled_from(["x", "y"]),
    "Colour": st.sampled_from(["red", "blue"]),
    "date": st.dates().map(str),
    "Place": PLACES,
    "list[Place]": st.lists(PLACES, max_size=2),
    "Any": st.recursive(st.none() | TEXTS | INTS, st.lists, max_leaves=4),
}
DEFAULTS = {"str": "'*'", "int": "7", "float": "0.5", "bool": "True", "int | None": "None"}
DEFAULTS |= {"Literal['x', 'y']": "'x'", "Any": "None"}
ODD = st.one_of(
    *(st.none(), st.booleans(), INTS, TEXTS, st.floats(), st.lists(INTS, max_size=2)),
    *(st.integers(2**53, 2**70), st.dictionaries(TEXTS, INTS, max_size=2), PLACES),
    st.sampled_from(["5", "true", "1.9", "1e400", "NaN", "2026-01-31", "", "[1]", "{}", "null"]),
)


@dataclass
class Call:
    """A tool, as the text of its parameters, and what a model writes for it."""

    parameters: str
    written: Any
    text: str
    called: list = field(default_factory=list)

    def tool(self):
        """Return the function, which keeps what it is called with."""
        names = {"Any": Any, "Colour": Colour, "Literal": Literal, "Place": Place, "date": date}
        names["record"] = lambda got: self.called.append({k: _plain(v) for k, v in got.items()})
        source = f"def act({self.parameters}) -> str:\n    'Act.'\n    record(locals())\n"
        exec(source + "    return 'done'\n", names)  # noqa: S102 - our own words
        return names["act"]


@st.composite
def calls(draw):
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=3))
    kinds = {name: draw(st.sampled_from(sorted(KINDS))) for name in names}
    optional = {n: kinds[n] in DEFAULTS and draw(st.booleans()) for n in names}
    ordered = sorted(names, key=optional.__getitem__)
    parameters = ", ".join(
        f"{n}: {kinds[n]}" + (f" = {DEFAULTS[kinds[n]]}" if optional[n] else "") for n in ordered
    )
    written = {}
    for name in names:
        how = draw(st.sampled_from(["good", "good", "good", "odd", "left out"]))
        if how != "left out":
            written[name] = draw(KINDS[kinds[name]] if how == "good" else ODD)
    for name in draw(st.lists(st.sampled_from(["dry_run", "A", "a ", "x"]), max_size=1)):
        if draw(st.booleans()):
            written.setdefault(name, draw(ODD))
    text = json.dumps(written)
    spoilt = draw(st.sampled_from([text] * 12 + [text[:-1], json.dumps(text), f"[{text}]", ""]))
    return Call(parameters, written, spoilt)


def check(run, *, as_values=False, refuses=False, handed=lambda _, got: got):
    """Try many calls; ``run`` has an agent make one, with a dashboard that approves all.

    Args:
        as_values: The framework is given values, and not their text.
        refuses: The framework may refuse to call what was approved.
        handed: Returns what the framework was handed of what a tool got, by its parameters.
    """

    count = {"asked": 0, "told": 0}

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize="EXAMPLES" not in os.environ,  # so that a check does not fail by chance
        suppress_health_check=list(HealthCheck),
    )
    @given(calls())
    def what_is_approved_is_what_the_tool_gets(call):
        fake = FakeDashboard.approving()
        run(fake, call.tool(), call.written if as_values else call.text)
        asked = [one.content["arguments"] for one in fake.approvals]
        asked = [] if refuses and not call.called else asked
        called = [handed(call.parameters, got) for got in call.called]
        assert list(map(canonical_json, called)) == list(map(canonical_json, asked))
        count["asked" if asked else "told"] += 1

    what_is_approved_is_what_the_tool_gets()
    assert min(count.values()) > EXAMPLES / 10, count  # it tries both
    print(count)  # noqa: T201 - shown with -s


def _plain(value):  # noqa: PLR0911 - one for each kind
    match value:
        case Enum():
            return value.value
        case BaseModel():
            return {
                one.alias or name: _plain(getattr(value, name))
                for name, one in type(value).model_fields.items()
            }
        case set():
            return sorted(map(_plain, value), key=canonical_json)
        case list() | tuple():
            return list(map(_plain, value))
        case dict():
            return {name: _plain(item) for name, item in value.items()}
        case date():
            return value.isoformat()
    return value
