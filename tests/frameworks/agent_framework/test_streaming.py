"""Agent Framework: an agent that the host streams itself."""

import pytest

from approval_client import OnHold, Unreachable
from approval_client.adapters.agent_framework import Approvals, Undecided
from tests.frameworks.agent_framework.kit import Accounts, deletions
from tests.frameworks.examples import defined


async def streamed(accounts, gate, message="Delete them.", **options):
    """Stream an agent to its end; returns the texts of its updates."""
    texts = []
    agent, session = accounts.agent, accounts.session
    async with Approvals(agent, session, client=gate.client, **options) as approvals:
        approvals.options()
        message = message or await approvals.ask_pending()
        while message is not None:
            stream = agent.run(message, session=session, stream=True, **approvals.options())
            texts += [update.text async for update in stream]
            message = await approvals.ask_pending(await stream.get_final_response())
    return [text for text in texts if text]


async def test_a_streamed_agent_goes_on_after_an_approval_and_its_end_is_told(gate):
    gate.approve_next()
    accounts = Accounts()

    assert await streamed(accounts, gate) == ["done"]
    assert accounts.deleted == ["1"]
    assert gate.finished() == [{"exit_code": 0, "output_head": "deleted 1"}]


async def test_a_streamed_agent_tells_the_model_why_it_was_rejected(gate):
    gate.reject_next("Not that one.")
    accounts = Accounts()

    await streamed(accounts, gate)

    assert "Not that one." in accounts.model.told()[0]
    assert (accounts.deleted, gate.started()) == ([], 0)


async def test_a_streamed_agent_that_pauses_twice_asks_twice(gate):
    gate.approve_next()
    gate.reject_next("Not two.")
    accounts = Accounts(deletions("1"), deletions("2"))

    await streamed(accounts, gate)

    assert (accounts.deleted, gate.statuses()) == (["1"], ["approved", "rejected"])


async def test_a_hold_before_a_call_ends_a_streamed_agent(gate):
    gate.approve_next()
    gate.hold()
    accounts = Accounts()

    with pytest.raises(OnHold):
        await streamed(accounts, gate)
    assert (accounts.deleted, gate.started()) == ([], 0)


async def test_a_dashboard_that_is_down_ends_a_streamed_agent_and_calls_nothing(gate):
    gate.unplug()
    accounts = Accounts()

    with pytest.raises(Unreachable):
        await streamed(accounts, gate)
    assert accounts.deleted == []


async def test_without_its_options_nobody_is_asked(gate):
    accounts = Accounts()

    async with Approvals(accounts.agent, accounts.session, client=gate.client) as approvals:
        response = await accounts.agent.run("Delete them.", session=accounts.session)
        with pytest.raises(ValueError, match=r"Pass \*\*approvals.options\(\) to every run"):
            await approvals.ask_pending(response)

    assert (gate.asked(), accounts.deleted) == ([], [])


async def test_a_streamed_agent_that_was_left_is_taken_up(gate):
    accounts = Accounts()
    with pytest.raises(Undecided):
        await streamed(accounts, gate, max_wait_s=0)
    gate.approve_next()

    await streamed(accounts, gate, message=None)

    assert (accounts.deleted, len(gate.asked())) == (["1"], 1)


async def test_what_the_page_shows_does_so(gate, capsys):
    gate.approve_next()
    accounts = Accounts()

    with gate.environment():
        await defined("agent_framework", "stream")(accounts.agent, accounts.session, "Go.")

    assert accounts.deleted == ["1"]
    assert "done" in capsys.readouterr().out
