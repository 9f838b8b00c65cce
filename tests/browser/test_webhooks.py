"""An admin sets up a webhook and sees what came of the first message."""

import pytest

from tests.browser.conftest import PHONE, WIDE, expect
from tests.browser.test_looks import serious

PATH = "/agents/1/webhook"


async def test_a_webhook_is_set_up_and_its_secret_can_be_copied(visit):
    page = await visit(PATH, "root")
    await page.get_by_label("Address of the host").fill("https://host.example.org/hook")
    await page.get_by_role("button", name="Set up webhook").click()

    await expect(page.get_by_role("button", name="Copy")).to_be_visible()
    assert (await page.locator("#secret").inner_text()).startswith("whsec_")
    assert await serious(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [WIDE, PHONE])
async def test_axe_finds_nothing_where_there_are_deliveries(house, visit, scheme, viewport):
    page = await visit(PATH, "root", color_scheme=scheme, viewport=viewport)
    if await page.get_by_role("button", name="Set up webhook").count():
        await page.get_by_label("Address of the host").fill("https://host.example.org/hook")
        await page.get_by_role("button", name="Set up webhook").click()
    with house.served.browser() as browser:
        house.served.decide(browser, house.submit())
    for _ in range(200):
        await page.goto(house.url + PATH)
        if await page.locator("tbody tr").count():
            break

    await expect(page.locator("tbody tr").first).to_be_visible()
    assert await serious(page) == []
    width = await page.evaluate("document.documentElement.scrollWidth")
    assert width <= viewport["width"]
