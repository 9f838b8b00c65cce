"""Pydantic AI 2.68.0: how calls ended, and pauses that outlive their process."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic_ai import Agent, ToolReturn
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from approval_client.adapters.pydantic_ai import run_with_approvals
from tests.frameworks.pausing import asked, field
from tests.frameworks.pydantic_ai.test_adapter import Magnet, call

ROOT = Path(__file__).parents[3]


# How it ended.


async def test_a_tool_whose_exception_ends_the_run_is_reported_with_it(gate):
    gate.approve_next()

    with pytest.raises(ValueError, match="Quench!"):
        await Magnet([call("c1", 9)]).told(gate)

    assert gate.finished() == [{"exit_code": 1, "error": "ValueError: Quench!"}]


# What other tools have returned by then.


class Frame:
    """What an application keeps for itself."""


def looking(returned):
    """An agent that looks and sets the field in one turn."""
    turns = [
        ModelResponse(parts=[ToolCallPart("look", {}, "c0"), call("c1", 3)]),
        ModelResponse(parts=[TextPart("done")]),
    ]
    agent = Agent(FunctionModel(lambda *_: turns.pop(0)))

    @agent.tool_plain
    def look() -> object:
        return returned

    @agent.tool_plain(requires_approval=True)
    def set_field(tesla: int) -> str:
        return f"set to {tesla}"

    return agent


@pytest.mark.parametrize(
    "metadata", [{"frame": Frame()}, {"image": b"\xff"}, {"mean": float("nan")}]
)
async def test_what_other_tools_returned_stays_as_it_is(gate, metadata):
    gate.approve_next()
    agent = looking(ToolReturn("seen", metadata=metadata))

    result = await run_with_approvals(agent, "Go.", client=gate.client)

    parts = [part for message in result.all_messages() for part in message.parts]
    returns = {part.tool_call_id: part for part in parts if part.part_kind == "tool-return"}
    assert returns["c0"].metadata is metadata
    assert [end["exit_code"] for end in gate.finished()] == [0]


async def test_what_is_no_json_is_refused_where_it_is_to_be_saved(gate):
    agent = looking(ToolReturn("seen", metadata={"frame": Frame()}))

    with pytest.raises(ValueError, match="cannot be saved as JSON"):
        await run_with_approvals(agent, "Go.", client=gate.client, save=print)

    assert gate.asked() == []


# A pause that outlives its process.


async def test_what_was_changed_in_a_saved_pause_is_asked_about_as_it_will_be_made(gate):
    saved = await Magnet().paused(gate)
    gate.approve_next()
    gate.reject_next("Not nine.")
    later = Magnet.later()

    await later.resumed(gate, saved.replace('"tesla": 3', '"tesla": 9'))

    assert (later.calls, gate.asked()) == ([], [field(3), field(9)])


async def test_another_run_does_not_get_the_answer(gate):
    await Magnet().paused(gate)
    gate.approve_next()

    await Magnet().paused(gate)

    assert (len(gate.asked()), gate.started()) == (2, 0)


async def test_a_question_of_a_saved_pause_stays_when_the_host_cancels(gate):
    turn = asyncio.create_task(Magnet().told(gate, save=lambda _: None))
    await asked(gate)

    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn

    assert gate.statuses() == ["pending"]


async def test_what_leaves_questions_needs_a_place_to_save_the_pause(gate):
    magnet = Magnet()

    with pytest.raises(ValueError, match="Pass save"):
        await magnet.told(gate, max_wait_s=0)

    assert (len(magnet.turns), gate.asked()) == (1, [])


async def test_a_pause_can_be_saved_asynchronously(gate):
    async def save(text):
        await asyncio.sleep(0)
        kept.append(json.loads(text)["approvals"])

    kept = []
    gate.approve_next()

    await Magnet().told(gate, save=save)

    assert kept == [["c1"]]


KILLED = """
import asyncio, os, sys
from approval_client.testing import FakeDashboard
from tests.frameworks.pausing import asked, errors, field
from tests.frameworks.pydantic_ai.test_adapter import Magnet, call

def save(text):
    open(sys.argv[1], "w").write(text)
    os.kill(os.getpid(), 9)

class Gate:
    client = FakeDashboard().async_client()

asyncio.run(Magnet().run(Gate, save=save))
"""


def test_a_process_that_was_killed_is_taken_up_by_the_next(gate, tmp_path):
    kept = tmp_path / "pause.json"
    done = subprocess.run([sys.executable, "-c", KILLED, kept], check=False, cwd=ROOT)
    gate.approve_next()

    told = asyncio.run(Magnet.later().resumed(gate, kept.read_text()))

    assert (done.returncode, told) == (-9, ["set to 3"])
