"""What those who ask without pause cost the others: an agent, and a person who decides.

Either one token that sends more than its share, or many tokens, none of which does.
"""

import asyncio
import json
import multiprocessing
import time
from collections import defaultdict
from uuid import uuid4

import httpx2

from tests import serving
from tests.benchmarks.callers import Agent, Reviewer
from tests.benchmarks.figures import middle, milliseconds, times
from tests.benchmarks.http import Connection

SHARE = {"REQUESTS_PER_MINUTE": "3000", "KIB_PER_MINUTE": "12288"}  # what a server has by itself
BODY_KIB = 100
AT_ONCE = 4
CROWD, EACH, LONG_KIB, LOOKS = 11, 2, 40, 10
"""Agents that ask without pause, their connections each, and what each of their questions has."""
ASKED = 2
"""How often as long as without the flood it may take the others."""


def beside_a_flood(rounds, seconds):
    """Measure an honest agent's submission and a person's queue without and beside a flood."""
    figures = {}
    for words, limits in (("without shares", {}), ("with shares", SHARE)):
        with serving.serve(environment={"PENDING_PER_TOKEN": "1000"} | limits) as house:
            quiet, flooded, sent = _in_turns(house, rounds, seconds)
            figures |= {
                f"{what}, beside a flood ({words})": times(
                    [one[place] for one in flooded], [one[place] for one in quiet], ASKED
                )
                for place, what in enumerate(["submit", "queue"])
            }
            figures[f"flood ({words}): taken and refused a second"] = (
                f"{sent[0] / seconds / rounds:.0f}, {sent[1] / seconds / rounds:.0f}"
            )
    return figures


def _in_turns(house, rounds, seconds):
    quiet, flooded, sent = [], [], [0, 0]
    for _ in range(rounds):
        quiet.append(_others(house, seconds))
        with multiprocessing.Pool(AT_ONCE) as pool:
            flood = pool.starmap_async(
                _flood, [(house.url, house.tokens[1], time.time() + seconds + 2)] * AT_ONCE
            )
            time.sleep(1)
            flooded.append(_others(house, seconds))
            for taken, refused in flood.get():
                sent = [sent[0] + taken, sent[1] + refused]
    return quiet, flooded, sent


def _others(house, seconds):
    """Ask and look without pause for so long; returns the middle of each, in seconds."""
    agent, person = house.agent(), house.browser()
    took, until = ([], []), time.monotonic() + seconds
    with agent, person:
        while time.monotonic() < until:
            began = time.perf_counter()
            approval = house.submit(agent, uuid4().hex)
            took[0].append(time.perf_counter() - began)
            began = time.perf_counter()
            assert person.get("/queue").status_code == 200
            took[1].append(time.perf_counter() - began)
            agent.post(f"/api/v1/approvals/{approval['id']}/cancel", json={"reason": "Done."})
            time.sleep(0.05)
    return [middle(one) for one in took]


def _flood(url, token, until):
    """Submit and cancel without pause until that time; returns how many were taken and refused."""
    code = "x = 1\n" * (BODY_KIB * 1024 // 6)
    asked = {"kind": "code", "capability": "python_execution", "content": {"code": code}}
    taken = refused = 0
    headers = {"Authorization": f"Bearer {token}"}
    with httpx2.Client(base_url=url, headers=headers, timeout=60, trust_env=False) as client:
        while time.time() < until:
            key = {"Idempotency-Key": uuid4().hex}
            reply = client.post("/api/v1/approvals", json=asked, headers=key)
            if reply.status_code == httpx2.codes.CREATED:
                taken += 1
                path = f"/api/v1/approvals/{reply.json()['id']}/cancel"
                client.post(path, json={"reason": "More."})
            else:
                refused += 1
    return taken, refused


async def beside_a_crowd(house):
    """Measure a person and an agent with a short question beside many that ask long ones.

    Each of them keeps within its share; a question of theirs is inspected for about a second.
    """
    agent, reviewer = await Agent.of(house, CROWD), await Reviewer.of(house)
    quiet = await _looks(agent, reviewer)
    crowd = [asyncio.create_task(_asks_long(house, n % CROWD)) for n in range(CROWD * EACH)]
    await asyncio.sleep(2)
    beside = await _looks(agent, reviewer)
    assert not any(task.done() for task in crowd), "The crowd does not ask any more."
    for task in crowd:
        task.cancel()
    await asyncio.gather(*crowd, return_exceptions=True)
    agent.close()
    reviewer.close()
    name = f"{CROWD} agents that ask {EACH} × {LONG_KIB} KiB without pause"
    yield f"beside {name}", ""
    for what, took in beside.items():
        yield f"  {what}", f"{milliseconds(took)}, alone p50 {middle(quiet[what]) * 1000:.1f} ms"


async def _looks(agent, reviewer):
    took = defaultdict(list)

    async def timed(what, work):
        began = time.perf_counter()
        done = await work
        took[what].append(time.perf_counter() - began)
        return done

    for _ in range(LOOKS):
        approval = await timed("submit", agent.submit())
        await timed("queue", reviewer.get("/queue"))
        await timed("page", reviewer.read(approval))
        await timed("decide", reviewer.decide(approval))
        await timed("started", agent.report(approval, "started"))
    return took


async def _asks_long(house, number):
    connection = await Connection.open(house.url)
    headers = {
        "Authorization": f"Bearer {house.tokens[number]}",
        "Content-Type": "application/json",
    }
    while True:
        code = f"# {uuid4()}\n" + "f(x)\n" * (LONG_KIB * 1024 // 5)
        content = {"code": code, "language": "python"}
        body = json.dumps({"kind": "code", "capability": "python_execution", "content": content})
        key = {"Idempotency-Key": uuid4().hex}
        status, answer = await connection.request(
            "POST", "/api/v1/approvals", headers | key, body.encode()
        )
        assert status in {201, 503}, (status, answer[:300])
