"""The OpenAI Agents SDK 0.24.0: pending calls on the desk, and on with each by its id."""

import asyncio
import copy
import json
import pickle
from pathlib import Path

import pytest
from agents import (
    Agent,
    AgentHooks,
    CustomTool,
    Model,
    ModelResponse,
    RunConfig,
    RunHooks,
    RunState,
    ShellTool,
    ToolExecutionConfig,
    ToolGuardrailFunctionOutput,
    Usage,
    UserError,
    function_tool,
    set_tracing_disabled,
    tool_input_guardrail,
    tool_namespace,
)
from agents.tool_context import ToolContext
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseCustomToolCall,
    ResponseFunctionShellToolCall,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from approval_client import DigestMismatch, OnHold
from approval_client.adapters.openai_agents import (
    Undecided,
    run_with_approvals,
    run_with_approvals_sync,
)
from tests.frameworks.pausing import Resuming, Stopping

ROOT = Path(__file__).parents[3]
set_tracing_disabled(disabled=True)
ONE_BY_ONE = RunConfig(tool_execution=ToolExecutionConfig(max_function_tool_concurrency=1))


class Script(Model):
    """A model that says what it was told to say, and keeps what it read."""

    def __init__(self, *turns):
        self.turns, self.read = list(turns), []

    async def get_response(self, *said, **request):
        self.read.append(said[1] if said else request["input"])
        return ModelResponse(output=self.turns.pop(0), usage=Usage(), response_id=None)

    async def stream_response(self, *said, **request):
        said = await self.get_response(*said, **request)
        response = Response(
            id="r1",
            created_at=0,
            model="script",
            object="response",
            output=said.output,
            parallel_tool_calls=True,
            tool_choice="auto",
            tools=[],
        )
        yield ResponseCompletedEvent(
            type="response.completed", response=response, sequence_number=0
        )


def call(name="c1", tesla=3):
    return written(json.dumps({"tesla": tesla}), name)


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

    def __init__(self, *turns, meanwhile=None, **tool):
        self.calls = []
        calls = self.calls
        self.one_by_one = meanwhile is not None

        @function_tool(needs_approval=True, **tool)
        async def set_field(tesla: int) -> str:
            """Set the field."""
            calls.append(tesla)
            if meanwhile:
                meanwhile()
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

    @classmethod
    def later(cls):
        """Return what another process has, which goes on after the pause."""
        return cls([says("done")])

    async def paused(self, gate, **options):
        states = []
        options = {"run_id": "job-17", "max_wait_s": 0, **options}
        with pytest.raises(Undecided):
            await self.run(gate, save=lambda state: states.append(state.to_string()), **options)
        return states[-1]

    async def resumed(self, gate, saved):
        state = await RunState.from_string(self.agent, saved)
        return outputs(await self.run(gate, state, run_id="job-17"))

    def run(self, gate, message="Set the field.", **options):
        if self.one_by_one:
            options["run_config"] = ONE_BY_ONE
        return run_with_approvals(self.agent, message, client=gate.client, **options)


def outputs(result):
    return [item.output for item in result.new_items if item.type == "tool_call_output_item"]


class TestARun(Stopping, Resuming):
    make, call = Magnet, staticmethod(call)


# One call.


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


# Several calls.


# What cannot be shown as it is.


@pytest.mark.parametrize("text", ['{"tesla": 1, "tesla": 9}', '{"tesla": ', "[3]", '"3"'])
async def test_arguments_that_can_be_read_in_two_ways_are_refused_without_a_question(gate, text):
    magnet = Magnet([written(text)])

    (told,) = await magnet.told(gate)

    assert (magnet.calls, gate.asked()) == ([], [])
    assert told.startswith("The arguments ")
    assert told.endswith(
        "Nobody was asked and nothing was run. Call the tool again with arguments that are right."
    )


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
    magnet = Magnet([call("c1"), written('{"input": "Set it."}', "c2", "ask")])
    magnet.agent.tools.append(other.agent.as_tool("ask", "Ask another operator."))

    with pytest.raises(ValueError, match="have the same id"):
        await magnet.told(gate)

    assert (magnet.calls, other.calls, gate.asked()) == ([], [], [])


async def test_what_an_agent_behind_a_tool_wants_is_asked_too(gate):
    gate.approve_next()
    inner = Magnet()
    inner.agent.name = "assistant"
    outer = Magnet([written('{"input": "Set it."}', "c2", "ask")])
    outer.agent.tools = [inner.agent.as_tool("ask", "Ask the assistant.")]

    assert (await outer.told(gate), inner.calls) == (["done"], [3])
    assert gate.finished() == [{"output_head": "How it ended is not known here."}]


@pytest.mark.parametrize("beside", [False, True])
async def test_a_tool_of_a_namespace_is_called_with_its_own_defaults(gate, beside):
    calls = []

    def tool(name, default):
        @function_tool(needs_approval=True, strict_mode=False, name_override="set_field")
        async def set_field(tesla: int, at: int = default) -> str:
            """Set the field."""
            calls.append((name, tesla, at))
            return "set"

        return set_field

    of_hall = tool_namespace(name="hall", description="The hall.", tools=[tool("hall", 1)])
    script = Script([call().model_copy(update={"namespace": "hall"})], [says("done")])
    tools = [*of_hall, tool("bare", 2)] if beside else of_hall
    agent = Agent("operator", model=script, tools=tools)
    gate.approve_next()

    await asyncio.wait_for(run_with_approvals(agent, "Go.", client=gate.client), 20)

    assert gate.asked() == [{"tool": "hall.set_field", "arguments": {"tesla": 3, "at": 1}}]
    assert calls == [("hall", 3, 1)]


async def test_a_call_that_two_tools_could_take_is_refused(gate):
    calls = []

    def tool(default):
        @function_tool(needs_approval=True, strict_mode=False, name_override="set_field")
        async def set_field(tesla: int, at: int = default) -> str:
            """Set the field."""
            calls.append((tesla, at))
            return "set"

        return set_field

    script = Script([call()], [says("done")])
    agent = Agent("operator", model=script, tools=[tool(1), tool(2)])

    await asyncio.wait_for(run_with_approvals(agent, "Go.", client=gate.client), 20)

    assert (calls, gate.asked()) == ([], [])
    assert "2 tools are called 'set_field'" in script.read[-1][-1]["output"]


def behind_itself(how):
    """Return an operator who also runs behind a tool of its own, and wants to set the field."""
    calls = []

    @function_tool(needs_approval=True)
    async def set_field(tesla: int) -> str:
        """Set the field."""
        calls.append(tesla)
        return "set"

    agent, helper = Agent("operator", tools=[set_field]), Agent("helper")
    helper.handoffs, helper.model = (
        [agent],
        Script([written("{}", "h1", f"transfer_to_{agent.name}")]),
    )
    behind = agent if how == "as a tool" else helper
    agent.tools.append(behind.as_tool("ask", "Ask."))
    ask, asked_for = written('{"input": "x"}', "c1", "ask"), call("n1", 9)
    agent.model = Script([ask], [asked_for], [says("inner")], [says("done")], [says("done")])
    return agent, calls


@pytest.mark.parametrize("how", ["as a tool", "by a handoff"])
async def test_a_hold_stops_what_an_agent_behind_its_own_tool_wants(gate, how):
    agent, calls = behind_itself(how)
    gate.approve_next()

    with pytest.raises(OnHold):
        await asyncio.wait_for(
            run_with_approvals(agent, "Go.", client=gate.client, on_decided=lambda _: gate.hold()),
            20,
        )

    assert calls == []


@pytest.mark.parametrize("how", ["as a tool", "by a handoff"])
async def test_what_ran_behind_its_own_tool_is_not_reported_as_not_run(gate, how):
    agent, calls = behind_itself(how)
    gate.approve_next()
    gate.approve_next()

    await asyncio.wait_for(run_with_approvals(agent, "Go.", client=gate.client), 20)

    assert calls == [9, 9]
    assert [end.get("error") for end in gate.finished()] == [None, None]


def changed(context):
    """Change a call that was approved, as a host's hook may."""
    context.tool_call.arguments = json.dumps({"tesla": 9})


@tool_input_guardrail
def guardrail(data):
    changed(data.context)
    return ToolGuardrailFunctionOutput.allow()


class OfTheRun(RunHooks):
    async def on_tool_start(self, context, *_):
        changed(context)


class Renaming(RunHooks):
    """Changes by which id a call is known, too."""

    async def on_tool_start(self, context, *_):
        context.tool_call_id = "another"
        changed(context)


class BesideItsFields(AgentHooks):
    """Changes it where no attribute is set."""

    async def on_tool_start(self, context, *_):
        context.tool_call_id = "another"
        context.tool_call.__dict__["arguments"] = json.dumps({"tesla": 9})


class OfTheAgent(AgentHooks):
    """Called beside ours, and done after it."""

    async def on_tool_start(self, context, *_):
        await asyncio.sleep(0.05)
        changed(context)


@pytest.mark.parametrize(
    ("of_the_tool", "of_the_agent", "of_the_run"),
    [
        ({"tool_input_guardrails": [guardrail]}, {}, {}),
        ({}, {"hooks": OfTheAgent()}, {}),
        ({}, {}, {"hooks": OfTheRun()}),
        ({}, {}, {"hooks": Renaming()}),
    ],
    ids=["guardrail", "agent", "run", "run, under another id"],
)
async def test_what_a_hook_makes_of_an_approved_call_is_not_called(
    gate, of_the_tool, of_the_agent, of_the_run
):
    calls = []

    @function_tool(needs_approval=True, **of_the_tool)
    async def set_field(tesla: int) -> str:
        """Set the field."""
        calls.append(tesla)
        return "set"

    model = Script([call()], [says("done")])
    agent = Agent("operator", model=model, tools=[set_field], **of_the_agent)
    gate.approve_next()

    with pytest.raises(DigestMismatch, match="It was not called"):
        await asyncio.wait_for(
            run_with_approvals(agent, "Go.", client=gate.client, **of_the_run), 20
        )

    assert calls == []


async def test_a_call_that_is_changed_unseen_is_made_as_it_was_approved(gate):
    calls = []

    @function_tool(needs_approval=True)
    async def set_field(tesla: int) -> str:
        """Set the field."""
        calls.append(tesla)
        return "set"

    model = Script([call()], [says("done")])
    agent = Agent("operator", model=model, tools=[set_field], hooks=BesideItsFields())
    gate.approve_next()

    await asyncio.wait_for(run_with_approvals(agent, "Go.", client=gate.client), 20)

    assert calls == [json.loads(call().arguments)["tesla"]]
    assert [end.get("exit_code") for end in gate.finished()] == [0]


def pickled(value):
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - its own


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, pickled])
async def test_a_copy_of_a_call_that_is_being_made_is_as_any_other(gate, how):
    copies = []

    @function_tool(needs_approval=True)
    async def set_field(context: ToolContext, tesla: int) -> str:
        """Set the field."""
        copies.append(how(context.tool_call))
        with pytest.raises(DigestMismatch):
            context.tool_call.arguments = "{}"
        return f"set to {tesla}"

    agent = Agent("operator", model=Script([call()], [says("done")]), tools=[set_field])
    gate.approve_next()

    await asyncio.wait_for(run_with_approvals(agent, "Go.", client=gate.client), 20)

    assert copies == [call()]
    copies[0].arguments = "{}"
    assert copies[0].arguments == "{}"


# One tool in several runs.


class Slow(AgentHooks):
    async def on_tool_start(self, *_):
        await asyncio.sleep(0.02)


async def test_runs_at_the_same_time_do_not_see_each_others_calls_of_one_id(gate):
    calls = []

    @function_tool(needs_approval=True)
    async def set_field(tesla: int) -> str:
        """Set the field."""
        calls.append(tesla)
        await asyncio.sleep(0.02)
        return f"set to {tesla}"

    async def told(tesla):
        model = Script([call(tesla=tesla)], [says("done")])
        agent = Agent(f"operator {tesla}", model=model, tools=[set_field], hooks=Slow())
        return (await run_with_approvals(agent, "Go.", client=gate.client)).final_output

    for _ in range(3):
        gate.approve_next()

    assert await asyncio.wait_for(asyncio.gather(told(1), told(2), told(3)), 20) == ["done"] * 3
    assert sorted(calls) == [1, 2, 3]
    assert [end["exit_code"] for end in gate.finished()] == [0, 0, 0]


async def test_a_tool_stays_as_it_is_in_a_run_that_ended_and_in_those_beside_it(gate):
    class Failing(AgentHooks):
        async def on_tool_start(self, *_):
            await asyncio.sleep(0.02)
            raise RuntimeError("The log is down.")

    @function_tool(needs_approval=True)
    async def set_field(tesla: int) -> str:
        """Set the field."""
        return f"set to {tesla}"

    invoker, tool_call = set_field.on_invoke_tool, call()
    model = Script([tool_call], [says("done")])
    agent = Agent("operator", model=model, tools=[set_field], hooks=Failing())
    gate.approve_next()
    run = asyncio.create_task(run_with_approvals(agent, "Go.", client=gate.client))
    while not gate.started():
        await asyncio.sleep(0.001)

    assert set_field.on_invoke_tool is invoker

    with pytest.raises(UserError, match="The log is down"):
        await asyncio.wait_for(run, 20)
    tool_call.arguments = "{}"
    assert (tool_call.arguments, type(tool_call)) == ("{}", ResponseFunctionToolCall)


async def test_a_tool_that_takes_text_is_called_with_the_text_that_was_approved(gate):
    texts = []

    async def note(_, text):
        texts.append(text)
        return "noted"

    tool = CustomTool(name="note", description="Note.", on_invoke_tool=note, needs_approval=True)
    written_text = ResponseCustomToolCall(
        type="custom_tool_call", name="note", input="not { JSON", call_id="c1"
    )
    agent = Agent("clerk", model=Script([written_text], [says("done")]), tools=[tool])
    gate.approve_next()

    await asyncio.wait_for(run_with_approvals(agent, "Go.", client=gate.client), 20)

    assert texts == ["not { JSON"]
    assert gate.asked()[0]["arguments"]["input"] == "not { JSON"
    assert [end.get("exit_code") for end in gate.finished()] == [0]
