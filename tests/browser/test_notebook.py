"""A pinned notebook in a real browser: it is read in the page, and nothing in it does anything."""

import pytest

from tests.browser.conftest import PHONE, expect
from tests.browser.samples import TRIM
from tests.browser.test_looks import serious
from tests.notebooks import (
    code,
    digest_of,
    display,
    error,
    markdown,
    notebook,
    picture,
    png,
    stream,
)

XSS = "<script>document.title='evil'</script><img src=x onerror=\"document.title='evil'\">"
CELLS = [
    markdown(f"# Trim\n[read](javascript:document.title='evil') {XSS}"),
    code(TRIM, stream("+0.05 A\n"), picture(png(300, 200)), count=2),
    code(f"'''{XSS}'''", display(text_html=XSS, image_svg_xml=f"<svg onload={XSS}>")),
    code("1/0", error("\x1b[31mZeroDivisionError\x1b[0m", f"\u202e{XSS}")),
    code("show()", stream("\n".join(map(str, range(40))))),
]


@pytest.fixture
def ask(house):
    """Send a notebook of these cells and a request that names it; gives the path of its page."""

    def submit(*cells, run_id="", **more):
        body = notebook(*cells)
        reply = house.api.put(f"notebooks/{digest_of(body)}", content=body)
        assert reply.status_code in {200, 201}, reply.text
        evidence = {"notebook": digest_of(body), "notebook_link": "https://lab.example/a.ipynb"}
        content = {"code": TRIM, "language": "python"}
        asked = {"content": content, "evidence": evidence, "run_id": run_id}
        return f"/approvals/{house.submit(**(asked | more))['id']}"

    return submit


async def opened(page):
    """The cells come when they are scrolled to."""
    await page.locator("#notebook-title").scroll_into_view_if_needed()
    await page.locator(".cell").first.wait_for()


async def drawn(page):
    image = page.locator(".cell-picture")
    await image.scroll_into_view_if_needed()
    return await image.evaluate(
        "async i => { await i.decode(); return [i.naturalWidth, i.naturalHeight]; }"
    )


async def test_the_copy_is_read_in_the_page_and_nothing_in_it_runs(visit, ask):
    page = await visit(ask(*CELLS))
    title = await page.title()
    await opened(page)

    assert await page.locator(".cell").count() == len(CELLS)
    assert await drawn(page) == [300, 200]
    active = page.locator(":is(script, svg:not(.icon), a, iframe, img[src=x])")
    await expect(page.locator(".cells").locator(active)).to_have_count(0)
    assert await page.title() == title


async def test_without_script_the_copy_has_a_page_of_its_own(visit, ask):
    page = await visit(ask(*CELLS), java_script_enabled=False)
    await page.get_by_role("link", name="Open the pinned copy on a page of its own").click()

    await expect(page.get_by_role("heading", name="Notebook, as it was pinned")).to_be_visible()
    await expect(page.locator(".cell")).to_have_count(len(CELLS))
    await page.get_by_role("link", name="Back to the request").click()
    await expect(page.locator("#request-bar")).to_be_visible()


async def test_the_head_of_the_page_leads_to_the_notebook(visit, ask):
    page = await visit(ask(*CELLS))

    await page.get_by_role("link", name="Notebook", exact=True).focus()
    await page.keyboard.press("Enter")

    await expect(page.get_by_role("heading", name="Code, cell 2")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [{"width": 1440, "height": 900}, PHONE])
async def test_axe_finds_nothing_and_nothing_is_wider_than_the_page(visit, ask, scheme, viewport):
    run = f"run {scheme} {viewport['width']}"
    ask(*CELLS[:3], run_id=run)
    changed = [code(TRIM.replace("0.4", "0.5"), id="x"), *CELLS[1:]]
    path = ask(*changed, run_id=run)
    page = await visit(path, color_scheme=scheme, viewport=viewport)
    await opened(page)
    found = [await serious(page)]
    await page.goto(f"{page.url.partition('?')[0]}/notebook")
    found.append(await serious(page))

    assert found == [[], []]
    wide = await page.evaluate("document.documentElement.scrollWidth")
    assert wide <= viewport["width"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_where_the_copy_is_missing_or_another(house, visit, ask, scheme):
    gone = house.submit(evidence={"notebook": "a" * 64})
    page = await visit(f"/approvals/{gone['id']}", color_scheme=scheme)
    found = [await serious(page)]
    await page.goto(house.url + ask(code("other")))
    await expect(page.locator(".pinned-said--not")).to_be_visible()
    found.append(await serious(page))

    assert found == [[], []]
