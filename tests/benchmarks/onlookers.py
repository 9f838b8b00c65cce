"""What open pages cost the agents: the same cycles with and without people who look on."""

import asyncio
import json
import time
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from urllib.parse import urlencode
from uuid import uuid4

import websockets

from tests.benchmarks.figures import cpu_s, middle, milliseconds
from tests.benchmarks.http import Connection
from tests.benchmarks.latency import agent, ask
from tests.serving import CSRF, PEOPLE

# As pages do: static/js/queue.js and pacing.js.
LEAST_S, PATIENCE, LONGEST_S = 0.15, 5, 30
MOST_TIMES = 2
SETTLES_S = 2
PRESSED = {"verdict": "approve", "end_seen": "yes", "csrfmiddlewaretoken": CSRF}
COUNT = (
    "SELECT count(*), count(CASE WHEN status = 'pending' THEN 1 END)"
    " FROM dashboard_approvalrequest"
)
FILL = "from tests.benchmarks.filling import fill; fill(kept={kept}, pending={pending})"


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
            looking = asyncio.create_task(self._look(connection, rung))
            try:
                async for _ in socket:
                    rung.set()
            finally:
                looking.cancel()
                connection.close()

    async def _look(self, connection, rung):
        while True:
            await rung.wait()
            rung.clear()
            began = time.perf_counter()
            status, _ = await connection.request("GET", "/queue", self.headers)
            assert status == 200, status
            self.fetched += 1
            took = time.perf_counter() - began
            await asyncio.sleep(max(LEAST_S - took, min(PATIENCE * took, LONGEST_S)))


class Cycles:
    """Requests at a steady rate, each approved by a person through the form of its page.

    The page itself is not drawn, which takes more than all the rest and the same either way.
    """

    def __init__(self, house):
        self.house, self.person = house, house.headers_of("alice")
        self.told, self.pressed = [], []

    async def run(self, rate, seconds):
        tasks = []
        for _ in range(int(rate * seconds)):
            tasks.append(asyncio.create_task(self._cycle(len(tasks))))
            await asyncio.sleep(1 / rate)
        await asyncio.gather(*tasks)

    async def _cycle(self, number):
        asking, waiting = [await agent(self.house, number % 4) for _ in range(2)]
        reading = await Connection.open(self.house.url)
        approval = await ask(asking)
        _, fields = await reading.request("GET", f"/form/{approval['id']}")
        form = json.loads(fields) | PRESSED
        wait = asyncio.create_task(waiting.ask("GET", f"/approvals/{approval['id']}/wait?hold=25"))
        await asyncio.sleep(0.02)
        began = time.perf_counter()
        headers = {"Content-Type": "application/x-www-form-urlencoded", "HX-Request": "true"}
        path = f"/approvals/{approval['id']}/decide"
        reading.send("POST", path, self.person | headers, urlencode(form).encode())
        answer = await wait
        self.pressed.append(time.perf_counter() - began)
        decided_at = datetime.fromisoformat(answer["decision"]["decided_at"])
        self.told.append(time.time() - decided_at.timestamp())
        assert answer["status"] == "approved", answer
        await reading.receive()
        for state in ("started", "finished"):
            outcome = {"state": state, "digest": approval["digest"]}
            await asking.ask(
                "POST", f"/approvals/{approval['id']}/outcome", outcome, key=uuid4().hex
            )
        for connection in (asking, waiting, reading):
            connection.close()


async def beside_pages(house, *, pages, rate, seconds, turns):
    """The same cycles with no page open and with ``pages``, in turns on the same machine."""
    alone, watched = Cycles(house), Cycles(house)
    pid, fetched = house.server.process.pid, 0
    worked, lasted = {alone: 0.0, watched: 0.0}, {alone: 0.0, watched: 0.0}
    await Cycles(house).run(rate, SETTLES_S)  # warm
    for _ in range(turns):
        for cycles, count in ((alone, 0), (watched, pages)):
            async with _open(house, count) as opened:
                await asyncio.sleep(SETTLES_S)
                before, began = cpu_s(pid), time.perf_counter()
                already = sum(page.fetched for page in opened)
                await cycles.run(rate, seconds)
                lasted[cycles] += time.perf_counter() - began
                worked[cycles] += cpu_s(pid) - before
                fetched += sum(page.fetched for page in opened) - already
    times = middle(watched.told) / middle(alone.told)
    pressed = middle(watched.pressed) / middle(alone.pressed)
    shares = [f"{worked[cycles] / lasted[cycles]:.0%}" for cycles in (alone, watched)]
    beside = f"{pages} pages open, {rate} requests/s"
    return {
        "no page open: decision → agent": milliseconds(alone.told),
        f"{beside}: decision → agent": milliseconds(watched.told),
        "  as often as long (asked: 2 at most)": f"{times:.1f}",
        "no page open: press → agent": milliseconds(alone.pressed),
        f"{beside}: press → agent": milliseconds(watched.pressed),
        "  as often as long, from the press": f"{pressed:.1f}",
        "  CPU without and with pages": " and ".join(shares),
        "  lists fetched": f"{fetched / lasted[watched]:.1f} a second",
    }


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


def filled(house, kept, pending):
    """Add so many closed and open requests while nobody serves the database."""
    house.server.end()
    done = house.manage("shell", "-v0", "-c", FILL.format(kept=kept, pending=pending))
    assert done.returncode == 0, done.stderr
    house.start()


def while_nobody_asks(house, *, idle_s):
    """The CPU of a server that nobody asks anything, and how submissions fare after that."""
    [(requests, pending)] = house.rows(COUNT)
    time.sleep(SETTLES_S)
    pid = house.server.process.pid
    before = cpu_s(pid)
    time.sleep(idle_s)
    share = (cpu_s(pid) - before) / idle_s
    refused, took = asyncio.run(_submissions(house))
    holds = f"{requests - pending:,} closed, {pending:,} pending"
    return {
        f"{holds}: CPU when idle (asked: 3 %)": f"{share:.1%} of a core",
        f"{holds}: submissions refused (asked: 0)": f"{refused} of {len(took)}",
        f"{holds}: a submission": milliseconds(took),
    }


async def _submissions(house, count=40):
    asking, refused, took = await agent(house, 1), 0, []
    for _ in range(count):
        began = time.perf_counter()
        headers = {"Authorization": f"Bearer {asking.token}", "Idempotency-Key": uuid4().hex}
        body = {
            "kind": "code",
            "capability": "python_execution",
            "content": {"code": "print('Hello')", "language": "python"},
        }
        headers["Content-Type"] = "application/json"
        status, _ = await asking.request(
            "POST", "/api/v1/approvals", headers, json.dumps(body).encode()
        )
        refused += status != 201
        took.append(time.perf_counter() - began)
        await asyncio.sleep(0.05)
    return refused, took
