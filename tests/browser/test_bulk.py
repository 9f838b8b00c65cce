"""Choosing requests that are alike, and answering them together."""

from uuid import uuid4

import pytest

from tests.browser.conftest import PHONE, armed, expect
from tests.browser.test_looks import serious


def ask(house, *paths):
    run = f"run-{uuid4().hex}"
    asked = [
        house.submit(
            kind="tool_call",
            capability=run,
            content={"tool": "read", "arguments": {"path": path}},
            run_id=run,
        )
        for path in paths
    ]
    return run, asked


def statuses(house, asked):
    return [house.api.get(f"approvals/{one['id']}").json()["status"] for one in asked]


async def together(house, visit, *paths, **options):
    """Tick them all and look at them together."""
    run, asked = ask(house, *paths)
    page = await visit(f"/?q={run}", **options)
    ticks = page.locator(".item-tick")
    await expect(ticks).to_have_count(len(paths))
    for tick in await ticks.all():
        await tick.check()
    await page.get_by_role("button", name="Look at these together").click()
    await page.get_by_role("heading", name=f"{len(paths)} requests that are alike").wait_for()
    return page, asked


async def test_three_are_read_and_approved_together(house, visit):
    page, asked = await together(house, visit, "/a", "/b", "/c")
    await armed(page)
    await page.keyboard.press("End")

    await page.get_by_role("button", name="Approve these 3").click()

    await expect(page.locator(".bulk-done .badge--approved")).to_have_count(3)
    assert statuses(house, asked) == ["approved"] * 3


async def test_approve_waits_until_the_end_of_the_page_was_in_sight(house, visit):
    page, _ = await together(house, visit, "/a", *(f"/{n}" for n in range(8)))
    approve = page.get_by_role("button", name="Approve these 9")
    await expect(approve).to_be_disabled()

    await page.locator("#bulk-end").scroll_into_view_if_needed()
    await page.keyboard.press("End")

    await expect(approve).to_be_enabled()


async def test_only_the_ticked_are_rejected_with_one_reason(house, visit):
    page, asked = await together(house, visit, "/a", "/b", "/c")
    await page.get_by_role("checkbox", name="Request 2").uncheck()
    await page.get_by_label("One reason for all").fill("Not now.")
    await armed(page)

    await page.get_by_role("button", name="Reject these 2").click()

    await page.get_by_role("heading", name="Answered together").wait_for()
    assert statuses(house, asked) == ["rejected", "pending", "rejected"]
    assert house.wait(asked[0])["decision"]["reason"] == "Not now."


async def test_it_works_without_script(house, visit):
    page, asked = await together(house, visit, "/a", "/b", java_script_enabled=False)
    await page.get_by_label("I have read all of it to the end").check()

    await page.get_by_role("button", name="Approve the chosen").click()

    await page.get_by_role("heading", name="Answered together").wait_for()
    assert statuses(house, asked) == ["approved", "approved"]


async def test_what_was_ticked_stays_ticked_when_the_list_comes_anew(house, visit):
    run, asked = ask(house, "/a", "/b", "/c")
    page = await visit(f"/?q={run}")
    kept = page.locator(f'.item[data-id="{asked[0]["id"]}"] .item-tick')
    await kept.check()
    await page.mouse.move(1000, 500)
    await page.evaluate("document.activeElement.blur()")

    house.cancel(asked[2])

    await expect(page.locator(".item")).to_have_count(2)
    await expect(kept).to_be_checked()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("options", [{}, {"viewport": PHONE}])
async def test_axe_finds_nothing_and_nothing_is_too_wide(house, visit, scheme, options):
    page, _ = await together(house, visit, "/a", "/b", color_scheme=scheme, **options)

    assert await serious(page) == []
    width = await page.evaluate("document.documentElement.scrollWidth")
    assert width <= page.viewport_size["width"]
