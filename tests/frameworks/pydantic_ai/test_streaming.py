"""Pydantic AI: a run that the host streams itself."""

import asyncio

import pytest
from pydantic_ai import AgentRunResultEvent, DeferredToolRequests

from approval_client import OnHold
from approval_client.adapters.pydantic_ai import Approvals, Undecided
from tests.frameworks.examples import defined
from tests.frameworks.pausing import field
from tests.frameworks.pydantic_ai.test_adapter import Magnet, call, returned


async def streamed(magnet, gate, **options):
    """Stream a run to its end; returns the kinds of its events and its result."""
    kinds = []
    async with Approvals(magnet.agent, client=gate.client, **options) as approvals:
        more = {"user_prompt": "Set the field."}
        while more is not None:
            async with magnet.agent.run_stream_events(**approvals.options(**more)) as events:
                async for event in events:
                    kinds.append(type(event).__name__)
                    if isinstance(event, AgentRunResultEvent):
                        result = event.result
            more = await approvals.ask_pending(result)
    return kinds, result


async def test_a_streamed_run_goes_on_after_an_approval_and_its_end_is_told(gate):
    gate.approve_next()
    magnet = Magnet()

    kinds, result = await asyncio.wait_for(streamed(magnet, gate), 20)

    assert (result.output, magnet.calls) == ("done", [3])
    assert "FunctionToolCallEvent" in kinds
    assert gate.finished() == [{"exit_code": 0, "output_head": "set to 3"}]


async def test_a_streamed_run_tells_the_model_why_it_was_rejected(gate):
    gate.reject_next("Wrong sector.")
    magnet = Magnet()

    _, result = await streamed(magnet, gate)

    assert returned(result)[0].startswith("Wrong sector.\n\nThis was rejected by")
    assert (magnet.calls, gate.started()) == ([], 0)


async def test_a_streamed_run_calls_the_tool_with_what_a_person_made_of_it(gate):
    gate.edit_next(field(2))
    magnet = Magnet()

    await streamed(magnet, gate)

    assert magnet.calls == [2]


async def test_a_hold_before_a_call_ends_a_streamed_run(gate):
    gate.approve_next()
    gate.hold()
    magnet = Magnet()

    with pytest.raises(OnHold):
        await streamed(magnet, gate)
    assert (magnet.calls, gate.started()) == ([], 0)


async def test_a_tool_that_ends_a_streamed_run_is_told(gate):
    gate.approve_next()

    with pytest.raises(ValueError, match="Quench!"):
        await streamed(Magnet([call("c1", 9)]), gate)
    assert gate.finished() == [{"exit_code": 1, "error": "ValueError: Quench!"}]


async def test_without_its_options_nobody_is_asked(gate):
    magnet = Magnet()

    async with Approvals(magnet.agent, client=gate.client) as approvals:
        result = await magnet.agent.run("Go.", output_type=[str, DeferredToolRequests])
        with pytest.raises(ValueError, match=r"Pass \*\*approvals.options\(\) to every run"):
            await approvals.ask_pending(result)

    assert (gate.asked(), magnet.calls) == ([], [])


async def test_a_streamed_run_that_was_saved_is_taken_up(gate):
    kept = []
    with pytest.raises(Undecided):
        await streamed(Magnet(), gate, save=kept.append, max_wait_s=0)
    gate.approve_next()
    later = Magnet.later()

    async with Approvals(later.agent, client=gate.client) as approvals:
        options = approvals.options()
        more = await approvals.ask_pending(kept[0])
        result = await later.agent.run(**options, **more)
        assert await approvals.ask_pending(result) is None

    assert (later.calls, len(gate.asked())) == ([3], 1)


async def test_what_the_page_shows_does_so(gate, capsys):
    gate.approve_next()
    magnet = Magnet()

    with gate.environment():
        await defined("pydantic_ai", "stream")(magnet.agent, "Set the field.")

    assert magnet.calls == [3]
    assert "AgentRunResult(" in capsys.readouterr().out
