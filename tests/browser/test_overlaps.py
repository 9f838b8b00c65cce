"""The screenshots' own look at a page finds texts that are drawn badly, and nothing else."""

import pytest
import pytest_asyncio

from tests.browser.screenshots import BADLY_DRAWN

BOX = "position: absolute; left: 10px; width: 200px; font: 16px monospace;"
GOOD = {
    "beside": f'<p style="{BOX} top: 0">one</p><p style="{BOX} top: 40px">other</p>',
    "covered": f'<p style="{BOX} top: 0">one</p>'
    f'<p style="{BOX} top: 0; background: #fff">other</p>',
    "marked": f'<p style="{BOX} overflow: hidden; text-overflow: ellipsis; white-space: nowrap">'
    "a text that is far too long for its box</p>",
    "scrolled": f'<p style="{BOX} overflow: auto; white-space: nowrap">'
    "a text that is far too long for its box</p>",
    "heard only": '<p style="position: absolute; width: 1px; height: 1px; overflow: hidden">a</p>',
}
BAD = {
    "lies on": f'<p style="{BOX} top: 0">one text</p><p style="{BOX} top: 4px">other text</p>',
    "is cut off": f'<p style="{BOX} overflow: hidden; white-space: nowrap">'
    "a text that is far too long for its box</p>",
    "reaches out of its": f'<div class="item" style="{BOX} height: 20px">'
    '<span style="white-space: nowrap">a text that is far too long for its box</span></div>',
}


@pytest_asyncio.fixture(loop_scope="session")
async def found_in(chromium):
    """Draw a page and say what is found in it."""
    context = await chromium.new_context(viewport={"width": 600, "height": 400})
    page = await context.new_page()

    async def look(body):
        await page.set_content(f"<main id=main>{body}</main>")
        return await page.evaluate(BADLY_DRAWN)

    yield look
    await context.close()


@pytest.mark.parametrize("body", GOOD.values(), ids=GOOD)
async def test_what_is_drawn_as_it_should_be_is_no_fault(found_in, body):
    assert await found_in(body) == []


@pytest.mark.parametrize(("fault", "body"), BAD.items(), ids=BAD)
async def test_what_is_drawn_badly_is_found(found_in, fault, body):
    assert [sentence for sentence in await found_in(body) if fault in sentence]
