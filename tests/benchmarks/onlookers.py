"""What open pages cost the agents: the same cycles with and without people who look on."""

import asyncio
import json
import time
from contextlib import asynccontextmanager, suppress

import websockets

from tests.benchmarks.callers import Reviewer
from tests.benchmarks.figures import cpu_s, middle, milliseconds, times
from tests.benchmarks.http import Connection
from tests.benchmarks.pressing import Desk, Round, Side
from tests.serving import PEOPLE

# As pages do: static/js/queue.js and pacing.js.
LEAST_S, PATIENCE, LONGEST_S = 0.15, 5, 30
SETTLES_S = 1
FETCHES_ASKED, TIMES_ASKED = 80, 1.5


class OpenPage:
    """The queue in a browser: hears of changes and fetches the list, as its scripts pace it."""

    def __init__(self, house, name):
        self.house, self.headers = house, house.headers_of(name)
        self.fetched = 0

    async def stay(self):
        """Look on until cancelled."""
        address = self.house.url.replace("http", "ws", 1) + "/ws/queue/"
        cookie = {"Cookie": self.headers["Cookie"]}
        rung, connection = asyncio.Event(), await Connection.open(self.house.url)
        async with websockets.connect(
            address, origin=self.house.url, additional_headers=cookie
        ) as socket:
            looking = asyncio.create_task(self._look(Reviewer(connection, self.headers), rung))
            try:
                async for message in socket:
                    news = json.loads(message)
                    if any(one.get("in_queue", True) for one in [news, *news.get("also", [])]):
                        rung.set()
            finally:
                looking.cancel()
                connection.close()

    async def _look(self, reviewer, rung):
        while True:
            await rung.wait()
            rung.clear()
            began = time.perf_counter()
            await reviewer.get("/queue")
            self.fetched += 1
            took = time.perf_counter() - began
            await asyncio.sleep(max(LEAST_S - took, min(PATIENCE * took, LONGEST_S)))


class Steady(Side):
    """Cycles that begin at a steady rate, whether or not those before have ended."""

    async def run(self, rate, seconds):
        count = int(rate * seconds)
        await self.fill(1, count)
        took, tasks = Round(), []
        before, began = cpu_s(self.pid), time.perf_counter()
        for _ in range(count):
            tasks.append(asyncio.create_task(self._one(took)))
            await asyncio.sleep(1 / rate)
        await asyncio.gather(*tasks)
        took.lasted = time.perf_counter() - began
        took.cpu_s = (cpu_s(self.pid) - before) / took.lasted
        self.rounds[1].append(took)

    async def _one(self, took):
        desk = await Desk.of(self, 0)
        await desk.answer(1, took)
        desk.close()


async def beside_pages(house, *, pages, rate, seconds, rounds):
    """The same cycles with no page open and with ``pages``, in turns on the same machine."""
    alone, watched, fetched = Steady(house), Steady(house), 0
    await Steady(house).run(rate, 1)  # warm
    for _ in range(rounds):
        for side, count in ((alone, 0), (watched, pages)):
            await side.fill(1, int(rate * seconds))
            async with _open(house, count) as opened:
                await asyncio.sleep(SETTLES_S)
                already = sum(page.fetched for page in opened)
                await side.run(rate, seconds)
                fetched += sum(page.fetched for page in opened) - already
    pressed = [side.of_rounds(1, lambda took: middle(took.pressed)) for side in (watched, alone)]
    shares = [f"{middle(side.of_rounds(1, lambda r: r.cpu_s)):.0%}" for side in (alone, watched)]
    fetches = fetched / sum(watched.of_rounds(1, lambda took: took.lasted))
    return [
        (f"press → agent, {rate} requests/s, no page open", milliseconds(alone.pressed(1))),
        (f"  {pages} pages open", milliseconds(watched.pressed(1))),
        ("  p50 with pages, to without", times(*pressed, TIMES_ASKED)),
        ("  CPU without and with pages", f"{' and '.join(shares)} of a core"),
        ("  lists fetched", f"{fetches:.1f} a second, asked {FETCHES_ASKED} at most"),
    ]


@asynccontextmanager
async def _open(house, count):
    pages = [OpenPage(house, PEOPLE[number % len(PEOPLE)]) for number in range(count)]
    tasks = [asyncio.create_task(page.stay()) for page in pages]
    try:
        yield pages
        broken = [task.exception() for task in tasks if task.done()]
        assert not broken, broken
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
