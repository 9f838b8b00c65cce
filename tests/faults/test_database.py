"""The database is away, busy or full: nothing is decided by mistake, and all goes on after it."""

import asyncio
import json
import time
from contextlib import contextmanager

import pytest

from tests.faults.proxy import Proxy
from tests.faults.talking import talking
from tests.serving import DATABASE_URL, POSTGRESQL, serve

SOON_S = 8.0  # a few looks of the hub, which come every two seconds


@pytest.fixture
def house(request):
    """One of its own where its database is moved behind a proxy."""
    if not POSTGRESQL:
        yield request.getfixturevalue("rough_house")
        return
    with serve() as house:
        yield house
        assert house.audit_is_whole() is True


@contextmanager
def away(house):
    """Take the database away for a second, the way each engine loses it."""
    if not POSTGRESQL:
        with house.database() as connection:
            connection.execute("BEGIN EXCLUSIVE")
            yield
            connection.execute("ROLLBACK")
        return
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
    others += "current_database() AND pid <> pg_backend_pid()"
    house.rows(others)
    yield
    house.rows(others)


async def decided_in_the_end(person, approval):
    """Decide as a person who tries again when told that it failed; returns the statuses."""
    statuses = []
    async with asyncio.timeout(20):
        while not statuses or statuses[-1] not in {303, 409}:
            if await person.read(approval):
                person.decide()
                statuses.append((await person.answer())[0])
    return statuses


async def test_waits_and_decisions_survive_a_database_that_is_away_for_a_moment(house):
    async with talking(house) as (asker, decider):
        agent, person, other = await asker(), await decider(), await asker()
        approval, later = await agent.submit(), await agent.submit()
        agent.begin_to_wait(approval)
        await asyncio.sleep(0.2)
        with away(house):
            deciding = asyncio.create_task(decided_in_the_end(person, approval))
            await asyncio.sleep(1)
        assert (await deciding)[-1] == 303
        began = time.monotonic()
        assert await agent.told() == (200, "approved")
        assert time.monotonic() - began < SOON_S

        other.begin_to_wait(later)
        await asyncio.sleep(0.1)
        await decided_in_the_end(person, later)
        began = time.monotonic()
        assert await other.told() == (200, "approved")
        assert time.monotonic() - began < SOON_S


@pytest.mark.engine("postgresql")
async def test_a_database_that_cannot_be_reached_means_no(house, proxy, takes_long):
    await reached_again(house, proxy)


@pytest.mark.engine("postgresql")
async def test_a_server_whose_database_froze_still_ends_in_time(house, proxy, takes_long):
    async with talking(house) as (asker, decider):
        agent, person = await asker(), await decider()
        approval = await agent.submit()
        agent.begin_to_wait(approval)
        await person.read(approval)
        await asyncio.sleep(0.2)
        proxy.freeze()
        person.decide()
        await asyncio.sleep(0.2)
        _, took_s = await asyncio.to_thread(house.server.end)
        told = await agent.told()
        proxy.thaw()

    assert took_s < 15
    assert told == (200, "pending")
    assert house.rows("SELECT count(*) FROM dashboard_decision") == [(0,)]


@pytest.fixture
def proxy(house):
    """What stands between the server and its database; the harness goes there directly."""
    with Proxy(DATABASE_URL) as proxy:
        house.server.kill()
        through = proxy.url.rpartition("/")[0]
        name = house.database_url.rpartition("/")[2]
        house.server.environment["DATABASE_URL"] = f"{through}/{name}"
        house.start()
        yield proxy
        house.server.kill()


async def reached_again(house, proxy):
    async with talking(house) as (asker, decider):
        agent, person, late = await asker(), await decider(), await asker()
        approval = await agent.submit()
        agent.begin_to_wait(approval)
        await person.read(approval)
        await asyncio.sleep(0.2)
        proxy.close()
        person.decide()
        late.begin_to_wait(approval)
        status, _, _ = await person.answer()
        problem = await late.answer()
        proxy.open()
        assert status == 503
        assert (problem[0], json.loads(problem[2])["code"]) == (503, "unavailable")
        assert house.rows("SELECT count(*) FROM dashboard_decision")[0][0] == 0

        statuses = await decided_in_the_end(person, approval)
        began = time.monotonic()
        assert statuses[-1] == 303
        assert await agent.told() == (200, "approved")
        assert time.monotonic() - began < SOON_S
