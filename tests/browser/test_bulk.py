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
    """Open the page of all of them from the one row that they are in the list."""
    run, asked = ask(house, *paths)
    page = await visit(f"/?q={run}", **options)
    fold = page.locator(".item--fold .item-link")
    await expect(fold).to_contain_text(f"read ×{len(paths)} alike")
    if options.get("java_script_enabled", True):
        await armed(page)
    await fold.click()
    await page.get_by_role("heading", name=f"{len(paths)} alike: read").wait_for()
    return page, asked


def tick(page, number):
    return page.get_by_role("checkbox", name=f"Request {number}", exact=True)


async def test_three_are_read_and_approved_together(house, visit):
    page, asked = await together(house, visit, "/a", "/b", "/c")
    await armed(page)
    await page.keyboard.press("End")

    await page.get_by_role("button", name="Approve all 3").click()

    await expect(page.locator(".bulk-done .badge--approved")).to_have_count(3)
    assert statuses(house, asked) == ["approved"] * 3


async def test_shift_ticks_a_range_and_the_first_box_ticks_all(house, visit):
    page, _ = await together(house, visit, *(f"/{n}" for n in range(6)))
    reject = page.locator("#bulk-form [value=reject]")

    await tick(page, 2).click()
    await tick(page, 5).click(modifiers=["Shift"])
    await expect(reject).to_have_text("Reject these 2")
    await expect(tick(page, 3)).not_to_be_checked()

    await page.get_by_role("checkbox", name="All 6").check()
    await expect(reject).to_have_text("Reject all 6")


async def test_approve_waits_until_the_end_of_the_page_was_in_sight(house, visit):
    page, _ = await together(house, visit, "/a", *(f"/{n}" for n in range(39)))
    approve = page.get_by_role("button", name="Approve all 40")
    await expect(approve).to_be_disabled()

    await page.locator("#bulk-end").scroll_into_view_if_needed()
    await page.keyboard.press("End")

    await expect(approve).to_be_enabled()


async def test_only_the_ticked_are_rejected_with_one_reason(house, visit):
    page, asked = await together(house, visit, "/a", "/b", "/c")
    await tick(page, 2).uncheck()
    await page.get_by_label("One reason for all").fill("Not now.")
    await armed(page)

    await page.get_by_role("button", name="Reject these 2").click()

    await page.get_by_role("heading", name="Answered together").wait_for()
    assert statuses(house, asked) == ["rejected", "pending", "rejected"]
    assert house.wait(asked[0])["decision"]["reason"] == "Not now."


async def test_a_reason_and_what_is_ticked_are_there_again_after_a_reload(house, visit):
    page, asked = await together(house, visit, "/a", "/b", "/c")
    await armed(page)
    await page.get_by_role("checkbox", name="All 3").uncheck()
    await tick(page, 1).check()
    await tick(page, 3).check()
    await page.get_by_label("One reason for all").fill("The disk is full.")

    await page.reload()

    await expect(page.get_by_label("One reason for all")).to_have_value("The disk is full.")
    await expect(tick(page, 2)).not_to_be_checked()
    await armed(page)
    await page.get_by_role("button", name="Reject these 2").click()
    await expect(page.locator(".bulk-done .badge--rejected")).to_have_count(2)
    assert statuses(house, asked) == ["rejected", "pending", "rejected"]
    assert not await page.evaluate("Object.keys(sessionStorage).some((k) => k.includes('bulk/'))")


async def test_it_works_without_script(house, visit):
    page, asked = await together(house, visit, "/a", "/b", "/c", java_script_enabled=False)
    await page.get_by_label("All of it was in view").check()

    await page.get_by_role("button", name="Approve the chosen").click()

    await page.get_by_role("heading", name="Answered together").wait_for()
    assert statuses(house, asked) == ["approved"] * 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("options", [{}, {"viewport": PHONE}])
async def test_axe_finds_nothing_and_nothing_is_too_wide(house, visit, scheme, options):
    page, _ = await together(house, visit, "/a", "/b", "/c", color_scheme=scheme, **options)

    assert await serious(page) == []
    width = await page.evaluate("document.documentElement.scrollWidth")
    assert width <= page.viewport_size["width"]
