"""AG2 1.2.1 asks the dashboard before it calls a tool."""

import asyncio
import json
from copy import copy
from dataclasses import fields
from functools import partial

import pytest
from ag2 import Agent, Context, TaskConfig, tool
from ag2.context import ConversationContext
from ag2.events import ToolCallEvent, ToolResultEvent
from ag2.exceptions import HumanInputFailedError, HumanInputTimeoutError
from ag2.middleware import BaseMiddleware, Middleware
from ag2.middleware import approval_required as upstream
from ag2.testing import TestConfig
from ag2.tools.dynamic import dynamic_agent
from ag2.tools.final.client_tool import ClientTool

from approval_client import DigestMismatch, Unreachable
from approval_client.adapters import ag2 as adapter
from approval_client.adapters.ag2 import DENIED, approval_required, hitl_hook

SET = ToolCallEvent("set_field", arguments='{"tesla": 3}')


class Magnet:
    """A tool that remembers what it was called with, and the agent that has it."""

    def __init__(self, *turns, gate=None, **agent):
        self.calls = []
        calls = self.calls

        @tool(middleware=[gate] if gate else [])
        def set_field(tesla: int) -> str:
            """Set the field."""
            calls.append(tesla)
            if tesla > 8:
                raise ValueError("Quench!")
            return f"set to {tesla}"

        model = TestConfig(*turns or (SET,), "done", "again", raise_tool_errors=False)
        self.agent = Agent("runner", "Set it.", config=model, tools=[set_field], **agent)

    async def told(self, task="Set the field to 3."):
        """Run the agent, and return what the model read in place of the tools' results."""
        reply = await asyncio.wait_for(self.agent.ask(task), 90)
        events = await reply.context.stream.history.get_events()
        results = [event for event in events if isinstance(event, ToolResultEvent)]
        return [part.content for event in results for part in event.result.parts]


def gated(gate, **options):
    return approval_required(client=gate.client, **options)


async def asked(gate, times=1):
    while len(gate.asked()) < times:
        await asyncio.sleep(0.001)


# One tool.


async def test_a_tool_is_called_after_a_yes(gate):
    gate.approve_next()

    assert await Magnet(gate=gated(gate)).told() == ["set to 3"]
    assert gate.asked() == [{"tool": "set_field", "arguments": {"tesla": 3}}]


async def test_a_tool_is_not_called_after_a_no_and_the_model_reads_the_reason(gate):
    gate.reject_next("Wrong sector.")
    magnet = Magnet(gate=gated(gate))

    (told,) = await magnet.told()

    assert told.startswith(f"{DENIED}: Wrong sector.\n\nThis was rejected by")
    assert (magnet.calls, gate.started()) == ([], 0)


async def test_the_denied_message_can_be_chosen(gate):
    gate.reject_next("No.")

    (told,) = await Magnet(gate=gated(gate, denied_message="Denied")).told()

    assert told.startswith("Denied: No.")


async def test_the_message_is_filled_in_and_is_the_agents_word(gate):
    gate.approve_next()
    message = "May I call {tool_name} with {tool_arguments}?"

    await Magnet(gate=gated(gate, message=message)).told()

    assert gate.requests()[0]["objective"] == 'May I call set_field with {"tesla": 3}?'


async def test_nobody_answering_ends_the_turn_as_agtwos_timeout(gate):
    magnet = Magnet(gate=gated(gate, timeout=7.5))
    turn = asyncio.create_task(magnet.told())
    await asked(gate)

    gate.run_out()

    with pytest.raises(HumanInputTimeoutError, match=r"within 7\.5 seconds"):
        await turn
    assert magnet.calls == []


async def test_a_dashboard_that_is_down_ends_the_turn_and_names_the_cause(gate):
    gate.unplug()
    magnet = Magnet(gate=gated(gate))

    with pytest.raises(HumanInputFailedError) as raised:
        await magnet.told()

    assert isinstance(raised.value.cause, Unreachable)
    assert magnet.calls == []


async def test_a_late_yes_does_not_call_the_tool(gate):
    magnet = Magnet(gate=gated(gate, timeout=5))
    turn = asyncio.create_task(magnet.told())
    await asked(gate)
    gate.run_out()
    with pytest.raises(HumanInputTimeoutError):
        await turn

    gate.approve_next()

    assert (magnet.calls, gate.started()) == ([], 0)


async def test_edited_arguments_are_what_the_tool_gets(gate):
    gate.edit_next({"tool": "set_field", "arguments": {"tesla": 1}})
    magnet = Magnet(gate=gated(gate))

    assert (await magnet.told())[0] == "set to 1"
    assert magnet.calls == [1]


async def test_an_edit_cannot_change_which_tool_is_called(gate):
    gate.edit_next({"tool": "ramp_down", "arguments": {"tesla": 3}})
    magnet = Magnet(gate=gated(gate))

    with pytest.raises(HumanInputFailedError) as raised:
        await magnet.told()

    assert isinstance(raised.value.cause, DigestMismatch)
    assert magnet.calls == []


async def test_arguments_that_change_while_it_waits_are_not_used(gate):
    seen = []

    async def keep(call_next, event, context):
        seen.append(event)
        return await call_next(event, context)

    magnet = Magnet(gate=gated(gate), middleware=[agent_wide(keep)])
    turn = asyncio.create_task(magnet.told())
    await asked(gate)
    seen[0].serialized_arguments["tesla"] = 7
    gate.approve_next()

    with pytest.raises(HumanInputFailedError, match="is for another call"):
        await turn
    assert magnet.calls == []


async def test_arguments_that_are_no_json_call_nothing_and_ask_nobody(gate):
    magnet = Magnet(ToolCallEvent("set_field", arguments="{tesla"), gate=gated(gate))

    await magnet.told()

    assert (magnet.calls, gate.asked()) == ([], [])


async def test_how_it_ended_is_reported(gate):
    gate.approve_next()
    await Magnet(gate=gated(gate)).told()

    assert gate.finished() == [{"exit_code": 0, "output_head": "set to 3"}]


async def test_a_tool_that_fails_is_reported_with_its_error(gate):
    gate.approve_next()
    strong = ToolCallEvent("set_field", arguments='{"tesla": 9}')

    await Magnet(strong, gate=gated(gate)).told()

    assert gate.finished() == [{"exit_code": 1, "error": "ValueError: Quench!"}]


async def test_two_calls_are_asked_at_once_and_each_gets_its_own_answer(gate):
    magnet = Magnet([SET, ToolCallEvent("set_field", arguments='{"tesla": 4}')], gate=gated(gate))
    turn = asyncio.create_task(magnet.told())
    await asked(gate, 2)

    gate.reject_next("Not the first.")
    gate.approve_next()

    first = gate.asked()[0]["arguments"]["tesla"]
    await turn
    assert magnet.calls == [{3: 4, 4: 3}[first]]


async def test_a_hold_between_two_calls_of_a_batch_stops_the_second(gate):
    magnet = Magnet([SET, ToolCallEvent("set_field", arguments='{"tesla": 2}')], gate=gated(gate))
    turn = asyncio.create_task(magnet.told())
    await asked(gate, 2)
    gate.decide(0, "approve")
    while not magnet.calls:
        await asyncio.sleep(0.001)

    gate.hold()
    gate.decide(1, "approve")

    with pytest.raises(HumanInputFailedError):
        await turn
    assert (len(magnet.calls), gate.started()) == (1, 1)


async def test_a_cancelled_turn_takes_its_question_back(gate):
    turn = asyncio.create_task(Magnet(gate=gated(gate)).told())
    await asked(gate)

    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn

    assert gate.statuses() == ["cancelled"]


async def test_nothing_is_remembered_here_so_each_call_is_asked(gate):
    gate.approve_next()
    gate.approve_next()
    magnet = Magnet(SET, SET, gate=gated(gate))

    await magnet.told()

    assert (magnet.calls, gate.started()) == ([3, 3], 2)


@pytest.mark.parametrize("allowed", [True, False])
async def test_a_remembered_yes_may_answer_only_where_always_is_allowed(gate, allowed):
    gate.approve_next()

    await Magnet(gate=gated(gate, allow_always=allowed)).told()

    assert gate.requests()[0].get("accepts_grants", False) is allowed


async def test_the_questions_of_one_conversation_are_one_run(gate):
    for _ in range(3):
        gate.approve_next()
    await Magnet(SET, SET, gate=gated(gate)).told()
    await Magnet(gate=gated(gate)).told()

    one, same, other = [request["run_id"] for request in gate.requests()]

    assert one == same != other


# Every tool of an agent.


def agent_wide(function):
    """Make AG2's agent-wide middleware of a function."""

    class Wide(BaseMiddleware):
        async def on_tool_execution(self, call_next, event, context):
            return await function(call_next, event, context)

    return Middleware(Wide)


async def test_a_gate_before_every_tool_opens_for_a_yes(gate):
    gate.approve_next()

    assert await Magnet(middleware=[adapter.gate(client=gate.client)]).told() == ["set to 3"]


async def test_a_gate_before_every_tool_stays_shut_after_a_no(gate):
    gate.reject_next("No.")
    magnet = Magnet(middleware=[adapter.gate(client=gate.client)])

    (told,) = await magnet.told()

    assert told.startswith(f"{DENIED}: No.")
    assert magnet.calls == []


# AG2's own approval_required, answered by the hook.


def hooked(gate, **options):
    return {"gate": upstream(**options), "hitl_hook": hitl_hook(client=gate.client)}


async def test_the_hook_says_yes_to_agtwos_own_middleware(gate):
    gate.approve_next()

    assert await Magnet(**hooked(gate)).told() == ["set to 3"]
    assert gate.asked() == [{"tool": "set_field", "arguments": {"tesla": 3}}]


async def test_the_hook_says_no_to_agtwos_own_middleware(gate):
    gate.reject_next("No.")
    magnet = Magnet(**hooked(gate))

    assert await magnet.told() == [DENIED]
    assert magnet.calls == []


async def test_the_hook_never_says_always(gate):
    gate.approve_next()
    gate.approve_next()
    magnet = Magnet(SET, SET, **hooked(gate, allow_always=True))

    await magnet.told()

    assert len(gate.asked()) == 2


async def test_the_hooks_dashboard_that_is_down_ends_the_turn(gate):
    gate.unplug()

    with pytest.raises(HumanInputFailedError) as raised:
        await Magnet(**hooked(gate)).told()

    assert isinstance(raised.value.cause, Unreachable)


async def test_agtwos_own_timeout_takes_the_hooks_question_back(gate):
    magnet = Magnet(**hooked(gate, timeout=0.05))

    with pytest.raises(HumanInputTimeoutError):
        await magnet.told()

    assert (magnet.calls, gate.statuses()) == ([], ["cancelled"])


async def test_a_question_that_is_no_approval_has_no_answer(gate):
    @tool
    async def who(context: Context) -> str:
        """Ask for a name."""
        return await context.input("What is your name?")

    model = TestConfig(ToolCallEvent("who"), "done", raise_tool_errors=False)
    hook = hitl_hook(client=gate.client)
    agent = Agent("asker", "Ask.", config=model, tools=[who], hitl_hook=hook)

    with pytest.raises(HumanInputFailedError, match="only approves or rejects tool calls"):
        await agent.ask("Who am I?")
    assert gate.asked() == []


async def test_without_an_address_nothing_is_called(monkeypatch):
    monkeypatch.delenv("DASHBOARD_URL", raising=False)
    magnet = Magnet(gate=approval_required())

    with pytest.raises(HumanInputFailedError, match="DASHBOARD_URL"):
        await magnet.told()
    assert magnet.calls == []


def test_a_client_that_blocks_is_refused_at_once():
    with pytest.raises(TypeError, match="AsyncClient"):
        approval_required(client=object())


async def changing(call_next, event, context):
    """A host's own, which changes the arguments when a call is made."""
    event.serialized_arguments["tesla"] = 7
    return await call_next(event, context)


async def replacing(call_next, event, context):
    other = copy(event)
    other.arguments, other.serialized_arguments = '{"tesla": 7}', {"tesla": 7}
    return await call_next(other, context)


def of_an_agent(change):
    class Changes(BaseMiddleware):
        async def on_tool_execution(self, call_next, event, context):
            return await change(call_next, event, context)

    return Middleware(Changes)


@pytest.mark.parametrize("change", [changing, replacing])
@pytest.mark.parametrize("stands", ["behind a tool's gate", "in a tool", "behind an agent's gate"])
async def test_what_a_middleware_makes_of_an_approved_call_is_not_called(gate, change, stands):
    calls, of_all = [], adapter.gate(client=gate.client)
    of_the_tool, of_the_agent = {
        "behind a tool's gate": ([gated(gate), change], []),
        "in a tool": ([change], [of_all]),
        "behind an agent's gate": ([], [of_all, of_an_agent(change)]),
    }[stands]

    @tool(middleware=of_the_tool)
    def set_field(tesla: int) -> str:
        """Set the field."""
        calls.append(tesla)
        return "set"

    call = ToolCallEvent("set_field", arguments='{"tesla": 3}')
    model = TestConfig(call, "done", raise_tool_errors=False)
    agent = Agent("runner", "Set.", config=model, tools=[set_field], middleware=of_the_agent)
    gate.approve_next()

    with pytest.raises(HumanInputFailedError):
        await asyncio.wait_for(agent.ask("Set it."), 20)

    assert calls == []


async def renaming(call_next, event, context):
    other = copy(event)
    other.name = "dry_run"
    return await call_next(other, context)


@pytest.mark.parametrize("stands", ["an agent's", "a tool's"])
async def test_a_call_that_a_middleware_has_renamed_is_not_asked(gate, stands):
    of_all = [adapter.gate(client=gate.client)] if stands == "an agent's" else []
    magnet = Magnet(
        gate=None if of_all else gated(gate), middleware=[of_an_agent(renaming), *of_all]
    )

    (told,) = await magnet.told()

    assert "changed the name of the call to 'dry_run', and AG2 would call 'set_field'" in told
    assert (magnet.calls, gate.asked()) == ([], [])


def in_a_closure(call_next):
    async def go_on(event, context):
        return await call_next(event, context)

    return go_on


def in_a_default(call_next):
    async def go_on(event, context, then=call_next):
        return await then(event, context)

    return go_on


class Holding:
    def __init__(self, call_next):
        self._then = call_next

    async def __call__(self, event, context):
        return await self._then(event, context)

    async def go_on(self, event, context):
        return await self._then(event, context)


class InASlot:
    __slots__ = ("then",)

    def __init__(self, call_next):
        self.then = call_next

    async def __call__(self, event, context):
        return await self.then(event, context)


def in_a_class(call_next):
    class Inner:
        async def __call__(self, event, context):
            return await call_next(event, context)

    return Inner()


async def go_on_with(call_next, event, context):
    return await call_next(event, context)


def in_a_container(call_next):
    held = [[call_next]]

    async def go_on(event, context):
        return await held[0][0](event, context)

    return go_on


SEEN = [
    in_a_closure,
    in_a_default,
    Holding,
    InASlot,
    in_a_class,
    lambda call_next: Holding(call_next).go_on,
    lambda call_next: partial(go_on_with, call_next),
    lambda call_next: partial(Holding(call_next)),
    lambda call_next: in_a_closure(Holding(in_a_default(call_next))),
    lambda call_next: call_next.__call__,
]


def wrapped(ask_first, hide):
    """A middleware of the host's that has a gate inside."""

    async def ask(call_next, event, context):
        return await ask_first(hide(call_next), event, context)

    return ask


@pytest.mark.parametrize("hide", [*SEEN, in_a_container])
async def test_a_gate_may_stand_inside_a_middleware_of_the_hosts(gate, hide):
    gate.edit_next({"tool": "set_field", "arguments": {"tesla": 1}})
    magnet = Magnet(gate=wrapped(gated(gate), hide))

    assert (await magnet.told())[0] == "set to 1"
    assert gate.asked() == [{"tool": "set_field", "arguments": {"tesla": 3}}]


@pytest.mark.parametrize("hide", SEEN)
async def test_a_renamed_call_is_not_asked_where_the_host_wraps_the_gate(gate, hide):
    magnet = Magnet(gate=wrapped(gated(gate), hide), middleware=[of_an_agent(renaming)])

    (told,) = await magnet.told()

    assert "AG2 would call 'set_field'" in told
    assert (magnet.calls, gate.asked()) == ([], [])


@tool
def dry_run(tesla: int) -> str:
    """Set nothing."""
    return f"would set {tesla}"


@pytest.mark.skipif(
    "tool_call_id" not in {field.name for field in fields(ConversationContext)},
    reason="ag2 1.1.1 does not tell a tool which call it is",
)
@pytest.mark.parametrize("has_both", [False, True])
async def test_a_renamed_call_is_not_made_where_its_tool_is_out_of_sight(gate, has_both):
    magnet = Magnet(gate=wrapped(gated(gate), in_a_container), middleware=[of_an_agent(renaming)])
    magnet.agent.tools += [dry_run] if has_both else []
    gate.approve_next()

    with pytest.raises(HumanInputFailedError) as raised:
        await magnet.told()

    assert isinstance(raised.value.cause, DigestMismatch)
    assert (magnet.calls, gate.finished()[0]["exit_code"]) == ([], 1)


async def test_a_middleware_may_call_another_tool_of_the_agent_for_what_was_approved(gate):
    calls = []

    @tool
    def note(tesla: int) -> str:
        """Write it down."""
        calls.append(f"noted {tesla}")
        return "noted"

    async def noting(call_next, event, context):
        await note(ToolCallEvent("note", arguments=event.arguments), context)
        return await call_next(event, context)

    @tool(middleware=[gated(gate), noting])
    def set_field(tesla: int) -> str:
        """Set the field."""
        calls.append(tesla)
        return "set"

    model = TestConfig(SET, "done", raise_tool_errors=False)
    agent = Agent("runner", "Set.", config=model, tools=[set_field, note])
    gate.approve_next()

    await asyncio.wait_for(agent.ask("Set it."), 20)

    assert calls == ["noted 3", 3]


async def test_a_tool_without_a_function_is_called_by_its_own_name_too(gate):
    lamp = {"type": "function", "function": {"name": "lamp", "parameters": {"type": "object"}}}
    agent = Agent(
        "runner",
        "Light it.",
        config=TestConfig(ToolCallEvent("lamp", arguments="{}"), "done"),
        middleware=[of_an_agent(renaming), adapter.gate(client=gate.client)],
    )

    await asyncio.wait_for(agent.ask("Light it.", tools=[ClientTool(lamp)]), 20)

    assert gate.asked() == []


@pytest.mark.parametrize("then", ["the same", "another"])
async def test_a_call_that_was_approved_is_made_once(gate, then):
    calls = []

    async def twice(call_next, event, context):
        await call_next(event, context)
        return await (replacing if then == "another" else passing)(call_next, event, context)

    async def passing(call_next, event, context):
        return await call_next(event, context)

    @tool(middleware=[gated(gate), twice])
    def set_field(tesla: int) -> str:
        """Set the field."""
        calls.append(tesla)
        return "set"

    call = ToolCallEvent("set_field", arguments='{"tesla": 3}')
    model = TestConfig(call, "done", raise_tool_errors=False)
    agent = Agent("runner", "Set.", config=model, tools=[set_field])
    gate.approve_next()

    with pytest.raises(HumanInputFailedError):
        await asyncio.wait_for(agent.ask("Set it."), 20)

    assert calls == [3]


@pytest.mark.parametrize("starter", ["run_subtask", "run_subtasks", "create_and_run_agent"])
async def test_a_gate_lets_no_agent_begin_whose_tools_it_does_not_see(gate, starter):
    calls = []

    @tool
    def set_field(tesla: int) -> str:
        """Set the field."""
        calls.append(tesla)
        return "set"

    arguments = {
        "run_subtask": {"task": "Look."},
        "run_subtasks": {"tasks": ["Look."]},
        "create_and_run_agent": {
            "spec": {"name": "h", "prompt": ["x"], "tool_names": ["set_field"]},
            "objective": "Look.",
        },
    }
    child = TestConfig(SET, "child done")
    start = ToolCallEvent(starter, arguments=json.dumps(arguments[starter]))
    agent = Agent(
        "runner",
        "Set.",
        config=TestConfig(start, "done"),
        tools=[set_field, dynamic_agent(available_tools=[set_field], config=child)],
        middleware=[adapter.gate(client=gate.client)],
        tasks=TaskConfig(config=child),
    )
    gate.approve_next()

    reply = await asyncio.wait_for(agent.ask("Set it."), 20)

    events = await reply.context.stream.history.get_events()
    (result,) = [event for event in events if isinstance(event, ToolResultEvent)]
    assert "another agent" in result.result.parts[0].content
    assert (calls, gate.asked()) == ([], [])
