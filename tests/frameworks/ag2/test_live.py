"""AG2 1.2.1 and a real dashboard: what a person decides in the page is what happens."""

import asyncio

import pytest
from ag2 import tool
from ag2.events import ToolCallEvent

from approval_client import AsyncClient
from approval_client.adapters.ag2 import DENIED, approval_required
from tests.frameworks.ag2.test_adapter import SET, Magnet


@pytest.fixture
def magnet(house):
    client = AsyncClient(house.url, house.tokens[0])
    return Magnet(gate=approval_required(client=client, time_limit_s=120))


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


async def test_two_calls_decided_in_the_other_order_each_get_their_own_answer(house, person):
    client = AsyncClient(house.url, house.tokens[0])
    first, second = (
        Magnet(gate=approval_required(client=client, time_limit_s=120)) for _ in range(2)
    )
    one = asyncio.create_task(first.told())
    earlier = await asyncio.to_thread(person.find)
    other = asyncio.create_task(second.told())
    later = await asyncio.to_thread(person.find, unlike=earlier)

    await asyncio.to_thread(person.decides, later, "approve")
    await asyncio.to_thread(person.decides, earlier, "reject", "Not the first.")

    assert (len(await one), first.calls, await other, second.calls) == (1, [], ["set to 3"], [3])


async def test_the_same_call_after_a_rejection_is_linked_with_it(house, person):
    magnet = Magnet(
        SET, SET, gate=approval_required(client=AsyncClient(house.url, house.tokens[0]))
    )
    turn = asyncio.create_task(magnet.told())
    earlier = await asyncio.to_thread(person.find)
    await asyncio.to_thread(person.decides, earlier, "reject", "Wrong sector.")
    again = await asyncio.to_thread(person.find, unlike=earlier)

    page = await asyncio.to_thread(person.page, again)
    await asyncio.to_thread(person.decides, again, "reject", "Still wrong.")
    await turn

    assert earlier in page


POLICY = """
global_mode: all_capabilities
rules:
  - name: A yes to a call may be remembered
    when: {kinds: [tool_call]}
    effect: review
    demands: {grants_allowed: true}
"""


@pytest.fixture(scope="module")
def remembering(house, tmp_path_factory):
    """The same dashboard, where a yes may be remembered. These tests come last."""
    file = tmp_path_factory.mktemp("policy") / "policy.yaml"
    file.write_text(POLICY)
    made = house.manage("createsuperuser", "--noinput", "--username", "olga")
    options = ("--as", "olga", "--note", "For a test.", "--confirm", "loosen")
    published = house.manage("import_policy", str(file), *options)
    assert (made.returncode, published.returncode) == (0, 0), made.stderr + published.stderr
    return house


async def test_always_is_for_one_tool_and_one_conversation(remembering, house, person):
    client = AsyncClient(house.url, house.tokens[0])
    person.remembers()
    same = Magnet(SET, SET, gate=approval_required(client=client, time_limit_s=120))
    assert await same.told() == ["set to 3", "set to 3"]

    person.rejects("Another conversation.")
    other = Magnet(gate=approval_required(client=client, time_limit_s=120))
    (told,) = await other.told()

    assert told.startswith(f"{DENIED}: Another conversation.")
    assert other.calls == []


async def test_always_is_not_for_another_tool_of_the_conversation(remembering, house, person):
    client = AsyncClient(house.url, house.tokens[0])
    magnet = Magnet(
        SET, ToolCallEvent("ramp"), gate=approval_required(client=client, time_limit_s=120)
    )

    @tool(middleware=[approval_required(client=client, time_limit_s=120)])
    def ramp() -> str:
        """Ramp it down."""
        return "ramped"

    magnet.agent.add_tool(ramp)
    person.remembers()
    turn = asyncio.create_task(magnet.told())
    await asyncio.to_thread(person.finish)
    person.rejects("Another tool.")

    assert (await turn)[1].startswith(f"{DENIED}: Another tool.")
