"""The page of figures, as it is seen and walked through."""

import pytest

from tests.browser.conftest import PHONE, expect
from tests.browser.test_looks import serious

TABLES = ["agent", "capability", "rule", "person", "day"]
ANSWERED = """
from tests import make
from dashboard.accounts.models import User
from approval_client.wire import Status
token = make.token(make.agent("night-shift"))
for number, name in enumerate(["alice", "bob", "alice"]):
    answer = [Status.APPROVED, Status.REJECTED][number % 2]
    approval = make.pending(token, capability="very-long-" * 15)
    person = User.objects.get(username=name)
    make.decided(approval, person, answer, reason="No. " * 40, shown={"lines": 400})
"""


@pytest.fixture(scope="module")
def answered(house, cookies):
    """People answered the same content differently, and quickly."""
    house.shell(ANSWERED)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [{"width": 1440, "height": 900}, PHONE])
async def test_axe_finds_nothing_in_any_table(house, visit, answered, scheme, viewport):
    page = await visit("/insight", "root", color_scheme=scheme, viewport=viewport)
    found = {}
    for by in TABLES:
        await page.goto(f"{house.url}/insight?by={by}")
        found[by] = await serious(page)

    assert {by: faults for by, faults in found.items() if faults} == {}


async def test_no_table_is_wider_than_a_phone(house, visit, answered):
    page = await visit("/insight", "root", viewport={"width": 320, "height": 640})
    widths = {}
    for by in TABLES:
        await page.goto(f"{house.url}/insight?by={by}")
        widths[by] = await page.evaluate("document.documentElement.scrollWidth")

    assert {by: width for by, width in widths.items() if width > 320} == {}


async def test_a_head_that_is_pressed_sorts_and_the_address_keeps_it(house, visit, answered):
    page = await visit("/insight?by=person", "root")

    await page.get_by_role("link", name="Approved", exact=True).click()

    await expect(page.locator("[aria-sort]")).to_have_text("Approved")
    assert "sort=-rate" in page.url
    await expect(page.locator("#table tbody th").first).to_have_text("alice")


async def test_nothing_asked_is_told_without_a_fault(visit, answered):
    page = await visit("/insight?since=2020-01-01&until=2020-01-02")

    await expect(page.get_by_text("No requests in this period")).to_be_visible()
    assert await serious(page) == []


async def test_the_arrow_keys_go_from_value_to_value(visit, answered):
    page = await visit("/insight?days=7", "root")
    chart = page.locator("figure", has=page.locator("#days-title"))

    await chart.locator(".mark").first.focus()
    await page.keyboard.press("End")

    says = chart.locator(".chart-says")
    await expect(says).to_contain_text(" approved, ")
    today = (await says.inner_text()).partition(":")[0]
    await page.keyboard.press("ArrowLeft")
    await expect(says).not_to_contain_text(today)
    await page.keyboard.press("Home")  # a day before the dashboard was there, also at midnight
    await expect(says).to_contain_text("no requests")
    assert await chart.locator("[tabindex='0'].mark").count() == 1


async def test_hours_can_be_shown_in_ones_own_zone(visit, answered):
    page = await visit("/insight?days=7", "root", timezone_id="Asia/Tokyo")

    await page.get_by_role("link", name="Use my time zone").click()

    await expect(page.get_by_text("in Asia/Tokyo")).to_be_visible()
    assert "days=7" in page.url
    await expect(page.get_by_role("link", name="Use my time zone")).to_be_hidden()
