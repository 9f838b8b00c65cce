"""The OpenAI Agents SDK 0.24.0: how calls ended, and pauses that outlive their process."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from agents import RunHooks, ToolGuardrailFunctionOutput, tool_input_guardrail

from tests.frameworks.openai_agents.test_adapter import Magnet, call
from tests.frameworks.pausing import asked, errors

ROOT = Path(__file__).parents[3]


# How it ended.


async def test_a_tool_that_fails_is_reported_as_failed(gate):
    gate.approve_next()

    (told,) = await Magnet([call("c1", 9)]).told(gate)

    assert gate.finished() == [
        {"exit_code": 1, "error": f"The tool failed, and the model was told: {told}"}
    ]


async def test_a_tool_that_takes_too_long_is_reported_as_failed(gate):
    gate.approve_next()

    await Magnet([call("c1", 0)], timeout=0.01).told(gate)

    assert gate.finished()[0]["error"].endswith("'set_field' timed out after 0.01 seconds.")


async def test_a_tool_whose_exception_ends_the_run_is_reported_with_it(gate):
    gate.approve_next()
    magnet = Magnet([call("c1", 9)], failure_error_function=None)

    with pytest.raises(Exception, match="Quench!"):
        await magnet.told(gate)

    assert errors(gate)[0].endswith("Quench!")


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


async def test_another_run_does_not_get_the_answer(gate):
    await Magnet().paused(gate)
    gate.approve_next()

    await Magnet().paused(gate, run_id="job-18")

    assert (len(gate.asked()), gate.started()) == (2, 0)


async def test_a_question_of_a_named_run_stays_when_the_host_cancels(gate):
    turn = asyncio.create_task(Magnet().told(gate, run_id="job-17"))
    await asked(gate)

    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn

    assert gate.statuses() == ["pending"]


@pytest.mark.parametrize("option", [{"max_wait_s": 0}, {"save": print}])
async def test_what_leaves_questions_needs_a_name_for_the_run(gate, option):
    magnet = Magnet()

    with pytest.raises(ValueError, match="Pass a run_id"):
        await magnet.told(gate, **option)

    assert (magnet.model.read, gate.asked()) == ([], [])


KILLED = """
import asyncio, os, sys
from agents import Runner
from tests.frameworks.pausing import asked, errors, field
from tests.frameworks.openai_agents.test_adapter import Magnet, call
result = asyncio.run(Runner.run(Magnet().agent, "Set it."))
open(sys.argv[1], "w").write(result.to_state().to_string())
os.kill(os.getpid(), 9)
"""


def test_a_process_that_was_killed_is_taken_up_by_the_next(gate, tmp_path):
    kept = tmp_path / "state.json"
    done = subprocess.run([sys.executable, "-c", KILLED, kept], check=False, cwd=ROOT)
    gate.approve_next()

    told = asyncio.run(Magnet.later().resumed(gate, kept.read_text()))

    assert (done.returncode, told) == (-9, ["set to 3"])
