"""AG2 1.2.1 and a real dashboard: what a person decides in the page is what happens."""

import asyncio
import os

import pytest

from dashboard.client import AsyncClient
from dashboard.client.adapters.ag2 import DENIED, approval_required
from tests.frameworks.live import Person, live_house, missing
from tests.frameworks.test_ag2 import Magnet


@pytest.fixture(scope="module")
def house():
    if why := missing():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"Not run: {why}")
    with live_house() as house:
        yield house


@pytest.fixture
def person(house):
    with Person(house) as person:
        yield person


@pytest.fixture
def magnet(house):
    client = AsyncClient(house.url, house.tokens[0])
    return Magnet(gate=approval_required(client=client))


async def test_a_tool_is_called_after_a_person_approved_it_in_the_page(magnet, person):
    person.approves()

    assert await magnet.told() == ["set to 3"]


async def test_a_tool_is_not_called_after_a_rejection_and_the_reason_is_told(magnet, person):
    person.rejects("Wrong sector.")

    (told,) = await magnet.told()

    assert told.startswith(f"{DENIED}: Wrong sector.")
    assert magnet.calls == []


async def test_a_call_that_waits_survives_a_server_that_is_killed(house, magnet, person):
    def kill_and_restart():
        house.server.kill()
        house.start()

    person.approves(after=kill_and_restart)

    assert await magnet.told() == ["set to 3"]


async def test_a_cancelled_turn_takes_its_question_back(house, magnet, person):
    turn = asyncio.create_task(magnet.told())
    approval_id = await asyncio.to_thread(person.find)

    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn

    with house.agent(0) as api:
        answer = api.get(f"/api/v1/approvals/{approval_id}").json()
    assert (answer["status"], answer["decision"]["source"]) == ("cancelled", "agent")
