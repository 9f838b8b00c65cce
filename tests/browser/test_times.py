"""Times in the reader's own zone, with UTC on hover."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tests.browser.conftest import armed, expect

pytestmark = pytest.mark.asyncio(loop_scope="session")
ZONE = "Asia/Tokyo"  # nine hours ahead, summer and winter


async def recorded(page):
    """The moment when it was asked, as the record of the page has it."""
    await page.locator(".record > summary").click()
    return page.locator(".record time").first


async def test_a_time_is_written_in_the_zone_of_the_reader(visit, house, path_of):
    page = await visit(path_of(house.submit()), timezone_id=ZONE)

    asked = await recorded(page)

    at = datetime.fromisoformat(await asked.get_attribute("datetime"))
    await expect(asked).to_have_text(f"{at.astimezone(ZoneInfo(ZONE)):%Y-%m-%d %H:%M:%S}")
    utc = f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    title = await asked.get_attribute("title")
    assert ZONE in title
    assert title.endswith(utc)


async def test_a_part_that_comes_later_is_in_the_same_zone(visit, house, path_of):
    house.clear()  # or the next request opens
    page = await visit(path_of(house.submit()), timezone_id=ZONE)
    await page.locator(".reject > summary").click()
    await armed(page)

    await page.get_by_role("button", name="Reject", exact=True).click()

    at = page.locator(".result-title time")
    ended = datetime.fromisoformat(await at.get_attribute("datetime"))
    await expect(at).to_have_text(f"{ended.astimezone(ZoneInfo(ZONE)):%H:%M:%S}")


async def test_a_time_is_in_utc_without_script(visit, house, path_of):
    page = await visit(path_of(house.submit()), timezone_id=ZONE, java_script_enabled=False)

    asked = await recorded(page)

    assert (await asked.inner_text()).endswith(" UTC")


async def test_a_time_of_another_day_has_its_date(visit, house, path_of):
    page = await visit(path_of(house.submit(time_limit_s=7 * 86_400)), timezone_id=ZONE)
    await page.locator("#snooze > summary").click()

    until = page.locator("#snooze button").last.locator("time")

    at = datetime.fromisoformat(await until.get_attribute("datetime"))
    await expect(until).to_have_text(f"{at.astimezone(ZoneInfo(ZONE)):%Y-%m-%d %H:%M:%S}")
