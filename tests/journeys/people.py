"""People at a browser. They begin at one address, and from there click, type, tap and scroll."""

import asyncio
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from tests.chromium import armed, expect
from tests.journeys.watching import Watch

FACE = (Path(__file__).parent / "face.js").read_text()
NOTICED_WITHIN_S = 30
LOOKS_EVERY_S = 0.04
TRIES = 5


class Person:
    """Somebody with a browser of their own.

    Every press has to change something that can be seen, or to be told what came of it.
    """

    def __init__(self, page):
        self.page, self.watch, self._fingers = page, Watch(), None
        self.watch.over(page)
        page.set_default_timeout(20_000)

    async def begins_at(self, address):
        """Open the one address that they were given."""
        await self.page.goto(address)
        self.page.goto = _nobody_types_an_address

    async def follows(self, link):
        """Open a link that they were given in the meantime, in the same tab."""
        await type(self.page).goto(self.page, link)

    # --- looking ---------------------------------------------------------------------------------

    def row(self, words):
        """The row of the list that shows these words of the agent's."""
        return self.page.locator(".item").filter(has_text=words)

    def button(self, name):
        return self.page.get_by_role("button", name=name, exact=True)

    def link(self, name):
        return self.page.get_by_role("link", name=name)

    async def sees(self, words, where="#main"):
        """Wait until these words are there, in sight."""
        place = self.page.locator(where).get_by_text(words).first
        await expect(place).to_be_in_viewport(timeout=NOTICED_WITHIN_S * 1000)

    async def reads(self, words):
        """Wait until the request that is open shows these words as what would run."""
        content = self.page.locator("#request [aria-labelledby=content-title]")
        await expect(content).to_contain_text(words, timeout=NOTICED_WITHIN_S * 1000)

    # --- pressing --------------------------------------------------------------------------------

    async def presses(self, thing):
        """Click, and notice that something came of it."""
        await self._does(thing.click, f"a click on {thing}")

    async def taps(self, thing):
        await self._does(thing.tap, f"a tap on {thing}")

    async def keys(self, *keys):
        for key in keys:
            press = partial(self.page.keyboard.press, key)
            await self._does(press, f"the key {key}", by_keys=True)

    async def types(self, text, field):
        """Put the cursor into a field and write into it, in the place of what is there."""
        await field.click()
        await self.page.keyboard.press("ControlOrMeta+a")
        await self.page.keyboard.insert_text(text)

    async def goes_back(self):
        await self._does(lambda: self.page.go_back(wait_until="commit"), "the way back")

    async def goes_forward(self):
        await self._does(lambda: self.page.go_forward(wait_until="commit"), "the way forward")

    async def scrolls_until(self, thing):
        """Turn the wheel until ``thing`` can be pressed."""
        box = await self.page.locator("#main").bounding_box()
        await self.page.mouse.move(box["x"] + box["width"] * 0.6, 400)
        await self._scrolls(lambda: self.page.mouse.wheel(0, 500), thing)

    async def sees_all(self):
        """Press Next unseen part until all of the content was in view."""
        unseen = self.button("Next unseen part")
        approve = self.page.get_by_role("button", name="Approve", exact=True, disabled=False)
        # One of them is there once the page has counted; before, neither says anything.
        await unseen.or_(approve).first.wait_for()
        while not await approve.is_visible():
            await self.presses(unseen)
            await unseen.or_(approve).first.wait_for()

    async def swipes_until(self, thing):
        """Move the page up with a finger until ``thing`` can be pressed."""

        async def swipe():
            await self._touch("touchStart", {"x": 195, "y": 600})
            for y in range(580, 240, -40):
                await self._touch("touchMove", {"x": 195, "y": y})
            await self._touch("touchEnd")

        await self._scrolls(swipe, thing)

    async def holds(self, thing):
        """Keep a finger on it until it is filled."""

        async def hold():
            box = await thing.bounding_box()
            at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
            await self._touch("touchStart", at)
            await self.page.locator(".is-held, #announcer.is-seen").first.wait_for()
            await self.page.locator(".is-held").wait_for(state="detached")
            await self._touch("touchEnd")

        await self._does(hold, f"a finger held on {thing}")

    # --- what they do all day --------------------------------------------------------------------

    async def opens(self, words, *, reads=""):
        """Choose the request from the list whose row shows these words."""
        await self.presses(self.row(words).locator(".item-link"))
        await self.reads(reads or words)

    async def goes_to(self, name):
        """Follow the navigation to a page."""
        link = self.page.get_by_role("navigation", name="Pages").get_by_role("link", name=name)
        if not await link.is_visible():
            await self.presses(self.page.get_by_text("Admin", exact=True))
        await self.presses(link)

    async def opens_another_tab(self):
        """Open the address that they have open in another tab of the same browser."""
        other = type(self)(await self.page.context.new_page())
        await other.begins_at(self.page.url)
        return other

    async def hears_nothing(self):
        """Have no news reach the page that is open, as on a line that is cut without a word."""
        for path in ("**/state", "**/queue**", "**/edits/*"):
            await self.page.route(path, _no_news)

    async def approves(self):
        async with self.is_told("approved"):
            await self.presses(self.button("Approve"))

    async def rejects(self):
        """Press Reject in the panel that is open."""
        async with self.is_told("rejected"):
            await self.presses(self.button("Reject"))

    @asynccontextmanager
    async def is_told(self, status):
        """Expect that the page says what became of the request that is open.

        In its own bar, or beside the next request if that has opened by itself.
        """
        pk = await self.page.locator("#request").get_attribute("data-id")
        yield
        own = self.page.locator(f"#request[data-id='{pk}'] .result-title")
        own = own.filter(has_text=f"{status.capitalize()} by you")
        last = self.page.locator(f"#last-decision:has(a[href*='{pk}'])", has_text=f": {status}")
        said = own.or_(last).first
        await expect(said).to_be_in_viewport(timeout=NOTICED_WITHIN_S * 1000)

    @asynccontextmanager
    async def is_refused(self, status, path, *, told):
        """Expect an answer that refuses, and that they see why and what to do."""
        with self.watch.foreseen(status, path):
            yield
            alert = self.page.get_by_role("alert").filter(has_text=told)
            await expect(alert).to_be_in_viewport(timeout=NOTICED_WITHIN_S * 1000)

    async def goes(self):
        """Close the browser; what went wrong in the meantime fails the journey."""
        try:
            live = self.page.locator("#live")
            if await live.count():
                await expect(live).to_have_text("Live", timeout=NOTICED_WITHIN_S * 1000)
        finally:
            await self.page.context.close()
        assert not self.watch.complaints, "\n".join(self.watch.complaints)

    # --- how presses are watched -----------------------------------------------------------------

    async def _does(self, act, what, *, by_keys=False):
        for _ in range(TRIES):
            await armed(self.page)
            before = await self._face(by_keys=by_keys)
            await act()
            await self._notices(before, what, by_keys=by_keys)
            if not await self._was_too_early():
                return
        raise AssertionError(f"{what} was too early {TRIES} times")

    async def _notices(self, before, what, *, by_keys=False):
        loop = asyncio.get_running_loop()
        gives_up_at = loop.time() + NOTICED_WITHIN_S
        while await self._face(by_keys=by_keys) == before:
            if loop.time() > gives_up_at:
                raise AssertionError(f"{what} changed nothing, and nothing was said")
            await asyncio.sleep(LOOKS_EVERY_S)

    async def _was_too_early(self):
        """Whether the page asked for another press, as it does when something just changed."""
        return await self.page.locator("#announcer.is-seen", has_text="press again").count()

    async def _face(self, *, by_keys=False):
        from playwright.async_api import Error  # noqa: PLC0415 - may be absent

        try:
            return await self.page.evaluate(FACE, by_keys)
        except Error as error:
            if "context was destroyed" in str(error) or "navigation" in str(error):
                return "another page is on its way"
            raise

    async def _touch(self, kind, *points):
        if self._fingers is None:
            self._fingers = await self.page.context.new_cdp_session(self.page)
        event = {"type": kind, "touchPoints": points}
        await self._fingers.send("Input.dispatchTouchEvent", event)

    async def _scrolls(self, scroll, thing):
        """Scroll on as long as that shows more; at the end ``thing`` has to be offered."""
        while not await thing.is_enabled():
            before = await self._face()
            await scroll()
            await self._notices(before, "scrolling, which came to its end,")


async def _no_news(route):
    if route.request.method == "GET" and "hx-request" in route.request.headers:
        await route.fulfill(status=204)
    else:
        await route.continue_()


async def _nobody_types_an_address(*_, **__):
    raise AssertionError("A journey goes on by what the page offers, not by an address.")
