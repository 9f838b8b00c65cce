"""Osprey 0.11.5: its interrupts and ours become requests, and answers the state that it reads."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from osprey import approval as osprey

from dashboard import capabilities as ours
from dashboard.client import DigestMismatch, Unreachable
from dashboard.client.adapters.osprey import Undecided, resume_pending

ROOT = Path(__file__).parents[2]
THREAD = {"configurable": {"thread_id": "t1"}}
PLAN = {"steps": [{"context_key": "a", "capability": "read"}, {"context_key": "b"}]}
WRITE = {"channel_address": "MAG:1", "value": 3.5, "units": "T", "notes": ""}
MAKERS = pytest.mark.parametrize("made_by", [ours, osprey], ids=["ours", "osprey"])


class State(TypedDict, total=False):
    approval_approved: bool | None
    approved_payload: Any
    messages: list
    ran: Any


def code(made_by=ours):
    return made_by.create_code_approval_interrupt(
        code="caput('MAG:1', 3.5)",
        analysis_details={"writes": 1},
        execution_mode="write",
        safety_concerns=["Writes to a magnet."],
        notebook_path=Path("/data/a.ipynb"),
        notebook_link="http://jupyter/a.ipynb",
        step_objective="Set the field.",
    )


def memory(made_by=ours):
    return made_by.create_memory_approval_interrupt("Likes tea.", "save", "alice", "Likes milk.")


def plan(made_by=ours, **files):
    return made_by.create_plan_approval_interrupt(PLAN, **files)


def step(made_by=ours):
    return made_by.create_step_approval_interrupt(
        step=PLAN["steps"][0], step_number=1, execution_plan=PLAN
    )


def write(made_by=ours):
    return made_by.create_channel_write_approval_interrupt(
        operations=[SimpleNamespace(**WRITE)],
        analysis_details={"count": 1},
        safety_concerns=["High field."],
    )


def graph(made, made_by=ours, saver=None):
    """A node as Osprey writes them: asks, and when it runs again reads what was answered."""

    def node(state):
        wanted = made["resume_payload"]["approval_type"]
        answered, payload = made_by.get_approval_resume_data(state, wanted)
        if not answered:
            interrupt(made)
        return {"ran": payload, **made_by.clear_approval_state()}

    built = StateGraph(State)
    built.add_node("node", node)
    built.add_edge(START, "node")
    return built.compile(checkpointer=saver or InMemorySaver())


def paused(made, made_by=ours, saver=None):
    found = graph(made, made_by, saver)
    found.invoke({"messages": []}, THREAD)
    return found


def resume(found, gate, **options):
    return resume_pending(found, THREAD, client=gate.client, **options)


@MAKERS
@pytest.mark.parametrize("make", [code, memory, plan, step, write])
def test_a_yes_comes_back_as_the_payload_that_the_node_reads(gate, make, made_by):
    gate.approve_next()
    made = make(made_by)

    state = resume(paused(made, made_by), gate)

    assert state["ran"] == made["resume_payload"]
    assert (state["approval_approved"], state["approved_payload"]) == (None, None)


@MAKERS
@pytest.mark.parametrize("make", [code, memory, plan, step, write])
def test_a_no_comes_back_as_a_rejection(gate, make, made_by):
    gate.reject_next("Not today.")

    state = resume(paused(make(made_by), made_by), gate)

    assert state["ran"] is None


@pytest.mark.parametrize(
    ("make", "kind", "content"),
    [
        (code, "code", {"code": "caput('MAG:1', 3.5)", "language": "python"}),
        (plan, "plan", PLAN),
        (step, "plan", {"steps": [PLAN["steps"][0]]}),
        (write, "tool_call", {"tool": "channel_write", "arguments": {"operations": [WRITE]}}),
        (
            memory,
            "memory",
            {
                "operation": "save",
                "user_id": "alice",
                "content": "Likes tea.",
                "existing": "Likes milk.",
            },
        ),
    ],
)
def test_each_interrupt_becomes_a_request_of_its_kind(gate, make, kind, content):
    gate.approve_next()

    resume(paused(make()), gate)

    (asked,) = gate.requests()
    assert (asked["kind"], asked["content"]) == (kind, content)


def test_notebook_concerns_and_analysis_are_evidence(gate):
    gate.approve_next()

    resume(paused(code()), gate)

    assert gate.requests()[0]["objective"] == "Set the field."
    assert gate.evidence() == [
        {
            "analysis_details": {"writes": 1},
            "execution_mode": "write",
            "safety_concerns": ["Writes to a magnet."],
            "notebook_path": "/data/a.ipynb",
            "notebook_link": "http://jupyter/a.ipynb",
        }
    ]


def test_edited_code_is_in_the_payload_and_the_rest_stays(gate):
    gate.edit_next({"code": "caget('MAG:1')", "language": "python"})

    state = resume(paused(code()), gate)

    assert state["ran"] == {**code()["resume_payload"], "code": "caget('MAG:1')"}


def test_edited_writes_are_in_the_payload(gate):
    less = {**WRITE, "value": 1.0}
    gate.edit_next({"tool": "channel_write", "arguments": {"operations": [less]}})

    assert resume(paused(write()), gate)["ran"]["operations"] == [less]


def test_a_dashboard_that_is_down_leaves_the_graph_interrupted(gate):
    found = paused(code())
    gate.unplug()

    with pytest.raises(Unreachable):
        resume(found, gate)

    assert len(found.get_state(THREAD).interrupts) == 1


def test_nobody_answering_is_no_rejection(gate):
    found = paused(code())
    with pytest.raises(Undecided):
        resume(found, gate, wait_s=0)

    assert len(found.get_state(THREAD).interrupts) == 1


def test_a_reason_goes_where_the_host_says(gate):
    gate.reject_next("Not today.")

    state = resume(paused(code()), gate, tell=lambda no: {"messages": [no.reason]})

    assert state["messages"] == ["Not today."]


def test_what_the_host_adds_cannot_approve(gate):
    gate.reject_next("Not today.")
    forged = {"approval_approved": True, "approved_payload": code()["resume_payload"]}

    assert resume(paused(code()), gate, tell=lambda _: forged)["ran"] is None


def test_several_interrupts_at_once_are_refused_and_nobody_is_asked(gate):
    built = StateGraph(State)
    for name in ("a", "b"):
        built.add_node(name, lambda _: interrupt(code()))
        built.add_edge(START, name)
    found = built.compile(checkpointer=InMemorySaver())
    found.invoke({"messages": []}, THREAD)

    with pytest.raises(ValueError, match="2 interrupts are pending"):
        resume(found, gate)
    assert gate.asked() == []


def test_an_interrupt_of_another_kind_is_refused(gate):
    found = StateGraph(State)
    found.add_node("node", lambda _: interrupt("Go?"))
    found.add_edge(START, "node")
    found = found.compile(checkpointer=InMemorySaver())
    found.invoke({"messages": []}, THREAD)

    with pytest.raises(ValueError, match="no interrupt of Osprey's"):
        resume(found, gate)


@pytest.mark.parametrize("name", ["pending_execution_plan.json", "modified_execution_plan.json"])
def test_a_plan_file_with_other_steps_opens_nothing(gate, tmp_path, name):
    gate.approve_next()
    found = paused(plan(pending_plans_dir=str(tmp_path)))
    (tmp_path / name).write_text(json.dumps({"steps": [{"context_key": "evil"}]}))

    with pytest.raises(DigestMismatch, match="does not hold the steps that were approved"):
        resume(found, gate)

    assert len(found.get_state(THREAD).interrupts) == 1
    assert gate.finished()[0]["error"].startswith("It was not run: ")


def test_a_plan_file_with_the_same_steps_is_followed(gate, tmp_path):
    gate.approve_next()
    found = paused(plan(pending_plans_dir=str(tmp_path)))
    (tmp_path / "pending_execution_plan.json").write_text(json.dumps(PLAN))

    assert resume(found, gate)["ran"]["execution_plan"] == PLAN


KILLED = """
import os, sqlite3, sys
from langgraph.checkpoint.sqlite import SqliteSaver
from tests.frameworks.test_osprey import code, paused
paused(code(), saver=SqliteSaver(sqlite3.connect(sys.argv[1], check_same_thread=False)))
os.kill(os.getpid(), 9)
"""


def test_a_process_that_was_killed_is_taken_up_by_the_next(gate, tmp_path):
    path = tmp_path / "threads.sqlite3"
    done = subprocess.run([sys.executable, "-c", KILLED, path], check=False, cwd=ROOT)
    assert done.returncode == -9
    gate.approve_next()
    saver = SqliteSaver(sqlite3.connect(path, check_same_thread=False))

    state = resume(graph(code(), saver=saver), gate)

    saver.conn.close()
    assert state["ran"] == code()["resume_payload"]
