"""Who looks elsewhere is told that something needs them, if they asked for it, and no more."""

import asyncio

import pytest
import pytest_asyncio

from tests.browser.conftest import PHONE, expect
from tests.browser.test_looks import serious

# A browser whose answer to "may this page notify?" and whose sight the test decides.
BROWSER = """
window.told = [];
window.Notification = class extends EventTarget {
  static get permission() { return localStorage.getItem("test:permission") ?? "default"; }
  static async requestPermission() {
    localStorage.setItem("test:asked", "yes");
    localStorage.setItem("test:permission", localStorage.getItem("test:answer") ?? "granted");
    return this.permission;
  }
  constructor(words, { body }) { super(); window.told.push([words, body]); window.note = this; }
  close() {}
};
Object.defineProperty(document, "hidden", { get: () => window.isAway === true });
"""
LOOK = "(away) => { isAway = away; document.dispatchEvent(new Event('visibilitychange')); }"
GAP_MS = 10_000


@pytest_asyncio.fixture(loop_scope="session")
async def opened(visit):
    """Open a page in such a browser: ``opened("/", granted=True)``."""

    async def open_page(path, *, granted=False, name="alice", **options):
        page = await visit(path, name, **options)
        await page.clock.install()
        await page.add_init_script(BROWSER)
        if granted:
            for key, value in (("test:permission", "granted"), ("approvals:notify", "on")):
                await page.evaluate("(pair) => localStorage.setItem(...pair)", [key, value])
        await page.reload()
        await page.locator("#live[data-state=live]").wait_for()
        return page

    return open_page


async def look_away(page):
    async with page.expect_response("**/mine"):
        await page.evaluate(LOOK, True)


async def heard(page, house, **question):
    """Ask for something, and wait until the page has looked what that means."""
    await asyncio.to_thread(house.submit, **question)
    await page.locator("#live[data-state=live]").wait_for()


async def until_told(page, count=1):
    await page.wait_for_function("(count) => told.length >= count", arg=count)
    return await page.evaluate("told")


def switch(page):
    return page.get_by_role("button", name="Turn on notifications")


async def test_who_looks_elsewhere_is_told_how_many_and_never_what(house, opened):
    page = await opened("/policies", granted=True)
    await look_away(page)

    await heard(page, house, objective="A secret objective", run_id="secret-run")

    ((words, more),) = await until_told(page)
    assert words == "An approval request waits"
    assert more.endswith((" need you.", "1 needs you."))


async def test_a_burst_is_told_once_and_what_comes_after_it_once_more(house, opened):
    page = await opened("/", granted=True)
    await look_away(page)
    for _ in range(3):
        await heard(page, house)
    await until_told(page)

    async with page.expect_response("**/mine"):
        await heard(page, house)
        assert len(await page.evaluate("told")) == 1
        await page.clock.fast_forward(GAP_MS)

    assert len(await until_told(page, 2)) == 2


async def test_nothing_is_told_while_a_page_is_in_sight(house, opened):
    page = await opened("/", granted=True)
    await page.evaluate(LOOK, False)

    approval = await asyncio.to_thread(house.submit)

    await page.locator(f'.item[data-id="{approval["id"]}"]').wait_for()
    await page.clock.fast_forward(GAP_MS)
    assert await page.evaluate("told") == []


async def test_what_was_there_before_is_no_news(house, opened):
    waiting = house.submit()
    page = await opened("/", granted=True)
    await look_away(page)

    async with page.expect_response("**/mine"):
        await asyncio.to_thread(house.cancel, waiting)

    assert await page.evaluate("told") == []


async def test_the_last_minute_of_what_needs_me_is_told_once(house, opened):
    house.submit(time_limit_s=64)
    page = await opened("/", granted=True)
    await look_away(page)

    await page.clock.fast_forward(5000)

    assert (await until_told(page))[0][0] == "A request ends within a minute"


async def test_a_press_on_it_opens_the_queue_and_decides_nothing(house, opened):
    page = await opened("/policies", granted=True)
    await look_away(page)
    await heard(page, house)
    await until_told(page)

    await page.evaluate("note.dispatchEvent(new Event('click'))")

    await page.wait_for_url(f"{house.url}/")


async def test_a_press_on_it_does_not_lose_what_is_being_typed(house, opened, path_of):
    page = await opened(path_of(house.submit()), granted=True)
    await page.locator(".reject > summary").click()
    await page.get_by_label("Why not?").fill("Because")
    await look_away(page)
    await heard(page, house)
    await until_told(page)

    await page.evaluate("note.dispatchEvent(new Event('click'))")

    await expect(page.get_by_label("Why not?")).to_have_value("Because")


async def test_the_browser_is_asked_only_by_a_press(opened):
    page = await opened("/account")
    assert await page.evaluate("localStorage.getItem('test:asked')") is None

    await switch(page).click()

    await expect(page.get_by_role("button", name="Turn off notifications")).to_be_visible()
    assert (await until_told(page))[0][0] == "Notifications are on"


async def test_who_had_enough_is_told_nothing_any_more(house, opened):
    page = await opened("/account", granted=True)

    await page.get_by_role("button", name="Turn off notifications").click()

    await expect(switch(page)).to_be_visible()
    assert await page.evaluate("localStorage.getItem('approvals:notify')") is None


@pytest.mark.parametrize("viewport", [{"width": 1440, "height": 900}, PHONE])
async def test_a_browser_that_says_no_is_a_state_of_its_own(opened, viewport):
    page = await opened("/account", viewport=viewport)
    await page.evaluate("localStorage.setItem('test:answer', 'denied')")

    await switch(page).click()

    await expect(page.get_by_text("Your browser blocks notifications")).to_be_visible()
    await expect(switch(page)).to_be_hidden()
    assert await serious(page) == []


async def test_without_script_there_is_no_switch(visit):
    page = await visit("/account", java_script_enabled=False)

    await expect(page.locator("#reach")).to_be_hidden()


async def test_who_does_not_decide_is_offered_only_the_keys(visit):
    page = await visit("/account", "aud")

    await expect(page.get_by_label("Keyboard shortcuts in the queue")).to_be_checked()
    await expect(switch(page)).to_have_count(0)


async def test_keys_are_switched_off_from_the_account_page_too(house, visit):
    page = await visit("/account")
    await page.get_by_label("Keyboard shortcuts in the queue").uncheck()
    await page.goto(house.url)
    await page.locator("#live[data-state=live]").wait_for()

    await page.keyboard.press("?")

    await expect(page.locator("#keys")).to_be_hidden()
