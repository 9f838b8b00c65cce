"""Stopped again and again under load, a server answers what it took and takes nothing new."""

import asyncio
import json
import random
import re
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID, uuid4

import pytest

from tests.faults.talking import talking
from tests.serving import CSRF, POSTGRESQL, question, serve

ROOM = {"PENDING_PER_TOKEN": "10000", "WAITS_PER_TOKEN": "1000"}
SUBMITTERS, WAITS, REVIEWERS = 4, 30, ("alice", "bob", "carol")
VERDICTS = {"approve": "approved", "reject": "rejected"}
MOST_PENDING = 60  # with more, submitters repeat what they asked before
WARM_UP = 60, 5  # answers and decisions between a start and the next stop
PAUSE_S = 0.02


@dataclass
class Try:
    """One request on a connection of its own. Moments are in seconds of one clock."""

    began_at: float
    sent_at: float = 0.0
    ended_at: float = 0.0
    status: int = 0  # 0: no answer came


class Crowd:
    """Agents and reviewers who go on whatever happens, and keep what they were told."""

    def __init__(self, asker, decider):
        self.asker, self.decider = asker, decider
        # Not set while nobody serves, or a start would compete with tries that are in vain; and
        # waits come back when all is well again, as the client does, which backs off.
        self.serving, self.well = asyncio.Event(), asyncio.Event()
        self.serving.set()
        self.well.set()
        self.tries = []
        self.submitted = {}  # {id: key}, as acknowledged
        self.decided = {}  # {id: status}, as acknowledged
        self.told = {}  # {id: status}, as agents were told
        self.undecided = []
        self.untold = [[] for _ in range(SUBMITTERS)]  # ids by agent

    def everybody(self):
        """What they do, for ever."""
        yield from (self.submit(number) for number in range(SUBMITTERS))
        yield from (self.wait(number) for number in range(WAITS))
        yield from (self.decide(name) for name in REVIEWERS)

    async def submit(self, agent):
        key = uuid4().hex
        while True:
            asked = question(key, content={"code": f"print('{key}')", "language": "python"})
            sent = ("POST", "/api/v1/approvals", asked["content"])
            status, body = await self.once(self.asker, agent, *sent, **asked["headers"])
            if status not in {200, 201}:
                continue
            pk = json.loads(body)["id"]
            if pk not in self.submitted:
                self.submitted[pk] = key
                self.undecided.append(pk)
                self.untold[agent].append(pk)
            assert self.submitted[pk] == key
            if len(self.undecided) < MOST_PENDING:
                key = uuid4().hex

    async def wait(self, number):
        agent = number % SUBMITTERS
        while True:
            await asyncio.sleep(PAUSE_S)
            await self.well.wait()
            untold = self.untold[agent]
            if not untold:
                continue
            pk = untold[number % len(untold)]
            path = f"/api/v1/approvals/{pk}/wait?hold=25"
            status, body = await self.once(self.asker, agent, "GET", path)
            if status == 200 and (said := json.loads(body)["status"]) != "pending":
                assert self.told.setdefault(pk, said) == said
                self.untold[agent] = [other for other in untold if other != pk]

    async def decide(self, name):
        while True:
            await asyncio.sleep(PAUSE_S)
            if self.undecided:
                await self.decide_one(name, random.choice(self.undecided[:10]))  # noqa: S311

    async def decide_one(self, name, pk):
        status, page = await self.once(self.decider, name, "GET", f"/approvals/{pk}")
        fields = r'name="(digest|judgement|shown)" value="([^"]+)"'
        form = dict(re.findall(fields, page.decode()))
        if status != 200:
            return
        if len(form) == 3:
            verdict = random.choice(list(VERDICTS))  # noqa: S311 - either will do
            form |= {"verdict": verdict, "csrfmiddlewaretoken": CSRF, "end_seen": "yes"}
            kind = {"Content-Type": "application/x-www-form-urlencoded"}
            sent = ("POST", f"/approvals/{pk}/decide", urlencode(form).encode())
            status, _ = await self.once(self.decider, name, *sent, **kind)
            if status == 303:
                self.decided[pk] = VERDICTS[verdict]
        if status in {200, 303, 409}:  # closed, by this one or by somebody else
            self.undecided = [other for other in self.undecided if other != pk]

    async def once(self, connect, who, *sent, **headers):
        """Send a request on a new connection; returns (status, body), status 0 for no answer."""
        await self.serving.wait()
        one, body = Try(time.monotonic()), b""
        self.tries.append(one)
        with suppress(OSError):
            talker = await connect(who)
            talker.send(*sent, **headers)
            one.sent_at = time.monotonic()
            one.status, _, body = await talker.answer()
            talker.close()
        one.ended_at = time.monotonic()
        if not one.status:
            await asyncio.sleep(PAUSE_S)
        return one.status, body

    async def is_busy(self):
        """Wait until so many more answers and decisions came."""
        answers, decisions = WARM_UP
        tried, decisions = len(self.tries), len(self.decided) + decisions
        while sum(bool(one.status) for one in self.tries[tried:]) < answers:
            await asyncio.sleep(PAUSE_S)
        while len(self.decided) < decisions:
            await asyncio.sleep(PAUSE_S)


@dataclass
class Stop:
    """One stop: exit codes, and when it was asked for, said and over."""

    codes: list[int]
    everybody: bool
    asked_at: float
    said_at: float
    ended_at: float

    def answered_late(self, tries):
        """Answers to what began when nobody accepted anything any more."""
        late = [one for one in tries if one.status and self.said_at < one.began_at]
        return sum(one.ended_at < self.ended_at for one in late) if self.everybody else 0

    def unanswered(self, tries):
        """What was sent before, and not answered; while another one serves, whatever was sent."""
        until = self.asked_at if self.everybody else self.ended_at
        left = [one for one in tries if not one.status and 0 < one.sent_at < until]
        return sum(one.ended_at > self.asked_at for one in left)


async def stop(house, crowd, servers):
    """Stop ``servers`` while the crowd goes on."""
    await crowd.is_busy()
    everybody = len(servers) == len(house.servers)
    if everybody:
        crowd.well.clear()
    asked_at = time.monotonic()
    for server in servers:
        server.send(signal.SIGTERM)
    while any(one.process.poll() is None and not one.has_said("Stopping") for one in servers):
        await asyncio.sleep(0.005)
    said_at = time.monotonic()
    codes = [(await asyncio.to_thread(server.ended))[0] for server in servers]
    if everybody:
        crowd.serving.clear()
    return Stop(codes, everybody, asked_at, said_at, time.monotonic())


async def stopped(house, rounds):
    """Stop all servers and, where there are several, one of them, in turn."""
    stops = []
    async with talking(house) as (asker, decider):
        crowd = Crowd(asker, decider)
        going_on = [asyncio.create_task(work) for work in crowd.everybody()]
        for number in range(rounds):
            several = len(house.servers) > 1 and number % 2
            stops.append(await stop(house, crowd, house.servers[:1] if several else house.servers))
            await asyncio.to_thread(house.start)
            crowd.serving.set()
            crowd.well.set()
        await crowd.is_busy()
        for task in going_on:
            task.cancel()
        for ended in await asyncio.gather(*going_on, return_exceptions=True):
            assert isinstance(ended, asyncio.CancelledError), repr(ended)
    return stops, crowd


@pytest.fixture(scope="module")
def house():
    # On PostgreSQL two share a socket, which stays open while nobody serves.
    sharing = {"processes": 2} if POSTGRESQL else {"listens_itself": True}
    with serve(environment=ROOM, **sharing) as house:
        yield house


async def test_stops_under_load_lose_nothing_and_take_nothing_new(house, rounds):
    stops, crowd = await stopped(house, rounds)

    known = {
        str(UUID(str(pk))): row
        for pk, *row in house.rows(
            "SELECT id, status, idempotency_key FROM dashboard_approvalrequest"
        )
    }
    print(  # noqa: T201 - figures
        f"{rounds} stops: {max(one.ended_at - one.asked_at for one in stops):.1f} s at the most, "
        f"{len(crowd.tries)} tries, acknowledged {len(crowd.submitted)} submissions and "
        f"{len(crowd.decided)} decisions, told {len(crowd.told)}"
    )
    assert [code for one in stops for code in one.codes if code] == []
    assert [one.answered_late(crowd.tries) for one in stops] == [0] * rounds
    assert [one.unanswered(crowd.tries) for one in stops] == [0] * rounds
    assert {pk: known[pk][1] for pk in crowd.submitted} == crowd.submitted
    assert {pk: known[pk][0] for pk in crowd.decided} == crowd.decided
    assert {pk: known[pk][0] for pk in crowd.told} == crowd.told
    assert house.audit_is_whole() is True
    assert house.errors() == []
