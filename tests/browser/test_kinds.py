"""Tool calls, plans and memory in a browser: readable without script, by keyboard, on a phone."""

import pytest

from tests.browser.conftest import expect
from tests.browser.test_looks import serious

DEEP = {"leaf": "at the bottom of it all", "\u202ename": "a very long line " * 40}
for level in range(20):
    DEEP = {f"level_{level}": DEEP, "beside": [level, None]}
CALL = {
    "kind": "tool_call",
    "capability": "clean_up",
    "content": {
        "tool": "clean_up",
        "arguments": {
            "filler": {f"k{number:03}": number for number in range(200)},
            "setup": {"command": "cd /srv\n\nrm -rf /srv/cache"},
        },
    },
}
NESTED = {**CALL, "content": {"tool": "nest", "arguments": {"deep": DEEP}}}
STEPS = [
    {"capability": "archiver", "task_objective": "Read the logs", "inputs": [{"RANGE": "day"}]},
    {"task": "Write a summary", "tool": "mail", "parameters": {"body": "Dear all,\n\nbye"}},
]
PLAN = {"kind": "plan", "capability": "plan", "content": {"steps": STEPS}}
MEMORY = {
    "kind": "memory",
    "capability": "memory",
    "content": {
        "operation": "update",
        "user_id": "operator-7",
        "existing": "Prefers inches.\nCall before dumps.",
        "content": "Prefers millimetres.\nCall before dumps.",
    },
}


async def test_everything_an_agent_sent_can_be_read_without_script(house, visit, path_of):
    page = await visit(path_of(house.submit(**CALL)), java_script_enabled=False)

    await expect(page.locator(".call-tool")).to_have_text("clean_up")
    await page.get_by_text("Raw JSON").click()
    await expect(page.locator(".raw .line").last).to_be_visible()
    await expect(page.locator(".raw")).to_contain_text('"k199": 199')


async def test_what_was_found_leads_to_its_line_among_the_arguments(house, visit, path_of):
    page = await visit(path_of(house.submit(**CALL)))

    await page.locator(".found-all > summary").click()
    finding = page.locator(".finding", has_text="recursive-delete")
    await finding.get_by_role("link", name="line 3").click()

    line = page.locator(".line:target")
    await expect(line).to_have_text("rm -rf /srv/cache")
    await expect(line).to_be_in_viewport()


async def test_what_is_big_is_open_and_folds_by_keyboard(house, visit, path_of):
    page = await visit(path_of(house.submit(**CALL)))
    last = page.get_by_text("k199", exact=True)
    await expect(last).to_be_visible()

    await page.locator("summary", has_text="filler").focus()
    await page.keyboard.press("Enter")

    await expect(last).to_be_hidden()


async def test_lines_that_change_have_words_for_who_does_not_see(house, visit, path_of):
    page = await visit(path_of(house.submit(**MEMORY)))

    await expect(page.locator(".line-changes")).to_match_aria_snapshot(
        "- text: 'Removed:'\n"
        "- code: Prefers inches.\n"
        "- text: 'Added:'\n"
        "- code: Prefers millimetres.\n"
        "- code: Call before dumps."
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "question", [CALL, NESTED, PLAN, MEMORY], ids=["call", "deep", "plan", "memory"]
)
async def test_unfolded_on_the_smallest_phone_nothing_is_too_wide(
    house, visit, path_of, question, scheme
):
    viewport = {"width": 320, "height": 640}
    page = await visit(path_of(house.submit(**question)), viewport=viewport, color_scheme=scheme)
    await page.evaluate(
        "document.querySelectorAll('#request details').forEach(d => d.open = true)"
    )
    await expect(page.locator(".raw .line").last).to_be_visible()

    assert await page.evaluate("document.documentElement.scrollWidth") == 320
    assert await serious(page) == []
