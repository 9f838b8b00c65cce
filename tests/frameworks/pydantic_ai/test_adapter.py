"""Pydantic AI 2.68.0: calls that wait on the desk, and on with each by its id."""

import asyncio

import pytest
from pydantic_ai import Agent, ApprovalRequired, CallDeferred, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import UnexpectedModelBehavior, UsageLimitExceeded
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.usage import UsageLimits

from approval_client import AlreadyUsed, DigestMismatch
from approval_client.adapters.pydantic_ai import (
    Undecided,
    run_with_approvals,
    run_with_approvals_sync,
)
from tests.frameworks.pausing import Resuming, Stopping, errors, field


def call(name="c1", tesla=3, tool="set_field"):
    return ToolCallPart(tool, {"tesla": tesla}, name)


class Magnet:
    """A tool that remembers what it was called with, and the agent that has it."""

    def __init__(self, *turns, meanwhile=None, **agent):
        self.calls, self.turns = [], list(turns or ([call()],))
        calls = self.calls
        self.agent = Agent(FunctionModel(self.answer, stream_function=self.stream), **agent)

        @self.agent.tool_plain(requires_approval=True, sequential=meanwhile is not None)
        async def set_field(tesla: int) -> str:
            calls.append(tesla)
            if meanwhile:
                meanwhile()
            if tesla > 8:
                raise ValueError("Quench!")
            if tesla == 0:
                await asyncio.sleep(30)
            return f"set to {tesla}"

    def answer(self, *_):
        return ModelResponse(parts=self.turns.pop(0) if self.turns else [TextPart("done")])

    async def stream(self, *_):
        for at, part in enumerate(self.answer().parts):
            if isinstance(part, TextPart):
                yield part.content
            else:
                arguments = part.args_as_json_str()
                call = DeltaToolCall(part.tool_name, arguments, tool_call_id=part.tool_call_id)
                yield {at: call}

    async def told(self, gate, **options):
        """Run the agent, and return what the model read in place of the tools' results."""
        result = await asyncio.wait_for(self.run(gate, **options), 60)
        assert result.output == "done"
        return returned(result)

    @classmethod
    def later(cls):
        """Return what another process has, which goes on after the pause."""
        return cls([TextPart("done")])

    async def paused(self, gate):
        states = []
        with pytest.raises(Undecided):
            await self.run(gate, save=states.append, max_wait_s=0)
        return states[-1]

    async def resumed(self, gate, saved):
        return returned(await self.run(gate, None, paused=saved))

    def run(self, gate, prompt="Set the field.", **options):
        return run_with_approvals(self.agent, prompt, client=gate.client, **options)


def returned(result):
    parts = [part for message in result.all_messages() for part in message.parts]
    return [part.content for part in parts if isinstance(part, ToolReturnPart)]


class TestARun(Stopping, Resuming):
    make, call = Magnet, staticmethod(call)


# One call.


async def test_a_tool_is_called_with_what_a_reviewer_made_of_its_arguments(gate):
    gate.edit_next(field(2))
    magnet = Magnet()

    assert (await magnet.told(gate), magnet.calls) == (["set to 2"], [2])


async def test_a_model_is_told_that_a_person_changed_its_arguments(gate):
    gate.edit_next(field(2))
    magnet = Magnet()

    result = await magnet.run(gate)

    parts = [part for message in result.all_messages() for part in message.parts]
    said = [part.content for part in parts if part.part_kind == "user-prompt"]
    assert 'It was run with {"tesla":2} and not with yours. Do not make your own call' in str(
        said[-1]
    )


async def test_an_edit_with_a_name_that_the_tool_does_not_take_runs_nothing_and_is_told(gate):
    gate.edit_next({"tool": "set_field", "arguments": {"tesla": 2, "dry_run": True}})
    magnet = Magnet()

    (told,) = await magnet.told(gate)

    assert "does not take 'dry_run'" in told
    assert magnet.calls == []
    assert errors(gate) == ["It was not run: the tool does not take the changed call."]


async def test_an_edit_cannot_change_which_tool_is_called(gate):
    gate.edit_next({"tool": "delete_all", "arguments": {"tesla": 3}})
    magnet = Magnet()

    with pytest.raises(DigestMismatch):
        await magnet.told(gate)

    assert magnet.calls == []


async def test_an_edit_that_the_tool_does_not_take_is_reported_as_not_run(gate):
    gate.edit_next(field("strong"))
    magnet = Magnet()

    await magnet.told(gate)

    assert magnet.calls == []
    assert errors(gate) == ["It was not run: Pydantic AI answered in its place."]


def test_what_blocks_does_the_same(gate):
    gate.approve_next()

    assert run_with_approvals_sync(Magnet().agent, "Set it.", client=gate.client).output == "done"


async def test_what_blocks_is_refused_in_an_event_loop(gate):
    with pytest.raises(RuntimeError, match=r"Use run_with_approvals\.$"):
        run_with_approvals_sync(Magnet().agent, "Set it.", client=gate.client)


async def test_the_environment_says_where_to_ask(gate):
    gate.approve_next()

    with gate.environment():
        result = await run_with_approvals(Magnet().agent, "Set it.")

    assert returned(result) == ["set to 3"]


async def test_a_tool_that_asks_for_approval_itself_is_asked_about_with_its_words(gate):
    gate.approve_next()
    magnet = Magnet([call(tool="ramp")])

    @magnet.agent.tool
    def ramp(context: RunContext, tesla: int) -> str:
        if not context.tool_call_approved:
            raise ApprovalRequired(metadata={"why": "The beam is on."})
        return f"ramped to {tesla}"

    assert await magnet.told(gate) == ["ramped to 3"]
    assert gate.evidence()[0]["metadata"] == {"why": "The beam is on."}


async def test_what_needs_no_approval_asks_nobody(gate):
    magnet = Magnet([call(tool="read_field")])

    @magnet.agent.tool_plain
    def read_field(tesla: int) -> str:
        return f"about {tesla}"

    assert (await magnet.told(gate), gate.asked()) == (["about 3"], [])


async def test_an_output_type_of_the_agent_is_kept(gate):
    gate.approve_next()
    magnet = Magnet(output_type=[str, int])

    assert (await magnet.run(gate)).output == "done"


# Several calls.


async def test_a_call_that_takes_the_id_of_an_approved_one_is_asked_about(gate):
    gate.approve_next()
    gate.reject_next("Not nine.")
    magnet = Magnet([call("c1", 1)], [call("c1", 9)])

    await magnet.told(gate)

    assert (magnet.calls, gate.asked()) == ([1], [field(1), field(9)])


async def test_two_calls_with_one_id_are_refused_by_pydantic_ai_itself(gate):
    magnet = Magnet([call("c1", 1), call("c1", 9)])

    with pytest.raises(UnexpectedModelBehavior, match="must have unique tool_call_id"):
        await magnet.told(gate)

    assert (magnet.calls, gate.asked()) == ([], [])


async def test_a_call_that_shares_its_id_with_one_that_ran_is_refused(gate):
    magnet = Magnet([call("c1", 1, tool="read_field"), call("c1", 9)])

    @magnet.agent.tool_plain
    def read_field(tesla: int) -> str:
        return f"about {tesla}"

    with pytest.raises(ValueError, match="have the same id"):
        await magnet.told(gate)
    assert (magnet.calls, gate.asked()) == ([], [])


@pytest.mark.parametrize("text", ['{"tesla": 1, "tesla": 9}', '{"tesla": 1, "tesla": 1}'])
async def test_arguments_that_can_be_read_in_two_ways_are_refused_without_a_question(gate, text):
    magnet = Magnet([ToolCallPart("set_field", text, "c1")])

    (told,) = await magnet.told(gate)

    assert (magnet.calls, gate.asked()) == ([], [])
    assert told.startswith("The arguments cannot be read: they name one key twice.")


async def test_calls_that_the_host_makes_are_refused(gate):
    magnet = Magnet([call(tool="elsewhere"), call("c2")])

    @magnet.agent.tool_plain
    def elsewhere(tesla: int) -> str:
        raise CallDeferred

    with pytest.raises(ValueError, match="made outside of the agent"):
        await magnet.told(gate)
    assert (magnet.calls, gate.asked()) == ([], [])


async def test_usage_limits_are_of_the_whole_run_however_often_it_pauses(gate):
    for _ in range(3):
        gate.approve_next()
    magnet = Magnet([call("c1", 1)], [call("c2", 2)], [call("c3", 3)])

    with pytest.raises(UsageLimitExceeded):
        await magnet.told(gate, usage_limits=UsageLimits(request_limit=2))

    assert magnet.calls == [1, 2]


class Twice(AbstractCapability):
    """Makes each call once more, as a retry does."""

    async def wrap_tool_execute(self, _, *, args, handler, **__):
        await handler(args)
        return await handler(args)


@pytest.mark.parametrize("where", ["agent", "run"])
async def test_a_capability_that_calls_again_runs_it_once_for_one_approval(gate, where):
    gate.approve_next()
    magnet = Magnet(**({"capabilities": [Twice()]} if where == "agent" else {}))

    with pytest.raises(AlreadyUsed):
        await magnet.run(gate, **({"capabilities": [Twice()]} if where == "run" else {}))
    assert (magnet.calls, gate.started()) == ([3], 1)


class BeforeIt(AbstractCapability):
    """A host's own, which changes the arguments when a call is made."""

    async def before_tool_execute(self, *_, args, **__):
        return {**args, "tesla": 7}


class AfterReading(AbstractCapability):
    async def after_tool_validate(self, *_, args, **__):
        return {**args, "tesla": 7}


class AroundIt(AbstractCapability):
    async def wrap_tool_execute(self, *_, args, handler, **__):
        return await handler({**args, "tesla": 7})


@pytest.mark.parametrize("capability", [BeforeIt, AfterReading, AroundIt])
async def test_what_a_capability_makes_of_an_approved_call_is_not_called(gate, capability):
    magnet = Magnet(capabilities=[capability()])
    gate.approve_next()

    with pytest.raises(DigestMismatch, match="was not called"):
        await magnet.told(gate)

    assert magnet.calls == []
