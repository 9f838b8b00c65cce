"""The bar: what opens Approve, what goes with an answer, and what it says offline."""

import asyncio

import pytest

from tests.browser.conftest import PHONE, armed, expect, see_all
from tests.browser.test_looks import serious
from tests.chromium import SWAPPED

LONG = {"code": "\n".join(f"x{n} = {n}" for n in range(1, 117)), "language": "python"}
ZOOMED = {"width": 720, "height": 450}  # 1440 by 900 at 200 %
QUOTE = "(detail) => document.dispatchEvent(new CustomEvent('quote-line', { detail }))"


def approve(page):
    return page.locator(".decide > [value=approve]")


def reject(page):
    return page.get_by_role("button", name="Reject", exact=True)


async def decided(house, approval):
    return (await asyncio.to_thread(house.wait, approval))["decision"]


async def bar_height(page):
    return (await page.locator("#request-bar").bounding_box())["height"]


async def test_next_unseen_part_scrolls_on_until_approve_opens(house, visit, path_of):
    page = await visit(path_of(house.submit(content=LONG)))
    said = page.locator("#in-view")
    await expect(said).to_contain_text("of 116 lines seen")
    await expect(approve(page)).to_be_disabled()
    top = await page.evaluate("scrollY")

    await said.get_by_role("button", name="Next unseen part").click()
    assert await page.evaluate("scrollY") > top
    await expect(approve(page)).to_be_disabled()
    await see_all(page)

    await expect(said).to_contain_text("116 of 116 lines seen")
    await expect(approve(page)).to_be_enabled()


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            {"kind": "plan", "content": {"steps": [{"task": "Look", "tool": "ls"}] * 3}},
            "3 of 3 steps seen",
        ),
        (
            {"kind": "tool_call", "content": {"tool": "pay", "arguments": {"to": "a", "eur": 5}}},
            "2 of 2 arguments seen",
        ),
        (
            {"kind": "memory", "content": {"operation": "add", "user_id": "u", "content": "a\nb"}},
            "2 of 2 lines seen",
        ),
    ],
    ids=["plan", "call", "memory"],
)
async def test_what_people_count_is_counted(house, visit, path_of, question, said):
    page = await visit(path_of(house.submit(capability="x", **question)))

    await expect(page.locator("#in-view")).to_contain_text(said)


async def test_approve_stays_where_it_is_when_all_was_in_view(house, visit, path_of):
    page = await visit(
        path_of(house.submit(content=LONG)), viewport={"width": 1440, "height": 900}
    )
    await expect(page.locator("#next-unseen")).to_be_visible()
    before = await approve(page).bounding_box()

    await see_all(page)
    await expect(page.locator("#next-unseen")).to_be_hidden()

    assert await approve(page).bounding_box() == before


async def test_a_jump_to_the_end_does_not_count_what_lies_between(house, visit, path_of):
    page = await visit(path_of(house.submit(content=LONG)))

    await page.evaluate("scrollTo(0, document.body.scrollHeight)")

    await expect(page.locator("#content-end")).to_be_in_viewport()
    await expect(approve(page)).to_be_disabled()


async def test_the_record_says_how_much_was_in_view(house, visit, path_of):
    approval = house.submit(content=LONG)
    page = await visit(path_of(approval))
    await see_all(page)
    await armed(page)

    await approve(page).click()

    seen = page.locator(".result-seen")
    await expect(seen).to_contain_text("All 116 lines were in view, for")


async def test_a_press_on_approve_that_is_not_open_says_why(house, visit, path_of):
    page = await visit(path_of(house.submit(content=LONG)))
    await armed(page)
    box = await approve(page).bounding_box()

    await page.mouse.click(box["x"] + 20, box["y"] + 20)

    await expect(page.locator("#announcer.is-seen")).to_contain_text("of 116 lines seen")


async def test_enter_after_the_page_changed_is_not_lost_in_silence(house, visit, path_of):
    page = await visit(path_of(house.submit()))
    await armed(page)
    await page.locator("#request-title").focus()
    await page.evaluate(SWAPPED)

    await page.keyboard.press("Enter")

    await expect(page.locator("#announcer.is-seen")).to_contain_text("press again")


async def test_a_note_goes_with_an_approval(house, visit, path_of):
    approval = house.submit()
    page = await visit(path_of(approval))
    await page.locator(".note > summary").click()
    await page.get_by_label("Note to the agent").fill("Only until 15:00.")
    await armed(page)

    await approve(page).click()

    await page.locator(".result--approved").wait_for()
    assert (await decided(house, approval))["reason"] == "Only until 15:00."


async def test_a_note_follows_to_a_rejection(house, visit, path_of):
    approval = house.submit()
    page = await visit(path_of(approval))
    await page.locator(".note > summary").click()
    await page.get_by_label("Note to the agent").fill("Only until 15:00.")
    await page.locator(".reject > summary").click()
    await expect(page.get_by_label("Why not?")).to_have_value("Only until 15:00.")
    await armed(page)

    await reject(page).click()

    await page.locator(".result--rejected").wait_for()
    assert (await decided(house, approval))["reason"] == "Only until 15:00."


async def test_reasons_of_one_press_and_quoted_lines_go_with_a_rejection(house, visit, path_of):
    approval = house.submit()
    page = await visit(path_of(approval))
    await page.evaluate(QUOTE, {"line": 1, "text": "  print('Hello')"})
    await expect(page.get_by_label("Why not?")).to_be_focused()
    await page.keyboard.insert_text("Where to?")
    await page.get_by_label("Too broad").check()
    await armed(page)

    await reject(page).click()

    await page.locator(".result--rejected").wait_for()
    assert (await decided(house, approval))["reason"] == (
        "Too broad.\n> line 1: print('Hello')\nWhere to?"
    )


@pytest.mark.parametrize("viewport", [{"width": 1440, "height": 900}, PHONE])
async def test_the_panel_moves_no_button_and_hides_no_content(house, visit, path_of, viewport):
    page = await visit(path_of(house.submit(content=LONG)), viewport=viewport)
    before = await approve(page).bounding_box()

    await page.locator(".reject > summary").click()

    assert await approve(page).bounding_box() == before
    await page.keyboard.press("Escape")
    await page.locator(".reject > summary").click()
    await page.mouse.wheel(0, 100_000)
    end = page.locator("#request .code .line").last
    await end.scroll_into_view_if_needed()
    line, bar = await end.bounding_box(), await page.locator("#request-bar").bounding_box()
    assert line["y"] + line["height"] <= bar["y"]


async def test_offline_nothing_can_be_pressed_and_it_comes_back_by_itself(house, visit, path_of):
    page = await visit(path_of(house.submit()))
    await expect(approve(page)).to_be_enabled()

    await page.context.set_offline(True)

    said = page.locator(".bar-offline")
    await expect(said).to_have_text("You are offline. Nothing you press is recorded.")
    await expect(said).to_be_visible()
    await expect(approve(page)).to_be_disabled()
    await page.locator(".reject > summary").click()
    await expect(reject(page)).to_be_disabled()
    assert await serious(page) == []
    await page.context.set_offline(False)
    await expect(approve(page)).to_be_enabled()
    await expect(reject(page)).to_be_enabled()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_at_200_percent_the_bar_leaves_the_content_in_sight(house, visit, path_of, scheme):
    page = await visit(path_of(house.submit(content=LONG)), viewport=ZOOMED, color_scheme=scheme)

    assert await bar_height(page) <= ZOOMED["height"] / 5
    assert await serious(page) == []


async def test_on_a_phone_the_bar_takes_a_fifth_at_most(house, visit, path_of):
    page = await visit(
        path_of(house.submit(content=LONG)), viewport=PHONE, has_touch=True, is_mobile=True
    )

    assert await bar_height(page) <= PHONE["height"] / 5
