"""How long a question takes until it stands on a reviewer's screen, in a real browser."""

import asyncio
import time

from tests.benchmarks.figures import milliseconds
from tests.browser.conftest import ARGUMENTS, CHROMIUM
from tests.browser.house import open_house

APART_S = 0.3  # a burst of questions would be shown together
WATCH = """
(id) => new Promise((resolve) => {
  const look = () => document.querySelector(`.item[data-id="${id}"]`) && resolve(Date.now());
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
  look();
})
"""


def to_the_screen(rounds):
    """From the moment that a question was stored until its row is in the page."""
    with open_house() as house:
        return {
            "question stored → on the screen": milliseconds(asyncio.run(_rounds(house, rounds)))
        }


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
