"""More connections than a process has files for: who says nothing makes room for who does."""

import asyncio
from collections import Counter

import pytest

from tests.faults.talking import talking
from tests.faults.test_shutdown import open_page
from tests.serving import serve

FILES, CONNECTIONS, WAITS = 256, 102, 76
LARGE = b"PUT /api/v1/notebooks/x HTTP/1.1\r\nContent-Length: 200000\r\n\r\n{"
SILENT = [
    b"",
    b"GET / HT",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\n",
    b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n{",
    LARGE,
    b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
]


@pytest.fixture(scope="module")
def small():
    """A dashboard that may open few files."""
    with serve(files=FILES, environment={"WAITS_PER_TOKEN": "1000"}) as small:
        yield small
        assert small.errors() == []
        assert small.audit_is_whole() is True


async def crowd(asker, count, words):
    """Open connections, send ``words`` on each, and leave them."""
    for _ in range(count):
        one = await asker()
        one.writer.write(words)


def troubles(house):
    """The lines of the log, without those that each request has."""
    return [line for line in house.logs().splitlines() if " dashboard.requests: " not in line]


@pytest.mark.parametrize("words", SILENT)
async def test_whoever_has_no_token_locks_nobody_out(small, words):
    lines = len(troubles(small))
    async with talking(small) as (asker, decider), open_page(small) as page:
        approval = await (await asker()).submit()
        waiter = await asker()
        waiter.begin_to_wait(approval)
        await crowd(asker, 3 * CONNECTIONS, words)

        await (await asker()).submit()
        await (person := await decider()).read(approval)
        person.decide()
        decided = (await person.answer())[0]
        told = await waiter.told()
        await page.ping()

    assert (decided, told) == (303, (200, "approved"))
    assert len(troubles(small)) - lines <= 2


async def test_agents_that_wait_leave_room_for_people(small):
    async with talking(small) as (asker, decider):
        approval = await (await asker()).submit()
        waiters = [await asker() for _ in range(WAITS + 10)]
        for waiter in waiters:
            waiter.begin_to_wait(approval)
        answers = [asyncio.create_task(waiter.answer()) for waiter in waiters]
        while sum(answer.done() for answer in answers) < 10:
            await asyncio.sleep(0.02)
        person = await decider()
        await person.read(approval)
        person.decide()
        decided = (await person.answer())[0]
        told = Counter([(await answer)[0] for answer in answers])

    assert (decided, told) == (303, {200: WAITS, 429: 10})


async def test_whoever_does_not_fit_is_served_as_soon_as_there_is_room(small):
    """Pages that are open fill a process, and none of them is closed for another."""
    async with talking(small) as (asker, _):
        pages = [await open_page(small) for _ in range(CONNECTIONS)]
        late = await asker()
        late.send("GET", "/healthz")
        await asyncio.gather(*(page.ping() for page in pages))
        await pages[0].close()
        status, _, _ = await late.answer()
        await asyncio.gather(*(page.close() for page in pages))

    assert status == 200


def test_the_start_says_how_many_agents_fit(small):
    said = small.logs()

    assert (
        f"{WAITS} agents can wait here at a time, not 5,000 (WAITS_PER_PROCESS), because this "
        f"process may open {FILES} files."
    ) in said


async def test_a_form_that_cannot_be_read_is_answered_with_a_page(small):
    async with talking(small) as (asker, _):
        status, _, page = await (await asker()).ask(
            "POST",
            "/sign-in",
            b"x=1",
            **{"Content-Type": "multipart/form-data", "Origin": small.url},
        )

    assert (status, b"This page is out of date" in page) == (403, True)
