"""Who is on a request, who reads it, not now, more time, the same as before: on open pages."""

from uuid import uuid4

import pytest

from tests.browser.conftest import armed, expect
from tests.browser.test_looks import serious

EASY = {"code": "print(1)", "language": "python"}


def said(page):
    return page.locator(".status-who")


def row(page, approval):
    return page.locator(f'.item[data-id="{approval["id"]}"]')


def status(house, approval):
    return house.api.get(f"approvals/{approval['id']}").json()["status"]


async def opened(visit, path_of, approval, name="alice", **options):
    page = await visit(path_of(approval), name, **options)
    await armed(page)
    return page


async def assign(page, name="Assign to me"):
    await page.get_by_label("More", exact=True).click()
    await page.get_by_role("button", name=name).click()


async def put_off(page):
    await page.locator("#snooze > summary").click()
    await page.get_by_role("button", name="Until").last.click()


async def test_a_claim_by_a_second_person_is_seen_on_the_first_page(house, visit, path_of):
    approval = house.submit()
    alices = await opened(visit, path_of, approval)
    bobs = await opened(visit, path_of, approval, "bob")
    await assign(alices)
    await bobs.get_by_text("Assigned to alice").first.wait_for()

    await assign(bobs, "Take over from alice")

    await alices.get_by_text("bob took this over from you").wait_for()
    await row(alices, approval).locator(".item-assignment", has_text="bob").wait_for()


@pytest.mark.parametrize("panel", ["more", "snooze", "why-all"])
async def test_news_closes_nothing_that_somebody_opened(house, visit, path_of, panel):
    approval = house.submit(time_limit_s=900)
    page = await opened(visit, path_of, approval)
    bobs = await opened(visit, path_of, approval, "bob")
    summary = page.locator(f"#{panel} > summary")
    await summary.click()

    await assign(bobs)

    await said(page).get_by_text("Assigned to bob").wait_for()
    await expect(page.locator(f"#{panel}[open]")).to_be_visible()
    await expect(summary).to_be_focused()


async def test_news_that_changed_nothing_opens_and_focuses_nothing_later(house, visit, path_of):
    approval = house.submit()
    page = await opened(visit, path_of, approval)
    bobs = await opened(visit, path_of, approval, "bob")
    menu = page.locator("#more > summary")
    await menu.click()
    await page.route("**/state", lambda route: route.fulfill(status=204))
    async with page.expect_response("**/state"):
        await assign(bobs)
    await page.unroute("**/state")
    await menu.click()
    search = page.get_by_role("searchbox")
    await search.focus()

    await said(bobs).get_by_text("Assigned to you").wait_for()
    await assign(bobs, "Unassign me")
    await said(bobs).get_by_text("Assigned to you").wait_for(state="detached")
    await assign(bobs)

    await said(page).get_by_text("Assigned to bob").wait_for()
    await armed(page)
    await expect(page.locator("#more")).not_to_have_attribute("open", "")
    await expect(search).to_be_focused()


async def test_an_own_press_closes_the_menu(house, visit, path_of):
    page = await opened(visit, path_of, house.submit())

    await assign(page)

    await said(page).get_by_text("Assigned to you").wait_for()
    await expect(page.locator("#more")).not_to_have_attribute("open", "")


async def test_approve_on_what_another_is_on_needs_a_second_press(house, visit, path_of):
    approval = house.submit(content=EASY)
    bobs = await opened(visit, path_of, approval, "bob")
    await assign(bobs)
    await said(bobs).get_by_text("Assigned to you").wait_for()
    alices = await opened(visit, path_of, approval)

    await alices.get_by_role("button", name="Approve", exact=True).click()
    again = alices.get_by_role("button", name="Approve anyway")
    await again.wait_for()
    assert (status(house, approval), await serious(alices)) == ("pending", [])
    await armed(alices)
    await again.click()

    await alices.locator(".result--approved").wait_for()


async def test_after_an_assignment_that_was_refused_another_is_sent(house, visit, path_of):
    page = await opened(visit, path_of, house.submit())
    await page.get_by_label("More", exact=True).click()
    bob = page.locator("#hand-to option", has_text="bob")
    await bob.evaluate("(option) => option.value = 'nobody'")
    await page.locator("#hand-to").select_option("nobody")
    await page.get_by_role("button", name="Assign", exact=True).click()
    await page.get_by_role("alert").filter(has_text="Nothing was recorded").wait_for()
    await armed(page)
    await bob.evaluate("(option) => option.value = 'bob'")

    await page.get_by_label("More", exact=True).click()
    await page.get_by_role("button", name="Assign", exact=True).click()

    await said(page).get_by_text("You assigned this to bob").wait_for()


async def test_a_word_comes_with_a_hand_over_and_is_drawn_on_their_page(house, visit, path_of):
    approval = house.submit()
    alices = await opened(visit, path_of, approval)
    bobs = await opened(visit, path_of, approval, "bob")
    await alices.get_by_label("More", exact=True).click()
    await alices.locator("#hand-to").select_option("bob")
    await alices.get_by_label("A note to them").fill("You know this one.")

    await alices.get_by_role("button", name="Assign", exact=True).click()

    await said(bobs).get_by_text("alice assigned this to you").wait_for()
    await expect(bobs.locator(".assignment-note")).to_have_text("You know this one.")
    await said(alices).get_by_text("You assigned this to bob").wait_for()


async def test_who_else_reads_appears_without_a_reload(house, visit, path_of):
    approval = house.submit()
    alices = await opened(visit, path_of, approval)
    bobs = await opened(visit, path_of, approval, "bob")
    await bobs.get_by_text("alice is viewing").first.wait_for()

    await alices.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    await expect(alices.locator("#request-viewing")).to_have_text("bob is viewing")


async def test_who_else_reads_does_not_take_the_press_away(house, visit, path_of):
    page = await opened(visit, path_of, house.submit())

    async with page.expect_response("**/seen"):
        pass

    assert await page.evaluate("'arming' in document.documentElement.dataset") is False


async def test_not_now_leaves_the_list_and_comes_back(house, visit, path_of):
    approval = house.submit(time_limit_s=900)
    page = await opened(visit, path_of, approval)
    await row(page, approval).wait_for()
    await put_off(page)
    await said(page).get_by_text("Snoozed until").wait_for()
    await row(page, approval).wait_for(state="detached")

    await page.get_by_role("button", name="Back to my queue").click()

    await row(page, approval).wait_for()


async def test_others_still_see_what_i_put_off(house, visit, path_of):
    approval = house.submit(time_limit_s=900)
    bobs = await visit("/", "bob")
    page = await opened(visit, path_of, approval)

    await put_off(page)

    await row(page, approval).wait_for(state="detached")
    await expect(row(bobs, approval)).to_be_visible()


async def test_assignment_works_without_script(house, visit, path_of):
    approval = house.submit()
    page = await visit(path_of(approval), java_script_enabled=False)

    await assign(page)
    await said(page).get_by_text("Assigned to you").wait_for()
    await put_off(page)

    await said(page).get_by_text("Snoozed until").wait_for()


async def test_time_is_offered_when_the_end_comes_near_and_added(house, visit, path_of):
    approval = house.submit(time_limit_s=64)
    page = await opened(visit, path_of, approval)
    await page.get_by_role("button", name="Add 5 min").click()

    await page.locator(".status-left").get_by_text("5:").wait_for()

    assert (
        house.api.get(f"approvals/{approval['id']}").json()["expires_at"] > approval["expires_at"]
    )


async def test_the_same_no_is_one_press(house, visit, path_of):
    run = uuid4().hex
    page = await opened(visit, path_of, house.submit(content=EASY, run_id=run))
    await page.get_by_text("Reject…").click()
    await page.get_by_label("Why not?").fill("Wrong sector.")
    await page.locator("[value=reject]").click()
    await page.locator(".result--rejected").wait_for()
    same = house.submit(content=EASY, run_id=run)
    await page.goto(house.url + path_of(same))
    await armed(page)

    await page.get_by_role("button", name="Same as before: reject").click()

    await page.locator(".result--rejected").wait_for()
    assert house.wait(same)["decision"]["reason"] == "Wrong sector."


async def test_c_claims_and_does_not_take_over(house, visit, path_of):
    approval = house.submit()
    page = await opened(visit, path_of, approval)
    await page.keyboard.press("c")
    await said(page).get_by_text("Assigned to you").wait_for()
    bobs = await opened(visit, path_of, approval, "bob")

    await bobs.keyboard.press("c")

    await expect(bobs.get_by_role("button", name="Take over from alice")).to_be_focused()
    await said(bobs).get_by_text("Assigned to alice").wait_for()


async def test_l_opens_the_choices_and_escape_closes_them(house, visit, path_of):
    page = await opened(visit, path_of, house.submit())

    await page.keyboard.press("l")
    await expect(page.locator("#snooze form button").first).to_be_focused()
    await page.keyboard.press("Escape")

    await expect(page.locator("#snooze form")).to_be_hidden()
