"""Whether an agent has its answer as soon while figures are read ten times a second."""

import asyncio
from contextlib import asynccontextmanager

import httpx2

from tests.benchmarks.figures import middle, milliseconds, times
from tests.benchmarks.pressing import Side

TOKEN = "a-token-of-the-benchmarks"
EVERY_S, CYCLES, ASKED = 0.1, 40, 1.1
"""How often it is scraped, how many cycles a round has, and what issue 30 asks for at the most."""


async def beside_scrapes(house, rounds):
    """Alternate on one server between rounds that nobody watches and rounds beside scrapes."""
    quiet, watched = Side(house), Side(house)
    await quiet.cycle(1, CYCLES)
    quiet.rounds.clear()
    scrapes = 0
    for number in range(2 * rounds):
        if number % 2 == 0:
            await quiet.cycle(1, CYCLES)
            continue
        async with scraped(house) as count:
            await watched.cycle(1, CYCLES)
        scrapes += count[0]
    ours, theirs = (side.of_rounds(1, lambda r: middle(r.pressed)) for side in (watched, quiet))
    return [
        ("press → agent, nobody watches", milliseconds(quiet.pressed(1))),
        ("press → agent, scraped ten times a second", milliseconds(watched.pressed(1))),
        ("  to that of nobody", times(ours, theirs, ASKED)),
        ("  scrapes", str(scrapes)),
    ]


@asynccontextmanager
async def scraped(house):
    """Scrape meanwhile; gives a list with the number of scrapes."""
    count = [0]

    async def scrape():
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx2.AsyncClient(trust_env=False, headers=headers) as client:
            while True:
                reply = await client.get(f"{house.url}/metrics")
                assert reply.status_code == 200, reply.text
                count[0] += 1
                await asyncio.sleep(EVERY_S)

    task = asyncio.create_task(scrape())
    yield count
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled(), task.exception()
