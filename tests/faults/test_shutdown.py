"""SIGTERM loses nothing: whoever waits for an answer of the server gets one."""

import asyncio
import signal
import time
from collections import Counter
from contextlib import suppress
from types import SimpleNamespace

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.faults.talking import talking
from tests.serving import serve

ROOM = {"PENDING_PER_TOKEN": "10000", "WAITS_PER_TOKEN": "1000"}
WITHIN_S = 15


@pytest.fixture(scope="module")
def house():
    with serve(environment=ROOM) as house:
        yield house
        assert house.audit_is_whole() is True
        assert house.errors() == []


@pytest.fixture(scope="module")
def stops(house, rounds, thorough):
    """What everybody was told when a busy server was stopped, a few times over."""
    decisions, waits = (50, 500) if thorough else (15, 100)
    return [asyncio.run(stopped(house, decisions, waits)) for _ in range(rounds)]


@pytest.fixture
def running(house):
    house.start()
    yield house
    house.server.kill()


async def stopped(house, decisions, waits):
    """Stop a server on which everybody is in the middle of something; returns what they got."""
    house.start()
    async with talking(house) as (asker, decider), open_page(house) as page:
        reading = asyncio.create_task(read_all(page))
        late, idle = await asker(), await asker()
        approval = await idle.submit()
        deciders = [await ready_to_decide(idle, decider) for _ in range(decisions)]
        waiters = await waiting(asker, approval, waits)
        recorded = decisions_in(house) + decisions
        with house.nobody_writes():
            for one in deciders:
                one.decide()
            await asyncio.sleep(0.2)
            house.server.send(signal.SIGTERM)
            began = time.monotonic()
            await asyncio.sleep(0.1)
            late.begin_to_wait(approval)
            first = await waiters[0].told()
        told = [first, *await asyncio.gather(*(one.told() for one in [*waiters[1:], late]))]
        answers = await asyncio.gather(*(one.answer() for one in deciders))
        await reading
        code, _ = await asyncio.to_thread(house.server.ended)
        return SimpleNamespace(
            code=code,
            took_s=time.monotonic() - began,
            answers=answers,
            told=told,
            lost=recorded - decisions_in(house),
            page=page.close_code,
            idle=await idle.answer(),
        )


def open_page(house):
    headers = house.headers_of("alice")
    address = house.url.replace("http", "ws") + "/ws/queue/"
    cookie = {"Cookie": headers["Cookie"]}
    return connect(address, origin=headers["Origin"], additional_headers=cookie)


async def read_all(page):
    with suppress(ConnectionClosed):
        async for _ in page:
            pass


async def waiting(asker, approval, count):
    waiters = [await asker() for _ in range(count)]
    for waiter in waiters:
        waiter.begin_to_wait(approval)
    return waiters


async def ready_to_decide(agent, decider):
    person = await decider()
    await person.read(await agent.submit())
    return person


def decisions_in(house):
    return house.rows("SELECT count(*) FROM dashboard_decision")[0][0]


def test_every_decision_is_answered_and_recorded(stops):
    for stop in stops:
        assert {status for status, _, _ in stop.answers} == {303}
        assert stop.lost == 0


def test_every_wait_is_answered_pending_also_one_that_came_late(stops):
    for stop in stops:
        assert Counter(stop.told) == {(200, "pending"): len(stop.told)}


def test_open_pages_are_told_to_come_back(stops):
    assert {stop.page for stop in stops} == {1012}


def test_the_last_answers_say_that_the_connection_ends(stops):
    for stop in stops:
        assert {headers["connection"] for _, headers, _ in stop.answers} == {"close"}


def test_it_ends_in_time_whoever_stays_connected(stops):
    print(f"SIGTERM: {[round(stop.took_s, 2) for stop in stops]} s")  # noqa: T201 - a figure
    for stop in stops:
        assert (stop.code, stop.idle) == (0, (0, {}, b""))
        assert stop.took_s < WITHIN_S


async def test_asked_twice_it_ends_at_once_and_says_that_it_did(running):
    async with talking(running) as (asker, _):
        slow = await asker()
        slow.writer.write(b"POST /api/v1/approvals HTTP/1.1\r\nContent-Length: 9\r\n\r\n{")
        await asyncio.sleep(0.2)
        running.server.send(signal.SIGTERM)
        await asyncio.sleep(0.5)
        assert running.server.process.poll() is None
        running.server.send(signal.SIGTERM)
        code, took_s = await asyncio.to_thread(running.server.ended)

    assert code == 1
    assert took_s < 1


async def test_asked_twice_it_does_not_wait_for_the_database(running):
    async with talking(running) as (asker, decider):
        person = await ready_to_decide(await asker(), decider)
        with running.nobody_writes():
            person.decide()
            await asyncio.sleep(0.2)
            running.server.send(signal.SIGTERM)
            await asyncio.sleep(0.1)
            running.server.send(signal.SIGTERM)
            code, took_s = await asyncio.to_thread(running.server.ended)

    assert code == 1
    assert took_s < 1
