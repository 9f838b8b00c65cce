"""LangGraph 1.2.22: each answer is used once, in time, and for what it was given."""

import asyncio
import json
import time
from contextlib import suppress
from importlib.metadata import version

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import RetryPolicy, interrupt

from approval_client import AlreadyUsed, ApprovalRequest, DigestMismatch, Expired, TooLate
from approval_client.adapters import langgraph as adapter
from approval_client.adapters.langgraph import Unfinished, _kept, aresume_pending
from approval_client.wire import canonical_json, parse_json
from tests.frameworks.langgraph.test_adapter import (
    THREAD,
    State,
    asked,
    paused,
    pausing,
    question,
    resume,
)

EDITED = {"code": "print(2)", "language": "python"}
WAYS = {
    "ask": lambda state: adapter.ask(question(state)).approved,
    "an interrupt": lambda _: interrupt("Go?")["approved"],
}


def of_one(node, **options):
    graph = StateGraph(State)
    graph.add_node("pays", node, **options)
    graph.add_edge(START, "pays")
    return paused(graph.compile(checkpointer=InMemorySaver()))


class Bank:
    """A node that pays after a yes, unless it was told beforehand to fail."""

    def __init__(self, way="ask", failures=1):
        self.failures, self.paid, self.approved = failures, 0, WAYS[way]

    def __call__(self, state):
        if not self.approved(state):
            return {"ran": ["nothing"]}
        if self.failures:
            self.failures -= 1
            raise ConnectionError("The bank cannot be reached.")
        self.paid += 1
        return {"ran": ["paid"]}


def failed(bank, gate):
    """Return a graph whose node failed after a yes."""
    graph = of_one(bank)
    gate.approve_next()
    with pytest.raises(ConnectionError):
        resume(graph, gate)
    return graph


@pytest.mark.parametrize("way", WAYS)
def test_a_node_that_failed_after_a_yes_is_not_asked_about_while_it_would_hear_that_yes(gate, way):
    bank = Bank(way)
    graph = failed(bank, gate)
    gate.reject_next("Not any more.")

    with pytest.raises(AlreadyUsed, match="failed after it was answered"):
        resume(graph, gate)

    assert (bank.paid, gate.statuses()) == (0, ["approved"])


@pytest.mark.parametrize("way", WAYS)
def test_a_second_answer_counts_after_a_node_failed_and_was_run_again_from_its_start(gate, way):
    bank = Bank(way)
    graph = failed(bank, gate)
    graph.update_state(THREAD, None, as_node="__copy__")
    graph.invoke(None, THREAD)
    gate.reject_next("Not any more.")

    state = resume(graph, gate)

    assert (bank.paid, state["ran"]) == (0, ["nothing"])
    assert gate.statuses() == ["approved", "rejected"]


@pytest.mark.skipif(version("langgraph") == "1.0.0", reason="1.0.0 does not show the second")
def test_a_node_that_asks_twice_hears_both_answers(gate):
    def node(state):
        return {"ran": [adapter.ask(question({"code": code})).approved for code in ("a", "b")]}

    gate.approve_next()
    gate.reject_next("Not that.")

    assert resume(of_one(node), gate)["ran"] == [True, False]


def test_a_yes_is_used_once_whatever_the_retry_policy_says(gate):
    bank = Bank(failures=3)
    policy = RetryPolicy(max_attempts=3, initial_interval=0.01)
    graph = of_one(bank, retry_policy=policy)
    gate.approve_next()
    gate.reject_next("Not again.")  # langgraph 1.0.0 asks anew

    with suppress(AlreadyUsed):
        resume(graph, gate)

    assert (bank.failures, bank.paid) == (2, 0)


def test_a_gate_that_keeps_no_answer_offers_no_edits(gate):
    graph = StateGraph(State)
    ask = adapter.gate(lambda state: question(state, accepts_edits=True), then="run")
    graph.add_node("gate", ask, destinations=("run", END))
    graph.add_node("run", lambda state: {"ran": [state["code"]]})
    graph.add_edge(START, "gate")
    graph = paused(graph.compile(checkpointer=InMemorySaver()))
    gate.edit_next(EDITED)

    with pytest.raises(DigestMismatch):
        resume(graph, gate)

    assert "accepts_edits" not in gate.requests()[0]
    assert graph.get_state(THREAD).values["ran"] == []


def behind_a_gate(run, **options):
    """Return a graph that asks in a gate, keeps the answer, and runs after a yes."""
    graph = StateGraph(State)
    ask = adapter.gate(lambda state: question(state, **options), then="run", answer="answer")
    graph.add_node("gate", ask, destinations=("run", END))
    graph.add_node("run", run)
    graph.add_edge(START, "gate")
    return paused(graph.compile(checkpointer=InMemorySaver()))


def test_a_node_behind_a_gate_that_failed_is_no_result_and_is_not_run_again(gate):
    bank = Bank()
    bank.approved = lambda _: True
    graph = behind_a_gate(bank)
    gate.approve_next()
    with pytest.raises(ConnectionError):
        resume(graph, gate)

    with pytest.raises(
        Unfinished, match=r"stopped before 'run' had ended, and nothing is pending"
    ):
        resume(graph, gate)

    assert (bank.paid, gate.statuses()) == (0, ["approved"])


def test_a_graph_that_stops_at_a_breakpoint_has_not_ended_either(gate):
    graph = StateGraph(State)
    graph.add_node("run", lambda _: {"ran": ["it"]})
    graph.add_edge(START, "run")
    graph = graph.compile(checkpointer=InMemorySaver(), interrupt_before=["run"])
    graph.invoke({"code": "x"}, THREAD)

    with pytest.raises(Unfinished):
        resume(graph, gate)

    assert gate.asked() == []


@pytest.mark.parametrize("edited", [False, True])
def test_the_kept_answer_holds_values(gate, edited):
    seen = []
    graph = behind_a_gate(lambda state: seen.append(state["answer"]) or {}, accepts_edits=True)
    gate.edit_next(EDITED) if edited else gate.approve_next()

    resume(graph, gate)

    code = EDITED["code"] if edited else gate.asked()[0]["code"]
    assert (seen[0]["content"]["code"], seen[0]["edited"]) == (code, edited)
    assert json.loads(json.dumps(seen[0])) == seen[0]


def test_a_number_keeps_its_digits_through_the_checkpoint(gate):
    digits = parse_json('{"amount": 1.10, "huge": 123456789012345678901234567890.5}')
    ask = ApprovalRequest.tool_call("pay", digits)
    seen = []
    graph = of_one(lambda _: seen.append(adapter.ask(ask)) or {})
    gate.approve_next()

    resume(graph, gate)

    assert (seen[-1].approved, seen[-1].digest) == (True, ask.digest)


def test_an_answer_that_an_earlier_version_kept_as_text_still_counts():
    ask = ApprovalRequest.code("print(1)")
    kept = {"approved": True, "digest": ask.digest, "content": canonical_json(ask.content)}

    assert _kept.read(ask, kept).approved is True


# Two at once.


async def one_of_two_answered(gate):
    """Return a graph with two interrupts, and what waits since one of them was approved."""
    graph = pausing("a", "b")
    await graph.ainvoke({"code": ""}, THREAD)
    gate.approve_next()
    waiting = asyncio.create_task(aresume_pending(graph, THREAD, client=gate.client))
    await asked(gate, 2)
    return graph, waiting


def names(gate):
    return [content["arguments"]["value"] for content in gate.asked()]


async def test_a_yes_that_waited_too_long_for_another_answer_is_not_used_and_asked_anew(gate):
    graph, waiting = await one_of_two_answered(gate)
    gate.let_pass(700)
    gate.decide(1, "approve")

    with pytest.raises(TooLate):
        await waiting
    first, second = names(gate)
    assert (await graph.aget_state(THREAD)).tasks[0 if first == "a" else 1].result is None
    gate.reject_next("Not any more.")
    state = await aresume_pending(graph, THREAD, client=gate.client)

    assert dict(state["ran"]) == {first: False, second: True}
    assert gate.started() == 1


async def test_a_yes_runs_nothing_when_the_other_question_ran_out_after_it(gate):
    graph, waiting = await one_of_two_answered(gate)

    gate.run_out()

    with pytest.raises(Expired):
        await waiting
    assert [task.result for task in (await graph.aget_state(THREAD)).tasks] == [None, None]
    assert gate.started() == 0


def test_a_node_that_went_on_is_not_reported_as_failed_when_another_one_failed(gate):
    def fails(_):
        if interrupt("b"):
            time.sleep(0.05)
            raise ConnectionError("The bank cannot be reached.")

    graph = StateGraph(State)
    graph.add_node("a", lambda _: {"ran": [interrupt("a")["approved"]]})
    graph.add_node("b", fails)
    graph.add_edge(START, "a")
    graph.add_edge(START, "b")
    graph = paused(graph.compile(checkpointer=InMemorySaver()))
    gate.approve_next()
    gate.approve_next()

    with pytest.raises(ConnectionError):
        resume(graph, gate)

    codes = dict(zip(names(gate), (end["exit_code"] for end in gate.finished()), strict=True))
    assert codes == {"a": 0, "b": 1}
