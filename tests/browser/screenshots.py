"""``python -m tests.browser.screenshots``: every page of the desk, to be looked at.

Writes to ``./screenshots/`` (not kept by git), in light and dark, at 1440 and 390 pixels.
"""

import asyncio
import sys

from dashboard.management.demo.notebooks import notebook
from tests.browser.conftest import ARGUMENTS, CHROMIUM, PHONE, WIDE
from tests.browser.house import ROOT, open_house
from tests.browser.samples import TRIM, everything
from tests.notebooks import digest_of

FOLDER = ROOT / "screenshots"
NAMES = ["trim", "fenced", "tool", "plan", "memory", "evil", "long"]


async def _picture(chromium, house, cookies, name, path, act=None):
    for scheme in ("light", "dark"):
        for width, viewport in ((1440, WIDE), (390, PHONE)):
            context = await chromium.new_context(viewport=viewport, color_scheme=scheme)
            await context.add_cookies(cookies)
            page = await context.new_page()
            await page.goto(house.url + path)
            await page.wait_for_timeout(700)
            if act:
                await act(page)
            await page.screenshot(path=FOLDER / f"{name}-{scheme}-{width}.png")
            await context.close()


async def _open_reject(page):
    await page.locator(".reject > summary").click()
    await page.get_by_label("Why not?").fill("Sector 1 is in use until 15:00. Ask again then.")


async def _pictures(house):
    from playwright.async_api import async_playwright  # noqa: PLC0415 - may be absent

    alice = house.sign_in("alice")
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)

        async def take(name, path, act=None):
            await _picture(chromium, house, alice, name, path, act)

        await take("empty", "/")
        asked = {
            name: f"/approvals/{house.submit(**question)['id']}"
            for name, question in zip(NAMES, everything(), strict=True)
        }
        await take("queue", "/")
        for name, path in asked.items():
            await take(name, path)
        await take("notebook", f"{_with_notebook(house)}/notebook")
        await take("reject", asked["trim"], _open_reject)
        await take("together", _together(house))
        await _decide_some(chromium, house, alice, asked)
        await take("approved", asked["trim"])
        await take("rejected", asked["fenced"])
        await take("decided", "/?show=decided")
        await take("run", "/runs/agent-0?run=7f3a-morning-setup")
        await take("history", "/history")
        await take("not-found", "/nothing")
        await chromium.close()


def _with_notebook(house):
    """Ask with the notebook of the demo; returns the path of the request's page."""
    body = notebook(TRIM)
    house.api.put(f"notebooks/{digest_of(body)}", content=body)
    content = {"code": TRIM, "language": "python"}
    asked = house.submit(content=content, evidence={"notebook": digest_of(body)})
    return f"/approvals/{asked['id']}"


def _together(house):
    arguments = [{"path": f"/data/run-{number}.csv"} for number in range(3)]
    content = [{"tool": "read_file", "arguments": one} for one in arguments]
    asked = [house.submit(kind="tool_call", capability="read_file", content=c) for c in content]
    return "/bulk?" + "&".join(f"id={approval['id']}" for approval in asked)


async def _decide_some(chromium, house, cookies, asked):
    context = await chromium.new_context(java_script_enabled=False)
    await context.add_cookies(cookies)
    page = await context.new_page()
    await page.goto(house.url + asked["trim"])
    await page.locator("[value=approve]").click()
    await page.goto(house.url + asked["fenced"])
    await _open_reject(page)
    await page.locator("[value=reject]").click()
    await context.close()


def main():
    """Take them all."""
    FOLDER.mkdir(exist_ok=True)
    with open_house() as house:
        asyncio.run(_pictures(house))
    sys.stdout.write(f"{len(list(FOLDER.glob('*.png')))} pictures are in {FOLDER}\n")


if __name__ == "__main__":
    main()
