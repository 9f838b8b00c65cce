"""The OpenAI Agents SDK 0.24.0: how calls ended, and pauses that outlive their process."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from agents import RunHooks, RunState, ToolGuardrailFunctionOutput, tool_input_guardrail

from dashboard.client.adapters.openai_agents import Undecided
from tests.frameworks.test_openai_agents import Magnet, asked, call, errors, outputs, says, until

ROOT = Path(__file__).parents[2]


# How it ended.


async def test_the_end_is_reported_with_what_was_returned(gate):
    gate.approve_next()

    await Magnet().told(gate)

    assert (gate.started(), gate.finished()) == (1, [{"exit_code": 0, "output_head": "set to 3"}])


async def test_a_tool_that_fails_is_reported_as_failed(gate):
    gate.approve_next()

    (told,) = await Magnet([call(tesla=9)]).told(gate)

    assert gate.finished() == [
        {"exit_code": 1, "error": f"The tool failed, and the model was told: {told}"}
    ]


async def test_a_tool_that_takes_too_long_is_reported_as_failed(gate):
    gate.approve_next()

    await Magnet([call(tesla=0)], timeout=0.01).told(gate)

    assert gate.finished()[0]["error"].endswith("'set_field' timed out after 0.01 seconds.")


async def test_a_tool_whose_exception_ends_the_run_is_reported_with_it(gate):
    gate.approve_next()
    magnet = Magnet([call(tesla=9)], failure_error_function=None)

    with pytest.raises(Exception, match="Quench!"):
        await magnet.told(gate)

    assert errors(gate)[0].endswith("Quench!")


async def test_a_tool_that_is_cancelled_is_reported_with_that(gate):
    gate.approve_next()
    magnet = Magnet([call(tesla=0)])
    turn = asyncio.create_task(magnet.run(gate))
    await until(lambda: magnet.calls == [0])

    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn

    assert errors(gate)[0].startswith("CancelledError: ")


async def test_a_call_that_a_guardrail_answers_is_reported_as_not_run(gate):
    @tool_input_guardrail
    def refuse(_):
        return ToolGuardrailFunctionOutput.reject_content("Out of range.")

    gate.approve_next()
    magnet = Magnet()
    magnet.tool.tool_input_guardrails = [refuse]

    assert (await magnet.told(gate), magnet.calls) == (["Out of range."], [])
    assert errors(gate) == ["It was not run: a guardrail answered in its place: Out of range.."]


async def test_hooks_of_the_host_are_called_too(gate):
    class Hooks(RunHooks):
        def __init__(self):
            self.seen = []

        async def on_tool_start(self, _context, _agent, tool):
            self.seen.append(tool.name)

        async def on_agent_end(self, _context, _agent, output):
            self.seen.append(output)

    gate.approve_next()
    hooks = Hooks()

    await Magnet().told(gate, hooks=hooks)

    assert hooks.seen == ["set_field", "done"]


# A pause that outlives its process.


async def paused(gate, magnet, **options):
    """Run until somebody has to decide, stop, and return what was saved."""
    states = []
    options = {"run_id": "job-17", "wait_s": 0, **options}
    with pytest.raises(Undecided):
        await magnet.run(gate, save=lambda state: states.append(state.to_string()), **options)
    return states[-1]


async def resumed(gate, magnet, saved, **options):
    state = await RunState.from_string(magnet.agent, saved)
    return outputs(await magnet.run(gate, state, run_id="job-17", **options))


async def test_a_saved_pause_finds_its_question_and_its_answer(gate):
    saved = await paused(gate, Magnet())
    gate.approve_next()
    later = Magnet([says("done")])

    assert await resumed(gate, later, saved) == ["set to 3"]
    assert (later.calls, len(gate.asked()), gate.requests()[0]["run_id"]) == ([3], 1, "job-17")


async def test_a_rejection_that_came_while_nobody_waited_is_found(gate):
    saved = await paused(gate, Magnet())
    gate.reject_next("No.")
    later = Magnet([says("done")])

    (told,) = await resumed(gate, later, saved)

    assert (told[:3], later.calls, len(gate.asked())) == ("No.", [], 1)


async def test_an_answer_that_was_used_before_a_crash_is_asked_for_again(gate):
    saved = await paused(gate, Magnet())
    gate.approve_next()
    await resumed(gate, Magnet([says("done")]), saved)

    gate.reject_next("It was set already.")
    later = Magnet([says("done")])
    await resumed(gate, later, saved)

    assert (later.calls, len(gate.asked())) == ([], 2)
    assert gate.evidence()[1]["asked_again"].startswith("Asked again: ")


async def test_another_run_does_not_get_the_answer(gate):
    await paused(gate, Magnet())
    gate.approve_next()

    await paused(gate, Magnet(), run_id="job-18")

    assert (len(gate.asked()), gate.started()) == (2, 0)


async def test_a_question_of_a_named_run_stays_when_the_host_cancels(gate):
    turn = asyncio.create_task(Magnet().told(gate, run_id="job-17"))
    await asked(gate)

    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn

    assert gate.statuses() == ["pending"]


@pytest.mark.parametrize("option", [{"wait_s": 0}, {"save": print}])
async def test_what_leaves_questions_needs_a_name_for_the_run(gate, option):
    magnet = Magnet()

    with pytest.raises(ValueError, match="Pass a run_id"):
        await magnet.told(gate, **option)

    assert (magnet.model.read, gate.asked()) == ([], [])


KILLED = """
import asyncio, os, sys
from agents import Runner
from tests.frameworks.test_openai_agents import Magnet
result = asyncio.run(Runner.run(Magnet().agent, "Set it."))
open(sys.argv[1], "w").write(result.to_state().to_string())
os.kill(os.getpid(), 9)
"""


def test_a_process_that_was_killed_is_taken_up_by_the_next(gate, tmp_path):
    kept = tmp_path / "state.json"
    done = subprocess.run([sys.executable, "-c", KILLED, kept], check=False, cwd=ROOT)
    gate.approve_next()

    told = asyncio.run(resumed(gate, Magnet([says("done")]), kept.read_text()))

    assert (done.returncode, told) == (-9, ["set to 3"])
