"""What AG2's own tests of approval assert, with the dashboard in place of AG2's own."""

import asyncio
import copy
import pickle

import pytest
from ag2 import Agent, Context, tool
from ag2.events import HumanMessage, ToolCallEvent, ToolResultEvent
from ag2.exceptions import HumanInputError, HumanInputFailedError, HumanInputTimeoutError
from ag2.middleware import BaseMiddleware, Middleware
from ag2.stream import MemoryStream
from ag2.testing import TestConfig
from ag2.tools.subagents import subagent_tool

from approval_client import AsyncClient, Unreachable
from approval_client.adapters.ag2 import DENIED, approval_required, hitl_hook
from tests.frameworks.ag2.test_adapter import SET, Magnet, agent_wide, asked, gated, hooked

TASK = ToolCallEvent("task_runner", arguments='{"objective": "Set it."}')


async def results_of(reply):
    events = await reply.context.stream.history.get_events()
    results = [event for event in events if isinstance(event, ToolResultEvent)]
    return [part.content for event in results for part in event.result.parts]


# What is asked.


async def test_the_timeout_is_how_long_reviewers_have(gate):
    gate.approve_next()

    await Magnet(gate=gated(gate, timeout=45)).told()

    question = gate.requests()[0]
    assert (question["time_limit_s"], question["max_wait_s"]) == (45, 45)


async def test_a_no_without_words_is_the_denied_message(gate):
    gate.reject_next("")

    (told,) = await Magnet(gate=gated(gate)).told()

    assert told.startswith(DENIED + ": No reason was given.")


async def test_the_same_call_after_a_rejection_is_of_the_same_run_with_the_same_content(gate):
    gate.reject_next("No.")
    gate.reject_next("Still no.")

    await Magnet(SET, SET, gate=gated(gate)).told()

    first, again = ((one["run_id"], one["content"]) for one in gate.requests())
    assert first == again


# "Always", which is a yes that a reviewer has remembered.


async def test_always_answers_the_next_call_without_a_person(gate):
    gate.approve_next()
    gate.remembered_next()
    magnet = Magnet(SET, SET, gate=gated(gate))

    await magnet.told()

    assert (magnet.calls, gate.statuses()) == ([3, 3], ["approved", "approved"])


async def test_always_leaves_nothing_in_the_context(gate):
    gate.remembered_next()
    magnet = Magnet(gate=gated(gate))

    reply = await magnet.agent.ask("Set it.")

    assert dict(reply.context.variables) == {}


async def test_an_always_of_agtwos_own_is_not_ours(gate):
    gate.reject_next("No.")
    bypass = {"ag:approval_required:always": {"set_field": True}}
    magnet = Magnet(gate=gated(gate), variables=bypass)

    await magnet.told()

    assert (magnet.calls, gate.statuses()) == ([], ["rejected"])


def delegating(gate, turns, **options):
    """An agent that hands its task to another, whose tool is gated."""
    runner = Magnet(gate=gated(gate)).agent
    task = subagent_tool(runner, description="Does it.", **options)
    model = TestConfig(*turns, "done", "done", raise_tool_errors=False)
    own = Magnet(gate=gated(gate)).agent.tools
    return Agent("parent", "Delegate.", config=model, tools=[task, *own])


async def test_always_of_a_parent_is_not_its_sub_agents(gate):
    gate.approve_next()
    gate.approve_next()

    await delegating(gate, [SET, TASK]).ask("Do it.")

    parents, subs = (request["run_id"] for request in gate.requests())
    assert parents != subs


async def test_always_of_a_sub_agent_is_not_its_siblings_nor_the_next_turns(gate):
    gate.approve_next()
    gate.approve_next()
    both = ToolCallEvent("task_runner", arguments='{"objective": "Again."}')

    await delegating(gate, [TASK, both]).ask("Do it.")

    one, other = (request["run_id"] for request in gate.requests())
    assert one != other


# Hooks.


async def test_a_hook_of_one_question_takes_the_place_of_the_agents(gate):
    gate.approve_next()
    magnet = Magnet(**hooked(gate) | {"hitl_hook": lambda: "n"})

    await magnet.agent.ask("Set it.", hitl_hook=hitl_hook(client=gate.client))

    assert magnet.calls == [3]


async def test_a_hook_given_as_a_decorator_is_asked(gate):
    gate.approve_next()
    magnet = Magnet(gate=hooked(gate)["gate"])
    magnet.agent.hitl_hook(hitl_hook(client=gate.client))

    assert await magnet.told() == ["set to 3"]


async def test_a_middleware_around_the_hook_sees_its_answer_and_may_deny(gate):
    seen = []

    class Denies(BaseMiddleware):
        async def on_human_input(self, call_next, event, context):
            seen.append((await call_next(event, context)).content)
            return HumanMessage("n", parent_id=event.id)

    gate.approve_next()
    magnet = Magnet(middleware=[Middleware(Denies)], **hooked(gate))

    await magnet.told()

    assert (seen, magnet.calls) == (["y"], [])


# Failures of the channel.


class TimesOut(AsyncClient):
    """A client whose own call takes too long, which is not a person who does not answer."""

    async def request_approval(self, *_, **__):
        raise TimeoutError("of the network")


async def test_a_time_out_of_the_client_is_not_read_as_nobody_answering():
    client = TimesOut("http://localhost:1", "dash_x")
    magnet = Magnet(gate=approval_required(client=client))

    with pytest.raises(HumanInputFailedError) as raised:
        await magnet.told()

    assert isinstance(raised.value.cause, TimeoutError)
    assert magnet.calls == []


async def test_the_failure_reaches_a_middleware_around_the_gate(gate):
    seen = []

    async def look(call_next, event, context):
        try:
            return await call_next(event, context)
        except HumanInputError as error:
            seen.append(type(error.cause))
            raise

    gate.unplug()
    with pytest.raises(HumanInputFailedError):
        await Magnet(gate=gated(gate), middleware=[agent_wide(look)]).told()
    assert seen == [Unreachable]


async def test_a_tool_that_handles_an_unanswered_question_goes_on(gate):
    @tool
    async def who(context: Context) -> str:
        """Ask for a name."""
        try:
            return await context.input("What is your name?")
        except HumanInputError:
            return "nobody"

    model = TestConfig(ToolCallEvent("who"), "done", raise_tool_errors=False)
    hook = hitl_hook(client=gate.client)
    reply = await Agent("a", "Ask.", config=model, tools=[who], hitl_hook=hook).ask("Who?")

    assert await results_of(reply) == ["nobody"]


@pytest.mark.parametrize("calls", [[TASK], [[TASK, SET]]], ids=["sequential", "parallel"])
async def test_a_sub_agent_that_cannot_ask_ends_its_parents_turn(gate, calls):
    gate.unplug()

    with pytest.raises(HumanInputFailedError):
        await asyncio.wait_for(delegating(gate, calls).ask("Do it."), 20)
    assert gate.started() == 0


async def test_the_call_is_closed_and_the_next_turn_works(gate):
    magnet = Magnet(gate=gated(gate, timeout=5))
    stream = MemoryStream()
    turn = asyncio.create_task(magnet.agent.ask("Set it.", stream=stream))
    await asked(gate)
    gate.run_out()
    with pytest.raises(HumanInputTimeoutError):
        await turn

    gate.approve_next()
    reply = await magnet.agent.ask("Again.", stream=stream)

    assert (reply.body, magnet.calls) == ("done", [3])


async def test_a_sibling_does_not_run_on(gate):
    started, ended = asyncio.Event(), []

    @tool
    async def measure() -> str:
        """Measure for a long time."""
        started.set()
        await asyncio.Event().wait()
        ended.append("measured")

    magnet = Magnet([SET, ToolCallEvent("measure")], gate=gated(gate, timeout=5))
    magnet.agent.add_tool(measure)
    turn = asyncio.create_task(magnet.told())
    await asked(gate)
    await started.wait()
    gate.run_out()

    with pytest.raises(HumanInputTimeoutError):
        await turn
    assert (magnet.calls, ended) == ([], [])


def pickled(error):
    return pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickled])
async def test_a_failure_survives_a_round_trip(gate, again):
    gate.unplug()
    with pytest.raises(HumanInputFailedError) as raised:
        await Magnet(gate=gated(gate)).told()

    copied = again(raised.value)

    assert (type(copied.cause), str(copied)) == (Unreachable, str(raised.value))
