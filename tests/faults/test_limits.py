"""Bodies that are too large or too slow cost the server little, and nobody else anything."""

import asyncio
import time

import pytest

from tests.faults.talking import talking

MEGABYTE = 2**20
MAY_GROW_MB = 30


def body_of(megabytes, *, chunked):
    piece = b"x" * 65536
    for _ in range(megabytes * MEGABYTE // len(piece)):
        yield b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece
    yield b"0\r\n\r\n" if chunked else b""


async def pour(talker, megabytes, *, chunked):
    """Send a body until the server has had enough; returns the status, 0 for a cut connection."""
    length = f"Content-Length: {megabytes * MEGABYTE}"
    head = "Transfer-Encoding: chunked" if chunked else length
    lines = [f"{name}: {value}" for name, value in talker.headers.items()]
    lines = ["POST /api/v1/approvals HTTP/1.1", *lines, "Content-Type: application/json", head]
    talker.writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
    try:
        for piece in body_of(megabytes, chunked=chunked):
            talker.writer.write(piece)
            await talker.writer.drain()
    except OSError:
        pass
    return (await talker.answer())[0]


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("megabytes", [3, 40])
async def test_large_bodies_are_refused_and_not_kept(house, megabytes, chunked):
    before_mb = house.server.rss_mb
    async with talking(house) as (asker, _):
        agents = [await asker() for _ in range(5)]
        statuses = await asyncio.gather(*(pour(a, megabytes, chunked=chunked) for a in agents))
        alive = await (await asker()).ask("GET", "/healthz")

    print(statuses, f"Memory: {house.server.rss_mb - before_mb:+.1f} MB")  # noqa: T201 - a figure
    assert set(statuses) == {413}
    assert alive[0] == 200
    assert house.server.rss_mb - before_mb < MAY_GROW_MB


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_just_over_the_limit_is_told_so(house, chunked):
    async with talking(house) as (asker, _):
        agent = await asker()
        assert await pour(agent, 1, chunked=chunked) == 400  # a megabyte of x is no JSON
        status = await pour(await asker(), 2, chunked=chunked)

    assert status == 413


async def test_slow_bodies_hold_up_nobody_else(house):
    async with talking(house) as (asker, decider):
        for _ in range(100):
            slow = await asker()
            slow.writer.write(b"POST /api/v1/approvals HTTP/1.1\r\nContent-Length: 99\r\n\r\n{")
        agent, person = await asker(), await decider()
        began = time.monotonic()
        approval = await agent.submit()
        await person.read(approval)
        person.decide()
        answer = await person.answer()
        took_s = time.monotonic() - began

    assert answer[0] == 303
    assert took_s < 10  # the slow bodies never end
