"""``requires_approval``: what people are shown is what the function gets, or nobody is asked."""

import collections
import datetime as dt
import decimal
import enum
import functools
import json
from typing import Generic, NamedTuple, TypeVar

import pytest
from django.utils.datastructures import MultiValueDict
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from approval_client import NotApproved, requires_approval
from approval_client.testing import FakeDashboard, approve
from approval_client.wire import MAX_DEPTH, canonical_json, parse_json

T = TypeVar("T")


class Level(enum.IntEnum):
    HIGH = 3


class Mode(enum.StrEnum):
    DRY = "dry"


class Plain(enum.Enum):
    A = 1


class Name(str):
    """Text that prints as something else."""

    __slots__ = ()

    def __str__(self):
        return "harmless"


class Hiding(dict):
    """A dictionary that does not name all that it has."""

    def __iter__(self):
        return iter(["a"])


class Noted(dict):
    """A dictionary that holds more beside its members."""

    def __init__(self, **members):
        super().__init__(**members)
        self.note = "rm -rf /"


class Measured(float):
    """A number that holds more than its digits."""

    def __new__(cls, value, unit):
        number = super().__new__(cls, value)
        number.unit = unit
        return number


class Encoding(str):
    """Text that programs get as another one."""

    __slots__ = ()

    def encode(self, *_):
        return b"rm -rf /"


class Index(str):
    """Text that is a number of another value."""

    __slots__ = ()

    def __int__(self):
        return 9


class Slotted(str):
    """Text with room for more."""

    __slots__ = ("more",)


class Popping(list):
    """A list that gives away something else."""

    def pop(self, *_):
        return "rm -rf /"


class Ordered(collections.OrderedDict):
    """A dictionary of a type of its own that changes nothing."""


class UserId(str):
    """Text of a type of its own that changes nothing."""

    __slots__ = ()


class Point(NamedTuple):
    x: int
    count: int

    @property
    def size(self):
        return abs(self.x)


class Reading(NamedTuple):
    x: int

    def __str__(self):
        return "harmless"


class Line(NamedTuple):
    text: str


class Command(Line):
    """A tuple with names whose field reads as something else."""

    __slots__ = ()

    @property
    def text(self):
        return "rm -rf /"


class Overwritten(NamedTuple):
    text: str


Overwritten.text = property(lambda _: "rm -rf /")


class Real(int):
    """A number with a property that numbers have."""

    __slots__ = ()
    real = property(lambda _: 9)


class Getter:
    """A class that knows nothing of dictionaries."""

    def get(self, _):
        return "rm -rf /"


class Got(Getter, dict):
    """A dictionary that gets from another class what dictionaries have."""


class Renewed(Line):
    """A tuple with names whose dictionary reads as something else."""

    __slots__ = ()

    def _asdict(self):
        return {"text": "rm -rf /"}


class Span(NamedTuple):
    """A tuple with names, and with what its program has besides."""

    days: int
    LONGEST = 3

    @functools.cache  # noqa: B019 - programs have such
    def hours(self):
        return 24 * self.days


class Settings(dict):
    """A dictionary with what its program has besides."""

    DEFAULT = 1

    @property
    def limit(self):
        return self["limit"]

    @functools.cache  # noqa: B019 - programs have such
    def limits(self):
        return [self.limit]


class Length(int):
    """A number with what its program has besides."""

    __slots__ = ()
    UNIT = "ms"
    text = property(lambda self: f"{self} ms")


class Tag(str):
    """Text with a function of its own."""

    __slots__ = ()

    def short(self):
        return self[:3]


class Longer(Tag):
    """Text with another function than its own parent."""

    __slots__ = ()

    def short(self):
        return self[:9]


class Task(str, enum.Enum):  # noqa: UP042 - programs of before 3.11 have such
    """A text of an enumeration, with a label, as those of Django have."""

    LIST = ("ls", "List")

    def __new__(cls, text, label):
        member = str.__new__(cls, text)
        member._value_ = text
        member.label = label
        return member


class Coded(str, enum.Enum):  # noqa: UP042 - see above
    """A text of an enumeration whose value is another one."""

    LIST = "ls"

    def __new__(cls, text):
        member = str.__new__(cls, text)
        member._value_ = "rm -rf /"
        return member


class Access(enum.IntFlag):
    READ = 1
    WRITE = 2


class Pair(NamedTuple, Generic[T]):
    first: T


def noted(members):
    members.note = "rm -rf /"
    return members


def nested(levels):
    return json.loads("[" * levels + "]" * levels)


RIGHT_TO_LEFT = "\u202etxt"
ASKED = {
    "empty text": ("", ""),
    "no value": (None, None),
    "a list": ([1, "a", None], [1, "a", None]),
    "a tuple": ((1, 2), [1, 2]),
    "a tuple with names": (Point(1, 2), [1, 2]),
    "a text that is JSON": ('{"a": 1}', '{"a": 1}'),
    "a member of integers": (Level.HIGH, 3),
    "a member of texts": (Mode.DRY, "dry"),
    "a member with a label": (Task.LIST, "ls"),
    "members of a flag": (Access.READ | Access.WRITE, 3),
    "a tuple with names of any type": (Pair(1), [1]),
    "a text with a function": (Tag("abcd"), "abcd"),
    "a tuple with names, a constant and a cached function": (Span(1), [1]),
    "a dictionary with a constant and a property": (Settings(limit=1), {"limit": 1}),
    "a number with a constant and a property": (Length(3), 3),
    "a text with another function than its parent": (Longer("abcd"), "abcd"),
    "true": (True, True),
    "an integer of 64 bits": (2**64 + 1, 2**64 + 1),
    "a double": (0.1, 0.1),
    "minus zero": (-0.0, -0.0),
    "an ordered dictionary": (collections.OrderedDict(a=2, b=1), {"a": 2, "b": 1}),
    "a dictionary with defaults": (collections.defaultdict(list, a=[1]), {"a": [1]}),
    "a dictionary that counts": (collections.Counter("aab"), {"a": 2, "b": 1}),
    "a text of a type that changes nothing": (UserId("u1"), "u1"),
    "a dictionary of one": (Ordered(a=1), {"a": 1}),
    "a number as it was written": (parse_json("1.50"), parse_json("1.50")),
    "text from right to left": (RIGHT_TO_LEFT, RIGHT_TO_LEFT),
    "as deep as may be": (nested(MAX_DEPTH - 3), nested(MAX_DEPTH - 3)),
}
REFUSED = {
    "a text that prints as another": (Name("rm -rf /"), "a Name may hold more"),
    "a text in a list": ([Name("rm -rf /")], "x: 0: a Name may hold more"),
    "a name of a member": ({Name("rm -rf /"): 1}, "a Name may hold more"),
    "a form": (MultiValueDict({"to": ["mallory", "alice"]}), "a MultiValueDict may hold more"),
    "an ordered dictionary in another order than it is shown": (
        [collections.OrderedDict(b=1, a=2)],
        "x: 0: the order of an OrderedDict is not shown",
    ),
    "a dictionary that hides a member": (Hiding(a=1, x="rm"), "a Hiding may hold more"),
    "a dictionary with attributes": (Noted(a=1), "a Noted may hold more"),
    "a dictionary with attributes that is ordered": (
        noted(collections.OrderedDict(a=1)),
        "pass dict\\(\\) of it",
    ),
    "a dictionary whose defaults are not shown": (
        collections.defaultdict(lambda: "rm -rf /", a="ls"),
        "a defaultdict may hold more",
    ),
    "a number with attributes": (Measured(5, "T"), "pass float\\(\\) of it"),
    "a text that is encoded as another": (Encoding("ls"), "pass str\\(\\) of it"),
    "a text that is another number": (Index("1"), "a Index may hold more"),
    "a text with slots": (Slotted("ls"), "a Slotted may hold more"),
    "a list that gives something else": (Popping(["ls"]), "a Popping may hold more"),
    "a tuple with names that prints as another": (Reading(1), "a Reading may hold more"),
    "a tuple with names whose subclass hides a field": (
        Command("ls"),
        "pass tuple\\(\\) of it",
    ),
    "a tuple with names whose field was overwritten": (
        Overwritten("ls"),
        "a Overwritten may hold",
    ),
    "a tuple with names whose dictionary is another": (Renewed("ls"), "a Renewed may hold more"),
    "a number with a property that numbers have": (Real(1), "a Real may hold more"),
    "a dictionary that reads as a class beside it": (Got(a=1), "a Got may hold more"),
    "a member of another value": (Coded.LIST, "a member of Coded reads as another value"),
    "a number that is rounded": (parse_json("9007199254740993.0"), "as another one"),
    "a number that becomes zero": ([parse_json("1e-400")], "x: 0: Python reads the number 1e-400"),
    "NaN": (float("nan"), "nan is not JSON"),
    "Infinity": ([float("inf")], "inf is not JSON"),
    "NUL": ("a\0", "NUL character"),
    "half a pair": ("\ud800", "half of a surrogate pair"),
    "too deep": (nested(MAX_DEPTH), f"deeper than {MAX_DEPTH} levels"),
    "too many digits": (10**5000, "too many digits"),
    "bytes": (b"x", "bytes is not JSON"),
    "a set": ({1}, "set is not JSON"),
    "a date": (dt.date(2026, 1, 31), "date is not JSON"),
    "a decimal": (decimal.Decimal("1.5"), "Decimal is not JSON"),
    "a member": (Plain.A, "Plain is not JSON"),
    "an object": (object(), "object is not JSON"),
    "a key that is a number": ({1: "x"}, "A key must be a string"),
    "a key that is none": ({None: "x"}, "A key must be a string"),
    "an iterator": (iter([1]), "iterator is not JSON"),
}


@pytest.fixture
def approving():
    with FakeDashboard.approving().installed() as fake:
        yield fake


@pytest.mark.parametrize(("value", "shown"), ASKED.values(), ids=ASKED)
def test_what_can_be_shown_is_asked_and_handed_on_itself(approving, value, shown):
    got = []

    @requires_approval
    def act(x):
        got.append(x)

    act(value)

    assert got[0] is value
    assert canonical_json(approving.approvals[0].content["arguments"]) == canonical_json(
        {"x": shown}
    )


@pytest.mark.parametrize(("value", "why"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_shown_is_not_asked_and_the_cause_is_said(approving, value, why):
    got = []

    @requires_approval
    def act(x):
        got.append(x)

    with pytest.raises(TypeError, match=why) as caught:
        act(value)

    assert "cannot be shown to a reviewer: x" in str(caught.value)
    assert "Nothing was run." in str(caught.value)
    assert (got, approving.calls) == ([], [])


def test_a_value_whose_parts_are_the_same_many_times_is_refused_soon(approving):
    value = ["a"]
    for _ in range(20):
        value = [value, value]

    with pytest.raises(TypeError, match="reviewer: The JSON is far too large to be sent"):
        requires_approval(lambda x: x, tool="act")(value)
    assert approving.calls == []


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary(max_size=2)
    | st.sampled_from([*Level, *Mode, *Plain]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
    ),
    max_leaves=6,
)


def keeping(got):
    """Return a function with parameters of every kind, which keeps what it gets."""

    def act(a=1, /, b="*", *rest, c=None, **more):
        got.append({"a": a, "b": b, "rest": rest, "c": c, "more": more})

    return act


@settings(deadline=None, max_examples=200, derandomize=True, suppress_health_check=[*HealthCheck])
@given(
    st.lists(JSON, max_size=4),
    st.dictionaries(st.sampled_from(["b", "c", "d", "path"]), JSON, max_size=2),
)
def test_whatever_is_called_was_shown(args, kwargs):
    fake, got = FakeDashboard.approving(), []
    gated = requires_approval(client=fake.client(), tool="act")(keeping(got))

    try:
        gated(*args, **kwargs)
    except TypeError:  # it takes no such arguments, or they are not JSON
        assert (got, fake.calls) == ([], [])
    else:
        assert [canonical_json(one) for one in got] == [
            canonical_json(one.content["arguments"]) for one in fake.approvals
        ]


@settings(deadline=None, max_examples=100, derandomize=True, suppress_health_check=[*HealthCheck])
@given(
    st.dictionaries(
        st.sampled_from(["a", "b", "rest", "c", "more", "x"]),
        st.none()
        | st.integers()
        | st.text(max_size=2)
        | st.lists(st.integers(), max_size=2)
        | st.dictionaries(st.sampled_from(["b", "d"]), st.integers(), max_size=2),
        min_size=4,
    )
)
def test_whatever_a_person_made_of_it_is_called_or_nothing_is(arguments):
    fake, got = FakeDashboard.manual(), []
    fake.decide_next(approve(content={"tool": "act", "arguments": arguments}))
    gated = requires_approval(client=fake.client(), tool="act", accepts_edits=True)

    try:
        gated(keeping(got))()
    except NotApproved:
        assert got == []
    else:
        assert [canonical_json(one) for one in got] == [canonical_json(arguments)]
