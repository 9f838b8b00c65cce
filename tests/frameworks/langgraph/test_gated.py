"""LangGraph: a node that asks, uses the approval, runs once and tells how it ended."""

import operator
import sqlite3
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, RetryPolicy, interrupt

from approval_client import (
    AlreadyUsed,
    ApprovalRequest,
    AsyncClient,
    Client,
    OnHold,
    TakenBack,
    TooLate,
)
from approval_client.adapters.langgraph import Undecided, aresume_pending, gated, resume_pending

ROOT = Path(__file__).parents[3]
THREAD = {"configurable": {"thread_id": "t1"}}


class State(TypedDict, total=False):
    ran: Annotated[list, operator.add]
    told: Any


class Magnet:
    """A graph with nodes that set the field, each after an approval.

    Args:
        during: Called inside of each node, with the field that it is about to set.
    """

    def __init__(self, gate, *fields, during=lambda _: None, saver=None, edits=False, **node):
        self.gate, self.ran = gate, []
        graph = StateGraph(State)
        for tesla in fields or (3,):
            made = self._node(tesla, during, edits)
            graph.add_node(f"set_{tesla}", made, **node)
            graph.add_edge(START, f"set_{tesla}")
        self.graph = graph.compile(checkpointer=saver or InMemorySaver())
        self.graph.invoke({}, THREAD)

    def _node(self, tesla, during, edits):
        def act(_, response):
            during(tesla)
            self.ran.append(response.content["arguments"]["tesla"])
            return {"ran": [self.ran[-1]]}

        def ask(_):
            arguments = {"tesla": tesla}
            return ApprovalRequest.tool_call("set_field", arguments, accepts_edits=edits)

        return gated(
            act,
            ask,
            otherwise=lambda _, response: {"told": response.reason},
            client=self.gate.blocking,
        )

    def resume(self, **options):
        config = {**THREAD, "max_concurrency": 1}
        return resume_pending(self.graph, config, client=self.gate.client, **options)


def fails(_):
    raise ConnectionError("Quench!")


def test_it_runs_after_an_approval_and_tells_how_it_ended(gate):
    gate.approve_next()
    magnet = Magnet(gate)

    assert magnet.resume()["ran"] == [3]
    assert (gate.started(), gate.finished()) == (1, [{"exit_code": 0}])


def test_it_does_not_run_after_a_rejection_and_the_graph_goes_on_with_the_reason(gate):
    gate.reject_next("Wrong sector.")
    magnet = Magnet(gate)

    state = magnet.resume()

    assert state["told"].startswith("Wrong sector.\n\nThis was rejected by")
    assert (magnet.ran, gate.started()) == ([], 0)


def test_what_a_person_made_of_it_is_what_it_runs(gate):
    gate.edit_next({"tool": "set_field", "arguments": {"tesla": 2}})

    assert Magnet(gate, edits=True).resume()["ran"] == [2]


def test_a_retry_policy_does_not_run_it_twice_for_one_approval(gate):
    gate.approve_next()
    policy = RetryPolicy(max_attempts=3, initial_interval=0.01, jitter=False)
    begun = []

    def during(tesla):
        begun.append(tesla)
        fails(tesla)

    magnet = Magnet(gate, during=during, retry_policy=policy)

    gate.reject_next("Once is enough.")  # until 1.1 the node interrupts the graph once more
    with suppress(AlreadyUsed):
        magnet.resume()
    assert (begun, gate.started()) == ([3], 1)
    assert gate.finished()[0]["error"] == "ConnectionError: Quench!"


def test_a_node_that_failed_is_not_run_again_with_the_same_approval(gate):
    gate.approve_next()
    begun = []

    def during(tesla):
        begun.append(tesla)
        fails(tesla)

    magnet = Magnet(gate, during=during)
    with pytest.raises(ConnectionError):
        magnet.resume()

    with pytest.raises(AlreadyUsed):
        magnet.graph.invoke(None, THREAD)
    with pytest.raises(AlreadyUsed):
        magnet.resume()
    assert begun == [3]


def test_a_hold_between_the_answer_and_the_run_stops_it(gate):
    gate.approve_next()
    gate.hold()
    magnet = Magnet(gate)

    with pytest.raises(OnHold):
        magnet.resume()
    assert (magnet.ran, gate.started()) == ([], 0)


def test_after_a_hold_the_same_approval_runs_it(gate):
    gate.approve_next()
    gate.hold()
    magnet = Magnet(gate)
    with pytest.raises(OnHold):
        magnet.resume()

    gate.go_on()
    state = magnet.graph.invoke(None, THREAD)

    assert (state["ran"], len(gate.asked()), gate.started()) == ([3], 1, 1)


def test_a_hold_between_two_calls_of_a_batch_stops_the_second(gate):
    gate.approve_next()
    gate.approve_next()
    magnet = Magnet(gate, 1, 2, during=lambda _: gate.hold())

    with pytest.raises(OnHold):
        magnet.resume()
    assert (len(magnet.ran), gate.started()) == (1, 1)


def test_an_approval_that_is_over_before_the_run_stops_it(gate):
    gate.approve_next()
    gate.approve_next()
    magnet = Magnet(gate, 1, 2, during=lambda _: gate.let_pass(700))

    with pytest.raises(TooLate):
        magnet.resume()
    assert (len(magnet.ran), gate.started()) == (1, 1)


def test_an_approval_that_is_taken_back_before_the_run_stops_it(gate):
    gate.approve_next()
    gate.approve_next()
    magnet = Magnet(gate, 1, 2, during=lambda _: gate.take_back("Somebody is in there."))

    with pytest.raises(TakenBack, match="Somebody is in there"):
        magnet.resume()
    assert len(magnet.ran) == 1


@pytest.mark.parametrize("word", ["yes", True, {"approved": True}, {"status": "approved"}])
def test_it_does_not_run_for_what_is_no_answer(gate, word):
    magnet = Magnet(gate)

    magnet.graph.invoke(Command(resume=word), THREAD)

    assert (magnet.ran, gate.asked()) == ([], [])


async def test_one_that_is_awaited_does_the_same(gate):
    gate.approve_next()
    ran = []

    async def act(_, response):
        ran.append(response.content["code"])
        return {"ran": ["x"]}

    node = gated(act, lambda _: ApprovalRequest.code("x"), client=gate.client)
    graph = StateGraph(State).add_node("act", node).add_edge(START, "act")
    compiled = graph.compile(checkpointer=InMemorySaver())
    await compiled.ainvoke({}, THREAD)

    state = await aresume_pending(compiled, THREAD, client=gate.client)

    assert (state["ran"], ran, gate.finished()) == (["x"], ["x"], [{"exit_code": 0}])


def test_without_another_node_a_rejection_leaves_the_state_as_it_is(gate):
    gate.reject_next("No.")
    node = gated(fails, lambda _: ApprovalRequest.code("x"), client=gate.blocking)
    graph = StateGraph(State).add_node("act", node).add_edge(START, "act")
    compiled = graph.compile(checkpointer=InMemorySaver())
    compiled.invoke({"told": "before"}, THREAD)

    assert resume_pending(compiled, THREAD, client=gate.client)["told"] == "before"


def test_a_client_that_does_not_fit_is_refused(gate):
    with pytest.raises(TypeError, match="needs a client of type Client"):
        gated(fails, lambda _: ApprovalRequest.code("x"), client=gate.client)


def beginning(node):
    """What looks like a plain function, and returns what would run later."""
    return lambda *args: node(*args)  # noqa: PLW0108 - not a coroutine function itself


def one_step(node, **options):
    gated_node = gated(node, lambda _: ApprovalRequest.code("x"), **options)
    graph = StateGraph(State).add_node("act", gated_node).add_edge(START, "act")
    return graph.compile(checkpointer=InMemorySaver())


async def awaited_node(_, response):
    return {"ran": [response.content["code"]]}


def generated(_, response):
    yield {"ran": [response.content["code"]]}


async def generated_async(_, response):
    yield {"ran": [response.content["code"]]}


class Awaited:
    async def __call__(self, state, response):
        return await awaited_node(state, response)


@pytest.mark.parametrize(
    "later",
    [
        pytest.param(beginning(awaited_node), id="a coroutine"),
        pytest.param(beginning(generated), id="a generator"),
        pytest.param(lambda *_: map(print, "x"), id="an iterator"),
    ],
)
async def test_a_node_that_returns_what_would_run_later_is_not_reported_as_run(gate, later):
    graph = one_step(later, client=gate.blocking)
    await graph.ainvoke({}, THREAD)
    gate.approve_next()

    with pytest.raises(TypeError, match="It was not handed on"):
        await aresume_pending(graph, THREAD, client=gate.client)

    assert [end["exit_code"] for end in gate.finished()] == [1]


async def test_an_object_that_is_called_as_a_coroutine_function_is_awaited(gate):
    graph = one_step(Awaited(), client=gate.client)
    await graph.ainvoke({}, THREAD)
    gate.approve_next()

    state = await aresume_pending(graph, THREAD, client=gate.client)

    assert (state["ran"], gate.finished()) == (["x"], [{"exit_code": 0}])


@pytest.mark.parametrize(
    ("node", "otherwise"),
    [(generated, None), (generated_async, None), (fails, generated), (fails, awaited_node)],
)
def test_functions_that_would_run_later_are_not_gated(node, otherwise):
    with pytest.raises(TypeError, match="Nothing was gated"):
        gated(node, lambda _: ApprovalRequest.code("x"), otherwise=otherwise)


def test_what_comes_after_a_rejection_runs_as_well(gate):
    graph = one_step(fails, otherwise=beginning(awaited_node), client=gate.blocking)
    graph.invoke({}, THREAD)
    gate.reject_next("No.")

    with pytest.raises(TypeError, match="It was not handed on"):
        resume_pending(graph, THREAD, client=gate.client)


# Killed in the node.

KILLED = """
import os, sqlite3, sys
from langgraph.checkpoint.sqlite import SqliteSaver
from tests.frameworks.langgraph.test_gated import Magnet, Real
def during(_):
    with open(sys.argv[2], "a") as file:
        file.write("ran ")
    os.kill(os.getpid(), 9)
saver = SqliteSaver(sqlite3.connect(sys.argv[1], check_same_thread=False))
Magnet(Real(*sys.argv[3:]), during=during, saver=saver).resume()
"""


class Real:
    """The clients of a dashboard at an address."""

    def __init__(self, url, token):
        self.client, self.blocking = AsyncClient(url, token), Client(url, token)


def test_a_node_whose_process_was_killed_is_not_run_again_with_the_same_approval(
    house, person, tmp_path
):
    path, ran = tmp_path / "threads.sqlite3", tmp_path / "ran"
    person.approves()
    done = subprocess.run(
        [sys.executable, "-c", KILLED, path, ran, house.url, house.tokens[0]],
        check=False,
        cwd=ROOT,
    )
    assert (done.returncode, ran.read_text()) == (-9, "ran ")
    saver = SqliteSaver(sqlite3.connect(path, check_same_thread=False))
    graph = StateGraph(State)
    begun = []
    node = gated(
        lambda *_: begun.append(1),
        lambda _: ApprovalRequest.tool_call("set_field", {"tesla": 3}),
        client=Client(house.url, house.tokens[0]),
    )
    graph.add_node("set_3", node).add_edge(START, "set_3")
    graph = graph.compile(checkpointer=saver)

    with suppress(AlreadyUsed):  # LangGraph loses the answer, or gives it to the node again
        graph.invoke(None, THREAD)
    with pytest.raises(Undecided):
        resume_pending(graph, THREAD, client=AsyncClient(house.url, house.tokens[0]), max_wait_s=0)

    saver.conn.close()
    assert begun == []
    asked_again = person.find()
    assert "It may have run already." in person.page(asked_again)
    person.decides(asked_again, "reject", "It had run.")


@dataclass
class Said:
    """A message of the host's own, which LangChain knows nothing of."""

    type: str = "ai"
    tool_calls: Any = None


class Talk(State, total=False):
    tool_call: Any
    messages: Any


OPENAIS = {"id": "1", "function": {"name": "x", "arguments": "{}"}}
ODD = [None, {}, OPENAIS, {"name": 1}, {"name": "x"}, "x", [OPENAIS], 5]


@pytest.mark.parametrize(
    "state",
    [
        *({"tool_call": odd} for odd in ODD),
        *({"messages": odd} for odd in ODD),
        {"messages": [{"type": "tool_call", "id": "1"}]},
        {"messages": [{"type": "tool_call", **OPENAIS}]},
        *({"messages": [Said(tool_calls=odd)]} for odd in [*ODD, [1, None, OPENAIS]]),
        {"messages": [Said(type=7)]},
    ],
)
@pytest.mark.parametrize("form", ["a gated node", "a tool approval", "a batch"])
def test_a_state_may_hold_anything_under_names_that_langchain_has_too(gate, state, form):
    call = {"name": "set_field", "args": {"tesla": 3}}
    requests = {
        "a tool approval": {"type": "tool_approval", "tool_call_id": "c1", **call},
        "a batch": {"action_requests": [call]},
    }
    run = gated(
        lambda *_: {"ran": [3]},
        lambda _: ApprovalRequest.tool_call("set_field", call["args"]),
        client=gate.blocking,
    )
    graph = StateGraph(Talk)
    graph.add_node(
        "act", (lambda _: interrupt(requests[form]) and {"ran": [3]}) if form in requests else run
    )
    graph.add_edge(START, "act")
    compiled = graph.compile(checkpointer=InMemorySaver())
    compiled.invoke(state, THREAD)
    gate.approve_next()

    assert resume_pending(compiled, THREAD, client=gate.client)["ran"] == [3]
