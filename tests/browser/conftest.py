"""A real browser on a real dashboard. Left out, with one line, where there is no Chromium."""

import re

import pytest
import pytest_asyncio

from tests.browser.house import open_house
from tests.chromium import ARGUMENTS, CHROMIUM, PHONE, TOUCH, WIDE, armed, expect, see_all

__all__ = ["ARGUMENTS", "CHROMIUM", "PHONE", "TOUCH", "WIDE", "armed", "expect", "see_all"]


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


@pytest_asyncio.fixture(loop_scope="session")
async def visit(chromium, house, cookies):
    """Open a page as somebody: ``await visit("/", "alice", viewport=…)``.

    With ``goes_on`` the next request opens by itself after a decision, as it does for people.

    What the browser complains about fails the test that opened the page.
    """
    complaints, contexts = [], []

    async def open_page(path, name="alice", *, goes_on=False, **options):
        # Without motion every colour is the final one, whenever it is looked at.
        context = await chromium.new_context(
            **{"viewport": WIDE, "reduced_motion": "reduce", **options}
        )
        contexts.append(context)
        if name:
            await context.add_cookies(cookies[name])
        if not goes_on:  # what became of a decision stays in sight
            await context.add_init_script("localStorage.setItem('approvals:open-next', 'off')")
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
