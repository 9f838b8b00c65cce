"""An approval is signed by a passkey: from the list, by keyboard, on a phone, by two people."""

import asyncio

import pytest

from tests.browser.conftest import TOUCH, WIDE, armed, expect
from tests.browser.house import open_house
from tests.browser.test_passkeys import device

SIGNED = """
from tests import make
signed = {"proof": "passkey"}
make.in_force(
    {"name": "Two sign", "effect": "review", "when": {"kinds": ["tool_call"]},
     "demands": signed | {"approvals": 2}},
    {"name": "Signed", "effect": "review", "when": {}, "demands": signed},
)
"""
CONFIRMED = """
from dashboard.accounts.models import Passkey, User
from dashboard.accounts.services import passkeys
from dashboard.audit.services import Actor
root = User.objects.get(username="root")
for key in Passkey.objects.filter(confirmation=None, removal=None):
    passkeys.confirm(key, admin=root, by=Actor.of_user("root", "session:password"))
"""


@pytest.fixture(scope="module")
def house(installed):
    """A dashboard with a name, where everything has to be signed."""
    with open_house("localhost") as running:
        running.shell(SIGNED)
        yield running


@pytest.fixture(scope="module")
def cookies(house):
    """Sign people in: name -> cookies."""
    people = {"alice": ["reviewer"], "bob": ["reviewer"], "root": ["admin"]}
    return {name: house.sign_in(name, roles) for name, roles in people.items()}


@pytest.fixture
def comes(visit, house):
    """Open the list as somebody whose device has a passkey that counts."""

    async def come(name="alice", path="/", **view):
        page = await visit("/account/passkeys", name, **view)
        talk = await device(page)
        await page.get_by_label("Name").fill("Phone")
        await page.get_by_role("button", name="Add a passkey").click()
        await expect(page.get_by_text("Your passkey Phone is added.")).to_be_visible()
        await asyncio.to_thread(house.shell, CONFIRMED)
        await page.goto(house.url + path)
        await page.locator("#live[data-state=live]").wait_for()
        return page, talk

    return come


async def opened(page, approval):
    await page.locator(f".item[data-id='{approval['id']}'] .item-link").click()
    await page.locator(f"#request[data-id='{approval['id']}']").wait_for()
    await page.locator("#request-bar .decide > [value=approve]:enabled").wait_for()
    await armed(page)


async def test_from_the_list(comes, house):
    approval = house.submit()
    page, _ = await comes(viewport=WIDE)
    await opened(page, approval)

    await page.get_by_role("button", name="Approve").click()

    await page.locator(".result--approved").wait_for()
    assert house.wait(approval)["status"] == "approved"


async def test_by_keyboard(comes, house):
    approval = house.submit()
    page, _ = await comes(viewport=WIDE)
    await opened(page, approval)

    await page.keyboard.press("a")
    await page.keyboard.press("Enter")

    await page.locator(".result--approved").wait_for()
    assert house.wait(approval)["status"] == "approved"


async def test_on_a_phone(comes, house):
    approval = house.submit()
    page, _ = await comes(path=f"/approvals/{approval['id']}", **TOUCH)
    button = page.locator("#request-bar .decide > [value=approve]:enabled")
    await button.wait_for()
    await armed(page)

    await button.dispatch_event("click")

    await page.locator(".result--approved").wait_for()
    assert house.wait(approval)["status"] == "approved"


async def test_on_the_page_of_an_edit(comes, house):
    """Which sends its form as browsers do, without htmx."""
    approval = house.submit(accepts_edits=True)
    page, _ = await comes("bob", f"/approvals/{approval['id']}/edit", viewport=WIDE)
    await page.locator("textarea[name=text]").fill("print('Edited')")
    await page.get_by_role("button", name="Preview").click()
    address = page.url
    page, _ = await comes(path=address.removeprefix(house.url), viewport=WIDE)
    await armed(page)

    await page.get_by_role("button", name="Approve this change").click()

    await page.locator(".result--approved").wait_for()
    assert house.wait(approval)["decision"]["content"]["code"] == "print('Edited')"


async def test_two_people_sign_each_with_their_own(comes, house):
    approval = house.submit("tool_call", {"tool": "beam_on", "arguments": {}})
    for name in ("alice", "bob"):
        page, _ = await comes(name, viewport=WIDE)
        await opened(page, approval)
        await page.get_by_role("button", name="Approve").click()
        await page.locator("#request-bar :is(.progress-said, .result--approved)").wait_for()

    assert house.wait(approval)["status"] == "approved"
    assert house.served.audit_is_whole()


async def test_a_device_that_refuses_leaves_it_open(comes, house):
    approval = house.submit()
    page, talk = await comes(viewport=WIDE)
    await opened(page, approval)
    await talk.send("WebAuthn.disable")
    await device(page, verifies=False)

    await page.get_by_role("button", name="Approve").click()

    await expect(page.get_by_role("alert").filter(has_text="Nothing was sent")).to_be_visible()
    await page.get_by_role("link", name="Back", exact=True).click()
    await page.locator("#request-bar .decide > [value=approve]").wait_for()
    assert house.wait(approval, hold=0)["status"] == "pending"
