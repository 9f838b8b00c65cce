"""Every page of the desk, light and dark: reachable by everybody, and never wider than a phone."""

import pytest
import pytest_asyncio

from tests.browser.conftest import PHONE, armed
from tests.browser.samples import everything

TRYING = [
    "/policies/bench",
    "/policies/bench?request=",
    "/policies/bench?request=nothing",
    "/policies/backtest",
    "/policies/backtest?policy=1&days=30",
]
POLICIES = ["/policies", "/policies/revisions/1", "/policies/draft", "/policies/draft/import"]
OFFICE = [
    "/grants",
    "/people",
    "/channels",
    "/channels/new/email",
    "/channels/new/chat",
    "/agents",
    "/agents/1",
    "/agents/1/webhook",
    *POLICIES,
    *TRYING,
    "/hold",
    "/audit",
    "/account",
]


@pytest.fixture(scope="module")
def pages(house, cookies):
    """The paths of every kind of page: name -> path."""
    found = {"queue": "/", "decided": "/?show=decided", "not found": "/nothing"}
    far_out = f'connect("{"archiver " * 5}", token="ghp_{"aB3d" * 9}")'
    token = {"code": far_out, "language": "python"}
    house.cancel(house.submit(content=token), "No longer needed, for another one was faster.")
    for number, question in enumerate(everything()):
        found[f"{question.get('kind', 'code')} {number}"] = _path(house.submit(**question))
    return found


def _path(approval):
    return f"/approvals/{approval['id']}"


async def serious(page):
    from axe_playwright_python.async_playwright import Axe  # noqa: PLC0415 - may be absent

    found = (await Axe().run(page)).response["violations"]
    return [(v["id"], v["nodes"][0]["html"][:200]) for v in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [{"width": 1440, "height": 900}, PHONE])
async def test_axe_finds_nothing_on_any_page(visit, pages, scheme, viewport):
    page = await visit("/", color_scheme=scheme, viewport=viewport)
    found = {}
    for name, path in pages.items():
        await page.goto(page.url.partition("?")[0].rstrip("/").split("/approvals")[0] + path)
        found[name] = await serious(page)

    assert {name: faults for name, faults in found.items() if faults} == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("end", ["approve", "reject"])
async def test_axe_finds_nothing_on_a_decided_page(house, visit, scheme, end):
    page = await visit(_path(house.submit()), color_scheme=scheme)
    await armed(page)
    if end == "reject":
        await page.get_by_text("Reject…").click()
        assert await serious(page) == []
    await page.locator(f"[value={end}]").click()
    await page.locator(".result").wait_for()

    assert await serious(page) == []


# What reaches over the right edge of the window, if anything lets the page be moved sideways.
OVER_THE_EDGE = """() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return [];
  const over = [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > clientWidth);
  return [scrollWidth, ...over.map((e) => `${e.tagName}.${e.className} ${e.textContent.trim().slice(0, 40)}`)];
}"""  # noqa: E501


async def test_no_page_is_wider_than_a_phone(house, visit, pages):
    page = await visit("/", viewport={"width": 320, "height": 640})
    wide = {}
    for name, path in pages.items():
        await page.goto(house.url + path)
        wide[name] = await page.evaluate(OVER_THE_EDGE)

    assert {name: over for name, over in wide.items() if over} == {}


@pytest_asyncio.fixture(loop_scope="session")
async def on_hold(house, visit):
    """Everything is stopped while a test looks."""
    page = await visit("/hold", "root")
    await page.get_by_role("button", name="Stop all approvals").click()
    yield
    await page.goto(house.url + "/hold")
    await page.get_by_role("button", name="Lift the hold").click()
    await page.get_by_role("button", name="Stop all approvals").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [{"width": 1440, "height": 900}, PHONE])
async def test_axe_finds_nothing_in_the_office(house, visit, scheme, viewport):
    page = await visit("/", "root", color_scheme=scheme, viewport=viewport)
    found = {}
    for path in OFFICE:
        await page.goto(house.url + path)
        found[path] = await serious(page)

    assert {path: faults for path, faults in found.items() if faults} == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/sign-in", "/sign-in/nothing"])
async def test_axe_finds_nothing_at_the_door(visit, scheme, path):
    page = await visit(path, None, color_scheme=scheme)

    assert await serious(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_while_everything_is_stopped(visit, pages, on_hold, scheme):
    page = await visit(pages["code 0"], color_scheme=scheme)
    await page.get_by_text("On hold").first.wait_for()

    assert await serious(page) == []


async def test_no_page_of_the_office_is_wider_than_a_phone(house, visit):
    page = await visit("/", "root", viewport={"width": 390, "height": 844})
    widths = {}
    for path in OFFICE:
        await page.goto(house.url + path)
        widths[path] = await page.evaluate("document.documentElement.scrollWidth")

    assert {path: width for path, width in widths.items() if width > 390} == {}


async def test_who_only_reads_and_the_empty_queue_are_fine_too(visit, pages):
    page = await visit(pages["code 0"], "aud")

    assert await serious(page) == []
