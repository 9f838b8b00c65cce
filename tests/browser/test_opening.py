"""A request that is opened in the page, and not at its own address, can be answered as well."""

import asyncio

from tests.browser.conftest import armed, expect

LONG = {"code": "x = 1\n" * 300, "language": "python"}
KEEP_OBSERVERS = """
const observers = window.observers = [];
window.IntersectionObserver = class extends IntersectionObserver {
  constructor(hear, options) { super(hear, options); this.hear = hear; observers.push(this); }
};
"""
SAY_LATE = """(target) => {
  for (const observer of window.observers) observer.hear([{ isIntersecting: true, target }]);
}"""

LINK = """
from dashboard.audit.services import OPERATOR
from dashboard.accounts.services.people import create_person
from dashboard.accounts.services.signing_in import make_link
person = create_person(username="nora", roles={"reviewer": True}, by=OPERATOR)
print("LINK", make_link(person, by=OPERATOR))
"""


def link_to(page, approval):
    return page.locator(f'.item[data-id="{approval["id"]}"] .item-link')


async def test_what_is_opened_from_the_list_is_approved(house, visit):
    approval = house.submit()
    page = await visit("/")
    await armed(page)

    await link_to(page, approval).click()
    await page.locator("#request").wait_for()
    await armed(page)
    await page.get_by_role("button", name="Approve").click()

    await page.locator(".result--approved").wait_for()
    assert (await asyncio.to_thread(house.wait, approval))["status"] == "approved"


async def test_what_was_read_of_one_request_says_nothing_of_the_next(house, visit, path_of):
    read, unread = house.submit(), house.submit(content=LONG)
    page = await visit(path_of(read))
    await expect(page.locator("[name=end_seen]")).to_be_checked()
    await armed(page)

    await link_to(page, unread).click()

    await expect(page.locator("#request")).to_have_attribute("data-id", unread["id"])
    await page.locator("#request-bar[data-unseen]").wait_for()
    await expect(page.locator("[name=end_seen]")).not_to_be_checked()
    await expect(page.locator(".decide > [value=approve]")).to_be_disabled()


async def test_late_news_of_a_line_of_one_request_says_nothing_of_the_next(house, visit, path_of):
    read, unread = house.submit(), house.submit(content=LONG)
    page = await visit(path_of(read))
    await page.add_init_script(KEEP_OBSERVERS)
    await page.reload()
    await expect(page.locator("[name=end_seen]")).to_be_checked()
    line = await page.locator("#request .code .line").first.element_handle()
    await armed(page)
    await link_to(page, unread).click()
    await expect(page.locator("#request")).to_have_attribute("data-id", unread["id"])

    await line.evaluate(SAY_LATE)

    await expect(page.locator("[name=end_seen]")).not_to_be_checked()
    await expect(page.locator(".decide > [value=approve]")).to_be_disabled()


HEAR = "document.addEventListener('live:changed', ({ detail }) => { window.heard = detail.id; })"


async def test_what_changes_while_it_opens_is_shown_as_it_is(house, visit):
    approval = house.submit()
    page = await visit("/")
    await armed(page)
    await page.evaluate(HEAR)

    async def withdraw_meanwhile(route):
        answer = await route.fetch()  # in which it is still open
        await asyncio.to_thread(house.cancel, approval)
        while await page.evaluate("window.heard") != approval["id"]:
            await asyncio.sleep(0.02)
        await route.fulfill(response=answer)

    await page.route(f"**/approvals/{approval['id']}*", withdraw_meanwhile, times=1)
    await link_to(page, approval).click()

    # Sooner than the page looks again by itself.
    await page.locator("#request .result").wait_for(timeout=12_000)
    await expect(page.locator("#request")).to_contain_text("Withdrawn by the agent")


async def test_what_may_concern_every_request_is_heard_while_one_opens(house, visit):
    approval = house.submit()
    page = await visit("/")
    await armed(page)

    async def news_meanwhile(route):
        answer = await route.fetch()
        await page.evaluate("document.dispatchEvent(new CustomEvent('live:gate'))")
        await route.fulfill(response=answer)

    def asks_again(request):
        return approval["id"] in request.url and request.headers.get("hx-target") == "request-bar"

    await page.route(f"**/approvals/{approval['id']}*", news_meanwhile, times=1)

    async with page.expect_request(asks_again, timeout=12_000):
        await link_to(page, approval).click()


async def test_what_was_said_of_an_earlier_page_makes_room_for_what_is_opened(house, visit):
    approval = house.submit()
    secret = house.shell(LINK).split("LINK ")[1].split()[0]
    page = await visit(f"/sign-in/{secret}", name=None)
    await page.get_by_role("button", name="Sign in as nora").click()
    for label in ("New password", "New password, again"):
        await page.get_by_label(label, exact=True).fill("a long password of hers")
    await page.get_by_role("button", name="Set password").click()
    said = page.get_by_text("Your password is changed.")
    await expect(said).to_be_visible()

    await link_to(page, approval).click()

    await expect(page.locator("#request")).to_have_attribute("data-id", approval["id"])
    await expect(said).to_have_count(0)
