"""Debian's Chromium, started once for browser tests and journeys; without it they are left out.

Its headless shell is the same engine without the windows around it, and takes half the time.
"""

import os
from pathlib import Path

import pytest
import pytest_asyncio

ROOMS = [Path(__file__).parent / room for room in ("browser", "journeys")]
PLACES = [Path("/usr/bin", name) for name in ("chromium-headless-shell", "chromium")]
CHROMIUM = Path(
    os.environ.get("CHROMIUM") or next((place for place in PLACES if place.exists()), PLACES[-1])
)
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
SWAPPED = "htmx.trigger(document.body, 'htmx:afterSwap', {target: document.body})"
"""Has a page think that something in it was replaced just now."""

TOUCH = {"viewport": PHONE, "has_touch": True, "is_mobile": True}


def _missing():
    try:
        import axe_playwright_python  # noqa: F401, PLC0415 - asked for only here
        import playwright  # noqa: F401, PLC0415 - the same
    except ImportError as error:
        return f"Not run: {error.name} is not installed."
    return "" if CHROMIUM.exists() else f"Not run: there is no {CHROMIUM}; set CHROMIUM."


def expect(thing):
    """Wait until what is asserted of a page or a part of it holds, also on a busy machine."""
    from playwright.async_api import expect as wait_for  # noqa: PLC0415 - may be absent

    wait_for.set_options(timeout=20_000)
    return wait_for(thing)


async def armed(page):
    """Wait until presses count: for half a second after something changed they do not."""
    await page.wait_for_load_state()  # before its scripts have run, nothing says that they do not
    await page.locator("html:not([data-arming])").wait_for()


async def see_all(page):
    """Press Next unseen part until all of the content was in view."""
    unseen = page.locator("#next-unseen:not([hidden])")
    while await unseen.count():
        await unseen.evaluate_all("(buttons) => buttons[0]?.click()")
        await page.evaluate("new Promise((then) => setTimeout(() => requestAnimationFrame(then)))")


@pytest.fixture(scope="session")
def installed():
    """What tests in a browser need is there, or they are left out."""
    if missing := _missing():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(missing)


def pytest_collection_modifyitems(items):
    """Have all share a loop, and so a browser: to start it takes longer than most tests."""
    one_loop = pytest.mark.asyncio(loop_scope="session")
    for item in items:
        in_room = any(item.path.is_relative_to(room) for room in ROOMS)
        if in_room and pytest_asyncio.is_async_test(item):
            item.add_marker(one_loop, append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium(installed):
    from playwright.async_api import async_playwright  # noqa: PLC0415 - may be absent

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield browser
        await browser.close()
