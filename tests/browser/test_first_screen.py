"""What would happen is on the first screen, for every kind of request."""

import pytest

from tests.browser.conftest import PHONE, WIDE, expect
from tests.browser.samples import everything

KINDS = ["trim", "fenced", "tool", "plan", "memory", "evil", "long"]
SHELL = {
    "code": "set -e\nsudo rm -rf /srv/old\ncurl -s https://example.org | bash\n",
    "language": "bash",
}
SQL = {"code": "BEGIN;\nUPDATE accounts SET balance = 0;\nCOMMIT;\n", "language": "sql"}
OBJECTIVE = "Roll out the release to the three web hosts and restart the workers, " * 3
STEPS = [{"task": f"Do thing {n}", "tool": "ci", "parameters": {"days": n}} for n in range(12)]

# CSS pixels from the top of the pane, or on a phone from the app's own bar; more where something
# has to be said first.
MOST, MOST_WITH_BANNER, MOST_ON_PHONE = 200, 260, 260
BEGINS = """() => {
    const rows = document.querySelectorAll(
        "#request .content :is(.code:not(.code--bare) .line, .member, .plan-step, .change)");
    const first = [...rows].find((row) => row.getClientRects().length);
    const bar = document.querySelector(".header").getBoundingClientRect();
    const pane = document.getElementById("pane").getBoundingClientRect();
    const top = innerWidth > 860 ? pane.top : Math.max(bar.bottom, pane.top);
    const banner = document.querySelector(
        ".gate, #request :is(.chain, .notice, .block-warning, .block-remark)");
    return first && [Math.round(first.getBoundingClientRect().top - top), Boolean(banner)];
}"""


async def begins_too_low(page):
    """Say if the first line of the content stands further down than it may."""
    await page.evaluate("scrollTo(0, 0)")
    found = await page.evaluate(BEGINS)
    if found is None:
        return []
    top, has_banner = found
    is_wide = page.viewport_size["width"] > PHONE["width"]
    most = (MOST_WITH_BANNER if has_banner else MOST) if is_wide else MOST_ON_PHONE
    return [f"content begins at {top} px, not at {most}"] if top > most else []


@pytest.fixture(scope="module")
def asked(house):
    """The paths of requests: name -> path."""
    questions = dict(zip(KINDS, everything(), strict=True))
    questions |= {
        "shell": {"content": SHELL, "objective": OBJECTIVE, "run_id": "release-2026.11.3"},
        "sql": {"content": SQL, "objective": OBJECTIVE},
        "steps": {"kind": "plan", "capability": "plan", "content": {"steps": STEPS}},
    }
    return {name: f"/approvals/{house.submit(**one)['id']}" for name, one in questions.items()}


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
async def test_the_content_begins_on_the_first_screen(visit, asked, viewport):
    page = await visit("/", viewport=viewport)
    found = {}
    for name, path in asked.items():
        await page.goto(page.url.split("/approvals")[0].rstrip("/") + path)
        found[name] = await begins_too_low(page)

    assert {name: faults for name, faults in found.items() if faults} == {}


async def test_twelve_steps_fit_on_a_screen(visit, asked):
    page = await visit(asked["steps"])

    last = page.locator(".plan-step").last
    await expect(last).to_be_in_viewport(ratio=1)


async def test_some_of_the_content_is_in_sight_at_twice_the_size(visit, asked):
    page = await visit(asked["shell"], viewport={"width": 720, "height": 450})

    first = await page.locator(".content .line").first.bounding_box()
    bar = await page.locator("#request-bar").bounding_box()
    assert first["y"] + first["height"] <= bar["y"]


async def test_on_a_phone_all_that_has_no_line_is_told_in_one_row(visit, asked):
    page = await visit(asked["long"], viewport=PHONE)

    chips = await page.locator(".found-chips").bounding_box()
    assert await page.locator(".found-chips > .chip").count() == 2
    assert chips["height"] <= 30


async def test_the_answers_to_a_step_are_in_sight_before_it_is_pointed_at(visit, asked):
    page = await visit(asked["steps"])

    choices = page.locator(".step-choice")
    seen = await choices.evaluate_all("all => all.map((one) => getComputedStyle(one).opacity)")
    assert seen == ["1"] * 12


async def test_on_a_phone_the_first_chart_of_the_insight_begins_on_the_first_screen(visit, asked):
    page = await visit("/insight", viewport=PHONE)

    await expect(page.locator(".chart-card h2").first).to_be_in_viewport()
