"""Pydantic AI 2.68.0: how calls ended, and pauses that outlive their process."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.frameworks.pausing import asked, field
from tests.frameworks.pydantic_ai.test_adapter import Magnet, call

ROOT = Path(__file__).parents[3]


# How it ended.


async def test_a_tool_whose_exception_ends_the_run_is_reported_with_it(gate):
    gate.approve_next()

    with pytest.raises(ValueError, match="Quench!"):
        await Magnet([call("c1", 9)]).told(gate)

    assert gate.finished() == [{"exit_code": 1, "error": "ValueError: Quench!"}]


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
