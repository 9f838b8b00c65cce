"""LangGraph 1.2.22: interrupts on the desk, and on with each by its id."""

import asyncio
import operator
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import get_runtime
from langgraph.types import Command, interrupt

from approval_client import ApprovalRequest, DigestMismatch, Expired, Unreachable
from approval_client.adapters import langgraph as adapter
from approval_client.adapters.langgraph import Undecided, aresume_pending, resume_pending

ROOT = Path(__file__).parents[3]
THREAD = {"configurable": {"thread_id": "t1"}}


class State(TypedDict, total=False):
    code: str
    ran: Annotated[list, operator.add]
    answer: Any


def question(state, **options):
    return ApprovalRequest.code(state["code"], "python", **options)


def gated(saver=None, **options):
    """A graph that runs its code only after a yes."""
    graph = StateGraph(State)
    graph.add_node(
        "gate",
        adapter.gate(lambda state: question(state, **options), then="run", answer="answer"),
        destinations=("run", END),
    )
    graph.add_node("run", lambda state: {"ran": [state["code"]]})
    graph.add_edge(START, "gate")
    return graph.compile(checkpointer=saver or InMemorySaver())


def pausing(*nodes, saver=None):
    """A graph whose nodes all interrupt at once."""
    graph = StateGraph(State)
    for name in nodes:
        graph.add_node(name, lambda _, name=name: {"ran": [(name, interrupt(name)["approved"])]})
        graph.add_edge(START, name)
    return graph.compile(checkpointer=saver or InMemorySaver())


def paused(graph, **state):
    graph.invoke({"code": "print(1)", **state}, THREAD)
    return graph


def resume(graph, gate, **options):
    return resume_pending(graph, THREAD, client=gate.client, **options)


def test_a_yes_goes_on_to_what_was_approved(gate):
    gate.approve_next("Fine.")

    state = resume(paused(gated()), gate)

    assert (state["ran"], state["answer"]["reason"]) == (["print(1)"], "Fine.")
    assert gate.asked() == [{"code": "print(1)", "language": "python"}]


def test_a_no_goes_elsewhere_and_brings_the_reason(gate):
    gate.reject_next("Wrong sector.")

    state = resume(paused(gated()), gate)

    assert state["ran"] == []
    assert state["answer"]["reason"].startswith("Wrong sector.\n\nThis was rejected by")


def test_a_dashboard_that_is_down_leaves_the_graph_interrupted(gate):
    graph = paused(gated())
    gate.unplug()

    with pytest.raises(Unreachable):
        resume(graph, gate)

    assert len(graph.get_state(THREAD).interrupts) == 1


async def test_nobody_answering_leaves_the_graph_interrupted_and_next_time_it_is_asked_anew(gate):
    graph = gated()
    await graph.ainvoke({"code": "print(1)"}, THREAD)
    waiting = asyncio.create_task(aresume_pending(graph, THREAD, client=gate.client))
    await asked(gate)
    gate.run_out()
    with pytest.raises(Expired):
        await waiting

    gate.approve_next()
    state = await aresume_pending(graph, THREAD, client=gate.client)

    assert (state["ran"], gate.statuses()) == (["print(1)"], ["expired", "approved"])


async def asked(gate, times=1):
    while len(gate.asked()) < times:
        await asyncio.sleep(0.001)
    await asyncio.sleep(0.01)


def test_a_look_leaves_the_question_on_the_desk_for_whoever_comes_next(gate):
    graph = paused(gated())
    with pytest.raises(Undecided):
        resume(graph, gate, max_wait_s=0)

    gate.approve_next()
    state = resume(graph, gate)

    assert (state["ran"], len(gate.asked())) == (["print(1)"], 1)


def test_the_run_is_the_thread_and_its_end_is_reported(gate):
    gate.approve_next()

    resume(paused(gated()), gate)

    assert gate.requests()[0]["run_id"] == "t1"
    assert gate.finished() == [{"exit_code": 0}]


def test_a_graph_that_fails_after_a_yes_is_reported_with_its_error(gate):
    gate.approve_next()
    graph = StateGraph(State)
    graph.add_node("fails", lambda _: [][interrupt("Go?")["approved"]])
    graph.add_edge(START, "fails")
    graph = paused(graph.compile(checkpointer=InMemorySaver()))

    with pytest.raises(IndexError):
        resume(graph, gate)

    assert gate.finished()[0]["error"].startswith("IndexError: ")


def test_an_approval_that_was_used_before_a_crash_is_asked_again(gate):
    gate.approve_next()
    graph = paused(gated())
    desk = adapter._desk(None, THREAD, client=gate.client)
    questions = desk.questions(graph.get_state(THREAD))

    async def killed():
        answers, _ = await desk.ask(questions)
        await desk.start(questions, answers)

    asyncio.run(killed())

    gate.approve_next()
    resume(graph, gate)

    assert (gate.started(), len(gate.asked())) == (2, 2)
    assert gate.evidence()[1]["asked_again"].startswith("Asked again: ")


def test_an_approval_that_was_not_used_before_a_crash_is_used(gate):
    gate.approve_next()
    graph = paused(gated())
    desk = adapter._desk(None, THREAD, client=gate.client)
    asyncio.run(desk.ask(desk.questions(graph.get_state(THREAD))))  # and then it was killed

    resume(graph, gate)

    assert (gate.started(), len(gate.asked())) == (1, 1)


def test_a_rejection_found_after_a_crash_is_not_asked_again(gate):
    gate.reject_next("No.")
    graph = paused(gated())
    desk = adapter._desk(None, THREAD, client=gate.client)
    asyncio.run(desk.ask(desk.questions(graph.get_state(THREAD))))

    state = resume(graph, gate)

    assert (state["ran"], len(gate.asked())) == ([], 1)


def test_parallel_interrupts_get_their_own_answers_in_any_order(gate):
    graph = paused(pausing("a", "b"))
    with pytest.raises(Undecided):
        resume(graph, gate, max_wait_s=0)
    first = gate.asked()[0]["arguments"]["value"]
    gate.approve_next()
    gate.reject_next("No.")

    state = resume(graph, gate)

    assert dict(state["ran"]) == {name: name == first for name in ("a", "b")}


def test_one_of_two_can_go_on_while_the_other_waits(gate):
    graph = paused(pausing("a", "b"))
    gate.approve_next()

    with pytest.raises(Undecided):
        resume(graph, gate, max_wait_s=0.2)
    gate.approve_next()
    state = resume(graph, gate)

    assert dict(state["ran"]) == {"a": True, "b": True}
    assert len(gate.asked()) == 2


def test_an_answer_does_not_open_what_is_pending_by_now(gate):
    class Moved:
        """Another question takes the place of the one that is asked."""

        def __init__(self, graph):
            self.graph, self.looks = graph, 0

        def get_state(self, config, **options):
            self.looks += 1
            if self.looks == 2:
                self.graph.invoke({"code": "evil()"}, THREAD)
            return self.graph.get_state(config, **options)

        def invoke(self, command, config):
            return self.graph.invoke(command, config)

    gate.approve_next()
    gate.reject_next("Not that.")

    state = resume(Moved(paused(gated())), gate)

    assert (state["ran"], [c["code"] for c in gate.asked()]) == ([], ["print(1)", "evil()"])
    assert gate.finished()[0]["error"].startswith("It was not run: ")


@pytest.mark.parametrize("word", ["yes", True, {"approved": True}, {"approved": "yes"}, 1])
def test_a_gate_does_not_open_for_what_is_no_answer(word):
    graph = paused(gated())

    state = graph.invoke(Command(resume=word), THREAD)

    assert state["ran"] == []


def test_a_gate_does_not_open_for_an_answer_about_something_else(gate):
    gate.approve_next()
    answer = resume(paused(gated()), gate)["answer"]
    graph = paused(gated(), code="evil()")

    state = graph.invoke(Command(resume=answer), THREAD)

    assert state["ran"] == []


@pytest.mark.parametrize("accepts", [True, False])
def test_an_edit_is_handed_over_only_where_it_is_accepted(gate, accepts):
    edited = {"code": "print(2)", "language": "python"}
    gate.edit_next(edited)
    graph = paused(gated(accepts_edits=accepts))

    if accepts:
        answer = resume(graph, gate)["answer"]
        assert (answer["approved"], answer["content"]) == (True, edited)
    else:
        with pytest.raises(DigestMismatch):
            resume(graph, gate)


def test_a_checkpoint_of_the_past_is_refused(gate):
    past = {"configurable": {"thread_id": "t1", "checkpoint_id": "1"}}

    with pytest.raises(ValueError, match="names a checkpoint"):
        resume_pending(gated(), past, client=gate.client)


async def test_what_blocks_is_refused_in_an_event_loop(gate):
    with pytest.raises(RuntimeError, match="aresume_pending"):
        resume(gated(), gate)


def test_what_is_not_pending_asks_nobody(gate):
    assert resume(gated(), gate) == {}
    assert gate.asked() == []


# Killed and resumed, with a checkpointer in a file.

KILLED = """
import os, sqlite3, sys
from langgraph.checkpoint.sqlite import SqliteSaver
from tests.frameworks.langgraph.test_adapter import THREAD, gated
saver = SqliteSaver(sqlite3.connect(sys.argv[1], check_same_thread=False))
gated(saver).invoke({"code": "print(1)"}, THREAD)
os.kill(os.getpid(), 9)
"""


def test_a_process_that_was_killed_is_taken_up_by_the_next(gate, tmp_path):
    path = tmp_path / "threads.sqlite3"
    done = subprocess.run([sys.executable, "-c", KILLED, path], check=False, cwd=ROOT)
    assert done.returncode == -9
    gate.approve_next()
    saver = SqliteSaver(sqlite3.connect(path, check_same_thread=False))

    state = resume(gated(saver), gate)

    saver.conn.close()
    assert state["ran"] == ["print(1)"]


# What a run is invoked with, and LangGraph keeps with no thread.


@dataclass
class Mode:
    dry: bool = False


def with_a_mode(gate, ran, *, awaited=False):
    """A graph whose node does nothing real in a dry run, stopped before that node."""

    def act(_, __):
        ran.append(get_runtime(Mode).context)

    async def act_async(_, __):
        ran.append(get_runtime(Mode).context)

    graph = StateGraph(State, context_schema=Mode)
    node = act_async if awaited else act
    client = gate.client if awaited else gate.blocking
    graph.add_node("run", adapter.gated(node, question, client=client))
    graph.add_edge(START, "run")
    return graph.compile(checkpointer=InMemorySaver())


def test_what_was_approved_runs_in_the_context_of_the_run(gate):
    ran = []
    graph = with_a_mode(gate, ran)
    graph.invoke({"code": "x"}, THREAD, context=Mode(dry=True))
    gate.approve_next()

    resume(graph, gate, context=Mode(dry=True), durability="sync")

    assert ran == [Mode(dry=True)]


async def test_what_was_approved_runs_in_the_context_of_a_run_that_is_awaited(gate):
    ran = []
    graph = with_a_mode(gate, ran, awaited=True)
    await graph.ainvoke({"code": "x"}, THREAD, context=Mode(dry=True))
    gate.approve_next()

    await aresume_pending(graph, THREAD, client=gate.client, context=Mode(dry=True))

    assert ran == [Mode(dry=True)]


def test_a_graph_that_takes_a_context_is_not_resumed_without_one(gate):
    ran = []
    graph = with_a_mode(gate, ran)
    graph.invoke({"code": "x"}, THREAD)

    with pytest.raises(ValueError, match=r"Pass the\s+context="):
        resume(graph, gate)
    assert (gate.asked(), ran) == ([], [])
    gate.approve_next()

    resume(graph, gate, context=None)

    assert ran == [None]


def test_a_graph_in_a_node_that_takes_a_context_is_not_resumed_without_one(gate):
    inner = with_a_mode(gate, [])
    graph = StateGraph(State)
    graph.add_node("inner", inner)
    graph.add_edge(START, "inner")
    outer = graph.compile(checkpointer=InMemorySaver())
    outer.invoke({"code": "x"}, THREAD, context=Mode())

    with pytest.raises(ValueError, match="The graph in the node 'inner' has a context_schema"):
        resume(outer, gate)


def test_an_option_that_there_is_not_is_named_and_nobody_is_asked(gate):
    with pytest.raises(TypeError, match="There is no option 'wait'"):
        resume(paused(gated()), gate, wait=3)
    with pytest.raises(TypeError, match="There is no option 'context'"):
        adapter.approvals(gated(), THREAD, client=gate.client, context=None)

    assert gate.asked() == []
