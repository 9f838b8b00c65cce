"""Editing, replacing and answering step by step, in a browser."""

import os

import pytest

from approval_client.wire import digest
from tests.browser.conftest import PHONE, WIDE, armed, expect
from tests.browser.test_looks import serious

CODE = {"code": "first = 1\r\nsecond = 2\r\n\r\n", "language": "python"}
CHANGED = {**CODE, "code": "first = 1\r\nsecond = 3\r\n\r\n"}
STEPS = [
    {"capability": "archiver", "task_objective": "Read the logs of the night"},
    {"capability": "operator", "task_objective": "Move corrector C01 by 0.05 A"},
    {"tool": "mail", "arguments": {"to": "ops"}, "objective": "Tell operations"},
]
PICTURES = os.environ.get("PICTURES", "")


async def change(page, text="second = 3", instead="second = 2"):
    field = page.locator("#edit-text")
    await field.fill((await field.input_value()).replace(instead, text))
    await page.get_by_role("button", name="Preview changes").click()
    await expect(page.get_by_role("heading", name="Changes")).to_be_visible()


async def picture(page, name):
    if PICTURES:
        await page.screenshot(path=f"{PICTURES}/{name}.png")


async def test_one_edits_and_another_approves_exactly_that(house, visit, path_of):
    approval = house.submit(content=CODE, accepts_edits=True)
    page = await visit(path_of(approval))
    await page.keyboard.press("e")
    await expect(page).to_have_url(f"{house.url}{path_of(approval)}/edit")
    await change(page)
    await expect(page.locator("#why-not")).to_contain_text("This is your own change")
    bobs = await visit(path_of(approval), "bob")
    await bobs.get_by_role("link", name="Preview it").click()
    await armed(bobs)
    await bobs.get_by_role("button", name="Approve this change").click()
    await expect(bobs.locator(".result-title")).to_contain_text("Approved by you, with a change")

    decision = house.wait(approval)["decision"]
    assert (decision["content"], decision["digest"]) == (CHANGED, digest("code", CHANGED))


async def test_a_replacement_goes_along_with_a_no_without_script(house, visit, path_of):
    approval = house.submit(content=CODE, run_id="r")
    page = await visit(path_of(approval), java_script_enabled=False)
    await page.get_by_role("link", name="Replacement").click()
    await change(page)
    await page.get_by_label("Why not?").fill("Too much.")
    await page.get_by_role("button", name="Reject with this replacement").click()
    await expect(page.locator(".result-title")).to_contain_text("Rejected by you")

    assert "second = 3" in house.wait(approval)["decision"]["reason"]


async def test_what_is_allowed_of_a_plan_is_what_is_approved(house, visit, path_of):
    asked = {"kind": "plan", "content": {"steps": STEPS}, "accepts_edits": True}
    approval = house.submit(**asked)
    page = await visit(path_of(approval))
    await page.get_by_role("group", name="Step 1").get_by_label("Allow").check()
    await page.get_by_role("group", name="Step 2").get_by_label("Refuse").check()
    await page.get_by_role("group", name="Step 3").get_by_label("Hold").check()
    await armed(page)
    await page.get_by_role("button", name="Approve 1 of 3 steps…").click()
    await page.wait_for_url("**/edits/*")
    bobs = await visit(page.url.removeprefix(house.url), "bob")
    await armed(bobs)
    await bobs.get_by_role("button", name="Approve 1 of 3 steps").click()
    await expect(bobs.locator(".result-title")).to_contain_text("with a change")

    decision = house.wait(approval)["decision"]
    assert decision["content"] == {"steps": STEPS[:1]}
    assert [step["answer"] for step in decision["steps"]] == ["allowed", "refused", "held"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [WIDE, PHONE])
async def test_axe_finds_nothing_and_nothing_is_wider_than_a_phone(
    house, visit, path_of, scheme, viewport
):
    code = house.submit(content=CODE, accepts_edits=True)
    plan = house.submit(kind="plan", content={"steps": STEPS}, accepts_edits=True)
    page = await visit(f"{path_of(code)}/edit", color_scheme=scheme, viewport=viewport)
    found = {"edit": await looked_at(page, f"edit-{scheme}-{viewport['width']}")}
    await change(page)
    found["change"] = await looked_at(page, f"change-{scheme}-{viewport['width']}")
    await page.goto(house.url + path_of(plan))
    found["plan"] = await looked_at(page, f"plan-{scheme}-{viewport['width']}")

    assert found == dict.fromkeys(found, ([], 0))


async def looked_at(page, name):
    await picture(page, name)
    root = "document.documentElement"
    wider = await page.evaluate(f"{root}.scrollWidth - {root}.clientWidth")
    return await serious(page), wider
