"""After a decision the next request opens by itself, and never under a finger."""

import asyncio

import pytest
import pytest_asyncio

from tests.browser.conftest import PHONE, armed, expect, see_all
from tests.browser.test_looks import serious

NEWS_REPLACE_THE_ANSWER = """() => {
  document.addEventListener("htmx:afterSwap", ({ detail: { requestConfig } }) => {
    if (requestConfig?.verb !== "post") return;
    for (const part of document.querySelectorAll("#request-bar, #request-status, #request-why")) {
      part.replaceWith(part.cloneNode(true));
    }
  });
}"""
WIDE_AND_PHONE = pytest.mark.parametrize("viewport", [{"width": 1440, "height": 900}, PHONE])


def approve(page):
    return page.locator(".decide > [value=approve]")


def is_open(page, approval):
    return expect(page.locator("#request")).to_have_attribute("data-id", approval["id"])


@pytest_asyncio.fixture(loop_scope="session")
async def two(house, visit, path_of):
    """Two requests that wait, with the first open: page, first, second."""

    async def open_first(**options):
        house.clear()
        first, second = house.submit(time_limit_s=300), house.submit(time_limit_s=600)
        page = await visit(path_of(first), goes_on=True, **options)
        await see_all(page)
        await expect(approve(page)).to_be_enabled()
        await armed(page)
        return page, first, second

    return open_first


def status(house, approval):
    return house.api.get(f"approvals/{approval['id']}").json()["status"]


@WIDE_AND_PHONE
async def test_a_double_click_on_approve_does_not_approve_the_next(house, two, viewport):
    page, first, second = await two(viewport=viewport)

    await approve(page).dblclick()

    await is_open(page, second)
    await armed(page)
    assert (status(house, first), status(house, second)) == ("approved", "pending")


async def test_what_became_of_it_is_said_and_leads_back(house, two):
    page, first, second = await two()
    await approve(page).click()
    await is_open(page, second)
    last = page.locator("#last-decision")
    await expect(last).to_contain_text("Last: Python, ")
    await expect(last).to_contain_text(": approved")

    house.report(first, "started")

    await expect(last).to_contain_text("approved, started ")
    await expect(page.locator("#announcer")).to_contain_text("approved, started ")
    assert await serious(page) == []
    await last.get_by_role("link", name="Back to it").click()
    await is_open(page, first)


async def test_a_rejection_and_a_snooze_go_on_as_well(house, two):
    page, _, second = await two()
    await page.locator(".reject > summary").click()
    await page.get_by_role("button", name="Reject", exact=True).click()
    await is_open(page, second)
    third = house.submit(time_limit_s=900)
    await armed(page)

    await page.locator("#snooze > summary").click()
    await page.locator("#snooze form button").first.click()

    await is_open(page, third)
    await expect(page.locator("#last-decision")).to_contain_text("snoozed until")


async def test_switched_off_it_stays_and_that_is_remembered(two):
    page, first, _ = await two()
    await page.get_by_label("More", exact=True).click()
    await page.get_by_label("Open the next request after a decision").uncheck()

    await approve(page).click()

    await page.locator(".result--approved").wait_for()
    await is_open(page, first)
    await page.reload()
    await expect(page.get_by_label("Open it by itself")).not_to_be_checked()


async def test_it_goes_on_when_news_replace_the_answer_at_once(two):
    page, _, second = await two()
    await page.evaluate(NEWS_REPLACE_THE_ANSWER)

    await approve(page).click()

    await is_open(page, second)


async def test_a_refusal_does_not_go_on(two):
    page, first, _ = await two()
    await page.evaluate("document.querySelector('.decide [name=digest]').value = 'another'")

    await approve(page).click()

    await page.get_by_text("Nothing was recorded").wait_for()
    await is_open(page, first)


async def test_nothing_opens_under_a_finger_that_is_down(house, two):
    page, first, second = await two()
    box = await page.locator("#request-title").bounding_box()
    await page.mouse.move(box["x"] + 4, box["y"] + 4)
    await page.mouse.down()

    await approve(page).evaluate("(button) => button.click()")
    await page.locator(".result--approved").wait_for()
    house.report(first, "started")
    await page.locator(".result", has_text="The agent started it").wait_for()
    await is_open(page, first)
    await page.mouse.up()

    await is_open(page, second)


# Watches the bar, drawing by drawing, for words that contradict each other.
NOTES_CONTRADICTIONS = """() => {
  window.contradictions = [];
  const look = () => {
    const said = document.getElementById("request-bar")?.innerText ?? "";
    if (/No answer came/.test(said) && /approved/i.test(said)) window.contradictions.push(said);
    requestAnimationFrame(look);
  };
  look();
}"""


async def answer_is_lost(page, *, after_it_was_recorded):
    async def cut(route):
        if after_it_was_recorded:
            await route.fetch()
            await asyncio.sleep(1)  # the news of it comes while the page still awaits the answer
        await route.abort("internetdisconnected")

    await page.route("**/decide", cut)


@WIDE_AND_PHONE
async def test_no_approval_stands_above_an_answer_that_did_not_come(house, two, viewport):
    page, _, second = await two(viewport=viewport)
    await approve(page).click()
    await is_open(page, second)
    last = page.locator("#last-decision")
    await expect(last).to_contain_text(": approved")
    await expect(last).to_be_visible()
    await page.evaluate(NOTES_CONTRADICTIONS)
    await answer_is_lost(page, after_it_was_recorded=False)

    await see_all(page)
    await armed(page)
    await approve(page).click()

    trouble = page.locator(".bar-trouble")
    await expect(trouble).to_contain_text("No answer came")
    await expect(trouble).to_be_in_viewport()
    await expect(last).to_be_hidden()
    assert status(house, second) == "pending"
    await page.unroute("**/decide")
    await armed(page)
    await approve(page).click()
    await expect(page.locator("#request-bar .result-title")).to_contain_text("Approved by you")
    await expect(trouble).to_have_count(0)
    assert await page.evaluate("window.contradictions") == []


async def test_an_answer_that_was_lost_on_its_way_back_is_told_by_the_news(house, two):
    page, first, _ = await two()
    await page.evaluate(NOTES_CONTRADICTIONS)
    await answer_is_lost(page, after_it_was_recorded=True)

    await approve(page).click()

    await expect(page.locator("#request-bar .result-title")).to_contain_text("Approved by you")
    await expect(page.locator(".bar-trouble:visible")).to_have_count(0)
    assert status(house, first) == "approved"
    assert await page.evaluate("window.contradictions") == []
