"""A page asks again by itself no sooner than five times what its last answer took."""

import asyncio
import re

import pytest
import pytest_asyncio

from tests.browser.conftest import expect

SLOW_MS, PAUSE_MS = 400, 2000
QUIET_MS, STEP_MS = 20_000, 500
PACED = """
async () => {
  const { paced } = await import("/static/js/pacing.js");
  window.asked = 0;
  const ask = () => new Promise((resolve) => { asked += 1; window.answer = resolve; });
  window.ring = paced(ask, 150);
}
"""

ANSWERED = """
(url) => {
  window.answered = new Promise((resolve) => {
    document.addEventListener("htmx:afterRequest", function heard({ detail }) {
      if (detail.xhr.responseURL !== url) return;
      document.removeEventListener("htmx:afterRequest", heard);
      resolve();
    });
  });
}
"""


@pytest_asyncio.fixture(loop_scope="session")
async def page(visit):
    """A page whose clock the test turns, with something that it asks for."""
    page = await visit("/policies")
    await page.clock.install()
    await page.clock.pause_at(await page.evaluate("Date.now() + 1000"))
    await page.evaluate(PACED)
    return page


async def ring(page, times=1, *, urgently=False):
    for _ in range(times):
        await page.evaluate("(urgently) => ring(urgently)", urgently)
    await page.clock.run_for(1)


async def answer(page, after_ms):
    await page.clock.run_for(after_ms)
    await page.evaluate("answer()")


def asked(page):
    return page.evaluate("asked")


async def test_on_a_quiet_server_it_asks_at_once(page):
    await ring(page)
    assert await asked(page) == 1
    await answer(page, after_ms=20)
    await page.clock.run_for(200)

    await ring(page)

    assert await asked(page) == 2


async def test_after_a_slow_answer_it_waits_five_times_as_long(page):
    await ring(page)
    await answer(page, after_ms=SLOW_MS)

    await ring(page, times=10)
    await page.clock.run_for(PAUSE_MS - 10)
    assert await asked(page) == 1
    await page.clock.run_for(20)

    assert await asked(page) == 2


async def test_what_is_rung_during_an_answer_is_asked_once_after_it(page):
    await ring(page)
    await ring(page, times=10)
    await answer(page, after_ms=SLOW_MS)
    assert await asked(page) == 1

    await page.clock.run_for(PAUSE_MS + 10)
    assert await asked(page) == 2
    await answer(page, after_ms=SLOW_MS)
    await page.clock.run_for(10 * PAUSE_MS)

    assert await asked(page) == 2


async def test_what_a_person_pressed_does_not_wait(page):
    await ring(page)
    await answer(page, after_ms=SLOW_MS)
    await ring(page)

    await ring(page, urgently=True)

    assert await asked(page) == 2


async def test_an_hour_of_sleep_is_not_waited_for_five_times(page):
    await ring(page)
    await answer(page, after_ms=3_600_000)

    await ring(page)
    await page.clock.run_for(30_000)

    assert await asked(page) == 2


class Slow:
    """Holds the answers to one address of a page, whose clock the test turns, until let go."""

    def __init__(self, page):
        self.page, self.count, self.held = page, 0, asyncio.Queue()

    async def hold(self, route):
        self.count += 1
        await self.held.put(route)

    async def answer(self, after_ms):
        route = await asyncio.wait_for(self.held.get(), 30)
        await self.page.clock.run_for(after_ms)
        await self.page.evaluate(ANSWERED, route.request.url)
        await route.continue_()
        await self.page.evaluate("() => answered")  # the page has it too, not the browser alone

    async def rest(self):
        """Let go what the page asks at its opening and 30 s later, until no pause is left."""
        await self.page.clock.pause_at(await self.page.evaluate("Date.now() + 2000"))
        passed_ms = quiet_ms = 0
        # On a busy machine an answer takes seconds of the page's clock, and is rested from longer.
        while passed_ms < 40_000 or quiet_ms < QUIET_MS:
            await self.page.clock.run_for(STEP_MS)
            passed_ms += STEP_MS
            quiet_ms += STEP_MS
            while not self.held.empty():
                await self.answer(after_ms=0)
                quiet_ms = 0
        self.count = 0


@pytest.mark.parametrize("shown", ["list", "request"])
async def test_an_open_page_leaves_a_slow_server_alone(house, visit, path_of, shown):
    approval = house.submit()
    page = await visit("/policies")
    slow = Slow(page)
    asked_for = re.compile(r"/queue(\?|$)" if shown == "list" else r"/state(\?|$)")
    await page.route(asked_for, slow.hold)
    await page.clock.install()
    await page.goto(house.url + ("/" if shown == "list" else path_of(approval)))
    await page.locator("#live[data-state=live]").wait_for()
    await slow.rest()
    heard = "(detail) => document.dispatchEvent(new CustomEvent('live:changed', { detail }))"

    await page.evaluate(heard, {"id": approval["id"]})
    await page.clock.run_for(10)
    for _ in range(5):
        await page.evaluate(heard, {"id": approval["id"]})
    await slow.answer(after_ms=SLOW_MS)
    await page.clock.run_for(PAUSE_MS - 200)
    assert slow.count == 1
    await asyncio.to_thread(house.cancel, approval)
    await page.clock.run_for(1000)
    await slow.answer(after_ms=0)

    assert slow.count == 2
    gone = page.locator(f'.item[data-id="{approval["id"]}"]')
    await expect(
        gone if shown == "list" else page.get_by_role("button", name="Approve")
    ).to_have_count(0)
