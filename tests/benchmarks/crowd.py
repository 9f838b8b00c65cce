"""What two thousand agents who wait cost, and how soon one decision answers them all."""

import asyncio
import json
import time
from pathlib import Path

from tests.benchmarks.http import AgentConnection, Connection
from tests.benchmarks.latency import ask

TOKENS = 100
IDLE_S = 8
SETTLES_S = 14  # at most, so that no wait is over before the decision
MAKE_TOKENS = f"""
import json
from dashboard.accounts import tokens
from dashboard.accounts.services.agents import create_agent
from dashboard.accounts.services.people import OPERATOR
crowd = create_agent(name="crowd", by=OPERATOR)
print(json.dumps([tokens.issue(crowd, by=OPERATOR)[1] for _ in range({TOKENS})]))
"""


async def waits(house, size):
    """Hold ``size`` waits of a hundred tokens for one request, look at the server, decide."""
    tokens = json.loads(house.manage("shell", "-v0", "-c", MAKE_TOKENS).stdout)
    crowd = [await _connect(house.url, tokens[n % TOKENS]) for n in range(size)]
    approval = await ask(crowd[0])
    pid = house.server.process.pid
    before = _server(pid)
    began = time.perf_counter()
    answers = [
        asyncio.create_task(one.ask("GET", f"/approvals/{approval['id']}/wait?hold=25"))
        for one in crowd
    ]
    settled = await _settled(pid)
    await asyncio.sleep(IDLE_S)
    idle = _server(pid)
    reviewer = await Connection.open(house.url)
    decided = time.perf_counter()
    reviewer.send("POST", f"/decide/{approval['id']}")
    cpu_s = idle["cpu_s"] - settled["cpu_s"]
    statuses = {answer["status"] for answer in await asyncio.gather(*answers)}
    took = time.perf_counter() - decided
    assert statuses == {"approved"}, statuses
    assert took + decided - began < 25, "some had to ask again"
    return {
        f"{size} waiting: threads": settled["threads"],
        f"{size} waiting: memory": f"{(settled['kb'] - before['kb']) / size:.1f} kB each",
        f"{size} waiting: idle CPU": f"{cpu_s / IDLE_S:.1%} of a core",
        f"{size} waiting: all answered after": f"{took:.2f} s",
    }


async def of_the_floor(bare, size):
    """Hold ``size`` bare requests."""
    crowd = [await Connection.open(bare.url) for _ in range(size)]
    before = _server(bare.pid)
    for one in crowd:
        one.send("GET", "/hold", {"Authorization": f"Bearer {'x' * 48}"})
    await asyncio.sleep(IDLE_S / 2)
    held = _server(bare.pid)
    for one in crowd:
        one.close()
    each = (held["kb"] - before["kb"]) / size
    return {f"floor: {size} bare requests held: memory": f"{each:.1f} kB each"}


async def _connect(url, token):
    connection = await AgentConnection.open(url)
    connection.token = token
    return connection


async def _settled(pid):
    """Wait until the server has taken every wait and has nothing more to do."""
    now = _server(pid)
    for _ in range(SETTLES_S):
        before = now
        await asyncio.sleep(1)
        now = _server(pid)
        if now["cpu_s"] - before["cpu_s"] < 0.1:
            break
    return now


def _server(pid):
    process = Path(f"/proc/{pid}")
    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    fields = (process / "stat").read_text().rpartition(")")[2].split()
    return {
        "threads": int(status["Threads"]),
        "kb": int(status["VmRSS"].split()[0]),
        "cpu_s": (int(fields[11]) + int(fields[12])) / 100,
    }
