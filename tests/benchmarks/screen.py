"""How long a question takes to reach an open page: its socket, and the screen of a browser."""

import asyncio
import json
import time

import websockets

from tests.benchmarks.callers import Agent
from tests.benchmarks.figures import middle, milliseconds, times
from tests.browser.conftest import ARGUMENTS, CHROMIUM
from tests.browser.house import open_house

TIMES_ASKED, ASKED_MS = 3, 60
APART_S = 0.3  # a burst of questions would be shown together
WATCH = """
(id) => new Promise((resolve) => {
  const look = () => document.querySelector(`.item[data-id="${id}"]`) && resolve(Date.now());
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
  look();
})
"""


async def to_the_socket(house, rounds):
    """From sending the question until a reviewer's page hears of it, beside its own answer."""
    agent, heard, answered = await Agent.of(house), [], []
    address = house.url.replace("http", "ws", 1) + "/ws/queue/"
    cookie = {"Cookie": house.headers_of("alice")["Cookie"]}
    async with websockets.connect(address, origin=house.url, additional_headers=cookie) as socket:
        for _ in range(rounds):
            began = time.perf_counter()
            submitted = asyncio.create_task(_submitted(agent))
            news = json.loads(await socket.recv())
            heard.append(time.perf_counter() - began)
            approval, at = await submitted
            answered.append(at - began)
            assert news["id"] == approval["id"]
    agent.close()
    return [
        ("submit, answered", milliseconds(answered)),
        ("submit → reviewer's socket", milliseconds(heard)),
        ("  to submit itself", times([middle(heard)], [middle(answered)], TIMES_ASKED)),
    ]


async def _submitted(agent):
    return await agent.submit(), time.perf_counter()


def to_the_screen(rounds):
    """From the moment that a question was stored until its row is in the page."""
    with open_house() as house:
        took = milliseconds(asyncio.run(_rounds(house, rounds)))
    return {"question stored → on the screen": f"{took}, asked {ASKED_MS} ms"}


async def _rounds(house, rounds):
    from playwright.async_api import async_playwright  # noqa: PLC0415 - may be absent

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        context = await browser.new_context()
        await context.add_cookies(house.sign_in())
        page = await context.new_page()
        await page.goto(house.url)
        await page.locator("#live[data-state=live]").wait_for()
        took = [await _round(house, page) for _ in range(rounds)]
        await browser.close()
    return took


async def _round(house, page):
    await asyncio.sleep(APART_S)
    approval = await asyncio.to_thread(house.submit)
    stored_at = time.time()
    return max(0.0, await page.evaluate(WATCH, approval["id"]) / 1000 - stored_at)
