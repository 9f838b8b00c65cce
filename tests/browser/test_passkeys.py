"""A passkey is added on a page and asked for when somebody signs in, by Chromium's own device."""

import pytest

from tests.browser.conftest import TOUCH, WIDE, expect
from tests.browser.house import open_house

PASSWORD = "a long password of hers"
HANNA = f"""
from dashboard.audit.services import OPERATOR
from dashboard.accounts.services.people import create_person, set_password
person = create_person(username="hanna", roles={{"reviewer": True}}, by=OPERATOR)
set_password(person, password="{PASSWORD}", by=OPERATOR)
"""


@pytest.fixture(scope="module")
def house(installed):
    """A dashboard with a name, for which browsers make passkeys."""
    with open_house("localhost") as running:
        running.shell(HANNA)
        yield running


@pytest.fixture(scope="module")
def cookies():
    """Nobody is signed in before."""
    return {}


async def device(page, *, verifies=True):
    """Give a page a device that answers at once; returns a way to talk to it."""
    talk = await page.context.new_cdp_session(page)
    await talk.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": verifies,
        "automaticPresenceSimulation": True,
    }
    await talk.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return talk


async def signs_in(page):
    await page.get_by_label("Name").fill("hanna")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()


@pytest.mark.parametrize("view", [{"viewport": WIDE}, TOUCH], ids=["wide", "phone"])
async def test_one_is_added_asked_for_and_removed(visit, house, view):
    page = await visit("/account", name=None, **view)
    await device(page)
    await signs_in(page)
    await page.get_by_role("link", name="Passkeys").click()
    await page.get_by_label("Name").fill("My phone")
    await page.get_by_label("Current password").fill(PASSWORD)
    await page.get_by_role("button", name="Add a passkey").click()
    await expect(page.locator(".recovery-codes li")).to_have_count(10)
    await page.context.clear_cookies()

    await page.goto(f"{house.url}/account/passkeys")
    await signs_in(page)
    await page.get_by_role("button", name="Use your passkey to sign in").click()
    await expect(page.get_by_role("heading", name="My phone")).to_be_visible()
    await page.locator("summary", has_text="Remove…").click()
    await page.get_by_role("button", name="Use your passkey to remove it").click()

    await expect(page.get_by_text("The passkey My phone is removed.")).to_be_visible()
    await expect(page.get_by_text("You have no passkey yet.")).to_be_visible()


async def test_a_device_that_does_not_check_its_person_adds_none(visit, house):
    page = await visit("/account/passkeys", name=None)
    await device(page, verifies=False)
    await signs_in(page)
    await page.get_by_label("Name").fill("My phone")
    await page.get_by_label("Current password").fill(PASSWORD)
    await page.get_by_role("button", name="Add a passkey").click()

    await expect(page.get_by_role("alert").filter(has_text="Nothing was sent")).to_be_visible()
    await expect(page.get_by_text("You have no passkey yet.")).to_be_visible()
