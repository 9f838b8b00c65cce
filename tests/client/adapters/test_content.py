"""What people are shown of a value: all of it, or nobody is asked."""

import itertools
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal
from enum import Enum
from pathlib import PurePosixPath
from types import SimpleNamespace
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from approval_client.adapters._content import whole
from approval_client.adapters.langgraph import _question
from approval_client.wire import canonical_json


class Colour(Enum):
    RED = "5"


@dataclass
class Refund:
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Slotted:
    amount: Decimal


class Zone(tzinfo):
    pass


class Text(str):
    __slots__ = ()


def nested(value, levels):
    for _ in range(levels):
        value = [value]
    return value


DIFFERENT = [
    "5", 5, 5.0, True, None, b"5", Decimal(5), Decimal("5.0"), Colour.RED, PurePosixPath("5"),
    UUID(int=5), date(2026, 1, 1), datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC),  # noqa: DTZ001
    datetime(2026, 1, 1, tzinfo=ZoneInfo("UTC")), ["5"], ("5",), {"5"}, frozenset({"5"}),
    {"5": "5"}, Refund(Decimal(5)), Refund(Decimal(6)), Slotted(Decimal(5)), [Decimal(5)],
    {"amount": Decimal(5)}, "Decimal('5')", nested("harmless", 25), nested("harmful", 25),
]  # fmt: skip


def test_no_two_values_are_written_alike():
    written = [canonical_json(whole(value)) for value in DIFFERENT]

    assert [pair for pair in itertools.combinations(written, 2) if len(set(pair)) == 1] == []


def test_json_is_shown_as_it_is():
    value = {"to": ["bob", 5, 1.5, None, True], "<b>": "", "why": ""}

    assert whole(value) == value


def test_what_is_no_json_is_shown_with_its_type():
    shown = whole({"refund": Refund(Decimal(5))})

    name = f"<{__name__}.Refund>"
    assert shown == {"refund": {name: {"amount": {"<Decimal>": "Decimal('5')"}}}}


def secretly():
    refund = Refund(Decimal(5))
    refund.to = "somebody else"
    return refund


def endless():
    value = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    "value",
    [
        object(),
        SimpleNamespace(to="bob"),
        Refund,
        secretly(),
        endless(),
        nested("deep", 40),
        {"<Decimal>": "Decimal('5')"},
        {1: "a", "1": "b"},
        OrderedDict(to="bob"),
        Text("bob"),
        datetime(2026, 1, 1, tzinfo=Zone()),
        float("nan"),
        "a\0b",
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_shown_whole_is_not_asked(value):
    with pytest.raises(ValueError, match="Nobody was asked"):
        whole({"value": value})


def test_an_interrupt_is_shown_whole():
    asked = [
        _question(SimpleNamespace(value={"amount": Decimal(amount)}), "pay").requests[0]
        for amount in (5, 5_000_000)
    ]

    assert asked[0].digest != asked[1].digest
