"""What the worst content costs: CPU of the server for a view, and how late it says that it lives.

``python -m tests.benchmarks.freezing letters fences`` tries the shapes with these words in their
names; without words, all.
"""

import asyncio
import json
import sys
import time
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import NamedTuple
from uuid import uuid4

from tests import serving
from tests.benchmarks import hostile
from tests.benchmarks.figures import cpu_s, milliseconds, show
from tests.benchmarks.http import Connection

MOST_CPU_S, LATEST_S = 1.0, 0.5
VIEWERS, ASKED_EACH_S, WORST = 6, 0.05, 6
SLOW = {  # what the inspectors take longest for, of what is known
    "commands of a shell": {"code": "a;" * 510_000, "language": "bash"},
    "calls in Python": {"code": "f(x)\n" * 170_000, "language": "python"},
    "lines without a language": {"code": "ab\n" * 250_000},
}
VIEWS = {
    "first view": "/approvals/{id}",
    "view": "/approvals/{id}",
    "second part": "/approvals/{id}/lines?part=2",
    "search": "/approvals/{id}/lines?find=a",
    "form of a change": "/approvals/{id}/edit",
    "bar": "/approvals/{id}/state",
    "list": "/queue",
}


class View(NamedTuple):
    """One page that was asked for. It took ``cpu_s`` of the server."""

    cpu_s: float
    characters: int
    shape: str
    view: str
    path: str

    def __str__(self):
        return f"{self.cpu_s:.2f} s, {self.characters:,} characters: {self.shape}, {self.view}"


async def measure(house, *, seconds, words=()):
    """Draw every shape in every view, then look at the worst again and again."""
    drawn = []
    for name, body in hostile.shapes():
        if not words or any(word in name for word in words):
            drawn += [view async for view in views(house, name, body)]
    drawn.sort(reverse=True)
    figures = {
        f"worst views of {len(drawn)}": "",
        **{f"  {number}": view for number, view in enumerate(drawn[:WORST], 1)},
        f"  beyond {MOST_CPU_S:.0f} s": sum(view.cpu_s > MOST_CPU_S for view in drawn),
    }
    late = await while_looked_at(house, [view.path for view in drawn[:WORST]], seconds)
    figures[f"/healthz beside {VIEWERS} who look at them"] = _lateness(late)
    late, short, asked = await while_asked(house)
    figures[f"/healthz beside an agent that asks for {len(SLOW)} mebibytes"] = _lateness(late)
    figures["  a short request beside them"] = milliseconds(short)
    for name, seconds_taken in asked.items():
        figures[f"  inspected: {name}"] = f"{seconds_taken:.1f} s"
    return figures


def _lateness(late):
    return f"{milliseconds(late)}, at the most {max(late) * 1000:.0f} of {LATEST_S * 1000:.0f} ms"


async def views(house, name, body):
    """Ask for something and draw its pages."""
    pid, approval = house.servers[0].process.pid, await ask(house, body)
    async with connected(house) as looking:
        for view, pattern in VIEWS.items():
            path, before = pattern.format(id=approval["id"]), cpu_s(pid)
            status, page = await looking.request("GET", path, house.headers_of("alice"))
            assert status < 500, (name, view, status)
            yield View(cpu_s(pid) - before, len(page), name, view, path)


async def while_looked_at(house, paths, seconds):
    """Return how long each question for ``/healthz`` took, of 20 a second."""
    over, late = time.perf_counter() + seconds, []

    async def look(number):
        async with connected(house) as looking:
            while time.perf_counter() < over:
                await looking.request("GET", paths[number % len(paths)], house.headers_of("alice"))

    async def ask_whether_it_lives():
        async with connected(house) as asking:
            while (began := time.perf_counter()) < over:
                assert (await asking.request("GET", "/healthz"))[0] == 200
                late.append(time.perf_counter() - began)
                await asyncio.sleep(max(0, ASKED_EACH_S - late[-1]))

    await asyncio.gather(ask_whether_it_lives(), *map(look, range(VIEWERS)))
    return late


async def while_asked(house):
    """Have what takes longest inspected, all at once.

    Returns how long each question for ``/healthz`` took, each short request, and each shape.
    """
    late, short, is_over = [], [], asyncio.Event()

    async def each(durations, pause_s, question):
        while not is_over.is_set():
            began = time.perf_counter()
            await question()
            durations.append(time.perf_counter() - began)
            await asyncio.sleep(pause_s)

    async def inspected(content):
        began = time.perf_counter()
        await ask(house, {"kind": "code", "content": content})
        return time.perf_counter() - began

    async with connected(house) as asking:
        others = [
            asyncio.create_task(
                each(late, ASKED_EACH_S, lambda: asking.request("GET", "/healthz"))
            ),
            asyncio.create_task(each(short, 0.2, lambda: inspected({"code": "1"}))),
        ]
        durations = await asyncio.gather(*map(inspected, SLOW.values()))
        is_over.set()
        await asyncio.gather(*others)
    return late, short, dict(zip(SLOW, durations, strict=True))


async def ask(house, body):
    """Ask as an agent would whose client sends UTF-8, so that more fits in."""
    asked = {"capability": "python_execution", "time_limit_s": 3600} | body
    headers = {
        "Authorization": f"Bearer {house.tokens[0]}",
        "Content-Type": "application/json",
        "Idempotency-Key": uuid4().hex,
    }
    raw = json.dumps(asked, ensure_ascii=False).encode()
    async with connected(house) as asking:
        status, answer = await asking.request("POST", "/api/v1/approvals", headers, raw)
        while status == HTTPStatus.SERVICE_UNAVAILABLE:  # another of its long ones is being read
            await asyncio.sleep(1)
            status, answer = await asking.request("POST", "/api/v1/approvals", headers, raw)
    assert status == 201, (status, len(raw), answer[:300])
    return json.loads(answer)


@asynccontextmanager
async def connected(house):
    """Open a connection for a while."""
    connection = await Connection.open(house.url)
    try:
        yield connection
    finally:
        connection.close()


if __name__ == "__main__":
    with serving.serve(environment={"PENDING_PER_TOKEN": "100000"}) as the_house:
        show(asyncio.run(measure(the_house, seconds=20, words=sys.argv[1:])))
