"""How long a person's answer takes to reach the agent, and a question to reach the page."""

import asyncio
import json
import time
from datetime import datetime
from uuid import uuid4

import websockets

from tests.benchmarks.figures import milliseconds
from tests.benchmarks.http import AgentConnection, Connection

QUESTION = {
    "kind": "code",
    "capability": "python_execution",
    "content": {"code": "print('Hello')", "language": "python"},
}


async def agent(house, number=0):
    connection = await AgentConnection.open(house.url)
    connection.token = house.tokens[number]
    return connection


async def ask(connection):
    return await connection.ask("POST", "/approvals", QUESTION, key=uuid4().hex)


async def to_the_agent(house, rounds):
    """From the decision's own moment, before its commit, until the agent holds the answer."""
    asking, waiting = await agent(house), await agent(house)
    reviewer = await Connection.open(house.url)
    took, pressed = [], []
    for _ in range(rounds):
        approval = await ask(asking)
        answer = asyncio.create_task(
            waiting.ask("GET", f"/approvals/{approval['id']}/wait?hold=20")
        )
        await asyncio.sleep(0.01)
        began = time.perf_counter()
        reviewer.send("POST", f"/decide/{approval['id']}")
        decided_at = (await answer)["decision"]["decided_at"]
        took.append(time.time() - datetime.fromisoformat(decided_at).timestamp())
        pressed.append(time.perf_counter() - began)
        await reviewer.receive()
    return {
        "decision → agent": milliseconds(took),
        "press (service called) → agent": milliseconds(pressed),
    }


async def to_the_page(house, rounds):
    """From sending the question until a reviewer's page hears of it."""
    asking, took = await agent(house), []
    address = house.url.replace("http", "ws", 1) + "/ws/queue/"
    cookie = {"Cookie": house.headers_of("alice")["Cookie"]}
    page = await websockets.connect(address, origin=house.url, additional_headers=cookie)
    for _ in range(rounds):
        began = time.perf_counter()
        approval = asyncio.create_task(ask(asking))
        news = json.loads(await page.recv())
        took.append(time.perf_counter() - began)
        assert news["id"] == (await approval)["id"]
    await page.close()
    return {"submit → reviewer's socket": milliseconds(took)}


async def of_the_floor(url, rounds):
    """One request to a bare application on the same server."""
    connection, took = await Connection.open(url), []
    for _ in range(rounds):
        began = time.perf_counter()
        await connection.request("GET", "/")
        took.append(time.perf_counter() - began)
    return {"floor: one bare request": milliseconds(took)}
