"""A yes that is remembered: given at an approval, answering the next one, and ended."""

import asyncio

import pytest

from tests.browser.conftest import PHONE, expect, see_all
from tests.browser.test_looks import serious

ALLOWED = """
from tests import make
make.in_force({"name": "Moves", "effect": "review", "demands": {"grants_allowed": True}})
"""
FORBIDDEN = """
from tests import make
make.in_force()
"""


@pytest.fixture(scope="module", autouse=True)
def _grants_are_allowed(house, cookies):
    house.shell(ALLOWED)
    yield
    house.shell(FORBIDDEN)


@pytest.fixture
def ask(house):
    """Call a tool of this name, as an agent that takes a remembered yes."""

    def submit(tool, source="/data/a"):
        content = {"tool": tool, "arguments": {"from": source, "to": "/data/b"}}
        return house.submit("tool_call", content, capability=tool, accepts_grants=True)

    return submit


@pytest.fixture
def unfolded(visit, ask, path_of):
    """Open a page on what can be remembered of a call of this tool."""

    async def open_page(tool, **options):
        page = await visit(path_of(ask(tool)), **options)
        await see_all(page)
        await page.locator(".remember > summary").click()
        await expect(page.locator(".remember")).to_have_attribute("open", "")
        return page

    return open_page


async def remember(page, scope="content"):
    """Press the button once the page takes presses; the page says what became of it."""
    await page.locator(f"html:not([data-arming]) [value=remember-{scope}]").click()
    await page.locator(".result--approved .result-grant").wait_for()


def card(page, tool):
    return page.locator(".grant", has_text=tool)


async def test_what_was_remembered_answers_the_next_one(unfolded, ask, visit, path_of):
    await remember(await unfolded("copy_once"))

    again = await asyncio.to_thread(ask, "copy_once")

    assert (again["status"], again["decision"]["source"]) == ("approved", "grant")
    page = await visit(path_of(again), "bob")
    await expect(page.locator(".result-grant")).to_contain_text("Nobody was asked: alice approved")


async def test_what_is_not_covered_is_asked(unfolded, ask):
    await remember(await unfolded("copy_same"))

    other = await asyncio.to_thread(ask, "copy_same", "/etc/passwd")

    assert other["status"] == "pending"


async def test_ending_it_has_the_next_one_asked(house, unfolded, ask):
    page = await unfolded("copy_ended")
    await remember(page)
    await page.goto(f"{house.url}/grants")

    await card(page, "copy_ended").get_by_role("button", name="End remembered approval").click()

    await expect(page.locator(".messages")).to_contain_text("has ended")
    await expect(card(page, "copy_ended")).to_have_count(0)
    again = await asyncio.to_thread(ask, "copy_ended")
    assert again["status"] == "pending"


async def test_every_use_is_counted_where_grants_are_listed(unfolded, ask, visit):
    await remember(await unfolded("copy_counted"))
    for _ in range(2):
        await asyncio.to_thread(ask, "copy_counted")

    page = await visit("/grants")

    await expect(card(page, "copy_counted")).to_contain_text("2 of 10 times")


async def test_the_button_says_literally_what_is_chosen(unfolded):
    page = await unfolded("copy_said")
    await page.get_by_label("This tool with some of these values").check()
    await page.get_by_label('to = "/data/b"').uncheck()
    await page.get_by_label("For how long").select_option("1 hour")
    await page.get_by_label("How often at most").fill("3")

    await expect(page.locator(".remember-buttons button:visible")).to_have_text(
        'Approve, and allow copy_said with from = "/data/a", whatever its other '
        "arguments are, by agent agent-0 in any of its runs for 1 hour, at most 3 times",
        use_inner_text=True,
    )


async def test_without_a_value_that_is_the_same_there_is_nothing_to_press(unfolded):
    page = await unfolded("copy_nothing")
    await page.get_by_label("This tool with some of these values").check()

    for value in ('from = "/data/a"', 'to = "/data/b"'):
        await page.get_by_label(value).uncheck()

    await expect(page.locator(".remember-buttons button:visible")).to_be_disabled()


async def test_a_tool_with_any_values_is_answered_whatever_they_are(unfolded, ask):
    page = await unfolded("copy_any", viewport=PHONE)
    await page.get_by_label("This tool with any values").check()
    await remember(page, "tool")

    other = await asyncio.to_thread(ask, "copy_any", "/data/z")

    assert other["status"] == "approved"


async def test_it_works_without_script(visit, ask, path_of):
    page = await visit(path_of(ask("copy_plain")), java_script_enabled=False)
    await page.get_by_label("All of it was in view").check()
    await page.locator(".remember > summary").click()

    await page.locator("[value=remember-tool]").click()

    await page.locator(".result-grant").wait_for()
    other = await asyncio.to_thread(ask, "copy_plain", "/data/z")
    assert other["status"] == "approved"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [{"width": 1440, "height": 900}, PHONE])
async def test_axe_finds_nothing_where_a_yes_is_remembered(house, unfolded, scheme, viewport):
    tool = f"copy_{scheme}_{viewport['width']}"
    page = await unfolded(tool, color_scheme=scheme, viewport=viewport)
    assert await serious(page) == []

    await remember(page)
    assert await serious(page) == []

    await page.goto(f"{house.url}/grants")
    assert await serious(page) == []
