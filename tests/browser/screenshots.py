"""``python -m tests.browser.screenshots``: every page and state of the dashboard, to be looked at.

Writes to ``./screenshots/`` (not kept by git), in light and dark, at 1440 and 390 pixels. Names of
scenes, or of variants such as ``light-1440``, leave out the rest: ``… queue insight light-390``.
Says what axe finds in each, what is wider than its window, which texts lie on one another, are
cut off or reach out of their row, and where the content of a request begins too far down; it ends
with 1 if there is any.
"""

import argparse
import asyncio
import sys
from pathlib import Path

from tests.browser import scenes
from tests.browser.conftest import ARGUMENTS, CHROMIUM, PHONE, WIDE
from tests.browser.house import ROOT, open_house
from tests.browser.stages import UNAVAILABLE
from tests.browser.test_first_screen import begins_too_low
from tests.browser.test_looks import serious

FOLDER = ROOT / "screenshots"
SIZES = {"1440": WIDE, "390": PHONE}
VARIANTS = [f"{scheme}-{size}" for scheme in ("light", "dark") for size in SIZES]
TALLEST = 4000  # what is longer is shown as far as a screen goes
IS_PLAIN = "(tallest) => !document.querySelector('.desk') && document.body.scrollHeight <= tallest"
WIDER = """() => { const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth > clientWidth ? [`${scrollWidth - clientWidth} pixels too wide`] : []; }"""
BADLY_DRAWN = (Path(__file__).parent / "overlaps.js").read_text()
PEOPLE = {"alice": ["reviewer"], "bob": ["reviewer"], "root": ["admin", "auditor"], "nora": []}


class Camera:
    """Takes a scene in every variant that is wanted."""

    def __init__(self, chromium, house, wanted):
        self.chromium, self.house = chromium, house
        self.variants = [v for v in VARIANTS if v in wanted] or VARIANTS
        self.names = [name for name in wanted if name not in VARIANTS]
        self.faults = []
        self.unknown = set(self.names)
        self.cookies = {name: house.sign_in(name, roles) for name, roles in PEOPLE.items()}

    async def take(self, scene):
        meant = {name for name in self.names if scene.name.startswith(name)}
        self.unknown -= meant
        if self.names and not meant:
            return
        for variant in self.variants:
            await asyncio.to_thread(self.house.keep_waiting)
            await self._picture(scene, variant)

    async def _picture(self, scene, variant):
        scheme, size = variant.split("-")
        touch = {"has_touch": True, "is_mobile": True} if size == "390" else {}
        page = await self.page(scene.who, color_scheme=scheme, viewport=SIZES[size], **touch)
        if scene.name == "unavailable":
            body = await asyncio.to_thread(self.house.shell, UNAVAILABLE)
            await page.route(
                "**/unavailable", lambda route: route.fulfill(body=body, content_type="text/html")
            )
        await page.goto(self.house.url + scene.path)
        if await page.locator("#live").count():
            await page.locator("#live:not([data-state=none], [data-state=trying])").wait_for()
        if scene.act:
            await scene.act(page)
        await page.locator("html:not([data-arming])").wait_for()
        faults = await serious(page) + await page.evaluate(WIDER)
        faults += await page.evaluate(BADLY_DRAWN)
        if await page.locator("#request .content").count():
            faults += await begins_too_low(page)
        self.faults += [f"{scene.name}-{variant}: {fault}" for fault in faults]
        is_whole = await page.evaluate(IS_PLAIN, TALLEST)
        await page.screenshot(path=FOLDER / f"{scene.name}-{variant}.png", full_page=is_whole)
        await page.context.close()

    async def page(self, who, **options):
        context = await self.chromium.new_context(reduced_motion="reduce", **options)
        await context.add_cookies(self.cookies.get(who, []))
        return await context.new_page()

    async def answer_some(self):
        """Approve one, reject one, give one of two yeses and take one back, as people do."""
        asked, url = self.house.asked, self.house.url
        page = await self.page("alice", java_script_enabled=False)
        await scenes.answer(page, url + asked["trim"], "approve")
        await scenes.answer(page, url + asked["fenced"], "reject", "Not to a public bucket.")
        await scenes.answer(page, url + asked["tool"], "approve", "Ticket 48213 asks for it.")
        await scenes.answer(page, url + asked["memory"], "approve")
        await scenes.take_back(page, url + asked["memory"], "Call the control room first.")
        for path in self.house.grantable:
            await scenes.remember(page, url + path)
        await scenes.end_grant(page, url)
        await page.context.close()

    async def stop_everything(self):
        page = await self.page("root", java_script_enabled=False)
        await page.goto(self.house.url + "/hold")
        await page.get_by_role("button", name="Stop all approvals").click()
        await page.context.close()


async def _pictures(house, wanted):
    from playwright.async_api import async_playwright  # noqa: PLC0415 - may be absent

    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        camera = Camera(chromium, house, wanted)
        for stage, before in (
            (scenes.empty, None),
            (scenes.door, None),
            (scenes.waiting, None),
            (scenes.changing, None),
            (scenes.from_the_right, None),
            (scenes.decided, camera.answer_some),
            (scenes.office, None),
            (scenes.doubted, None),
            (scenes.held, camera.stop_everything),
        ):
            if before:
                await before()
            for scene in await asyncio.to_thread(stage, house):
                await camera.take(scene)
        await chromium.close()
        return camera.faults + [f"No scene begins with {name!r}." for name in camera.unknown]


def take(wanted):
    """Take the scenes and variants that are named, or all; return what is wrong with them."""
    FOLDER.mkdir(exist_ok=True)
    with open_house() as house:
        return asyncio.run(_pictures(house, wanted))


def wanted_by(arguments=None):
    """Return the names on the command line; ``--help`` says what they may be."""
    about, _, rest = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m tests.browser.screenshots",
        description=about.partition(": ")[2].capitalize(),
        epilog=rest,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "names",
        metavar="NAME",
        nargs="*",
        help=f"how a scene's name begins, as 'queue'; or a variant: {', '.join(VARIANTS)}",
    )
    return parser.parse_args(arguments).names


def main():
    """Take them all, or those that are named."""
    faults = take(wanted_by())
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    sys.stdout.write(f"{len(list(FOLDER.glob('*.png')))} pictures are in {FOLDER}\n")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
