"""A page that is behind: decided elsewhere, judged anew, or without a connection."""

import asyncio

import pytest_asyncio

from tests.browser.conftest import armed, expect

JUDGE_ANEW = """
from django.utils import timezone
from dashboard.approvals.models import ApprovalRequest, Judgement
one = ApprovalRequest.objects.get(pk={id!r})
last = one.judgements.latest("id")
Judgement.objects.create(
    approval=one, inspection=last.inspection, revision=last.revision, effect="review",
    demands=last.demands, trace='["A rule that came later asks for care."]',
    judged_at=timezone.now(),
)
"""


@pytest_asyncio.fixture(loop_scope="session")
async def deaf(house, visit, path_of):
    """A request that is open in a page which hears of nothing and asks for nothing."""
    approval = house.submit()
    page = await visit(path_of(approval))
    await armed(page)
    await page.route("**/state", lambda route: route.fulfill(status=204))
    await page.route("**/queue**", lambda route: route.fulfill(status=204))
    return page, approval


async def test_what_another_tab_decided_is_not_decided_again(house, deaf, visit, path_of):
    page, approval = deaf
    other = await visit(path_of(approval), "bob")
    await armed(other)
    await other.get_by_text("Reject…").click()
    await other.get_by_role("button", name="Reject", exact=True).click()
    await other.locator(".result--rejected").wait_for()

    await page.get_by_role("button", name="Approve").click()

    await expect(page.get_by_role("alert")).to_contain_text("was rejected already")
    await expect(page.locator(".result-title")).to_contain_text("Rejected by bob")
    assert house.wait(approval)["status"] == "rejected"


async def test_a_page_with_another_basis_decides_nothing_and_shows_what_holds_now(house, deaf):
    page, approval = deaf
    await asyncio.to_thread(house.shell, JUDGE_ANEW.format(id=approval["id"]))

    await page.get_by_role("button", name="Approve").click()

    alert = page.get_by_role("alert")
    await expect(alert).to_contain_text("Nothing was recorded")
    await expect(alert).to_contain_text("A rule that came later asks for care.")
    assert house.wait(approval, hold=0)["status"] == "pending"


async def test_after_reading_what_holds_now_it_can_be_decided(house, deaf):
    page, approval = deaf
    await asyncio.to_thread(house.shell, JUDGE_ANEW.format(id=approval["id"]))
    await page.get_by_role("button", name="Approve").click()
    await page.get_by_role("alert").wait_for()

    await armed(page)
    await page.get_by_role("button", name="Approve").click()

    await page.locator(".result--approved").wait_for()


async def test_a_page_that_was_offline_catches_up(house, visit, path_of):
    approval = house.submit()
    page = await visit(path_of(approval))
    await page.context.set_offline(True)
    await expect(page.locator("#live")).to_have_text("Offline")
    await asyncio.to_thread(house.cancel, approval)

    await page.context.set_offline(False)

    await expect(page.locator("#live")).to_have_text("Live")
    await page.locator(".result-title", has_text="Withdrawn").wait_for()
