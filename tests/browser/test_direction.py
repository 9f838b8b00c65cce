"""Hebrew, Arabic and Persian as a browser draws them: readable, and all else in its order."""

from itertools import chain
from pathlib import Path

import pytest

from tests.browser.conftest import armed, expect
from tests.browser.deceptions import READ, REORDERED

LOOK = Path(__file__).with_name("look_for_order.js").read_text(encoding="utf-8")
LANGUAGES = sorted({language for language, _ in REORDERED})
LINE = ".block .code .line"
HEBREW = "שלום דנה, הפגישה ביום שני"
SENTENCES = [HEBREW, "العميل يفضل الدفع نقدا", "سلام دنیا، فردا می‌آیم"]
PROSE = [
    ["Dear ", "דנה כהן", ": ", '"', "אב", '"', " - ", "12"],
    ["/", "א", "/", "ב"],
    ["א", "@", "ב", ".org"],
    ["x == ", '"', "אב", '"', " or y == ", '"', "גד", '"'],
]


def lines_of(language):
    return [pieces for one, pieces in chain(REORDERED, READ) if one == language]


def joined(lines):
    return "\n".join(map("".join, lines))


def code(language, lines):
    return {"code": joined(lines), "language": language}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_pieces_of_a_line_of_code_stand_in_the_order_of_the_source(
    house, visit, path_of, language
):
    lines = lines_of(language)
    page = await visit(path_of(house.submit("code", code(language, lines))))

    assert await page.evaluate(LOOK, [LINE, lines]) == []


async def test_so_they_do_where_the_code_has_no_colours(house, visit, path_of):
    lines = [pieces for _, pieces in REORDERED]
    page = await visit(path_of(house.submit("code", code("klingon", lines))))

    assert await page.evaluate(LOOK, [LINE, lines]) == []


async def test_so_they_do_on_a_line_that_something_was_found_in(house, visit, path_of):
    line = ["rm -rf ", "/", "א", "/", "ב", " ", "/", "ג"]
    page = await visit(path_of(house.submit("code", code("bash", [line]))))

    assert await page.locator(".line--high").count() == 1
    assert await page.evaluate(LOOK, [".line--high", [line]]) == []


async def test_names_and_values_of_raw_json_stand_in_the_order_of_the_source(
    house, visit, path_of
):
    content = {"tool": "send", "arguments": {"שם מלא": HEBREW, "סכום": 5}}
    page = await visit(path_of(house.submit("tool_call", content)))
    await page.locator(".raw > summary").click()

    quote = ['"', HEBREW, '"']
    lines = [['    "', "סכום", '"', ": ", "5", ","], ['    "', "שם מלא", '"', ": ", *quote]]
    assert await page.evaluate(LOOK, [".raw .line", lines]) == []


@pytest.mark.parametrize("sentence", SENTENCES, ids=["Hebrew", "Arabic", "Persian"])
async def test_a_value_reads_from_right_to_left(house, visit, path_of, sentence):
    content = {"tool": "send_mail", "arguments": {"text": sentence, "to": "dana@example.org"}}
    page = await visit(path_of(house.submit("tool_call", content)))

    assert await page.evaluate(LOOK, [".member .line", [[sentence.replace("\u200c", "")]]]) == []


CUT = """lines => lines.filter(line => {
  const range = document.createRange();
  range.selectNodeContents(line);
  const [inner, outer] = [range.getBoundingClientRect(), line.getBoundingClientRect()];
  return inner.left < outer.left || inner.right > outer.right;
}).length"""


@pytest.mark.parametrize("width", [390, 1440])
async def test_a_long_value_begins_at_the_right_and_is_not_cut_off(house, visit, path_of, width):
    arguments = {"text": f"{' '.join([HEBREW] * 12)}\n{HEBREW}"}
    asked = house.submit("tool_call", {"tool": "send", "arguments": arguments})
    page = await visit(path_of(asked), viewport={"width": width, "height": 800})
    lines = page.locator(".member--tall .line")

    first, last = await lines.first.bounding_box(), await lines.last.bounding_box()
    assert first["height"] > last["height"]
    assert await lines.evaluate_all(CUT) == 0


async def test_what_is_no_sentence_in_a_value_stands_in_the_order_of_the_source(
    house, visit, path_of
):
    arguments = {"text": joined(PROSE)}
    page = await visit(
        path_of(house.submit("tool_call", {"tool": "send", "arguments": arguments}))
    )

    assert await page.evaluate(LOOK, [".member .line", PROSE]) == []


async def test_a_changed_memory_reads_from_right_to_left(house, visit, path_of):
    old, new, persian = SENTENCES
    memory = {"operation": "update", "user_id": "u", "existing": old, "content": new}
    page = await visit(path_of(house.submit("memory", memory | {"content": f"{new}\n{persian}"})))

    assert await page.evaluate(LOOK, [".line-changes .line", [[old], [new]]]) == []


async def test_the_lines_of_a_difference_stand_in_the_order_of_the_source(house, visit, path_of):
    lines = [pieces for one, pieces in REORDERED if one == "python"][:6]
    house.submit("code", code("python", [*lines[:3], ["print(1)"], *lines[3:]]))
    again = code("python", [*lines[:3], ["print(2)"], *lines[3:]])
    page = await visit(path_of(house.submit("code", again)))
    await page.evaluate(
        "document.querySelectorAll('#request details').forEach(d => d.open = true)"
    )

    assert await page.evaluate(LOOK, [".diff-text", lines]) == []


async def test_a_reason_is_written_and_told_from_right_to_left(house, visit, path_of):
    page = await visit(path_of(house.submit()))
    await page.locator(".reject > summary").click()
    field = page.get_by_label("Why not?")
    direction = "(element) => getComputedStyle(element).direction"
    assert await field.evaluate(direction) == "ltr"

    await field.fill(f"{HEBREW}.")
    assert await field.evaluate(direction) == "rtl"
    await armed(page)
    await page.get_by_role("button", name="Reject", exact=True).click()

    told = page.locator(".result-reason")
    await expect(told).to_have_text(f"{HEBREW}.")
    assert await page.evaluate(LOOK, [".result-reason", [[f"{HEBREW}."]]]) == []
