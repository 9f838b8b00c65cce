"""In a narrowed list the next request opens, twenty times, while others come and go."""

import asyncio
import itertools
import re
from contextlib import asynccontextmanager

from approval_client import ApprovalRequest
from tests.chromium import expect
from tests.journeys.agents import Agent

COUNT = 20
A_FEW = 6
NARROWINGS = ["risk", "search", "for you", "kind", "assigned"]
MORE = ["by time", "agent", "severity", "group", "capability", "snoozed"]
WAYS = ["keys", "mouse", "touch"]
FILTERS = {
    "kind": "Kind",
    "agent": "Agent",
    "severity": "Risk",
    "group": "Needs approval from",
    "capability": "Capability, exactly",
}


def pytest_generate_tests(metafunc):
    """Try each narrowing in one way; with --long in every way.

    A quick run takes six requests through each of MORE instead of twenty: that shows whether the
    next one opens, and costs a third of the time. With --long it is twenty everywhere.
    """
    if "narrowing" not in metafunc.fixturenames:
        return
    is_long = metafunc.config.getoption("--long")
    every = NARROWINGS + MORE
    all_pairs = [(narrowing, way) for narrowing in every for way in WAYS]
    some = [(narrowing, WAYS[n % 3]) for n, narrowing in enumerate(every)]
    tried = [
        (narrowing, way, COUNT if is_long or narrowing in NARROWINGS else A_FEW)
        for narrowing, way in (all_pairs if is_long else some)
    ]
    ids = [f"{narrowing}-{way}" for narrowing, way, _ in tried]
    metafunc.parametrize(("narrowing", "way", "count"), tried, ids=ids)


def wanted(narrowing, way, number):
    # Each of another look, so that none are folded together.
    function = "eval" if narrowing == "severity" else "print"
    options = {"capability": only(narrowing, way)} if narrowing in {"group", "capability"} else {}
    code = f"{function}('wanted {number}')"
    return ApprovalRequest.code(code, "python", time_limit_s=1200 + number, **options)


def only(narrowing, way):
    """Name what no other test of the same product has."""
    return f"{narrowing}_by_{way}"


def ask_what_does_not_match(agent):
    """Ask what is more urgent than all that is wanted, and is left out by the filters."""
    for number in range(3):
        code = f"len('left out {number}')"
        agent.ask(ApprovalRequest.code(code, "python", time_limit_s=200 + number))


@asynccontextmanager
async def others_coming_and_going(agent):
    """Have other requests come, before those that are wanted and behind them, and go again."""

    enough = asyncio.Event()

    async def come_and_go():
        for number in itertools.count():
            if enough.is_set():
                return
            limit_s = 300 if number % 2 else 3000
            passing = ApprovalRequest.code(f"len('passing {number}')", time_limit_s=limit_s)
            await agent.asks_and_withdraws(passing, after_s=0.4)

    task = asyncio.create_task(come_and_go())
    try:
        yield
    finally:
        enough.set()
        await task


async def narrows(person, narrowing, way):
    page = person.page
    if narrowing == "by time":
        return  # the list as it comes
    if narrowing == "search":
        await page.get_by_role("searchbox").fill("wanted")
    elif narrowing == "risk":
        await page.locator("#filter-order").select_option(label="by risk")
    elif narrowing in FILTERS:
        await page.locator(".filters-more > summary").click()
        field = page.get_by_label(FILTERS[narrowing], exact=True)
        if narrowing == "capability":
            await field.fill(only(narrowing, way))
        else:
            await field.select_option(label=await choice(person, narrowing, way))
    else:
        link = {"assigned": "assigned to you"}.get(narrowing, narrowing)
        await page.get_by_role("link", name=re.compile(link)).click()
    await page.wait_for_url(re.compile(r"[?]"))


async def choice(person, narrowing, way):
    if narrowing == "agent":
        return await person.row("wanted").locator(".item-agent").first.inner_text()
    return {"kind": "Code", "severity": "Medium or high", "group": only("group", way)}[narrowing]


async def takes_all(person, count):
    """Assign every wanted request to oneself, one after the other, by key."""
    await person.presses(person.row("wanted 0'").locator(".item-link"))
    for number in range(count):
        await person.opens(f"wanted {number}'")
        await person.keys("c")
        await person.sees("Assigned to you")
    await person.goes_to("Queue")


async def snoozes_all(person, count):
    """Snooze every wanted request, one after the other, by key."""
    await person.presses(person.row("wanted").first.locator(".item-link"))
    for _ in range(count - 1):
        open_now = await here(person)
        await person.keys("l", "Enter")
        await person.page.locator(f"#request:not([data-id='{open_now}'])").wait_for()
    await person.keys("l", "Enter")
    await person.sees("Snoozed until")
    await person.goes_to("Queue")


async def another_agent(person, name):
    """Add an agent in the pages, and return what it sets."""
    await person.goes_to("Agents")
    await person.types(name, person.page.get_by_label("Name", exact=True))
    await person.presses(person.button("Add the agent"))
    await person.presses(person.button("Issue token"))
    environment = await person.page.locator("#environment").inner_text()
    await person.goes_to("Queue")
    return dict(re.findall(r"(DASHBOARD_\w+)=(\S+)", environment))


async def asks_a_group(person, name):
    """Have the policy ask a group of which this person is, about one capability of that name."""
    page = person.page
    await person.goes_to("People")
    await person.types(name, page.locator("#groups").get_by_label("Name", exact=True))
    await person.presses(person.button("Add group"))
    await person.presses(page.get_by_role("checkbox", name="admin"))
    await person.presses(person.button("Save members"))
    await person.goes_to("Policy")
    await person.presses(person.button("Change the policy"))
    await person.presses(person.link("Add a rule"))
    await person.types(f"A group for {name}", page.get_by_label("Name", exact=True))
    capabilities = page.get_by_label("Capabilities", exact=True)
    if not await capabilities.is_visible():
        folded = page.locator("details").filter(has=capabilities)
        await person.presses(folded.locator("> summary"))
    await person.types(name, capabilities)
    await person.presses(page.get_by_label("Review: people are asked"))
    await person.presses(page.get_by_label(name, exact=True))
    await person.presses(person.button("Save rule"))
    await person.presses(page.get_by_role("button", name="Publish as revision"))
    await person.sees(f"A group for {name}")
    await person.goes_to("Queue")


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


async def test_the_next_request_opens_always(narrowing, way, count, admin, on_a_phone, agent):
    person = on_a_phone if way == "touch" else admin
    another = agent
    if narrowing == "group":
        await asks_a_group(admin, only("group", way))
        await person.page.reload()  # a phone that was open before offers only the groups of then
    elif narrowing == "agent":
        another = Agent(await another_agent(admin, only("agent", way)))
    asked = [agent.ask(wanted(narrowing, way, number)) for number in range(count)]
    rows = person.row("wanted")
    await expect(rows).to_have_count(count, timeout=60_000)
    if narrowing == "assigned":
        await takes_all(admin, count)
    elif narrowing == "snoozed":
        await snoozes_all(admin, count)
    if narrowing in MORE and narrowing != "by time":
        ask_what_does_not_match(another)
        await expect(person.row("left out")).to_have_count(3)
    await narrows(person, narrowing, way)
    await expect(rows).to_have_count(count)
    await expect(person.row("left out")).to_have_count(0)

    decided = set()
    async with others_coming_and_going(agent):
        link = rows.first.locator(".item-link")
        await (person.taps(link) if way == "touch" else person.presses(link))
        while len(decided) < count:
            await person.page.locator("#request").wait_for()
            open_now = await here(person)
            await person.page.wait_for_url(f"**/approvals/{open_now}*")
            content = person.page.locator("#request [aria-labelledby=content-title]")
            text = await content.inner_text()
            assert "left out" not in text
            if "wanted" in text:
                await approves_by(person, way)
                decided.add(open_now)
            if len(decided) < count:
                await goes_on_from(person, open_now, way)

    answers = await asyncio.gather(*map(agent.answer_to, asked))
    await another.go()
    assert [answer.approved for answer in answers] == [True] * count
