"""Content that is long, and content with secrets in it."""

import pytest

from tests.browser.conftest import PHONE, armed, expect, see_all
from tests.browser.test_looks import serious

PARTS = 4
LONG = "\n".join(f"row_{n} = {n}" for n in range(1, PARTS * 1_000 + 1))
SECRET = "kT9-4wq_LmZ2p"
NAMED = {"code": f'password = "{SECRET}"\nprint(len(password))', "language": "python"}
TOKEN = {"code": f'token = "ghp_{"aB3d" * 9}"\nprint(len(token))', "language": "python"}


@pytest.fixture
def long(house, path_of):
    return path_of(house.submit(content={"code": LONG, "language": "python"}))


@pytest.fixture
def secret(house, path_of):
    return path_of(house.submit(content=NAMED))


async def scroll(page):
    """Go on to the next part, and wait until it stands there."""
    count = await page.locator(".window").count()
    await page.locator("[data-next]").scroll_into_view_if_needed()
    await page.locator(".window").nth(count).wait_for(state="attached")


async def test_the_next_parts_come_as_one_scrolls_and_then_approve_is_offered(visit, long):
    page = await visit(long)
    approve = page.get_by_role("button", name="Approve", exact=True)
    await expect(approve).to_be_disabled()

    await see_all(page)

    await expect(approve).to_be_enabled()
    await armed(page)
    await approve.click()
    await page.locator(".result--approved").wait_for()
    await expect(page.locator(".window .line")).to_have_count(PARTS * 1_000)


async def test_the_end_alone_is_not_the_whole(visit, long):
    page = await visit(long)
    await page.locator("#content-end").scroll_into_view_if_needed()

    await expect(page.locator("#in-view")).to_contain_text("lines seen, more below")
    await expect(page.get_by_role("button", name="Approve", exact=True)).to_be_disabled()
    await expect(page.locator(".owed")).to_contain_text("Not opened yet")


async def test_a_long_content_is_read_and_approved_without_script(visit, house, long):
    page = await visit(long, java_script_enabled=False)
    await expect(page.get_by_role("button", name="Approve", exact=True)).to_be_disabled()

    await page.locator("[data-next]").click()
    for _ in range(PARTS - 2):
        await page.get_by_role("link", name="Next: ").first.click()
    await page.get_by_role("link", name="Back to the request").click()

    await page.get_by_label("All of it was in view").check()
    await page.get_by_role("button", name="Approve", exact=True).click()
    await page.locator(".result--approved").wait_for()


async def test_a_search_leads_to_the_line(visit, long):
    page = await visit(long)

    await page.get_by_label("Find in the content").fill("row_3210 ")
    await page.get_by_role("button", name="Find").click()

    await expect(page.locator(".line--sought")).to_have_text("row_3210 = 3210")
    await expect(page.locator(".line--sought")).to_be_in_viewport()


async def test_a_secret_is_revealed_and_then_approved(visit, secret):
    page = await visit(secret)
    await expect(page.locator(".code .masked")).to_have_count(1)
    await expect(page.get_by_role("button", name="Approve", exact=True)).to_be_disabled()

    await page.get_by_role("button", name="Reveal").click()

    await page.locator(".code .line", has_text=SECRET).wait_for()
    await armed(page)
    await page.get_by_role("button", name="Approve", exact=True).click()
    await page.locator(".result--approved").wait_for()


async def test_a_key_of_a_known_form_is_approved_while_it_is_masked(house, visit, path_of):
    page = await visit(path_of(house.submit(content=TOKEN)))
    await expect(page.locator(".code .masked")).to_have_count(1)

    await armed(page)
    await page.get_by_role("button", name="Approve", exact=True).click()

    await page.locator(".result--approved").wait_for()
    await expect(page.locator(".code .masked")).to_have_count(1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [{"width": 1440, "height": 900}, PHONE])
async def test_axe_finds_nothing_and_nothing_is_too_wide(
    house, visit, long, secret, scheme, viewport
):
    page = await visit(long, color_scheme=scheme, viewport=viewport)
    found = {}
    for path in (long, secret, f"{long}/lines?find=row_2000", f"{long}/outline"):
        await page.goto(house.url + path)
        width = await page.evaluate("document.documentElement.scrollWidth")
        found[path] = [*await serious(page), *([width] if width > viewport["width"] else [])]

    assert [faults for faults in found.values() if faults] == []
