"""Pydantic AI 2.68.0 and a real dashboard: what a person decides is what happens."""

import asyncio
import os

import pytest
from pydantic_ai.messages import TextPart

from dashboard.client import AsyncClient
from dashboard.client.adapters.pydantic_ai import run_with_approvals
from tests.frameworks.live import Person, live_house, missing
from tests.frameworks.test_pydantic_ai import Magnet, call, returned
from tests.frameworks.test_pydantic_ai_pauses import paused, resumed


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


class Gate:
    """The real dashboard, with what a magnet needs of it."""

    def __init__(self, house):
        self.client = AsyncClient(house.url, house.tokens[0])


@pytest.fixture
def gate(house):
    return Gate(house)


async def test_a_tool_is_called_after_a_person_approved_it_in_the_page(gate, person):
    person.approves()

    assert await Magnet().told(gate) == ["set to 3"]


async def test_a_tool_is_not_called_after_a_rejection_and_the_reason_is_told(gate, person):
    person.rejects("Wrong sector.")
    magnet = Magnet()

    (told,) = await magnet.told(gate)

    assert (told.splitlines()[0], magnet.calls) == ("Wrong sector.", [])


async def test_each_of_two_calls_gets_its_own_answer(gate, person):
    person.answers("approve", "Not this one.")
    magnet = Magnet([call("c1", 1), call("c2", 2)])

    told = await magnet.told(gate)

    (yes,) = magnet.calls
    answers = {1: told[0], 2: told[1]}
    assert (answers[yes], answers[3 - yes].splitlines()[0]) == (f"set to {yes}", "Not this one.")


async def test_a_call_that_waits_survives_a_server_that_is_killed(house, gate, person):
    def kill_and_restart():
        house.server.kill()
        house.start()

    person.approves(after=kill_and_restart)

    assert await Magnet().told(gate) == ["set to 3"]


async def test_a_cancelled_run_takes_its_question_back(house, gate, person):
    turn = asyncio.create_task(Magnet().told(gate))
    approval_id = await asyncio.to_thread(person.find)

    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn

    with house.agent(0) as api:
        answer = api.get(f"/api/v1/approvals/{approval_id}").json()
    assert (answer["status"], answer["decision"]["source"]) == ("cancelled", "agent")


async def test_what_was_saved_is_decided_and_taken_up_later(gate, person):
    saved = await paused(gate, Magnet())

    person.approves()

    assert await resumed(gate, Magnet([TextPart("done")]), saved) == ["set to 3"]


async def test_a_retry_of_what_was_rejected_is_known_to_the_desk(gate, person):
    person.answers("No.", "Still no.")
    magnet = Magnet([call("c1")], [call("c2")])

    result = await run_with_approvals(magnet.agent, "Set it.", client=gate.client)

    assert [said.splitlines()[0] for said in returned(result)] == ["No.", "Still no."]
