"""Under another address: the browser goes on to the right one, or the page says what hides it."""

import secrets

import httpx2

from tests.browser.conftest import expect
from tests.browser.house import open_house


async def test_another_name_of_the_address_leads_to_it(house, visit):
    page = await visit("/sign-in", name="")

    await page.goto(house.url.replace("127.0.0.1", "localhost") + "/sign-in?next=/history")

    await page.wait_for_url(f"{house.url}/sign-in?next=/history")
    await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


async def test_behind_a_proxy_that_hides_the_address_the_page_stays_and_says_so(house, visit):
    hidden = httpx2.get(f"{house.url}/sign-in", headers={"Host": "localhost:1"}, trust_env=False)
    page = await visit("/sign-in", name="")

    async def by_the_proxy(route):
        headers = {"content-type": "text/html", "csp": hidden.headers["content-security-policy"]}
        await route.fulfill(status=421, body=hidden.text, headers=headers)

    await page.route("**/sign-in", by_the_proxy)
    await page.goto(f"{house.url}/sign-in")

    await expect(page.get_by_role("heading", name="This is not the address")).to_be_visible()
    await expect(page.get_by_text("localhost:1")).to_be_visible()
    await page.wait_for_load_state("networkidle")
    assert page.url == f"{house.url}/sign-in"


async def test_whoever_is_led_back_by_a_redirect_can_read_why(house, visit):
    page = await visit("/sign-in", name="")
    wrong = house.url.replace("127.0.0.1", "localhost")
    loads = []

    async def back(route):
        loads.append(route.request.url)
        await route.fulfill(status=301, headers={"location": f"{wrong}/sign-in"})

    await page.route(f"{house.url}/sign-in", back)
    await page.goto(f"{wrong}/sign-in")

    await expect(page.get_by_role("heading", name="This is not the address")).to_be_visible()
    await page.wait_for_timeout(1000)
    assert len(loads) == 1


async def test_two_dashboards_on_one_host_keep_two_sessions(house, visit):
    with open_house(SECRET_KEY=secrets.token_urlsafe(48)) as other:
        page = await visit("/", "alice")
        await page.context.add_cookies(other.sign_in("carol"))

        for ours in (other, house, other, house):
            await page.goto(ours.url)
            await page.locator("#live[data-state=live]").wait_for()

        names = {cookie["name"] for cookie in await page.context.cookies()}
        assert {house.served.cookie_names[0], other.served.cookie_names[0]} <= names
