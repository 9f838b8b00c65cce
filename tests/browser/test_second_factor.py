"""A second factor is added on a phone, and asked for when somebody signs in."""

import re
import time

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value

from tests.browser.conftest import PHONE, WIDE, armed, expect

PASSWORD = "a long password of hers"
NEWCOMER = """
from dashboard.accounts.models import User
from dashboard.audit.services import OPERATOR
from dashboard.accounts.services.people import create_person, set_password
if not User.objects.filter(username="hanna").exists():
    person = create_person(username="hanna", roles={{"reviewer": True}}, by=OPERATOR)
    set_password(person, password="{}", by=OPERATOR)
"""


def code_of(secret, later=0):
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30 + later))


async def signs_in(page):
    await page.get_by_label("Name").fill("hanna")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()


@pytest.mark.parametrize("viewport", [PHONE, WIDE])
async def test_an_app_is_added_and_asked_for_when_she_decides(visit, house, viewport):
    house.shell(NEWCOMER.format(PASSWORD))
    approval = house.submit()
    page = await visit("/account", name=None, viewport=viewport)
    await signs_in(page)
    await page.get_by_role("link", name="Second factor").click()
    await expect(page.get_by_alt_text("A picture for the app")).to_be_visible()
    text = await page.get_by_text("Or type the secret:").inner_text()
    secret = re.sub("[^A-Z2-7]", "", text.partition(":")[2])
    await page.get_by_label("Code").fill(code_of(secret))
    await page.get_by_label("Current password").fill(PASSWORD)
    await page.get_by_role("button", name="Add the app").click()
    await expect(page.locator(".recovery-codes li")).to_have_count(10)
    code = await page.locator(".recovery-codes li").first.inner_text()
    await page.context.clear_cookies()

    await page.goto(f"{house.url}/approvals/{approval['id']}")
    await signs_in(page)
    await page.get_by_label("Code").fill(code_of(secret, later=1))
    await page.keyboard.press("Enter")
    await page.locator("[value=approve]:enabled").wait_for()
    await armed(page)
    await page.locator("#request-bar .decide > [value=approve]").focus()
    await page.keyboard.press("Enter")
    await page.locator(".result--approved").wait_for()

    assert house.wait(approval)["status"] == "approved"
    await page.goto(f"{house.url}/account/second-factor")
    await page.locator("summary", has_text="Remove the app").click()
    await page.locator("#code-app").fill(code)
    await page.get_by_role("button", name="Remove the app").click()
    await expect(page.get_by_role("button", name="Add the app")).to_be_visible()
