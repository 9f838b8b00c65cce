"""The OpenAI Agents SDK: a run that the host streams itself."""

import asyncio

import pytest
from agents import Runner

from approval_client import Unreachable
from approval_client.adapters.openai_agents import Approvals, Undecided
from tests.frameworks.examples import defined
from tests.frameworks.openai_agents.test_adapter import Magnet, call, outputs, says


async def streamed(magnet, gate, message="Set the field.", **options):
    """Stream a run to its end; returns the kinds of its events and its last result."""
    kinds = []
    async with Approvals(client=gate.client, **options) as approvals:
        state = message
        while state is not None:
            result = Runner.run_streamed(magnet.agent, state, hooks=approvals.hooks())
            kinds += [event.type async for event in result.stream_events()]
            state = await approvals.ask_pending(result)
    return kinds, result


async def test_a_streamed_run_goes_on_after_an_approval_and_its_end_is_told(gate):
    gate.approve_next()
    magnet = Magnet()

    kinds, result = await asyncio.wait_for(streamed(magnet, gate), 20)

    assert (result.final_output, magnet.calls) == ("done", [3])
    assert "run_item_stream_event" in kinds
    assert gate.finished() == [{"exit_code": 0, "output_head": "set to 3"}]


async def test_a_streamed_run_tells_the_model_why_it_was_rejected(gate):
    gate.reject_next("Wrong sector.")
    magnet = Magnet()

    _, result = await streamed(magnet, gate)

    assert outputs(result)[0].startswith("Wrong sector.\n\nThis was rejected by")
    assert (magnet.calls, gate.started()) == ([], 0)


async def test_a_streamed_run_that_pauses_twice_asks_twice(gate):
    gate.approve_next()
    gate.reject_next("Not two.")
    magnet = Magnet([call("c1", 1)], [call("c2", 2)], [says("done")])

    await streamed(magnet, gate)

    assert (magnet.calls, gate.statuses()) == ([1], ["approved", "rejected"])


async def test_a_tool_that_ends_a_streamed_run_is_told(gate):
    gate.approve_next()
    magnet = Magnet([call("c1", 9)], failure_error_function=None)

    with pytest.raises(Exception, match="Quench!"):
        await streamed(magnet, gate)
    assert gate.finished()[0]["error"].endswith("Quench!")


async def test_a_dashboard_that_is_down_ends_a_streamed_run_and_calls_nothing(gate):
    gate.unplug()
    magnet = Magnet()

    with pytest.raises(Unreachable):
        await streamed(magnet, gate)
    assert magnet.calls == []


async def test_without_its_hooks_nobody_is_asked(gate):
    magnet = Magnet()

    async with Approvals(client=gate.client) as approvals:
        result = await Runner.run(magnet.agent, "Set the field.")
        with pytest.raises(ValueError, match=r"Pass hooks=approvals.hooks\(\) to every run"):
            await approvals.ask_pending(result)

    assert (gate.asked(), magnet.calls) == ([], [])


async def test_a_streamed_run_that_was_saved_is_taken_up(gate):
    states = []
    with pytest.raises(Undecided):
        await streamed(Magnet(), gate, run_id="job", save=states.append, max_wait_s=0)
    gate.approve_next()
    later = Magnet.later()
    state = await type(states[0]).from_string(later.agent, states[0].to_string())

    async with Approvals(client=gate.client, run_id="job") as approvals:
        hooks = approvals.hooks()
        state = await approvals.ask_pending(state)
        result = Runner.run_streamed(later.agent, state, hooks=hooks)
        async for _ in result.stream_events():
            pass
        assert await approvals.ask_pending(result) is None

    assert (later.calls, len(gate.asked())) == ([3], 1)


async def test_what_the_page_shows_does_so(gate, capsys):
    gate.approve_next()
    magnet = Magnet()

    with gate.environment():
        await defined("openai_agents", "stream")(magnet.agent, "Set the field.")

    assert magnet.calls == [3]
    assert "run_item_stream_event" in capsys.readouterr().out
