"""``python -m tests.browser.readme``: the README's pictures, made anew from a real run.

A server is started as the README starts it. An agent asks it through the client library, a person
presses Approve in Chromium, and both are filmed: the agent's terminal shows what it printed, word
for word. The still pictures are scenes of ``tests.browser.screenshots``. Writes to
``docs/pictures/``.
"""

import asyncio
import html
import io
import os
import re
import sys

from PIL import Image, ImageDraw

from tests.browser import screenshots
from tests.browser.house import ROOT
from tests.chromium import ARGUMENTS, CHROMIUM
from tests.journeys.conftest import signs_in
from tests.journeys.people import Person
from tests.journeys.product import started

FOLDER = ROOT / "docs" / "pictures"
STILLS = {"request": "fenced-{}-1440", "phone": "fenced-{}-390"}
STILLS |= {
    "channel": "office-channel-{}-1440",
    "policy": "office-policies-{}-1440",
    "insight": "insight-day-{}-1440",
}
TALLEST = {
    "channel": 560,
    "insight": 1376,
}  # its four charts; in a column of the README more is a ribbon
COLOURS = 128  # of a picture: pages are mostly flat
PAGE, TERMINAL = {"width": 900, "height": 560}, {"width": 900, "height": 150}
AGENT = """\
import subprocess
from approval_client import ApprovalRequest, Client
code = "rm -rf build/ && make release"
print("agent: may I run this?  " + code, flush=True)
answer = Client().request_approval(
    ApprovalRequest.code(code, "bash", objective="Build the release from scratch."))
print("agent:", answer, flush=True)
if answer.approved:
    print("agent: running it now", flush=True)
"""
SHELL = """<style>body {{ margin: 0; padding: 12px 16px; background: #10151c; color: #d7dee8;
font: 15px/1.5 monospace; white-space: pre-wrap }} b {{ color: #7aa2f7 }}</style>{}"""


class Film:
    """Frames of a terminal above a page, each with how long it is shown."""

    def __init__(self, page, terminal):
        self._page, self._terminal, self._frames = page, terminal, []

    async def take(self, printed, shown_ms, *, pointer=None):
        """Add a frame; ``pointer`` is the element that the mouse is on."""
        lines = html.escape("$ python agent.py\n" + printed) + "<b>▏</b>"
        await self._terminal.set_content(SHELL.format(lines))
        above = Image.open(io.BytesIO(await self._terminal.screenshot()))
        below = Image.open(io.BytesIO(await self._page.screenshot()))
        frame = Image.new("RGB", (PAGE["width"], PAGE["height"] + TERMINAL["height"]))
        frame.paste(above, (0, 0))
        frame.paste(below, (0, TERMINAL["height"]))
        if pointer:
            box = await pointer.bounding_box()
            x = box["x"] + min(box["width"] / 2, 120)
            y = box["y"] + box["height"] * 0.6 + TERMINAL["height"]
            arrow = [(x, y), (x, y + 20), (x + 5, y + 15), (x + 12, y + 14)]
            ImageDraw.Draw(frame).polygon(arrow, fill="black", outline="white")
        self._frames.append((frame, shown_ms))

    def write(self, path):
        """Write a GIF that goes round and round."""
        frames = [frame.quantize(COLOURS, dither=Image.Dither.NONE) for frame, _ in self._frames]
        durations = [shown_ms for _, shown_ms in self._frames]
        frames[0].save(
            path,
            save_all=True,
            append_images=frames[1:],
            duration=durations,
            loop=0,
            optimize=True,
        )


async def _film(chromium, product):
    async def page(**viewport):
        options = {"viewport": viewport, "reduced_motion": "reduce", "color_scheme": "light"}
        return await (await chromium.new_context(**options)).new_page()

    person = Person(await page(**PAGE))
    await person.begins_at(product.first_link)
    await signs_in(person, "admin")
    film = Film(person.page, await page(**TERMINAL))
    await film.take("", 1_000)

    printed = bytearray()
    agent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", AGENT),
        env=os.environ | product.settings,
        stdout=asyncio.subprocess.PIPE,
    )
    printed += await agent.stdout.readline()
    await person.row("make release").wait_for()
    await film.take(printed.decode(), 2_000)
    await film.take(
        printed.decode(), 800, pointer=person.row("make release").locator(".item-link")
    )
    await person.opens("make release")
    await person.scrolls_until(person.button("Approve"))
    await film.take(printed.decode(), 3_000)
    await film.take(printed.decode(), 1_000, pointer=person.button("Approve"))
    await person.approves()
    printed += await agent.stdout.read()
    await film.take(printed.decode(), 4_000)
    film.write(FOLDER / "approval.gif")


async def _record():
    from playwright.async_api import async_playwright  # noqa: PLC0415 - may be absent

    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        with started() as product:
            await _film(chromium, product)
        await chromium.close()


def _stills():
    for name, scene in STILLS.items():
        for scheme in ("light", "dark"):
            picture = Image.open(screenshots.FOLDER / f"{scene.format(scheme)}.png")
            height = min(picture.height, TALLEST.get(name, picture.height))
            picture = picture.crop((0, 0, picture.width, height))
            picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(
                FOLDER / f"{name}-{scheme}.png", optimize=True
            )


def main():
    """Make all of them, or with ``film`` the moving one alone."""
    FOLDER.mkdir(exist_ok=True)
    asyncio.run(_record())
    if sys.argv[1:] != ["film"]:
        scenes = {re.sub(r"-\{}.*", "", scene) for scene in STILLS.values()}
        screenshots.take(sorted(scenes))
        _stills()


if __name__ == "__main__":
    main()
