"""A real browser on a real dashboard. Left out, with one line, where there is no Chromium."""

import os
import re
from pathlib import Path

import pytest
import pytest_asyncio

from tests.browser.house import open_house

HERE = Path(__file__).parent
CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


def _missing():
    try:
        import axe_playwright_python  # noqa: F401, PLC0415 - asked for only here
        import playwright  # noqa: F401, PLC0415 - the same
    except ImportError as error:
        return f"Not run: {error.name} is not installed."
    return "" if CHROMIUM.exists() else f"Not run: there is no {CHROMIUM}; set CHROMIUM."


def expect(thing):
    """Wait until what is asserted of a page or a part of it holds."""
    from playwright.async_api import expect as wait_for  # noqa: PLC0415 - may be absent

    return wait_for(thing)


async def armed(page):
    """Wait until presses count: for half a second after something changed they do not."""
    await page.locator("html:not([data-arming])").wait_for()


@pytest.fixture(scope="session")
def installed():
    """What browser tests need is there, or they are left out."""
    if missing := _missing():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(missing)


@pytest.fixture(scope="session")
def house(installed):
    """One dashboard for all browser tests of this process."""
    with open_house() as running:
        yield running


@pytest.fixture(scope="module", autouse=True)
def _cleared(house):
    """What one module leaves open does not fill the queue of the next."""
    yield
    house.clear()


@pytest.fixture(scope="session")
def cookies(house):
    """Sign people in once: name -> cookies."""
    people = {"alice": ["reviewer"], "bob": ["reviewer"], "root": ["admin"], "aud": ["auditor"]}
    return {name: house.sign_in(name, roles) for name, roles in people.items()}


def pytest_collection_modifyitems(items):
    """Have all share a loop, and so a browser: to start it takes longer than most tests."""
    one_loop = pytest.mark.asyncio(loop_scope="session")
    for item in items:
        if item.path.is_relative_to(HERE) and pytest_asyncio.is_async_test(item):
            item.add_marker(one_loop, append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium(installed):
    from playwright.async_api import async_playwright  # noqa: PLC0415 - may be absent

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def visit(chromium, house, cookies):
    """Open a page as somebody: ``await visit("/", "alice", viewport=…)``.

    What the browser complains about fails the test that opened the page.
    """
    complaints, contexts = [], []

    async def open_page(path, name="alice", **options):
        # Without motion every colour is the final one, whenever it is looked at.
        context = await chromium.new_context(
            **{"viewport": WIDE, "reduced_motion": "reduce", **options}
        )
        contexts.append(context)
        if name:
            await context.add_cookies(cookies[name])
        page = await context.new_page()
        page.on("console", lambda said: said.type == "error" and complaints.append(said.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        await page.goto(house.url + path)
        if name and options.get("java_script_enabled", True):
            await page.locator("#live[data-state=live]").wait_for()
        return page

    yield open_page
    for context in contexts:
        await context.close()
    expected = re.compile(
        "responded with a status of 4[0-9][0-9]|ERR_INTERNET_DISCONNECTED|^htmx:"
    )
    assert [text for text in complaints if not expected.search(text)] == []


@pytest.fixture
def path_of():
    return lambda approval: f"/approvals/{approval['id']}"
