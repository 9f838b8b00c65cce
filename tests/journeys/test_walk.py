"""Whatever people press in whatever order: pages tell the truth, and nothing approves itself."""

import asyncio

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from approval_client import AsyncClient
from tests.journeys.walking import Walk, Walker, World

WALKS, STEPS = 3, 25
LONG_WALKS, LONG_STEPS = 40, 60


@pytest_asyncio.fixture(loop_scope="session")
async def world(product, arrives, admin_state, ben_state):
    people = {"admin": await arrives(admin_state), "ben": await arrives(ben_state)}
    walkers = {name: await Walker.at(person) for name, person in people.items()}
    token = product.settings
    async with AsyncClient(token["DASHBOARD_URL"], token["DASHBOARD_TOKEN"]) as client:
        world = World(client, walkers)
        yield world
        for approval_id in world.ids:
            await client.cancel(approval_id)


async def test_a_walk(world, pytestconfig):
    is_long = pytestconfig.getoption("--long")
    how = settings(
        max_examples=LONG_WALKS if is_long else WALKS,
        stateful_step_count=LONG_STEPS if is_long else STEPS,
        derandomize=not is_long,  # fresh ones by hand
        database=None,
        deadline=None,
        phases=[Phase.generate],  # a browser is too slow to look for the shortest way
        suppress_health_check=list(HealthCheck),
    )
    walk = Walk.through(world, asyncio.get_running_loop())
    try:
        await asyncio.to_thread(run_state_machine_as_test, walk, settings=how)
    except BaseException as error:  # noqa: BLE001 - hypothesis has exceptions of its own kinds
        pytest.fail("\n".join([*world.told, "", str(error)]))
