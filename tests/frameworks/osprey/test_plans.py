"""Osprey 0.11.5: plans that are approved in part, and the files in which Osprey keeps plans."""

import json
import sqlite3
import subprocess
import sys

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from osprey import approval as osprey

from approval_client import DigestMismatch
from tests.frameworks.osprey.test_adapter import ROOT, THREAD, State, resume

FIND = {"context_key": "magnets", "capability": "channel_finding", "inputs": []}
READ = {
    "context_key": "values",
    "capability": "channel_read",
    "inputs": [{"CHANNEL_ADDRESSES": "magnets"}],
}
WRITE = {"context_key": "written", "capability": "channel_write", "inputs": []}
TELL = {"context_key": "told", "capability": "respond", "inputs": [{"CHANNEL_VALUES": "values"}]}
STEPS = [FIND, READ, WRITE, TELL]
PENDING, MODIFIED = "pending_execution_plan.json", "modified_execution_plan.json"


def planned(folder, *, saver=None, end=lambda _: None):
    """A node that asks about its plan, then reads and removes files as Osprey's planner does."""

    def node(state):
        answered, payload = osprey.get_approval_resume_data(state, "orchestrator_plan")
        if not answered:
            (folder / PENDING).write_text(
                json.dumps({"__metadata__": {"current_task": "Tell."}, "steps": STEPS})
            )
            interrupt(osprey.create_plan_approval_interrupt({"steps": STEPS}, **where(folder)))
        end(payload)
        found = [folder / name for name in (MODIFIED, PENDING) if (folder / name).exists()]
        plan = json.loads(found[0].read_text())["steps"] if payload else None
        for path in found:
            path.unlink()
        return {"ran": plan, **osprey.clear_approval_state()}

    built = StateGraph(State)
    built.add_node("node", node)
    built.add_edge(START, "node")
    return built.compile(checkpointer=saver or InMemorySaver())


def where(folder):
    return {"plan_file_path": str(folder / PENDING), "pending_plans_dir": str(folder)}


def paused(folder, **options):
    found = planned(folder, **options)
    found.invoke({"messages": []}, THREAD)
    return found


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_plan_that_is_approved_whole_is_followed_whole(gate, tmp_path):
    gate.approve_next()

    assert resume(paused(tmp_path), gate)["ran"] == STEPS
    assert files(tmp_path) == []


def test_of_a_plan_that_is_approved_in_part_exactly_the_allowed_steps_are_followed(gate, tmp_path):
    gate.edit_next({"steps": [FIND, READ, TELL]})

    assert resume(paused(tmp_path), gate)["ran"] == [FIND, READ, TELL]
    assert files(tmp_path) == []


def test_what_the_node_is_told_holds_the_allowed_steps_only(gate, tmp_path):
    told = []
    gate.edit_next({"steps": [FIND, READ, TELL]})

    resume(paused(tmp_path, end=told.append), gate)

    assert [one["execution_plan"] for one in told] == [{"steps": [FIND, READ, TELL]}]


@pytest.mark.parametrize(
    ("allowed", "why"),
    [
        ([FIND, WRITE, TELL], "a step needs 'values' of a step that is left out"),
        ([FIND, READ, WRITE], "its last step, which answers, is left out"),
    ],
)
def test_a_part_that_osprey_cannot_follow_is_a_rejection_that_says_why(
    gate, tmp_path, allowed, why
):
    gate.edit_next({"steps": allowed})

    state = resume(paused(tmp_path), gate, tell=lambda no: {"messages": [no.reason]})

    assert state["ran"] is None
    assert why in state["messages"][0]
    assert gate.finished()[0]["error"] == "It was not run: the graph does not take this answer."


def test_a_rejected_plan_is_not_followed(gate, tmp_path):
    gate.reject_next("Too much at once.")

    assert resume(paused(tmp_path), gate)["ran"] is None


def fails(_):
    raise OSError("The disk is gone.")


def test_what_osprey_did_not_read_is_taken_away_again(gate, tmp_path):
    gate.edit_next({"steps": [FIND, READ, TELL]})

    with pytest.raises(OSError, match="The disk is gone"):
        resume(paused(tmp_path, end=fails), gate)

    assert files(tmp_path) == [PENDING]


def test_an_answer_that_cannot_be_handed_on_leaves_no_shorter_plan_behind(gate, tmp_path):
    gate.edit_next({"steps": [FIND, READ, TELL]})

    with pytest.raises(OSError, match="The disk is gone"):
        resume(paused(tmp_path), gate, tell=fails)

    assert files(tmp_path) == [PENDING]


def test_a_part_that_cannot_be_written_down_opens_nothing(gate, tmp_path, monkeypatch):
    found = paused(tmp_path)
    gate.edit_next({"steps": [FIND, READ, TELL]})
    monkeypatch.setattr("pathlib.Path.replace", fails)

    with pytest.raises(DigestMismatch, match="does not hold the steps that were approved"):
        resume(found, gate)

    assert files(tmp_path) == [PENDING]


@pytest.mark.parametrize("allowed", [STEPS, [FIND, READ, TELL]])
@pytest.mark.parametrize("name", [PENDING, MODIFIED])
def test_a_file_with_other_steps_opens_nothing(gate, tmp_path, name, allowed):
    gate.edit_next({"steps": allowed}) if allowed != STEPS else gate.approve_next()
    found = paused(tmp_path)
    (tmp_path / name).write_text(json.dumps({"steps": [{"context_key": "evil"}]}))

    with pytest.raises(DigestMismatch, match="does not hold the steps that were approved"):
        resume(found, gate)

    assert gate.finished()[0]["error"].startswith("It was not run: ")


KILLED = """
import os, pathlib, sqlite3, sys
from langgraph.checkpoint.sqlite import SqliteSaver
from approval_client.testing import FakeDashboard, approve
from tests.frameworks.osprey.test_adapter import resume_pending, THREAD
from tests.frameworks.osprey.test_plans import FIND, READ, TELL, paused
saver = SqliteSaver(sqlite3.connect(sys.argv[1], check_same_thread=False))
fake = FakeDashboard.scripted(approve(content={"steps": [FIND, READ, TELL]}))
graph = paused(pathlib.Path(sys.argv[2]), saver=saver, end=lambda _: os.kill(os.getpid(), 9))
resume_pending(graph, THREAD, client=fake.async_client())
"""


def test_what_a_killed_process_wrote_does_not_shorten_the_next_answer(gate, tmp_path):
    path, folder = tmp_path / "threads.sqlite3", tmp_path / "plans"
    folder.mkdir()
    done = subprocess.run([sys.executable, "-c", KILLED, path, folder], check=False, cwd=ROOT)
    assert (done.returncode, files(folder)) == (-9, [MODIFIED, PENDING])
    gate.approve_next()
    saver = SqliteSaver(sqlite3.connect(path, check_same_thread=False))

    state = resume(planned(folder, saver=saver), gate)

    saver.conn.close()
    assert state["ran"] == STEPS
