"""Several servers behind one address, with Redis, without it, and when it comes back."""

import asyncio
import json
import time
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest
from websockets.asyncio.client import connect

from dashboard.live import layer
from dashboard.live.layer import Bell, Doorbell
from tests.faults.proxy import Proxy
from tests.faults.talking import talking
from tests.serving import serve

pytestmark = pytest.mark.engine("postgresql")
QUICK_S, AT_ONCE_S, TICKS_S = 0.1, 0.5, 3.5


@pytest.fixture(scope="module")
def redis(redis_url):
    """A way to Redis that can be closed and frozen."""
    with Proxy(redis_url) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def house(redis):
    with serve(processes=2, environment={"REDIS_URL": redis.url}) as house:
        yield house
        assert house.audit_is_whole() is True


@pytest.fixture(params=["close", "freeze"])
def without(request, redis):
    """Redis is gone: it refuses connections, or takes them and never says anything."""
    getattr(redis, request.param)()
    yield request.param
    redis.open()


async def connected_to(house, server, opener):
    """What ``opener`` opens, with its one connection to ``server``, where it stays."""
    with house.only(server):
        talker = await opener()
        assert (await talker.ask("GET", "/healthz"))[0] == 200
    return talker


@asynccontextmanager
async def here_and_there(house):
    """An agent connected to one server, and a browser connected to the other."""
    one, other = house.servers
    async with talking(house) as (asker, decider):
        agent = await connected_to(house, one, asker)
        person = await connected_to(house, other, decider)
        approval = await agent.submit()
        await person.read(approval)
        yield agent, person, approval


async def decided(house):
    """Decide on one server what an agent waits for on the other: (seconds each has waited)."""
    async with here_and_there(house) as (agent, person, approval):
        agent.begin_to_wait(approval)
        await asyncio.sleep(0.1)
        began = time.monotonic()
        person.decide()
        status, _, _ = await person.answer()
        person_waited_s = time.monotonic() - began
        told = await agent.told()
        agent_waited_s = time.monotonic() - began

    assert (status, told) == (303, (200, "approved"))
    return person_waited_s, agent_waited_s


async def until_bells_cross(house, within_s=20):
    began, in_a_row = time.monotonic(), 0
    while in_a_row < 3:  # a tick may come as soon as a bell, but not three times
        in_a_row = in_a_row + 1 if (await decided(house))[1] < QUICK_S else 0
        assert time.monotonic() - began < within_s
    return time.monotonic() - began


@asynccontextmanager
async def page(house, server):
    """An open page that is connected to ``server``."""
    headers = house.headers_of("bob")
    address = house.url.replace("http", "ws") + "/ws/queue/"
    with house.only(server):
        socket = await connect(
            address, origin=headers["Origin"], additional_headers={"Cookie": headers["Cookie"]}
        )
        await asyncio.sleep(0.1)
    async with socket:
        yield socket


async def hears(page, approval, within_s=2):
    async with asyncio.timeout(within_s):
        while json.loads(await page.recv())["id"] != approval["id"]:
            pass


async def test_an_agent_hears_at_once_what_was_decided_on_another_server(house):
    await until_bells_cross(house)
    waited = [await decided(house) for _ in range(5)]

    print(f"Across processes: {sorted(agent for _, agent in waited)}")  # noqa: T201 - a figure
    assert min(agent - person for person, agent in waited) < 0.1
    assert max(agent for _, agent in waited) < AT_ONCE_S


async def test_a_page_hears_what_was_submitted_to_another_server(house):
    one, other = house.servers
    await until_bells_cross(house)
    async with page(house, one) as open_page, talking(house) as (asker, _):
        agent = await connected_to(house, other, asker)
        approval = await agent.submit()
        await hears(open_page, approval)


async def test_without_redis_decisions_are_as_quick_and_answers_take_a_tick(house, redis, without):
    waited = [await decided(house) for _ in range(2)]

    print(f"Redis {without}: {waited}")  # noqa: T201 - a figure for the report
    assert max(person for person, _ in waited) < 1
    assert max(agent for _, agent in waited) < TICKS_S


async def test_without_redis_a_page_of_another_server_is_told_and_says_that_it_is_late(
    house, without
):
    one, other = house.servers
    async with page(house, one) as open_page, talking(house) as (asker, _):
        async with asyncio.timeout(20):  # until the server knows that it hears nothing
            while not json.loads(await open_page.recv()).get("late"):
                pass
        agent = await connected_to(house, other, asker)
        began = time.monotonic()
        await agent.submit()
        async with asyncio.timeout(TICKS_S):
            while not json.loads(await open_page.recv()).get("late"):
                pass
        print(f"Redis {without}: told {time.monotonic() - began:.1f} s late")  # noqa: T201


async def test_when_redis_is_back_bells_cross_again(house, redis, without):
    await decided(house)
    redis.open()

    print(f"Redis back after {without}: {await until_bells_cross(house):.1f} s")  # noqa: T201


async def test_no_bell_is_lost_while_the_line_is_checked(redis_url, monkeypatch):
    monkeypatch.setattr(layer, "CHECK_S", 0.02)
    heard = []
    here, there = Doorbell(lambda _: None), Doorbell(heard.extend)
    listening = [asyncio.create_task(bell.listen()) for bell in (here, there)]
    await asyncio.sleep(0.3)
    rung = [Bell(str(uuid4()), 1) for _ in range(50)]
    for bell in rung:
        await here.ring([bell])
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    while not all(task.done() for task in listening):
        for task in listening:  # more than once: redis-py swallows one while it connects
            task.cancel()
        await asyncio.wait(listening, timeout=0.1)

    assert [bell for bell in heard if bell in rung] == rung


async def test_many_decisions_while_redis_is_frozen_hold_nobody_up(house, redis):
    await until_bells_cross(house)
    redis.freeze()
    try:
        async with talking(house) as (asker, decider):
            agent = await asker()
            people = [await decider() for _ in range(10)]
            for person in people:
                await person.read(await agent.submit())
            began = time.monotonic()
            for person in people:
                person.decide()
            answers = await asyncio.gather(*(person.answer() for person in people))
            took_s = time.monotonic() - began
    finally:
        redis.thaw()

    assert {status for status, _, _ in answers} == {303}
    assert took_s < 2
