"""Pydantic AI 2.68.0: how calls ended, and pauses that outlive their process."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic_ai.messages import TextPart

from dashboard.client.adapters.pydantic_ai import Undecided
from tests.frameworks.test_pydantic_ai import Magnet, asked, call, errors, field, returned, until

ROOT = Path(__file__).parents[2]


# How it ended.


async def test_the_end_is_reported_with_what_was_returned(gate):
    gate.approve_next()

    await Magnet().told(gate)

    assert (gate.started(), gate.finished()) == (1, [{"exit_code": 0, "output_head": "set to 3"}])


async def test_a_tool_whose_exception_ends_the_run_is_reported_with_it(gate):
    gate.approve_next()

    with pytest.raises(ValueError, match="Quench!"):
        await Magnet([call(tesla=9)]).told(gate)

    assert gate.finished() == [{"exit_code": 1, "error": "ValueError: Quench!"}]


async def test_a_tool_that_is_cancelled_is_reported_with_that(gate):
    gate.approve_next()
    magnet = Magnet([call(tesla=0)])
    turn = asyncio.create_task(magnet.run(gate))
    await until(lambda: magnet.calls == [0])

    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn

    assert errors(gate)[0].startswith("CancelledError: ")


# A pause that outlives its process.


async def paused(gate, magnet):
    """Run until somebody has to decide, stop, and return what was saved."""
    states = []
    with pytest.raises(Undecided):
        await magnet.run(gate, save=states.append, wait_s=0)
    return states[-1]


async def resumed(gate, magnet, saved):
    return returned(await magnet.run(gate, None, paused=saved))


async def test_a_saved_pause_finds_its_question_and_its_answer(gate):
    saved = await paused(gate, Magnet())
    gate.approve_next()
    later = Magnet([TextPart("done")])

    assert await resumed(gate, later, saved) == ["set to 3"]
    assert (later.calls, len(gate.asked())) == ([3], 1)


async def test_a_rejection_that_came_while_nobody_waited_is_found(gate):
    saved = await paused(gate, Magnet())
    gate.reject_next("No.")
    later = Magnet([TextPart("done")])

    (told,) = await resumed(gate, later, saved)

    assert (told[:3], later.calls, len(gate.asked())) == ("No.", [], 1)


async def test_an_answer_that_was_used_before_a_crash_is_asked_for_again(gate):
    saved = await paused(gate, Magnet())
    gate.approve_next()
    await resumed(gate, Magnet([TextPart("done")]), saved)

    gate.reject_next("It was set already.")
    later = Magnet([TextPart("done")])
    await resumed(gate, later, saved)

    assert (later.calls, len(gate.asked())) == ([], 2)
    assert gate.evidence()[1]["asked_again"].startswith("Asked again: ")


async def test_what_was_changed_in_a_saved_pause_is_asked_about_as_it_will_be_made(gate):
    saved = await paused(gate, Magnet())
    gate.approve_next()
    gate.reject_next("Not nine.")
    later = Magnet([TextPart("done")])

    await resumed(gate, later, saved.replace('"tesla": 3', '"tesla": 9'))

    assert (later.calls, gate.asked()) == ([], [field(3), field(9)])


async def test_another_run_does_not_get_the_answer(gate):
    await paused(gate, Magnet())
    gate.approve_next()

    await paused(gate, Magnet())

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
        await magnet.told(gate, wait_s=0)

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
from dashboard.client.testing import FakeDashboard
from tests.frameworks.test_pydantic_ai import Magnet

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

    told = asyncio.run(resumed(gate, Magnet([TextPart("done")]), kept.read_text()))

    assert (done.returncode, told) == (-9, ["set to 3"])
