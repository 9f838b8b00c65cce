"""What a crowd of waiting agents costs, each with a request of its own, next to the floor."""

import asyncio
import re
import time
from pathlib import Path
from uuid import UUID

from tests.benchmarks.callers import HOLD_S, Agent, Reviewer
from tests.benchmarks.figures import cpu_s, milliseconds
from tests.benchmarks.http import Connection

STAYS_S, ENTER_WITHIN_S = 6, 100
SETTLED_S = 0.05  # of CPU in a second: nobody enters any more
PENDING = """
SELECT r.id, a.name FROM dashboard_approvalrequest r JOIN dashboard_agent a ON a.id = r.agent_id
WHERE r.status = 'pending'
"""


async def waits(house, name, *, answered):
    """Have an agent wait for each pending request, look at the server, and answer some."""
    pid, requests = house.server.process.pid, _pending(house)
    size, reviewer = len(requests), await Reviewer.of(house)
    pressed = [{"id": approval_id} for approval_id, _ in requests[:: size // answered]]
    for approval in pressed:
        await reviewer.read(approval)
    crowd = [Waiter(await Connection.open(house.url), *one) for one in _asked(house, requests)]
    before = _memory_kb(pid), cpu_s(pid)
    tasks = {one.approval["id"]: asyncio.create_task(one.stay()) for one in crowd}
    await _settled(pid)
    again = sum(one.returned for one in crowd)  # who entered first came back before the last did
    entering = (cpu_s(pid) - before[1]) / (size + again)
    began, at_first = time.perf_counter(), cpu_s(pid)
    await asyncio.sleep(STAYS_S)
    share = (cpu_s(pid) - at_first) / (time.perf_counter() - began)
    returned = sum(one.returned for one in crowd) - again
    kb = (_memory_kb(pid) - before[0]) / size
    took = [await _press(reviewer, approval, tasks[approval["id"]]) for approval in pressed]
    for task in tasks.values():
        task.cancel()
    await asyncio.gather(*tasks.values(), return_exceptions=True)
    for one in crowd:
        one.close()
    staying = share if returned else share + entering * size / HOLD_S
    return [
        (f"{name}: {size:,} wait, a request each: to enter", f"{entering * 1000:.2f} ms of CPU"),
        ("  memory, threads", f"{kb:.1f} kB each, {len(list(_tasks(pid)))} threads"),
        (f"  to stay, while {returned:,} come back", f"{share:.1%} of a core"),
        (f"  to stay, coming back every {HOLD_S} s", f"{staying:.1%} of a core"),
        ("  press → agent", milliseconds(took)),
    ]


class Waiter(Agent):
    """Waits for one request, and again whenever it is told that nobody decided."""

    def __init__(self, connection, token, approval_id):
        super().__init__(connection, token)
        self.approval, self.returned = {"id": approval_id}, 0

    async def stay(self):
        """Return when the answer was read."""
        while (await self.wait(self.approval))["status"] == "pending":
            self.returned += 1
        return time.perf_counter()


async def _press(reviewer, approval, told):
    reviewer.connection.send(*reviewer.press(approval))
    began = time.perf_counter()
    status, bar = await reviewer.connection.receive()  # first: nobody is told of what was refused
    assert status == 200, (status, bar[:500])
    return await told - began


def _pending(house):
    return [(str(UUID(str(approval_id))), name) for approval_id, name in house.rows(PENDING)]


def _asked(house, requests):
    """Give the token of each request's agent; agents are called after their tokens."""
    for approval_id, agent in requests:
        yield house.tokens[int(re.fullmatch(r"agent-(\d+)", agent)[1])], approval_id


async def _settled(pid):
    """Wait until the server has taken every wait and has nothing more to do, if that ever is."""
    for _ in range(ENTER_WITHIN_S):
        before = cpu_s(pid)
        await asyncio.sleep(1)
        if cpu_s(pid) - before < SETTLED_S:
            break


def _tasks(pid):
    return Path(f"/proc/{pid}/task").iterdir()


def _memory_kb(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])
