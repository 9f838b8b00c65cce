"""Filters, order and counts of the queue, on a page that is open."""

import asyncio
import re
from uuid import uuid4

import pytest

from tests.browser.conftest import PHONE, armed, expect
from tests.browser.test_looks import serious

HIGH = {"code": "import shutil\nshutil.rmtree('/data')\n", "language": "python"}


@pytest.fixture
def run():
    """The name of a run that nothing else has."""
    return f"run-{uuid4().hex}"


def row(page, approval):
    return page.locator(f'.item[data-id="{approval["id"]}"]')


def rows(page):
    return page.locator("#list .item")


def search(page):
    return page.get_by_role("searchbox", name="Search content, objective and run")


def ends(address):
    return re.compile(re.escape(address) + "$")


async def mine(page):
    return int(await page.locator("#list").get_attribute("data-mine"))


async def test_what_comes_later_is_filtered_too(house, visit, run):
    page = await visit(f"/?q={run}")

    await asyncio.to_thread(house.submit)
    approval = await asyncio.to_thread(house.submit, run_id=run)

    await row(page, approval).wait_for()
    await expect(rows(page)).to_have_count(1)


async def test_typing_narrows_the_list_and_the_address(house, visit, run):
    house.submit()
    approval = house.submit(run_id=run)
    page = await visit("/")

    await search(page).fill(run)

    await expect(rows(page)).to_have_count(1)
    await row(page, approval).wait_for()
    await expect(page).to_have_url(ends(f"/?q={run}"))
    await expect(search(page)).to_be_focused()


async def test_choosing_narrows_at_once_though_the_pointer_is_there(house, visit, run):
    house.submit(run_id=run)
    page = await visit(f"/?q={run}")

    await page.get_by_text("Filter", exact=True).click()
    await page.get_by_label("Kind").select_option("plan")

    await page.get_by_text("Nothing matches your filters.").wait_for()
    await page.get_by_role("heading", name="Nothing matches your filters").wait_for()
    await expect(page).to_have_url(ends(f"/?q={run}&kind=plan"))


async def test_the_way_back_shows_all(house, visit, run):
    approval = house.submit()
    page = await visit(f"/?q={run}")

    await page.get_by_role("link", name="Show all").click()

    await row(page, approval).wait_for()
    await expect(search(page)).to_have_value("")


async def test_a_request_that_is_opened_keeps_the_filters_beside_it(house, visit, run):
    approval, other = house.submit(run_id=run), house.submit()
    page = await visit(f"/?q={run}")

    await armed(page)
    await row(page, approval).get_by_role("link").click()
    await page.locator("#request-title:focus").wait_for()
    await page.reload()

    await expect(page).to_have_url(ends(f"/approvals/{approval['id']}?q={run}"))
    await row(page, approval).locator("[aria-current]").wait_for()
    await expect(row(page, other)).to_have_count(0)


async def test_filters_change_beside_an_open_request(house, visit, path_of, run):
    house.submit(run_id=run)
    approval = house.submit()
    page = await visit(path_of(approval))

    await search(page).fill(run)

    await expect(rows(page)).to_have_count(1)
    await expect(page).to_have_url(ends(f"{path_of(approval)}?q={run}"))
    await page.locator("#request-title").wait_for()


async def test_the_next_request_is_the_next_in_the_narrowed_list(house, visit, run):
    house.submit(time_limit_s=600)  # more urgent, but left out
    first, second = [house.submit(run_id=run, time_limit_s=limit) for limit in (800, 900)]
    page = await visit(f"/approvals/{first['id']}?q={run}")
    await armed(page)
    await page.get_by_role("button", name="Approve", exact=True).click()
    await page.locator(".result--approved").wait_for()

    await armed(page)
    await page.get_by_role("link", name="Next request").click()

    await expect(page).to_have_url(ends(f"/approvals/{second['id']}?q={run}"))
    await page.locator("#request-title:focus").wait_for()


async def test_a_filtered_list_does_not_move_under_the_pointer(house, visit, run):
    first = house.submit(run_id=run)
    page = await visit(f"/?q={run}&order=risk")
    await row(page, first).hover()

    second = await asyncio.to_thread(house.submit, content=HIGH, run_id=run)

    await page.get_by_role("button", name="1 new").wait_for()
    await expect(rows(page)).to_have_count(1)
    await page.get_by_role("button", name="1 new").click()
    await expect(rows(page)).to_have_count(2)
    await expect(rows(page).first).to_have_attribute("data-id", second["id"])


async def test_a_list_does_not_move_after_one_that_was_asked_for_did_not_come(house, visit, run):
    first = house.submit(run_id=run)
    page = await visit(f"/?q={run}&order=risk")
    await row(page, first).hover()
    await asyncio.to_thread(house.submit, content=HIGH, run_id=run)
    await page.get_by_role("button", name="1 new").wait_for()
    await page.route("**/queue**", lambda route: route.abort("internetdisconnected"))
    async with page.expect_event("requestfailed"):
        await page.get_by_role("button", name="1 new").click()
    await page.unroute("**/queue**")

    await row(page, first).hover()
    await asyncio.to_thread(house.submit, content=HIGH, run_id=run)

    await page.get_by_role("button", name="2 new").wait_for()
    await expect(rows(page)).to_have_count(1)


async def test_other_filters_whose_list_did_not_come_are_applied_by_the_next_one(
    house, visit, run
):
    first = house.submit(run_id=run)
    second = house.submit(run_id=f"{run}-other")
    page = await visit(f"/?q={run}&order=risk")
    await page.route("**/queue**", lambda route: route.abort("internetdisconnected"))
    await row(page, first).hover()
    async with page.expect_event("requestfailed"):
        await page.get_by_role("searchbox").fill(f"{run}-other")
    await page.unroute("**/queue**")

    await asyncio.to_thread(house.submit, content=HIGH, run_id=run)

    await expect(row(page, first)).to_have_count(0)
    await expect(row(page, second)).to_be_visible()
    await expect(page.locator(".item--gone")).to_have_count(0)


async def test_a_list_with_the_focus_in_it_does_not_move(house, visit, run):
    first = house.submit(run_id=run)
    page = await visit(f"/?q={run}")
    await row(page, first).get_by_role("link").focus()

    await asyncio.to_thread(house.submit, run_id=run)

    await page.get_by_role("button", name="1 new").wait_for()
    await expect(row(page, first).get_by_role("link")).to_be_focused()
    await expect(page.locator(".run")).to_have_count(0)


async def test_a_second_request_of_a_run_comes_under_the_heading_of_both(house, visit, run):
    house.submit(run_id=run)
    page = await visit(f"/?q={run}")

    await asyncio.to_thread(house.submit, run_id=run)

    await page.locator(".run-head", has_text=run).wait_for()
    await expect(page.locator(".run .item")).to_have_count(2)


async def test_the_filters_work_without_script(house, visit, run):
    house.submit()
    approval = house.submit(run_id=run)
    page = await visit("/", java_script_enabled=False)

    await search(page).fill(run)
    await page.get_by_role("button", name="Show").click()

    await row(page, approval).wait_for()
    await expect(rows(page)).to_have_count(1)


async def counting(page):
    """Have the title count, as the switch on the account page does."""
    await page.evaluate("localStorage.setItem('approvals:badge', 'on')")
    await page.reload()
    await page.locator("#live[data-state=live]").wait_for()
    return page


async def test_the_title_counts_what_needs_me(house, visit):
    house.clear()  # or what an earlier test asked is abandoned meanwhile
    page = await counting(await visit("/"))
    before = await mine(page)

    approval = await asyncio.to_thread(house.submit)
    await expect(page).to_have_title(re.compile(rf"^\({before + 1}\) "))
    await asyncio.to_thread(house.cancel, approval)

    await expect(page).to_have_title(re.compile(rf"^\({before}\) " if before else r"^[^(]"))


async def test_the_title_counts_while_the_list_is_held_and_beside_a_request(house, visit, path_of):
    house.clear()
    page = await counting(await visit(path_of(house.submit())))
    before = await mine(page)
    await page.locator(".queue").hover()

    await asyncio.to_thread(house.submit)

    await expect(page).to_have_title(f"({before + 1}) Python, 1 line · Approvals")


async def test_nobody_has_a_count_who_did_not_ask_for_it(house, visit, path_of):
    page = await visit(path_of(house.submit()))

    await expect(page).to_have_title("Python, 1 line · Approvals")


async def test_there_is_no_count_where_nothing_needs_me(house, visit, run):
    page = await visit("/policies")

    await expect(page).to_have_title(re.compile(r"^[^(]"))


IN_SIGHT = """
[...document.querySelectorAll(".item")].filter((row) => {
  const { top, bottom } = row.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}).length
"""
IS_IN_SIGHT = """(row) => {
  const { top, bottom } = row.getBoundingClientRect();
  const above = document.querySelector(".queue-top").getBoundingClientRect();
  return top >= above.bottom && bottom <= innerHeight;
}"""


async def twenty(house, run):
    """Ask for twenty things whose titles are 60 characters long, each of a run of its own."""
    return [
        await asyncio.to_thread(
            house.submit,
            kind="tool_call",
            content={"tool": f"tool_{n:02}", "arguments": {"path": "/" + "x" * 51, f"k{n}": n}},
            run_id=run + str(n),
            time_limit_s=3000 + n,
        )
        for n in range(20)
    ]


async def test_fourteen_rows_with_long_titles_are_in_sight(house, visit, run):
    await twenty(house, run)

    page = await visit(f"/?q={run}")

    await expect(rows(page)).to_have_count(20)
    assert await page.locator(".item-link").first.inner_text() == "tool_00 /" + "x" * 51
    assert await page.evaluate(IN_SIGHT) >= 14
    heights = await page.locator(".item").evaluate_all("rows => rows.map((r) => r.offsetHeight)")
    assert max(heights) <= 54  # two lines


@pytest.mark.parametrize(
    ("code", "box"),
    [
        ("connect('archiver', password='hunter2-and-more')", ".masked"),
        ("a = 'b\u202ec'", ".glyph"),
    ],
)
async def test_a_row_that_is_cut_within_a_box_has_its_dots_behind_what_is_left_of_it(
    house, visit, run, code, box
):
    await asyncio.to_thread(house.submit, content={"code": code}, run_id=run)

    page = await visit(f"/?q={run}", viewport=PHONE)

    # A box of its own kind would be left where it is, with the dots on its beginning.
    boxes = page.locator(f".item-summary {box}")
    await expect(boxes.first).to_have_css("display", "inline")
    assert await boxes.evaluate_all("(them) => them.every((one) => one.offsetHeight < 18)")


async def test_the_row_of_what_is_open_is_in_sight_whichever_way_it_was_opened(house, visit, run):
    asked = await twenty(house, run)
    page = await visit(f"/approvals/{asked[19]['id']}?q={run}")
    here = row(page, asked[19])
    await page.wait_for_function(IS_IN_SIGHT, arg=await here.element_handle())

    await page.reload()

    await page.wait_for_function(IS_IN_SIGHT, arg=await here.element_handle())


async def test_news_take_the_strip_and_move_and_cover_nothing(house, visit, run):
    first = house.submit(run_id=run)
    page = await visit(f"/?q={run}")
    await row(page, first).hover()
    before = await row(page, first).bounding_box()

    await asyncio.to_thread(house.submit, run_id=run)

    news = page.get_by_role("button", name="1 new")
    await news.wait_for()
    strip, tabs = await news.bounding_box(), await page.locator(".tabs").bounding_box()
    assert await row(page, first).bounding_box() == before
    assert tabs["y"] + tabs["height"] <= strip["y"]
    assert strip["y"] + strip["height"] <= before["y"]
    assert strip["width"] >= before["width"] - 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [{"width": 1440, "height": 900}, PHONE])
async def test_axe_finds_nothing_in_any_list(house, visit, run, scheme, viewport):
    for content in (HIGH, HIGH, None):
        house.submit(run_id=run, content=content)
    found = {}
    page = await visit("/", color_scheme=scheme, viewport=viewport)
    for query in (f"q={run}&severity=low&order=risk", "q=nothing", "kind=x", "show=decided&q=x"):
        await page.goto(f"{house.url}/?{query}")
        found[query] = await serious(page)

    assert {query: faults for query, faults in found.items() if faults} == {}


async def test_no_list_is_wider_than_a_phone(house, visit, run):
    for _ in range(2):
        house.submit(run_id="very-long-" * 15 + run, content=HIGH)
    page = await visit(f"/?q={run}&severity=low&kind=x", viewport={"width": 320, "height": 640})

    await page.locator(".run").wait_for()

    assert await page.evaluate("document.documentElement.scrollWidth") == 320


async def test_a_list_that_comes_after_a_request_was_opened_is_asked_for_anew(house, visit, run):
    approval = house.submit(run_id=run)
    page = await visit(f"/?q={run}")
    said, asked, may_come = [], asyncio.Event(), asyncio.Event()
    page.on("console", lambda message: message.type == "error" and said.append(message.text))

    async def late(route):
        asked.set()
        await may_come.wait()
        await route.continue_()

    await page.route("**/queue**", late)
    other = await asyncio.to_thread(house.submit, run_id=run)
    await asked.wait()
    await row(page, approval).locator(".item-link").click()
    await page.locator("#request").wait_for()
    await page.mouse.move(1000, 300)  # so that the list may change
    may_come.set()

    await row(page, other).wait_for()
    assert said == []
