"""What somebody wrote and did not send: it is kept in the tab, and for them alone."""

import asyncio
import re

import pytest

from tests.browser.conftest import armed, expect, see_all

CODE = {"code": "first = 1\nsecond = 2\n", "language": "python"}
SECRET = {"code": "password = 'hunter2-and-more'\nprint(1)\n", "language": "python"}
REASON = "Sector 3 is in use. Ask at 15:00."
SESSION = re.compile("^approvals-[0-9a-f]{8}$")  # not the one of forms
REASONS = """
from tests import make
make.in_force({"name": "Why", "effect": "review", "demands": {"reason_required": True}})
"""
OF_ANOTHER_CONTENT = """
for (const key of Object.keys(sessionStorage)) {
  if (!key.startsWith("approvals:draft:")) continue;
  const draft = JSON.parse(sessionStorage.getItem(key));
  sessionStorage.setItem(key, JSON.stringify({ ...draft, basis: "another" }));
}
"""
STORED = "Object.keys(sessionStorage).filter((name) => name.startsWith('approvals:draft:'))"


def reason(page):
    return page.locator(".reject textarea")


async def writes(page, text=REASON):
    await page.locator(".reject > summary").click()
    await reason(page).fill(text)


def questions_of(page):
    """What the browser asks from now on; each is answered with leaving."""
    asked = []

    async def leave(dialog):
        asked.append(dialog.type)
        await dialog.accept()

    page.on("dialog", leave)
    return asked


async def kept(page):
    return await page.evaluate(STORED)


async def test_a_reason_is_there_again_after_a_reload(house, visit, path_of):
    page = await visit(path_of(house.submit()))
    await writes(page)
    await page.get_by_label("Too broad").check()

    await page.reload()

    await expect(reason(page)).to_have_value(REASON)
    await expect(reason(page)).to_be_visible()
    await expect(page.get_by_label("Too broad")).to_be_checked()
    await expect(page.locator(".draft-said")).to_contain_text(
        "What you wrote here before is back."
    )


async def test_a_line_that_was_quoted_is_there_again(house, visit, path_of):
    page = await visit(path_of(house.submit()))
    await page.evaluate(
        "document.dispatchEvent(new CustomEvent('quote-line', {detail: {line: 1, text: 'x'}}))"
    )
    await expect(reason(page)).to_have_value("> line 1: x\n")

    await page.reload()

    await expect(reason(page)).to_have_value("> line 1: x\n")


async def test_a_reason_is_there_again_after_another_request(house, visit, path_of):
    here, other = house.submit(), house.submit()
    page = await visit(path_of(here))
    await writes(page)

    await page.locator(f".item[data-id='{other['id']}'] .item-link").click()
    await page.locator(f"#request[data-id='{other['id']}']").wait_for()
    await expect(reason(page)).to_have_value("")
    await page.locator(f".item[data-id='{here['id']}'] .item-link").click()
    await page.locator(f"#request[data-id='{here['id']}']").wait_for()

    await expect(reason(page)).to_have_value(REASON)


async def test_answers_to_steps_are_there_again_and_the_button_names_them(house, visit, path_of):
    steps = [{"capability": "one"}, {"capability": "two"}]
    asked = {"kind": "plan", "content": {"steps": steps}, "accepts_edits": True}
    page = await visit(path_of(house.submit(**asked)))
    await page.get_by_role("group", name="Step 2").get_by_label("Refuse").check()
    await page.get_by_label("Why, about step 2").fill("Never.")

    await page.reload()

    await expect(page.get_by_role("button", name="Approve 1 of 2 steps…")).to_be_visible()
    await expect(page.get_by_label("Why, about step 2")).to_have_value("Never.")


async def test_what_was_written_for_a_request_that_is_withdrawn_can_be_copied(
    house, visit, path_of
):
    approval = house.submit()
    page = await visit(path_of(approval))
    await writes(page)

    await asyncio.to_thread(house.cancel, approval)

    lost = page.locator(".draft-lost textarea")
    await expect(lost).to_have_value(REASON)
    await page.get_by_role("button", name="Discard").click()
    assert await kept(page) == []


async def test_the_text_of_the_editor_is_there_again_until_it_is_previewed(house, visit, path_of):
    approval = house.submit(content=CODE, accepts_edits=True)
    page = await visit(f"{path_of(approval)}/edit")
    await page.locator("#edit-text").fill("first = 7\n")

    await page.get_by_role("link", name="Back to the request").click()
    await page.get_by_role("link", name="Edit", exact=True).click()
    await expect(page.locator("#edit-text")).to_have_value("first = 7\n")
    await page.get_by_role("button", name="Preview changes").click()
    await page.wait_for_url("**/edits/*")

    assert await kept(page) == []


async def test_a_rule_is_there_again_until_it_is_saved(house, visit):
    page = await visit("/policies/draft", "root")
    if await page.get_by_role("button", name="Start a draft").count():
        await page.get_by_role("button", name="Start a draft").click()
    await page.goto(f"{house.url}/policies/draft/rules/new")
    name = page.get_by_label("Name").first
    await name.fill("Half a rule")
    await page.get_by_label("Reject, whatever").check()
    await page.get_by_label("What the agent is told").fill("Not here.")

    await page.reload()
    await expect(name).to_have_value("Half a rule")
    await expect(page.get_by_label("Reject, whatever")).to_be_checked()
    await page.get_by_role("button", name="Save rule").click()
    await page.wait_for_url(re.compile(r"/policies/draft(#|$)"))

    assert await kept(page) == []


async def test_what_was_sent_is_dropped(house, visit, path_of):
    page = await visit(path_of(house.submit()))
    await writes(page)
    await armed(page)

    await page.get_by_role("button", name="Reject", exact=True).click()
    await expect(page.locator(".result-title")).to_contain_text("Rejected by you")
    await armed(page)

    assert await kept(page) == []


async def test_what_is_discarded_is_dropped(house, visit, path_of):
    page = await visit(path_of(house.submit()))
    await writes(page)
    await page.reload()

    await page.get_by_role("button", name="Discard").click()

    await expect(reason(page)).to_have_value("")
    assert await kept(page) == []


async def test_signing_out_drops_all(house, visit, path_of, cookies):
    mine = dict(cookies)  # the session ends, so it must be one of its own
    cookies["guest"] = house.sign_in("guest", ["reviewer"])
    page = await visit(path_of(house.submit()), "guest")
    await writes(page)
    assert await kept(page)

    await page.locator(".menu > summary", has_text="guest").click()
    await page.get_by_role("button", name="Sign out").click()
    await page.wait_for_url("**/sign-in*")

    assert await kept(page) == []
    assert mine.keys() < cookies.keys()


async def test_it_comes_back_after_signing_in_again_and_is_nobody_elses(
    house, visit, path_of, cookies
):
    approval = house.submit()
    page = await visit(path_of(approval))
    await writes(page)

    await page.context.clear_cookies()
    await page.reload()
    await page.wait_for_url(re.compile("/sign-in"))
    await page.context.add_cookies(cookies["alice"])
    await page.goto(house.url + path_of(approval))
    await expect(reason(page)).to_have_value(REASON)
    await page.context.clear_cookies()
    await page.context.add_cookies(cookies["bob"])
    await page.reload()
    await page.locator("#live[data-state=live]").wait_for()

    await expect(reason(page)).to_have_value("")
    assert await kept(page) == []


async def test_a_draft_about_something_else_is_offered_and_not_filled_in(house, visit, path_of):
    page = await visit(path_of(house.submit()))
    await writes(page)
    await page.evaluate(OF_ANOTHER_CONTENT)

    await page.reload()
    await expect(page.locator(".draft-said")).to_contain_text("It was not sent.")
    await expect(reason(page)).to_have_value("")
    await page.get_by_role("button", name="Use it").click()

    await expect(reason(page)).to_have_value(REASON)


async def test_beside_a_revealed_secret_nothing_is_kept_and_leaving_is_asked_about(
    house, visit, path_of
):
    page = await visit(path_of(house.submit(content=SECRET)))
    await page.get_by_role("button", name="Reveal").first.click()
    await page.get_by_text("hunter2-and-more").first.wait_for()
    await writes(page, "It holds hunter2-and-more.")
    asked = questions_of(page)
    assert await kept(page) == []

    await page.reload()

    assert asked == ["beforeunload"]


async def test_more_than_64_kib_is_not_kept_and_leaving_is_asked_about(house, visit, path_of):
    page = await visit(f"{path_of(house.submit(content=CODE, accepts_edits=True))}/edit")
    await page.locator("#edit-text").fill("x = 1  # " + "y" * 66_000)
    asked = questions_of(page)
    assert await kept(page) == []

    await page.reload()

    assert asked == ["beforeunload"]


async def test_discarding_an_edit_drops_it(house, visit, path_of):
    page = await visit(f"{path_of(house.submit(content=CODE, accepts_edits=True))}/edit")
    await page.locator("#edit-text").fill("first = 7\n")

    await page.get_by_role("link", name="Discard").click()
    await page.locator("#request .content").wait_for()

    assert await kept(page) == []


async def test_a_policy_to_import_is_there_again_until_it_was_read(house, visit):
    page = await visit("/policies/draft/import", "root")
    text = page.locator("textarea[name=text]:visible")
    await text.fill("rules: []")

    await page.reload()
    await expect(text).to_have_value("rules: []")
    await page.get_by_role("button", name="Check").click()

    await page.get_by_role("heading", name="What it means").wait_for()
    assert await kept(page) == []


async def test_a_rule_that_was_refused_is_kept_also_on_the_way_back(house, visit):
    page = await visit("/policies/draft", "root")
    if await page.get_by_role("button", name="Start a draft").count():
        await page.get_by_role("button", name="Start a draft").click()
    await page.goto(f"{house.url}/policies/draft/rules/new")
    await page.get_by_label("Name").first.fill("Refused")
    await page.get_by_label("Reject, whatever").check()
    await page.get_by_label("What the agent is told").fill("Not here.")
    await page.get_by_label("Must match").fill("no example: [")
    async with page.expect_response(lambda answer: answer.status == 422):
        await page.get_by_role("button", name="Save rule").click()
    await page.wait_for_load_state()

    await page.get_by_role("link", name="Back", exact=True).click()
    await page.wait_for_url(re.compile(r"/policies/draft(#|$)"))

    assert await kept(page) == ["approvals:draft:rule/new"]


async def test_a_rule_that_was_sent_after_the_session_ended_is_kept_wherever_one_goes_then(
    house, visit, cookies
):
    page = await visit("/policies/draft", "root")
    if await page.get_by_role("button", name="Start a draft").count():
        await page.get_by_role("button", name="Start a draft").click()
    await page.goto(f"{house.url}/policies/draft/rules/new")
    await page.get_by_label("Name").first.fill("Half a rule")
    await page.get_by_label("Reject, whatever").check()
    await page.get_by_label("What the agent is told").fill("Not here.")
    await page.context.clear_cookies(name=SESSION)
    await page.get_by_role("button", name="Save rule").click()
    await page.wait_for_url("**/sign-in?*")

    await page.context.add_cookies(cookies["root"])
    await page.goto(f"{house.url}/policies/draft")
    await page.locator("#live[data-state=live]").wait_for()
    await page.goto(f"{house.url}/policies/draft/rules/new")

    await expect(page.get_by_label("Name").first).to_have_value("Half a rule")


async def test_a_rule_whose_sending_met_an_error_is_kept_until_it_is_saved(
    house, chromium, cookies
):
    context = await chromium.new_context()  # which may meet an error
    await context.add_cookies(cookies["root"])
    page = await context.new_page()
    await page.goto(f"{house.url}/policies/draft")
    if await page.get_by_role("button", name="Start a draft").count():
        await page.get_by_role("button", name="Start a draft").click()
    form = f"{house.url}/policies/draft/rules/new"
    await page.goto(form)
    await page.get_by_label("Name").first.fill("Met an error")
    await page.get_by_label("Reject, whatever").check()
    await page.get_by_label("What the agent is told").fill("Not here.")
    await page.route(form, lambda route: route.fulfill(status=500, body="Server error"))
    async with page.expect_response(lambda answer: answer.status == 500):
        await page.get_by_role("button", name="Save rule").click()
    await page.unroute(form)

    await page.goto(f"{house.url}/policies/draft")
    await page.locator("#live[data-state=live]").wait_for()
    assert await kept(page) == ["approvals:draft:rule/new"]

    await page.goto(form)
    await expect(page.get_by_label("Name").first).to_have_value("Met an error")
    await page.get_by_role("button", name="Save rule").click()
    await page.wait_for_url(re.compile(r"/policies/draft(#|$)"))
    assert await kept(page) == []
    await context.close()


@pytest.fixture
def _reasons(house):
    """The policy asks why somebody approves."""
    house.shell(REASONS)
    yield
    house.shell("from tests import make\nmake.in_force()")


@pytest.mark.usefixtures("_reasons")
async def test_a_reason_that_is_required_is_asked_for_before_anything_is_sent(
    house, visit, path_of
):
    page = await visit(path_of(house.submit()))
    sent = []
    page.on("request", lambda one: sent.append(one.url))
    await see_all(page)
    await armed(page)

    await page.locator(".decide > [value=approve]").click()

    await expect(page.locator("#approve-reason")).to_be_focused()
    assert [url for url in sent if url.endswith("/decide")] == []


@pytest.mark.usefixtures("_reasons")
@pytest.mark.parametrize("blank", ["   ", "\n"])
async def test_blanks_are_no_reason(house, visit, path_of, blank):
    page = await visit(path_of(house.submit()))
    sent = []
    page.on("request", lambda one: sent.append(one.url))
    await see_all(page)
    await page.locator("#approve-reason").fill(blank)
    await armed(page)

    await page.locator(".decide > [value=approve]").click()

    await expect(page.locator("#announcer.is-seen")).to_contain_text("Say why first.")
    assert [url for url in sent if url.endswith("/decide")] == []
