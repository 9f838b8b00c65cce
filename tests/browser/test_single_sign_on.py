"""Signing in by a real OpenID Connect provider, in a real browser.

The provider is ``oidc-provider-mock`` of PyPI: its tokens, keys and pages are its own.
"""

import asyncio
import socket
import subprocess
import sys
import time
from contextlib import suppress

import httpx2
import pytest

from tests.browser.conftest import armed, expect
from tests.browser.house import open_house

BEAMLINE_REVIEWS = """
from dashboard.accounts.services.mapping import add_mapping
from dashboard.audit.services import OPERATOR
add_mapping(claim="beamline", role="reviewer", by=OPERATOR)
"""
HANNA = """
from dashboard.audit.services import OPERATOR
from dashboard.accounts.services.people import create_person, set_password
person = create_person(username="hanna", roles={"reviewer": True}, by=OPERATOR)
set_password(person, password="a long password of hers", by=OPERATOR)
"""
UNASKED = """
from datetime import timedelta
from django.utils import timezone
from dashboard.accounts.models import BrowserSession
an_hour_ago = timezone.now() - timedelta(minutes=61)
BrowserSession.objects.update(checked_at=an_hour_ago, check_due_at=None)
"""
CHECK_NOW = """
from django.utils import timezone
from dashboard.accounts.models import BrowserSession
BrowserSession.objects.update(check_due_at=timezone.now())
"""


class RealProvider:
    def __init__(self, port):
        self.issuer = f"http://127.0.0.1:{port}"

    def wait_until_it_answers(self):
        for _ in range(300):
            with suppress(httpx2.TransportError):
                return httpx2.get(self.issuer, trust_env=False)
            time.sleep(0.1)
        raise AssertionError("The provider did not start.")

    def says(self, subject, **claims):
        """Say this of somebody from now on."""
        url = f"{self.issuer}/users/{subject}"
        httpx2.put(url, json={"sub": subject, **claims}, trust_env=False).raise_for_status()

    def shuts_out(self, subject):
        url = f"{self.issuer}/users/{subject}/revoke-tokens"
        httpx2.post(url, trust_env=False).raise_for_status()


@pytest.fixture(scope="module")
def provider(installed):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port)]
    with subprocess.Popen([*command, "--require-nonce", "1"], stderr=subprocess.DEVNULL) as server:
        running = RealProvider(port)
        running.wait_until_it_answers()
        yield running
        server.terminate()


@pytest.fixture(scope="module")
def house(installed, provider):
    """A dashboard whose people sign in at the provider; the group beamline reviews."""
    settings = {
        "OIDC_ISSUER": provider.issuer,
        "OIDC_CLIENT_ID": "approvals",
        "OIDC_CLIENT_SECRET": "a secret of the client",
        "OIDC_NAME": "Example ID",
    }
    with open_house(**settings) as running:
        running.shell(BEAMLINE_REVIEWS)
        yield running


@pytest.fixture(scope="module")
def cookies():
    """Nobody is signed in before."""
    return {}


async def signs_in(page, subject):
    await page.route("https://**/*", lambda route: route.fulfill(body=""))  # its style sheet
    await page.get_by_role("link", name="Sign in with Example ID").click()
    await page.get_by_placeholder("sub").fill(subject)
    await page.get_by_role("button", name="Authorize").click()


async def test_somebody_signs_in_decides_and_signs_out(visit, house, provider):
    provider.says("dana-1", preferred_username="dana", groups=["beamline"])
    approval = house.submit()
    page = await visit(f"/approvals/{approval['id']}", name=None)

    await signs_in(page, "dana-1")
    await page.locator("[value=approve]:enabled").wait_for()
    await armed(page)
    await page.get_by_role("button", name="Approve").click()
    await page.locator(".result--approved").wait_for()
    await page.locator("summary", has_text="dana").click()
    await page.get_by_role("button", name="Sign out").click()

    assert house.wait(approval)["status"] == "approved"
    await expect(page.get_by_role("link", name="Sign out there too")).to_be_visible()


async def test_a_role_that_is_lost_there_ends_an_open_page(visit, house, provider):
    provider.says("erin-1", preferred_username="erin", groups=["beamline"])
    page = await visit("/", name=None)
    await signs_in(page, "erin-1")
    await page.locator("#live[data-state=live]").wait_for()

    provider.says("erin-1", preferred_username="erin", groups=[])
    await asyncio.to_thread(house.shell, CHECK_NOW)

    await expect(page.get_by_text("You have no role yet")).to_be_visible()


async def test_who_could_not_be_asked_about_is_led_to_sign_in_again(visit, house, provider):
    provider.says("gus-1", preferred_username="gus", groups=["beamline"])
    approval = house.submit()
    page = await visit(f"/approvals/{approval['id']}", name=None)
    await signs_in(page, "gus-1")
    await page.locator("[value=approve]:enabled").wait_for()
    await asyncio.to_thread(house.shell, UNASKED)
    await armed(page)

    await page.get_by_role("button", name="Approve").click()

    await expect(page.get_by_role("heading", name="Sign in again")).to_be_visible()
    await expect(page.get_by_role("alert")).to_contain_text("Nothing was recorded")
    assert house.wait(approval, hold=0)["status"] == "pending"
    await page.get_by_role("link", name="Sign in with Example ID").click()
    await page.get_by_placeholder("sub").fill("gus-1")
    await page.get_by_role("button", name="Authorize").click()
    await page.wait_for_url(f"**/approvals/{approval['id']}")


async def test_somebody_links_their_account_by_clicking(visit, house, provider):
    house.shell(HANNA)
    provider.says("hanna-1", preferred_username="hanna", groups=["beamline"])
    page = await visit("/account", name=None)
    await page.route("https://**/*", lambda route: route.fulfill(body=""))
    await page.get_by_label("Name").fill("hanna")
    await page.get_by_label("Password").fill("a long password of hers")
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await page.get_by_role("link", name="Link Example ID").click()
    await page.get_by_placeholder("sub").fill("hanna-1")
    await page.get_by_role("button", name="Authorize").click()
    await page.get_by_label("Current password").fill("a long password of hers")
    await page.get_by_role("button", name="Link to hanna").click()
    await expect(
        page.get_by_text("Linked. From now on you sign in with Example ID.")
    ).to_be_visible()

    await signs_in(page, "hanna-1")

    await page.wait_for_url("**/account")
    await expect(page.get_by_text("You sign in with Example ID.")).to_be_visible()


async def test_somebody_who_is_shut_out_there_is_signed_out(visit, house, provider):
    provider.says("fred-1", preferred_username="fred", groups=["beamline"])
    page = await visit("/", name=None)
    await signs_in(page, "fred-1")
    await page.locator("#live[data-state=live]").wait_for()

    provider.shuts_out("fred-1")
    await asyncio.to_thread(house.shell, CHECK_NOW)

    await page.wait_for_url("**/sign-in?next=/")
