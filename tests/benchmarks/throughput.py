"""How many complete cycles a second one process carries."""

import asyncio
import time

from tests.benchmarks.http import Connection
from tests.benchmarks.latency import agent, ask


async def cycles(house, agents, rounds):
    """Submit, wait and decide; each agent asks again as soon as it was answered."""

    async def run(number):
        asking, waiting = await agent(house, number), await agent(house, number)
        reviewer = await Connection.open(house.url)
        for _ in range(rounds // agents):
            approval = await ask(asking)
            answer = asyncio.create_task(
                waiting.ask("GET", f"/approvals/{approval['id']}/wait?hold=20")
            )
            await reviewer.request("POST", f"/decide/{approval['id']}")
            assert (await answer)["status"] == "approved"

    began = time.perf_counter()
    await asyncio.gather(*[run(number) for number in range(agents)])
    return {f"cycles, {agents} at once": f"{rounds / (time.perf_counter() - began):.0f} a second"}


async def of_the_floor(url, agents, rounds):
    """Bare requests, three for a cycle."""

    async def run():
        connection = await Connection.open(url)
        for _ in range(3 * rounds // agents):
            await connection.request("GET", "/")

    began = time.perf_counter()
    await asyncio.gather(*[run() for _ in range(agents)])
    rate = rounds / (time.perf_counter() - began)
    return {f"floor: 3 bare requests, {agents} at once": f"{rate:.0f} a second"}
