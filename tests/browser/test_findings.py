"""Findings are walked, and lines are quoted, by pointer and by keyboard."""

import pytest

from dashboard.web.drawing.windows import CHARACTERS
from tests.browser.conftest import expect

CODE = {
    "code": "x = 1\n" * 90 + "import os\nos.remove('a')\n" + "y = 2\n" * 90 + "os.system('ls')\n"
}
QUOTED = """() => { window.quoted = [];
    document.addEventListener("quote-line", (event) => window.quoted.push(event.detail)); }"""


@pytest.fixture
def path(house, path_of):
    return path_of(house.submit(content={**CODE, "language": "python"}))


async def test_n_walks_the_findings_and_shift_goes_back(visit, path):
    page = await visit(path)
    notes = page.locator(".line-note")

    await page.keyboard.press("n")
    await expect(notes.nth(0)).to_be_focused()
    await page.keyboard.press("n")
    await expect(notes.nth(1)).to_be_focused()
    await expect(notes.nth(1)).to_be_in_viewport()

    await page.keyboard.press("N")
    await expect(notes.nth(0)).to_be_focused()


async def test_next_walks_them_too(visit, path):
    page = await visit(path)

    await page.get_by_role("link", name="Next n").click()

    await expect(page.locator(".line-note").first).to_be_in_viewport()


async def test_next_leads_to_the_first_one_without_script(visit, path):
    page = await visit(path, java_script_enabled=False)

    await page.get_by_role("link", name="Next n").click()

    await expect(page.locator(".line:target")).to_be_in_viewport()


async def test_the_map_leads_to_a_line(visit, path):
    page = await visit(path)

    await page.locator(".map-mark").first.click()

    await expect(page.locator(".line:target")).to_be_in_viewport()


async def test_a_press_on_a_number_quotes_its_line(visit, path):
    page = await visit(path)
    await page.evaluate(QUOTED)

    await page.locator(".content .line").nth(2).click(position={"x": 20, "y": 8})

    assert await page.evaluate("quoted") == [{"line": 3, "text": "x = 1"}]


async def test_a_press_on_the_text_of_a_line_quotes_nothing(visit, path):
    page = await visit(path)
    await page.evaluate(QUOTED)

    await page.locator(".content .line").nth(2).click(position={"x": 200, "y": 8})

    assert await page.evaluate("quoted") == []


async def test_the_rest_of_a_line_in_the_next_part_is_quoted_with_its_number(
    house, visit, path_of
):
    code = f"y = '{'y' * CHARACTERS}'\nx = 1\n"
    page = await visit(path_of(house.submit(content={"code": code, "language": "python"})))
    await page.evaluate(QUOTED)

    rest = page.locator(".content .line[data-of]").first
    await page.locator("[data-next]").first.scroll_into_view_if_needed()
    await expect(rest).to_be_visible()
    await rest.evaluate("rest => rest.scrollIntoView({ block: 'center' })")
    await rest.click(position={"x": 20, "y": 8})

    assert [one["line"] for one in await page.evaluate("quoted")] == [1]


async def test_arrow_keys_choose_a_line_and_enter_quotes_it(visit, path):
    page = await visit(path)
    await page.evaluate(QUOTED)

    await page.locator(".content .code").first.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowDown", "Enter"):
        await page.keyboard.press(key)

    assert [one["line"] for one in await page.evaluate("quoted")] == [2]


async def test_what_is_copied_is_the_content_alone(visit, path):
    page = await visit(path)

    await page.evaluate(
        "getSelection().selectAllChildren(document.querySelector('.content .code'))"
    )
    copied = await page.evaluate("getSelection().toString()")

    assert [line for line in copied.split("\n") if line.strip()] == CODE["code"].split("\n")[:-1]


NUMBERED = """lines => lines.filter(line => {
  const { content } = getComputedStyle(line, "::before");
  return content !== "none";
}).length"""


@pytest.mark.parametrize(
    ("code", "numbers"),
    [("a = 1\nb = 2\n", 2), ("a = 1\nb = 2", 2), ("a = 1\n\n", 2), ("a = 1\n\nb = 2\n", 3)],
)
async def test_as_many_lines_are_numbered_as_are_counted(house, visit, path_of, code, numbers):
    page = await visit(path_of(house.submit(content={"code": code, "language": "python"})))

    assert await page.locator(".content .line").evaluate_all(NUMBERED) == numbers
    await expect(page.locator("[data-in-view]")).to_contain_text(f"{numbers} of {numbers} lines")
