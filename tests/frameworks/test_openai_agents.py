"""The OpenAI Agents SDK 0.24.0: pending calls on the desk, and on with each by its id."""

import asyncio
import json
from pathlib import Path

import pytest
from agents import (
    Agent,
    Model,
    ModelResponse,
    ShellTool,
    Usage,
    function_tool,
    set_tracing_disabled,
)
from openai.types.responses import (
    ResponseFunctionShellToolCall,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from dashboard.client import Expired, Unreachable
from dashboard.client.adapters.openai_agents import (
    run_with_approvals,
    run_with_approvals_sync,
)

ROOT = Path(__file__).parents[2]
set_tracing_disabled(disabled=True)


class Script(Model):
    """A model that says what it was told to say, and keeps what it read."""

    def __init__(self, *turns):
        self.turns, self.read = list(turns), []

    async def get_response(self, *_, **request):
        self.read.append(request["input"])
        return ModelResponse(output=self.turns.pop(0), usage=Usage(), response_id=None)

    def stream_response(self, *_, **__):
        raise NotImplementedError


def call(name="c1", tool="set_field", **arguments):
    return written(json.dumps(arguments or {"tesla": 3}), name, tool)


def written(arguments, name="c1", tool="set_field"):
    return ResponseFunctionToolCall(
        type="function_call", name=tool, arguments=arguments, call_id=name
    )


def says(text):
    part = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(
        id="m1", type="message", role="assistant", status="completed", content=[part]
    )


class Magnet:
    """A tool that remembers what it was called with, and the agent that has it."""

    def __init__(self, *turns, **tool):
        self.calls = []
        calls = self.calls

        @function_tool(needs_approval=True, **tool)
        async def set_field(tesla: int) -> str:
            """Set the field."""
            calls.append(tesla)
            if tesla > 8:
                raise ValueError("Quench!")
            if tesla == 0:
                await asyncio.sleep(30)
            return f"set to {tesla}"

        self.tool = set_field
        self.model = Script(*turns or ([call()],), [says("done")], [says("again")])
        self.agent = Agent("operator", model=self.model, tools=[set_field])

    async def told(self, gate, **options):
        """Run the agent, and return what the model read in place of the tools' results."""
        result = await asyncio.wait_for(self.run(gate, **options), 60)
        assert result.interruptions == []
        return outputs(result)

    def run(self, gate, message="Set the field.", **options):
        return run_with_approvals(self.agent, message, client=gate.client, **options)


def outputs(result):
    return [item.output for item in result.new_items if item.type == "tool_call_output_item"]


async def until(true):
    async with asyncio.timeout(10):
        while not true():
            await asyncio.sleep(0.001)


async def asked(gate, times=1):
    await until(lambda: len(gate.asked()) >= times)


# One call.


async def test_a_tool_is_called_after_a_yes(gate):
    gate.approve_next()

    assert await Magnet().told(gate) == ["set to 3"]
    assert gate.asked() == [{"tool": "set_field", "arguments": {"tesla": 3}}]


async def test_a_tool_is_not_called_after_a_no_and_the_model_reads_the_reason(gate):
    gate.reject_next("Wrong sector.")
    magnet = Magnet()

    (told,) = await magnet.told(gate)

    assert told.startswith("Wrong sector.\n\nThis was rejected by")
    assert (magnet.calls, gate.started()) == ([], 0)
    assert magnet.model.read[-1][-1]["output"] == told


def test_what_blocks_does_the_same(gate):
    gate.approve_next()

    result = run_with_approvals_sync(Magnet().agent, "Set it.", client=gate.client)

    assert result.final_output == "done"


async def test_what_blocks_is_refused_in_an_event_loop(gate):
    with pytest.raises(RuntimeError, match=r"Use run_with_approvals\.$"):
        run_with_approvals_sync(Magnet().agent, "Set it.", client=gate.client)


async def test_the_environment_says_where_to_ask(gate):
    gate.approve_next()

    with gate.environment():
        result = await run_with_approvals(Magnet().agent, "Set it.")

    assert outputs(result) == ["set to 3"]


async def test_what_needs_no_approval_asks_nobody(gate):
    magnet = Magnet()
    magnet.tool.needs_approval = False

    assert (await magnet.told(gate), gate.asked()) == (["set to 3"], [])


async def test_edits_are_not_offered(gate):
    gate.approve_next()

    await Magnet().told(gate)

    assert gate.requests()[0].get("accepts_edits", False) is False


async def test_the_agent_that_asks_is_named(gate):
    gate.approve_next()

    await Magnet().told(gate)

    said = gate.evidence()[0]
    assert (said["agent"], said["tool_origin"]["type"]) == ("operator", "function")


# No answer.


async def test_nobody_answering_ends_the_run_and_calls_nothing(gate):
    magnet = Magnet()
    turn = asyncio.create_task(magnet.told(gate))
    await asked(gate)

    gate.run_out()

    with pytest.raises(Expired):
        await turn
    assert magnet.calls == []


async def test_a_dashboard_that_is_down_ends_the_run_and_calls_nothing(gate):
    gate.unplug()
    magnet = Magnet()

    with pytest.raises(Unreachable):
        await magnet.told(gate)

    assert magnet.calls == []


async def test_a_cancelled_run_takes_its_question_back_and_a_late_yes_calls_nothing(gate):
    magnet = Magnet()
    turn = asyncio.create_task(magnet.told(gate))
    await asked(gate)

    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    gate.approve_next()

    assert (gate.statuses(), magnet.calls) == (["cancelled"], [])


async def test_how_long_people_have_can_be_said(gate):
    gate.approve_next()

    await Magnet().told(gate, time_limit_s=60)

    assert gate.requests()[0]["time_limit_s"] == 60


# Several calls.


def field(tesla):
    return {"tool": "set_field", "arguments": {"tesla": tesla}}


TWO = [call("c1", tesla=1), call("c2", tesla=2)]


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
async def test_two_calls_are_asked_at_once_and_each_gets_its_own_answer(gate, order):
    magnet = Magnet(TWO)
    turn = asyncio.create_task(magnet.told(gate))
    await asked(gate, 2)

    for tesla in order:
        gate.decide(field(tesla), "Not two." if tesla == 2 else "")
        await asyncio.sleep(0.01)

    one, two = await turn
    assert (magnet.calls, one, two.splitlines()[0]) == ([1], "set to 1", "Not two.")


async def test_nothing_is_called_before_all_have_an_answer(gate):
    magnet = Magnet(TWO)
    turn = asyncio.create_task(magnet.told(gate))
    await asked(gate, 2)
    gate.decide(field(1))
    await until(lambda: gate.started() == 1)

    gate.run_out()

    with pytest.raises(Expired):
        await turn
    assert magnet.calls == []
    assert "It was not run: another question of its batch is open." in errors(gate)


async def test_a_run_cancelled_between_two_answers_says_that_nothing_was_run(gate):
    magnet = Magnet(TWO)
    turn = asyncio.create_task(magnet.told(gate))
    await asked(gate, 2)
    gate.decide(field(1))
    await until(lambda: gate.started() == 1)

    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn

    assert sorted(gate.statuses()) == ["approved", "cancelled"]
    assert "It was not run: another question of its batch is open." in errors(gate)


def errors(gate):
    return [end.get("error") for end in gate.finished()]


async def test_an_identical_retry_is_asked_anew_as_the_same_question_of_the_same_run(gate):
    gate.reject_next("No.")
    gate.reject_next("Still no.")

    await Magnet([call("c1")], [call("c2")]).told(gate)

    first, second = gate.requests()
    assert (first, bool(first["run_id"])) == (second, True)


async def test_two_runs_have_two_names(gate):
    gate.approve_next()
    gate.approve_next()

    await Magnet().told(gate)
    await Magnet().told(gate)

    assert len({request["run_id"] for request in gate.requests()}) == 2


# What cannot be shown as it is.


@pytest.mark.parametrize("text", ['{"tesla": 1, "tesla": 9}', '{"tesla": ', "[3]", ""])
async def test_arguments_that_can_be_read_in_two_ways_are_refused_without_a_question(gate, text):
    magnet = Magnet([written(text)])

    (told,) = await magnet.told(gate)

    assert (magnet.calls, gate.asked()) == ([], [])
    assert told.startswith("The arguments are not one JSON object")


async def test_a_shell_command_is_asked_about_whole(gate):
    gate.approve_next()
    command = {"commands": ["ls -l"], "timeout_ms": 10}
    asks = ResponseFunctionShellToolCall(
        id="s1", call_id="s1", type="shell_call", status="completed", action=command
    )
    agent = Magnet([asks], [says("done")]).agent
    agent.tools = [ShellTool(executor=lambda _: "a.txt", needs_approval=True)]

    await run_with_approvals(agent, "Look.", client=gate.client)

    action = {**command, "max_output_length": None}
    assert gate.asked() == [{"tool": "shell", "arguments": {"action": action}}]
    assert gate.finished() == [{"exit_code": 0, "output_head": "a.txt"}]


async def test_two_calls_that_cannot_be_told_apart_are_refused(gate):
    other = Magnet([call("c1", tesla=9)])
    magnet = Magnet([call("c1"), call("c2", tool="ask", input="Set it.")])
    magnet.agent.tools.append(other.agent.as_tool("ask", "Ask another operator."))

    with pytest.raises(ValueError, match="have the same id"):
        await magnet.told(gate)

    assert (magnet.calls, other.calls, gate.asked()) == ([], [], [])


async def test_what_an_agent_behind_a_tool_wants_is_asked_too(gate):
    gate.approve_next()
    inner = Magnet()
    inner.agent.name = "assistant"
    outer = Magnet([call("c2", tool="ask", input="Set it.")])
    outer.agent.tools = [inner.agent.as_tool("ask", "Ask the assistant.")]

    assert (await outer.told(gate), inner.calls) == (["done"], [3])
    assert gate.finished() == [{"output_head": "Its end could not be seen from here."}]
