"""LangGraph: odd values in a question, and in interrupts that are not ours."""

import datetime as dt
import json
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from approval_client import ApprovalRequest, Unreachable
from approval_client.adapters import langgraph as adapter
from approval_client.wire import MAX_DEPTH, canonical_json, parse_json
from tests.frameworks.langgraph.test_adapter import THREAD, State, resume


class Mode(Enum):
    DRY = "dry"


@dataclass
class Place:
    host: str


@dataclass
class Hiding:
    host: str

    def __post_init__(self):
        self.secret = "x"  # what nobody would be shown


def nested(levels):
    return json.loads("[" * levels + "]" * levels)


def of_one(node):
    """Return a graph that has come to its one node."""
    graph = StateGraph(State)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    graph = graph.compile(checkpointer=InMemorySaver())
    graph.invoke({}, THREAD)
    return graph


# What a node asks with a question of its own: the kinds of values that JSON has.

VALUES = {
    "empty text": "",
    "no value": None,
    "a list": [1, "a", None, {}],
    "a text that is JSON": '{"a": 1}',
    "a number as text": "1e400",
    "an integer of 64 bits": 2**64 + 1,
    "an integer of 400 digits": 10**400,
    "minus zero": -0.0,
    "text from right to left": "\u202etxt",
    "a name of a type": {"<tuple>": [1]},
    "as deep as may be": nested(MAX_DEPTH - 3),
    "digits": parse_json("1.10"),
}
WAYS = {
    "ask": lambda request, got: lambda _: got.append(adapter.ask(request)),
    "gated": lambda request, got: adapter.gated(
        lambda _, response: got.append(response), lambda _: request
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_what_is_asked_is_what_the_node_gets(gate, way, value):
    got = []
    request = ApprovalRequest.tool_call("act", {"x": value})
    gate.approve_next()

    with gate.environment():
        resume(of_one(WAYS[way](request, got)), gate)

    assert canonical_json(gate.asked()) == canonical_json([request.content])
    assert [canonical_json(one.content) for one in got if one.approved is True] == [
        canonical_json(request.content)
    ]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (float("nan"), "nan is not JSON"),
        ("a\0", "NUL"),
        ("\ud800", "surrogate"),
        (nested(MAX_DEPTH), "deeper than"),
        ({1: "x"}, "key must be a string"),
        (b"x", "bytes is not JSON"),
    ],
)
def test_a_question_that_cannot_be_shown_ends_the_run_and_nobody_is_asked(gate, value, why):
    with pytest.raises((TypeError, ValueError), match=why):
        of_one(lambda _: adapter.ask(ApprovalRequest.tool_call("act", {"x": value})))
    assert gate.asked() == []


def test_a_question_that_is_too_large_is_a_rejection_that_says_so(gate):
    got = []
    request = ApprovalRequest.tool_call("act", {"x": "y" * 1_200_000})

    resume(of_one(WAYS["ask"](request, got)), gate)

    assert (gate.asked(), got[0].approved) == ([], False)
    assert "Ask for less" in got[0].reason


# Interrupts that are not ours: values of any type, shown with it.

FOREIGN = {
    "text": ("Go?", "Go?"),
    "no value": (None, None),
    "false": (False, False),
    "a tuple, which a checkpoint keeps as a list": ((1, 2), [1, 2]),
    "a set": ({2, 1}, {"<set>": [1, 2]}),
    "bytes": (b"x", {"<bytes>": "b'x'"}),
    "a date": (dt.date(2026, 1, 31), {"<date>": "datetime.date(2026, 1, 31)"}),
    "a decimal": (Decimal("1.10"), {"<Decimal>": "Decimal('1.10')"}),
    "a member": (Mode.DRY, {f"<{__name__}.Mode>": "dry"}),
    "a data class": (Place("a"), {f"<{__name__}.Place>": {"host": "a"}}),
}
UNSHOWABLE = {
    "NaN": (float("nan"), "nan is not JSON"),
    "NUL": ({"a": "\0"}, "NUL"),
    "too deep": (nested(MAX_DEPTH - 1), "deeper than"),
    "a key that is a number": ({1: "x"}, "key must be a string"),
    "what looks like a type": ({"<tuple>": [1]}, "looks like the name of a type"),
    "what hides something": (Hiding("a"), "more than can be shown"),
}


@pytest.mark.parametrize(("value", "shown"), FOREIGN.values(), ids=FOREIGN)
def test_an_interrupt_of_another_is_shown_whole(gate, value, shown):
    gate.approve_next()
    got = []

    resume(of_one(lambda _: got.append(interrupt(value)["approved"])), gate)

    assert canonical_json(gate.asked()[0]["arguments"]) == canonical_json({"value": shown})
    assert got == [True]


@pytest.mark.parametrize(("value", "why"), UNSHOWABLE.values(), ids=UNSHOWABLE)
def test_an_interrupt_that_cannot_be_shown_asks_nobody_and_stays(gate, value, why):
    got = []
    graph = of_one(lambda _: got.append(interrupt(value)))

    with pytest.raises(ValueError, match=why):
        resume(graph, gate)
    assert (gate.asked(), got, len(graph.get_state(THREAD).interrupts)) == ([], [], 1)


def test_a_dashboard_that_is_down_leaves_odd_values_pending_too(gate):
    gate.unplug()
    graph = of_one(lambda _: interrupt((1, 2)))

    with pytest.raises(Unreachable):
        resume(graph, gate)
    assert len(graph.get_state(THREAD).interrupts) == 1
