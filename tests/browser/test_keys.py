"""Keys lead to where a press decides; none of them decides."""

import asyncio
from contextlib import suppress
from uuid import uuid4

import pytest
import pytest_asyncio
from playwright.async_api import Error

from tests.browser.conftest import armed, expect
from tests.browser.test_looks import serious
from tests.chromium import SWAPPED

CHANGES_AT_ENTER = f"""
document.addEventListener("keydown", (event) => {{
  if (event.key === "Enter") {SWAPPED};
}}, true)
"""
LONG = {"code": "x = 1\n" * 300, "language": "python"}


@pytest_asyncio.fixture(loop_scope="session")
async def two(house, visit):
    """A list of two requests, on a page that is open, and the links to them."""
    run = f"run-{uuid4().hex}"
    for limit_s in (300, 600):
        house.submit(run_id=run, time_limit_s=limit_s)
    page = await visit(f"/?q={run}")
    links = page.locator(".item-link")
    await expect(links).to_have_count(2)
    return page, links.first, links.last


def approve(page):
    return page.get_by_role("button", name="Approve", exact=True)


def keys(page):
    return page.get_by_role("dialog", name="Keys")


def status(house, approval):
    return house.api.get(f"approvals/{approval['id']}").json()["status"]


async def opened(page, link):
    await expect(link).to_have_attribute("aria-current", "page")
    await page.locator("#request-title:focus").wait_for()


async def test_j_and_k_open_at_once_and_stop_at_the_ends_of_the_list(two):
    page, first, last = two

    for key, link in (("j", first), ("j", last), ("j", last), ("k", first), ("k", first)):
        await page.keyboard.press(key)
        await opened(page, link)


async def test_a_reason_that_is_typed_after_a_click_on_reject_approves_nothing(house, visit):
    approval = house.submit()
    page = await visit(f"/approvals/{approval['id']}")
    await armed(page)

    await page.locator("#request-bar .reject > summary").click()
    await page.keyboard.type("Not that one, a b")
    await expect(page.locator("#reason")).to_have_value("Not that one, a b")
    assert status(house, approval) == "pending"


async def test_while_reject_is_open_no_key_leads_to_approve(house, visit):
    approval = house.submit()
    page = await visit(f"/approvals/{approval['id']}")
    await armed(page)
    await page.locator("#request-bar .reject > summary").click()
    await page.locator("#request-title").click()  # beside it

    await page.keyboard.type("that a b")
    await expect(page.locator("#reason")).to_be_focused()
    assert status(house, approval) == "pending"


async def test_of_quick_presses_the_last_one_counts(two):
    page, first, last = two

    for key in "jjkj":
        await page.keyboard.press(key)

    await opened(page, last)
    await expect(first).not_to_have_attribute("aria-current", "page")


async def test_a_press_counts_from_what_is_on_its_way(two):
    page, first, last = two

    async def slowly(route):
        await asyncio.sleep(0.5)
        with suppress(Error):  # it was given up
            await route.continue_()

    for _ in range(2):
        await page.keyboard.press("j")
    await opened(page, last)
    await page.route(f"**{await first.get_attribute('href')}", slowly)
    await page.keyboard.press("k")
    # What ends now belongs to the press before.
    pane = "{detail: {target: document.getElementById('pane')}}"
    await page.evaluate(f"document.dispatchEvent(new CustomEvent('htmx:afterSettle', {pane}))")

    await page.keyboard.press("j")

    await page.wait_for_timeout(700)
    await opened(page, last)


async def test_j_stops_at_what_opens_a_page_of_its_own(house, visit):
    run = f"run-{uuid4().hex}"
    for path in "abc":
        content = {"tool": "read", "arguments": {"path": path}}
        house.submit(kind="tool_call", content=content, run_id=run, time_limit_s=300)
    house.submit(run_id=run, time_limit_s=600)
    page = await visit(f"/?q={run}")
    fold, single = page.locator(".item--fold .item-link"), page.locator(".item-link").last

    await page.keyboard.press("j")
    await expect(fold).to_be_focused()
    await page.keyboard.press("j")

    await opened(page, single)


async def test_arrows_move_in_the_list_and_scroll_elsewhere(two):
    page, first, last = two
    await page.keyboard.press("ArrowDown")
    await expect(first).not_to_be_focused()

    await first.focus()
    await page.keyboard.press("ArrowDown")
    await expect(last).to_be_focused()
    await page.keyboard.press("ArrowUp")
    await expect(first).to_be_focused()


async def test_enter_opens_what_the_arrows_chose_and_j_goes_on_from_there(two):
    page, first, last = two
    await first.focus()
    await page.keyboard.press("Enter")
    await opened(page, first)

    await page.keyboard.press("j")

    await opened(page, last)


async def test_a_leads_to_approve_and_only_the_second_press_approves(house, visit, path_of):
    approval = house.submit()
    page = await visit(path_of(approval))
    await expect(approve(page)).to_be_enabled()
    await armed(page)

    await page.keyboard.press("a")
    await expect(approve(page)).to_be_focused()
    assert status(house, approval) == "pending"
    await page.keyboard.press("Enter")

    await page.locator(".result--approved").wait_for()


async def test_a_press_right_after_something_changed_approves_nothing(house, visit, path_of):
    approval = house.submit()
    page = await visit(path_of(approval))
    await expect(approve(page)).to_be_enabled()
    await armed(page)
    await page.evaluate(CHANGES_AT_ENTER)
    sent = []
    page.on("request", lambda request: sent.append(request.url.rpartition("/")[2]))

    await page.keyboard.press("a")
    await expect(approve(page)).to_be_focused()
    await page.keyboard.press("Enter")

    await armed(page)
    assert ("decide" in sent, status(house, approval)) == (False, "pending")


async def test_a_says_why_approve_is_not_offered(house, visit, path_of):
    page = await visit(path_of(house.submit(content=LONG)))
    await expect(approve(page)).to_be_disabled()

    await page.keyboard.press("a")

    await page.locator("#announcer", has_text="Approve is not offered yet.").wait_for()
    await expect(page.locator("#next-unseen")).to_be_focused()


async def test_r_opens_the_reason_and_rejects_nothing(house, visit, path_of):
    approval = house.submit()
    page = await visit(path_of(approval))

    await page.keyboard.press("r")

    await expect(page.get_by_label("Why not?")).to_be_focused()
    await expect(page.get_by_label("Why not?")).to_have_value("")
    assert status(house, approval) == "pending"


async def test_escape_closes_the_reason(house, visit, path_of):
    page = await visit(path_of(house.submit()))
    await page.keyboard.press("r")
    await expect(page.get_by_label("Why not?")).to_be_focused()

    await page.keyboard.press("Escape")

    await expect(page.get_by_label("Why not?")).to_be_hidden()


async def test_a_slash_leads_to_the_search_and_keys_are_letters_there(visit):
    page = await visit("/")
    search = page.get_by_role("searchbox")

    await page.keyboard.press("/")
    await expect(search).to_be_focused()
    await page.keyboard.type("jar?/")

    await expect(search).to_have_value("jar?/")
    await expect(keys(page)).to_be_hidden()


@pytest.mark.parametrize("modifier", ["Control", "Alt", "Meta"])
async def test_with_a_modifier_a_key_is_the_browsers(house, visit, path_of, modifier):
    page = await visit(path_of(house.submit()))
    await expect(approve(page)).to_be_enabled()

    await page.keyboard.press(f"{modifier}+a")

    await expect(approve(page)).not_to_be_focused()


async def test_a_question_mark_lists_the_keys_and_escape_closes_that(two):
    page, first, _ = two

    await page.keyboard.press("?")
    await keys(page).wait_for()
    await page.keyboard.press("j")
    await expect(first).not_to_have_attribute("aria-current", "page")
    await page.keyboard.press("Escape")

    await expect(keys(page)).to_be_hidden()


async def test_single_characters_can_be_turned_off_and_on_again(two):
    page, first, _ = two
    await page.get_by_role("button", name="Keyboard shortcuts").click()
    await page.get_by_label("Use keys that are single characters").uncheck()
    await page.get_by_text("They are off in this browser.").wait_for()
    await page.reload()
    await page.get_by_role("button", name="Keyboard shortcuts").wait_for()
    await page.keyboard.press("j")
    await expect(first).not_to_have_attribute("aria-current", "page")

    await page.get_by_role("button", name="Keyboard shortcuts").click()
    await page.get_by_label("Use keys that are single characters").check()
    await page.get_by_role("button", name="Close").click()
    await page.keyboard.press("j")

    await opened(page, first)


async def test_arrows_work_while_single_characters_are_off(two):
    page, first, last = two
    await page.evaluate("localStorage.setItem('approvals:keys', 'off')")
    await first.focus()

    await page.keyboard.press("ArrowDown")

    await expect(last).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_in_the_list_of_keys(visit, scheme):
    page = await visit("/", color_scheme=scheme)
    await page.keyboard.press("?")
    await keys(page).wait_for()

    assert await serious(page) == []
