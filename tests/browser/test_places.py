"""Where Approve stands: in one place on a phone, whatever is asked, and never off the screen."""

import pytest

from tests.browser.conftest import PHONE, expect, see_all
from tests.browser.samples import EVIL, FENCED, LONG, TRIM
from tests.browser.test_bulk import together

TOUCH = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
STEPS = [{"capability": "archiver", "task_objective": f"Step {n}"} for n in range(12)]
QUESTIONS = {
    "short code": {"content": {"code": "print(1)", "language": "python"}},
    "code": {"content": {"code": TRIM, "language": "python"}, "objective": "Trim it."},
    "blocks": {"content": {"code": FENCED}},
    "hostile code": {"content": {"code": EVIL, "language": "python"}, "objective": EVIL[:4000]},
    "long code": {"content": {"code": LONG, "language": "python"}},
    "call": {"kind": "tool_call", "content": {"tool": "pay", "arguments": {"eur": 5}}},
    "call without arguments": {"kind": "tool_call", "content": {"tool": "pay", "arguments": {}}},
    "editable": {"content": {"code": "print(1)", "language": "python"}, "accepts_edits": True},
    "plan": {"kind": "plan", "content": {"steps": STEPS}},
    "plan in parts": {"kind": "plan", "content": {"steps": STEPS}, "accepts_edits": True},
    "memory": {
        "kind": "memory",
        "content": {"operation": "add", "user_id": "u", "content": "a\nb"},
    },
    "grantable": {"content": {"code": "print(2)", "language": "python"}, "accepts_grants": True},
}
GRANTABLE = """
from tests import make
make.in_force({"name": "Any", "effect": "review", "demands": {"grants_allowed": True}})
"""


@pytest.fixture
def _grantable(house):
    """The policy lets every approval be remembered."""
    house.shell(GRANTABLE)
    yield
    house.shell("from tests import make\nmake.in_force()")


async def place_of(button):
    box = await button.bounding_box()
    return round(box["y"] + box["height"])


@pytest.mark.usefixtures("_grantable")
async def test_on_a_phone_approve_stands_in_one_place_whatever_is_asked(house, visit, path_of):
    places = {}
    for name, question in QUESTIONS.items():
        page = await visit(path_of(house.submit(**{"capability": "x", **question})), **TOUCH)
        approve = page.locator(".decide > [value=approve]")
        before = await place_of(approve)
        await see_all(page)
        places[name] = (before, await place_of(approve))
        await page.context.close()

    spread = {place for pair in places.values() for place in pair}
    assert max(spread) - min(spread) <= 2, places
    assert min(spread) > PHONE["height"] - 160


async def test_on_a_phone_the_page_of_many_has_approve_in_sight_and_is_no_wider(house, visit):
    page, _ = await together(house, visit, *(f"/data/{n}/{'long' * 8}" for n in range(5)), **TOUCH)

    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert await page.evaluate(wider) == 0
    await expect(page.locator("#bulk-form [value=approve]")).to_be_in_viewport(ratio=1)
    widths = [
        (await cell.bounding_box())["width"] for cell in await page.locator(".bulk-cell").all()
    ]
    assert min(widths) > 200
