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
from tests.serving import Server, serve

UNABLE_TO_STOP = """
import runpy, sys
from daphne import server
from twisted.internet.tcp import Port

def fails(port):
    raise OSError("The socket is gone.")

Port.stopListening = fails
sys.argv[0] = "manage.py"
runpy.run_path("manage.py", run_name="__main__")
"""
ROOM = {"PENDING_PER_TOKEN": "10000", "WAITS_PER_TOKEN": "1000"}
WITHIN_S = 15


@pytest.fixture(scope="module")
def house():
    with serve(environment=ROOM) as house:
        yield house
        assert house.audit_is_whole() is True
        assert house.errors() == []


@pytest.fixture(scope="module")
def stops(house, rounds, in_full):
    """What everybody was told when a busy server was stopped, a few times over."""
    decisions, waits = (50, 500) if in_full else (15, 100)
    return [asyncio.run(stopped(house, decisions, waits)) for _ in range(rounds)]


@pytest.fixture(scope="module")
def alone():
    """A dashboard that opened its address itself, as ``start --port`` does."""
    with serve(listens_itself=True) as alone:
        yield alone
        assert alone.audit_is_whole() is True
        assert alone.errors() == []


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


async def half_a_request(asker, words):
    """Send what is not a whole request; the server has begun to read it when this returns."""
    slow = await asker()
    slow.writer.write(words)
    await slow.writer.drain()


def largest_file(house):
    """The path and the size of what no buffers between server and client can hold."""
    folder = house.folder / "static"
    file = max(folder.rglob("*.map"), key=lambda path: path.stat().st_size)
    return "/static/" + file.relative_to(folder).as_posix(), file.stat().st_size


async def not_reading(asker, path):
    """Ask for a file and read none of it; the server has written what it can by then."""
    deaf = await asker()
    deaf.writer.transport.pause_reading()
    deaf.send("GET", path)
    await (await asker()).ask("GET", path)
    return deaf


async def until_refused(asker):
    """Connect until nobody listens; says whether that came."""
    for _ in range(100):
        try:
            (await asker()).close()
        except ConnectionRefusedError:
            return True
        await asyncio.sleep(0.02)
    return False


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


async def test_nobody_can_connect_once_it_stops(alone):
    alone.start()
    async with talking(alone) as (asker, decider):
        person = await ready_to_decide(await asker(), decider)
        with alone.nobody_writes():
            person.decide()  # it cannot end before this is answered
            alone.server.send(signal.SIGTERM)
            refused = await until_refused(asker)
        answer = await person.answer()
        code, _ = await asyncio.to_thread(alone.server.ended)

    assert refused
    assert (answer[0], code) == (303, 0)


async def test_it_does_not_wait_for_who_sends_half_a_request_or_nothing_or_never_reads(running):
    path, _ = largest_file(running)
    async with talking(running) as (asker, _):
        await not_reading(asker, path)
        await half_a_request(asker, b"")
        await half_a_request(asker, b"GET /healthz HT")
        await half_a_request(asker, b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
        await half_a_request(asker, b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n{")
        await (await asker()).ask("GET", "/healthz")  # what came before is read
        code, _ = await asyncio.to_thread(running.server.end)

    assert code == 0


async def test_an_answer_that_is_read_slowly_arrives_whole(running):
    path, size = largest_file(running)
    async with talking(running) as (asker, _):
        slow = await not_reading(asker, path)
        running.server.send(signal.SIGTERM)
        for _ in range(10):  # as long as a server takes that waits for nobody
            await asyncio.sleep(0.05)
        slow.writer.transport.resume_reading()
        status, _, body = await slow.answer()
        code, _ = await asyncio.to_thread(running.server.ended)

    assert (status, len(body), code) == (200, size, 0)


def test_where_it_cannot_stop_in_order_it_says_so_and_fails(house):
    house.server.kill()
    python, _, *command = house.server.command
    log = house.folder / "unable"  # not one of the logs in which no error is expected
    unable = Server(
        [python, "-c", UNABLE_TO_STOP, *command], log, house.environment, house.server.descriptors
    )
    unable.start()
    try:
        house.until_ready(unable)
        code, _ = unable.end()
    finally:
        unable.kill()

    assert code == 1
    assert "OSError: The socket is gone." in log.read_text()


async def test_asked_twice_it_ends_at_once_and_waits_for_no_client_and_no_database(running):
    async with talking(running) as (asker, decider):
        person, slow = await ready_to_decide(await asker(), decider), await asker()
        with running.nobody_writes():
            person.decide()
            slow.writer.write(b"POST /api/v1/approvals HTTP/1.1\r\nContent-Length: 9\r\n\r\n{")
            await asyncio.sleep(0.2)
            running.server.send(signal.SIGTERM)
            await asyncio.sleep(0.5)
            assert running.server.process.poll() is None
            running.server.send(signal.SIGTERM)
            code, took_s = await asyncio.to_thread(running.server.ended)

    assert code == 1
    assert took_s < 1
