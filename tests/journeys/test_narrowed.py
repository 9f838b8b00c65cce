"""In a narrowed list the next request opens, twenty times, while others come and go."""

import asyncio
import re
from contextlib import asynccontextmanager

from approval_client import ApprovalRequest
from tests.chromium import expect

COUNT = 20
NARROWINGS = ["risk", "search", "for you", "kind", "assigned"]
WAYS = ["keys", "mouse", "touch"]


def pytest_generate_tests(metafunc):
    """Try each narrowing in one way; with --long in every way."""
    if "narrowing" not in metafunc.fixturenames:
        return
    all_pairs = [(narrowing, way) for narrowing in NARROWINGS for way in WAYS]
    some = [(narrowing, WAYS[n % 3]) for n, narrowing in enumerate(NARROWINGS)]
    pairs = all_pairs if metafunc.config.getoption("--long") else some
    metafunc.parametrize(("narrowing", "way"), pairs, ids=map("-".join, pairs))


def numbered(number):
    # Each of another look, so that none are folded together.
    return ApprovalRequest.code(f"print('wanted {number}')", "python", time_limit_s=1200 + number)


@asynccontextmanager
async def others_coming_and_going(agent):
    """Have other requests come, before those that are wanted and behind them, and go again."""

    async def come_and_go():
        for number in range(1000):
            limit_s = 300 if number % 2 else 3000
            passing = ApprovalRequest.code(f"len('passing {number}')", time_limit_s=limit_s)
            asked = agent.ask(passing)
            await asyncio.sleep(0.4)
            asked.cancel()

    task = asyncio.create_task(come_and_go())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def narrows(person, narrowing):
    page = person.page
    if narrowing == "search":
        await page.get_by_role("searchbox").fill("wanted")
    elif narrowing == "risk":
        await page.locator("#filter-order").select_option(label="by risk")
    elif narrowing == "for you":
        await page.get_by_role("link", name=re.compile("for you")).click()
    elif narrowing == "kind":
        await page.locator(".filters-more > summary").click()
        await page.get_by_label("Kind").select_option(label="Code")
    elif narrowing == "assigned":
        await page.get_by_role("link", name=re.compile("assigned to you")).click()
    await page.wait_for_url(re.compile(r"[?]"))


async def takes_all(person):
    """Assign every wanted request to oneself, one after the other, by key."""
    await person.presses(person.row("wanted 0'").locator(".item-link"))
    for number in range(COUNT):
        await person.opens(f"wanted {number}'")
        await person.keys("c")
        await person.sees("Assigned to you")


async def here(person):
    return await person.page.locator("#request").get_attribute("data-id")


async def approves_by(person, way):
    button = person.button("Approve")
    if way == "keys":
        await person.keys("a", "Enter")
    elif way == "mouse":
        await person.presses(button)
    else:
        await person.holds(button)


async def goes_on_from(person, open_now, way):
    """Wait until another request is open; one that was withdrawn meanwhile is left by its link."""
    page = person.page
    another = page.locator(f"#request:not([data-id='{open_now}'])")
    # Of the one that is open: elsewhere on the page others are withdrawn too.
    present = page.locator(f"#request[data-id='{open_now}']")
    withdrawn = present.get_by_text("Withdrawn by the agent")
    await another.or_(withdrawn).first.wait_for()
    if await withdrawn.count():
        link = person.link("Next request")
        await (person.taps(link) if way == "touch" else person.presses(link))
    await another.wait_for()


async def test_the_next_request_opens_always(narrowing, way, admin, on_a_phone, agent):
    person = on_a_phone if way == "touch" else admin
    asked = [agent.ask(numbered(number)) for number in range(COUNT)]
    await expect(person.row("wanted")).to_have_count(COUNT, timeout=60_000)
    if narrowing == "assigned":
        await takes_all(admin)
        await admin.presses(admin.link("Queue"))
    await narrows(person, narrowing)
    rows = person.row("wanted")
    await expect(rows).to_have_count(COUNT)

    decided = set()
    async with others_coming_and_going(agent):
        link = rows.first.locator(".item-link")
        await (person.taps(link) if way == "touch" else person.presses(link))
        while len(decided) < COUNT:
            await person.page.locator("#request").wait_for()
            open_now = await here(person)
            await person.page.wait_for_url(f"**/approvals/{open_now}*")
            content = person.page.locator("#request [aria-labelledby=content-title]")
            if "wanted" in await content.inner_text():
                await approves_by(person, way)
                decided.add(open_now)
            if len(decided) < COUNT:
                await goes_on_from(person, open_now, way)

    answers = await asyncio.gather(*map(agent.answer_to, asked))
    assert [answer.approved for answer in answers] == [True] * COUNT
