"""Presses that come too early, or twice, answer nothing that nobody can have read.

The clock of the page stands still but for what a test lets pass, and no news come, so that a slow
machine changes nothing. 100 ms lie between two presses of somebody who is in a hurry.
"""

import asyncio
import re
import time

import pytest
import pytest_asyncio

from tests.browser.conftest import PHONE, expect
from tests.chromium import SWAPPED, TOUCH

HASTE_MS, ARMS_AFTER_MS, SETTLED_MS = 100, 500, 25
TOO_EARLY = "The page just changed: press again."
NEWS = re.compile(r"/queue(\?|$)")
HASTY = ["a", "Enter", "Enter", "a", "Enter"]


class Desk:
    """A page in which one request is open and another one waits."""

    def __init__(self, page, first, second):
        self.page, self.first, self.second = page, first, second
        self.sent = []
        page.on("request", lambda request: request.method == "POST" and self._note(request.url))

    def _note(self, url):
        *_, approval, verb = url.split("/")
        if verb == "decide":
            self.sent.append(approval)

    @property
    def approve(self):
        return self.page.locator(".decide > [value=approve]")

    @property
    def next_request(self):
        return self.page.get_by_role("link", name="Next request")

    async def past(self, span_ms):
        await self.page.clock.run_for(span_ms)

    async def keys(self, *keys):
        """Press them as somebody does who is in a hurry."""
        for key in keys:
            await self.page.keyboard.press(key)
            await self.past(HASTE_MS)

    async def answer_the_first(self):
        """Read it and approve it; returns where Approve was."""
        await self.past(ARMS_AFTER_MS)
        await self.read_to_the_end()
        box = await self.approve.bounding_box()
        await self.approve.click()
        await self.next_request.wait_for()
        await self.past(ARMS_AFTER_MS)
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    async def second_appears(self):
        """Wait until it is there and htmx is done with it; 500 ms have by far not passed."""
        await expect(self.page.locator("#request")).to_have_attribute("data-id", self.second["id"])
        await self.past(SETTLED_MS)
        await self.read_to_the_end()

    async def read_to_the_end(self):
        await self.page.evaluate("document.getElementById('next-unseen')?.click()")
        await expect(self.approve).to_be_enabled()


@pytest_asyncio.fixture(loop_scope="session")
async def desk(house, visit, path_of):
    async def open_desk(**options):
        house.clear()
        first, second = house.submit(time_limit_s=300), house.submit(time_limit_s=600)
        page = await visit(path_of(first), **options)
        await page.clock.install()
        await page.reload()
        await page.locator("#live[data-state=live]").wait_for()
        for news in ("**/state", "**/queue**", "**/gate", "**/seen"):
            await page.route(news, lambda route: route.fulfill(status=204))
        await page.clock.pause_at(time.time() + 5)
        return Desk(page, first, second)

    return open_desk


async def test_hasty_keys_answer_one_request_once_and_not_the_next(desk):
    open_desk = await desk()
    await open_desk.past(ARMS_AFTER_MS)
    await expect(open_desk.approve).to_be_enabled()

    await open_desk.keys(*HASTY)

    await open_desk.next_request.wait_for()
    assert open_desk.sent == [open_desk.first["id"]]


async def test_hasty_keys_do_not_answer_a_request_that_stands_open_for_less_than_500_ms(desk):
    open_desk = await desk()
    await open_desk.answer_the_first()
    await open_desk.next_request.press("Enter")
    await open_desk.second_appears()

    await open_desk.keys(*HASTY[:-1])
    await open_desk.page.keyboard.press(HASTY[-1])  # 425 ms after it appeared

    said = open_desk.page.get_by_role("status").filter(has_text=TOO_EARLY)
    await expect(said).to_be_in_viewport()
    assert open_desk.sent == [open_desk.first["id"]]
    await open_desk.past(ARMS_AFTER_MS)
    await open_desk.keys("a", "Enter")
    await open_desk.page.locator(".result--approved").wait_for()
    assert open_desk.sent == [open_desk.first["id"], open_desk.second["id"]]


@pytest.mark.parametrize("viewport", [PHONE, {"width": 1440, "height": 900}])
async def test_a_double_click_does_not_go_on_to_the_approve_that_comes_under_it(desk, viewport):
    open_desk = await desk(viewport=viewport)
    place = await open_desk.answer_the_first()
    await open_desk.next_request.click()
    await open_desk.second_appears()

    await open_desk.page.mouse.dblclick(*place)

    await expect(open_desk.page.locator("#announcer.is-seen")).to_contain_text(TOO_EARLY)
    assert open_desk.sent == [open_desk.first["id"]]


async def test_what_comes_into_the_list_stops_no_press_beside_it(desk, house):
    open_desk = await desk()
    await open_desk.past(ARMS_AFTER_MS)
    await open_desk.read_to_the_end()
    await open_desk.page.unroute("**/queue**")
    third = await asyncio.to_thread(house.submit, time_limit_s=900)
    row = open_desk.page.locator(f".item[data-id='{third['id']}']")
    while not await row.count():
        await open_desk.past(SETTLED_MS)

    await open_desk.approve.click()  # less than 500 ms after the list changed

    await open_desk.next_request.wait_for()
    assert open_desk.sent == [open_desk.first["id"]]


async def test_what_was_said_of_an_early_press_goes_when_a_press_counts(desk):
    open_desk = await desk()
    await open_desk.past(SETTLED_MS)
    await expect(open_desk.approve).to_be_enabled()
    await open_desk.page.evaluate(SWAPPED)
    await open_desk.approve.click()
    await expect(open_desk.page.locator("#announcer.is-seen")).to_contain_text(TOO_EARLY)

    await open_desk.past(ARMS_AFTER_MS)
    await open_desk.approve.click()

    await open_desk.page.locator(".result--approved").wait_for()
    await expect(open_desk.page.locator("#announcer.is-seen")).to_have_count(0)


async def test_a_second_press_while_the_first_is_on_its_way_is_told_so(desk):
    open_desk = await desk()
    await open_desk.past(ARMS_AFTER_MS)
    await expect(open_desk.approve).to_be_enabled()
    await open_desk.page.route("**/decide", lambda _: None)  # no answer comes

    await open_desk.keys("a", "Enter", "Enter")

    said = open_desk.page.locator("#announcer.is-seen")
    await expect(said).to_have_text("Sent already. The answer has not come yet.")
    assert open_desk.sent == [open_desk.first["id"]]


class Queue:
    """The list on a phone, where two requests wait and news come when the test lets them."""

    def __init__(self, page, house, asked):
        self.page, self.house, self.asked = page, house, asked

    def row(self, approval):
        return self.page.locator(f".item[data-id='{approval['id']}'] .item-link")

    async def middle_of(self, approval):
        box = await self.row(approval).bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    async def news(self, **more):
        """Have somebody ask for something, and wait until it is in the list."""
        await self.page.unroute(NEWS)
        approval = await asyncio.to_thread(self.house.submit, **more)
        while not await self.row(approval).count():
            await self.page.clock.run_for(SETTLED_MS)
        return approval

    async def sees_what_it_opens(self, approval):
        await expect(self.page.locator("#request")).to_have_attribute("data-id", approval["id"])


@pytest_asyncio.fixture(loop_scope="session")
async def queue(house, visit):
    house.clear()
    asked = [house.submit(time_limit_s=limit) for limit in (600, 900)]
    page = await visit("/", **TOUCH)
    await page.clock.install()
    await page.route(NEWS, lambda route: route.fulfill(status=204))
    await page.clock.pause_at(time.time() + 5)
    await page.reload()
    await page.locator("#live[data-state=live]").wait_for()
    return Queue(page, house, asked)


async def test_a_tap_on_a_row_opens_it_as_soon_as_the_list_is_there(queue):
    await queue.row(queue.asked[1]).tap()

    await queue.sees_what_it_opens(queue.asked[1])


async def test_a_tap_on_a_row_that_news_just_moved_opens_it(queue):
    await queue.page.clock.run_for(ARMS_AFTER_MS)
    await queue.news(time_limit_s=300)  # more urgent: it comes first

    await queue.row(queue.asked[0]).tap()

    await queue.sees_what_it_opens(queue.asked[0])
    await expect(queue.page.locator("#announcer.is-seen")).to_have_count(0)


async def test_a_tap_on_a_row_that_stayed_where_it_was_opens_it_while_news_come(queue):
    await queue.page.clock.run_for(ARMS_AFTER_MS)
    await queue.news(time_limit_s=1200)  # it comes last, and moves nothing

    await queue.row(queue.asked[0]).tap()

    await queue.sees_what_it_opens(queue.asked[0])
