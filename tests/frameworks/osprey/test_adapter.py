"""Osprey 0.11.5: its interrupts and ours become requests, and answers the state that it reads."""

import asyncio
import hashlib
import json
import os
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

from approval_client import DigestMismatch, Expired, Unreachable
from approval_client import capabilities as ours
from approval_client.adapters.osprey import Undecided, aresume_pending, resume_pending
from approval_client.wire import MAX_NOTEBOOK_BYTES

ROOT = Path(__file__).parents[3]
THREAD = {"configurable": {"thread_id": "t1"}}
PLAN = {"steps": [{"context_key": "a", "capability": "read"}, {"context_key": "b"}]}
NOTEBOOK = json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()
NOT_SENT = "Not sent: it is not an .ipynb file in an allowed folder."
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


def step(made_by=ours, **more):
    one = {
        "step": PLAN["steps"][0],
        "step_number": 1,
        "execution_plan": {"steps": [PLAN["steps"][0]]},
    }
    return made_by.create_step_approval_interrupt(**one | more)


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
            "notebook": NOT_SENT,
        }
    ]


LESS = {**WRITE, "value": 1.0}
EDITS = pytest.mark.parametrize(
    ("make", "content", "changed"),
    [
        (code, {"code": "caget('MAG:1')", "language": "python"}, {"code": "caget('MAG:1')"}),
        (
            write,
            {"tool": "channel_write", "arguments": {"operations": [LESS]}},
            {"operations": [LESS]},
        ),
    ],
)


@EDITS
def test_an_edit_is_in_the_payload_where_the_host_says_that_it_is_run(
    gate, make, content, changed
):
    gate.edit_next(content)

    state = resume(paused(make()), gate, edits=("python_executor", "channel_write"))

    assert state["ran"] == {**make()["resume_payload"], **changed}


@EDITS
def test_an_edit_that_osprey_itself_would_not_run_is_not_taken(gate, make, content, changed):
    gate.edit_next(content)
    found = paused(make())

    with pytest.raises(DigestMismatch):
        resume(found, gate)

    assert len(found.get_state(THREAD).interrupts) == 1


def test_an_edited_memory_is_in_the_payload(gate):
    asked = {"operation": "save", "user_id": "alice", "existing": "Likes milk."}
    gate.edit_next({**asked, "content": "Likes water."})

    assert resume(paused(memory()), gate)["ran"]["content"] == "Likes water."


def test_a_step_that_is_not_in_the_plan_which_would_run_is_not_asked_about(gate):
    found = paused(step(execution_plan={"steps": [{"context_key": "evil"}]}))

    with pytest.raises(ValueError, match="not in the plan"):
        resume(found, gate)

    assert gate.asked() == []


def test_everything_that_a_step_would_run_is_asked_about(gate):
    gate.approve_next()

    resume(paused(step(execution_plan=PLAN)), gate)

    assert gate.asked() == [PLAN]


def test_options_of_invoke_go_to_the_graph_and_others_are_named(gate):
    gate.approve_next()

    with pytest.raises(TypeError, match="There is no option 'wait'"):
        resume(paused(code()), gate, wait=3)
    assert gate.asked() == []

    result = resume(paused(code()), gate, context={"dry": True}, stream_mode="updates")

    assert isinstance(result, list)


def test_a_dashboard_that_is_down_leaves_the_graph_interrupted(gate):
    found = paused(code())
    gate.unplug()

    with pytest.raises(Unreachable):
        resume(found, gate)

    assert len(found.get_state(THREAD).interrupts) == 1


def test_nobody_answering_is_no_rejection(gate):
    found = paused(code())
    with pytest.raises(Undecided):
        resume(found, gate, max_wait_s=0)

    assert len(found.get_state(THREAD).interrupts) == 1


async def test_a_question_that_ran_out_runs_nothing_and_a_late_answer_neither(gate):
    found = paused(code())
    waiting = asyncio.create_task(aresume_pending(found, THREAD, client=gate.client))
    await asked(gate)
    gate.run_out()
    with pytest.raises(Expired):
        await waiting

    gate.decide(0, "approve")
    with pytest.raises(Undecided):
        await aresume_pending(found, THREAD, client=gate.client, max_wait_s=0)

    assert (gate.statuses(), gate.started()) == (["expired", "pending"], 0)
    assert len(found.get_state(THREAD).interrupts) == 1


async def test_a_host_that_stops_waiting_runs_nothing_and_finds_the_answer_later(gate):
    found = paused(code())
    waiting = asyncio.create_task(aresume_pending(found, THREAD, client=gate.client))
    await asked(gate)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    gate.approve_next()
    assert gate.started() == 0

    state = await aresume_pending(found, THREAD, client=gate.client)

    assert (state["ran"], len(gate.asked())) == (code()["resume_payload"], 1)


async def asked(gate):
    while not gate.asked():
        await asyncio.sleep(0.001)
    await asyncio.sleep(0.01)


async def test_two_threads_are_answered_in_the_other_order(gate):
    found = paused(code())
    other = {"configurable": {"thread_id": "t2"}}
    found.invoke({"messages": []}, other)
    for thread in (THREAD, other):
        with pytest.raises(Undecided):
            await aresume_pending(found, thread, client=gate.client, max_wait_s=0)
    gate.reject_next("Not the first.")
    gate.approve_next()

    second = await aresume_pending(found, other, client=gate.client)
    first = await aresume_pending(found, THREAD, client=gate.client)

    assert (first["ran"], second["ran"]) == (None, code()["resume_payload"])


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

    with pytest.raises(ValueError, match="not an interrupt of Osprey"):
        resume(found, gate)


def notebook(folder, **more):
    path = folder / "attempt.ipynb"
    path.write_bytes(NOTEBOOK)
    return asked_with(path, **more)


def asked_with(path, **more):
    return ours.create_code_approval_interrupt(
        "caput('MAG:1', 3.5)", {}, "write", [], notebook_path=path, **more
    )


def test_a_notebook_of_the_execution_folder_is_sent_and_named(gate, tmp_path):
    gate.approve_next()

    resume(paused(notebook(tmp_path, execution_folder_path=tmp_path)), gate)

    assert gate.notebooks() == [NOTEBOOK]
    assert gate.evidence()[0]["notebook"] == hashlib.sha256(NOTEBOOK).hexdigest()


def test_a_notebook_of_a_folder_that_the_host_allows_is_sent(gate, tmp_path):
    gate.approve_next()

    resume(paused(notebook(tmp_path)), gate, notebooks=tmp_path)

    assert gate.notebooks() == [NOTEBOOK]


@pytest.mark.parametrize("name", ["../secret.ipynb", "link.ipynb", "secret.txt"])
def test_no_file_from_elsewhere_is_sent_and_the_question_says_so(gate, tmp_path, name):
    folder = tmp_path / "run"
    folder.mkdir()
    for path in (tmp_path / "secret.ipynb", folder / "secret.txt"):
        path.write_bytes(NOTEBOOK)
    (folder / "link.ipynb").symlink_to(tmp_path / "secret.ipynb")
    gate.approve_next()

    resume(paused(asked_with(folder / name, execution_folder_path=folder)), gate)

    assert (gate.notebooks(), gate.evidence()[0]["notebook"]) == ([], NOT_SENT)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda _: None, "Not sent: the file could not be read (FileNotFoundError)."),
        (
            lambda path: path.write_bytes(bytes(MAX_NOTEBOOK_BYTES + 1)),
            "Not sent: the notebook has more than 10,485,760 bytes.",
        ),
        (os.mkfifo, "Not sent: it is not a regular file."),
    ],
)
def test_a_notebook_that_cannot_be_sent_loses_no_question(gate, tmp_path, made, said):
    gate.approve_next()
    path = tmp_path / "a.ipynb"
    made(path)

    state = resume(paused(asked_with(path)), gate, notebooks=tmp_path)

    assert state["ran"]["code"] == "caput('MAG:1', 3.5)"
    assert (gate.notebooks(), gate.evidence()[0]["notebook"]) == ([], said)


KILLED = """
import os, sqlite3, sys
from langgraph.checkpoint.sqlite import SqliteSaver
from tests.frameworks.osprey.test_adapter import code, paused
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
