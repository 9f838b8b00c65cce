"""Microsoft Agent Framework and a real dashboard: what a person decides is what happens."""

import asyncio
import json

import pytest
from agent_framework import AgentSession

from approval_client import AsyncClient
from approval_client.adapters.agent_framework import Undecided
from approval_client.adapters.agent_framework import gate as dashboard_gate
from tests.frameworks.agent_framework.kit import Accounts, Model, deletions


class Desk:
    """What ``Accounts.run`` wants of a gate."""

    def __init__(self, house):
        self.client = AsyncClient(house.url, house.tokens[0])


@pytest.fixture
def desk(house):
    return Desk(house)


def accounts(*turns, name, **options):
    made = Accounts(*turns, **options)
    made.session = AgentSession(session_id=name)
    return made


async def test_a_tool_is_called_after_a_person_approved_it_in_the_page(desk, person):
    person.approves()

    assert await accounts(name="yes").run(desk) == ["deleted 1"]


async def test_a_tool_is_not_called_after_a_rejection_and_the_reason_is_told(desk, person):
    person.rejects("Keep it.")
    refused = accounts(name="no")

    (told,) = await refused.run(desk)

    assert told.split("\n")[0].endswith("rejected by user. Keep it.")
    assert refused.deleted == []


async def test_of_a_batch_only_what_was_approved_is_called(desk, person):
    person.answers("approve", "Keep that one.")
    batch = accounts(deletions("1", "2"), name="batch")

    await batch.run(desk)

    assert len(batch.deleted) == 1


async def test_a_wait_survives_a_server_that_is_killed(house, desk, person):
    def kill_and_restart():
        house.server.kill()
        house.start()

    person.approves(after=kill_and_restart)

    assert await accounts(name="killed").run(desk) == ["deleted 1"]


async def test_another_process_takes_up_a_session_that_was_saved_as_json(desk, person):
    first = accounts(name="saved")
    with pytest.raises(Undecided):
        await first.run(desk, max_wait_s=0)
    second = accounts(name="saved", model=Model())
    second.session = AgentSession.from_dict(json.loads(json.dumps(first.session.to_dict())))

    person.approves()

    assert await second.run(desk, None) == ["deleted 1"]


async def test_an_identical_retry_after_a_rejection_is_linked_to_it(desk, person):
    person.rejects("Keep it.")
    retry = accounts(deletions("1"), deletions("1"), name="retry")
    running = asyncio.create_task(retry.run(desk))
    await asyncio.to_thread(person.threads[0].join)
    again = await asyncio.to_thread(person.find)

    page = " ".join(person.browser.get(f"/approvals/{again}").text.split())
    person.approves()
    await running

    assert page.count("the same content") == 1


async def test_the_gate_calls_a_tool_after_a_person_approved_it(desk, person):
    person.approves()
    gated = Accounts(mode="never_require", middleware=[dashboard_gate(client=desk.client)])

    await gated.agent.run("Delete 1.")

    assert gated.model.told() == ["deleted 1"]


async def test_a_cancelled_run_of_the_gate_takes_its_question_back(house, desk, person):
    gated = Accounts(mode="never_require", middleware=[dashboard_gate(client=desk.client)])
    running = asyncio.create_task(gated.agent.run("Delete 1."))
    approval_id = await asyncio.to_thread(person.find)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    with house.agent(0) as api:
        answer = api.get(f"/api/v1/approvals/{approval_id}").json()
    assert (answer["status"], answer["decision"]["source"]) == ("cancelled", "agent")
