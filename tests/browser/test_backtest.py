"""What a change of the policy would have done, before it is published."""

import pytest

from tests.browser.conftest import PHONE, expect
from tests.browser.test_looks import serious

PREPARED = """
from django.utils import timezone
from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.services import judge_pending_again
from dashboard.policies.models import PolicyDraft
from tests import make
rule = {{"name": "Reports", "when": {{"tools": ["report"]}}, "effect": "approve"}}
revision = make.in_force(rule)
make.in_force()
PolicyDraft.objects.update_or_create(
    author=User.objects.get(username="root"),
    defaults={{"document": revision.document, "based_on": 1, "updated_at": timezone.now()}},
)
judge_pending_again()  # or the server does it meanwhile, and the decision is of an older page
approval = ApprovalRequest.objects.get(pk={id!r})
alice = User.objects.get(username="alice")
make.decided(approval, alice, "rejected", reason="Not while the shift meets.")
"""
REPORT = {"tool": "report", "arguments": {"to": "everybody"}}


@pytest.fixture(scope="module")
def rejected(house, cookies):
    """What a person rejected and the draft of root would approve."""
    approval = house.submit("tool_call", REPORT, capability="report")
    house.shell(PREPARED.format(id=approval["id"]))
    return approval


async def test_a_draft_that_would_approve_what_a_person_rejected_says_so(visit, rejected):
    page = await visit("/policies/backtest?policy=draft", "root")

    await page.get_by_role("button", name="Run", exact=True).click()

    wrong = page.locator(".wrong")
    await expect(wrong.get_by_role("heading")).to_have_text(
        "Approved without asking, although a person rejected it: 1"
    )
    await expect(wrong).to_contain_text("Not while the shift meets.")
    await wrong.get_by_role("link", name="Tool call from agent-0").click()
    await page.wait_for_url(f"**/approvals/{rejected['id']}")


async def test_from_the_list_the_bench_says_which_rule_it_was(visit, rejected):
    page = await visit("/policies/backtest?policy=draft&days=1", "root")

    await page.get_by_role("link", name="Step by step").click()

    step = page.locator(".step[data-outcome=matches]")
    await expect(step.locator("strong")).to_have_text("Reports")


async def fill(page, kind, content):
    await page.get_by_label("What is asked for").select_option(kind)
    await page.get_by_label("Content").fill(content)
    await page.get_by_role("button", name="Try it").click()


async def test_the_bench_asks_for_a_language_only_where_there_is_one(visit, rejected):
    page = await visit("/policies/bench", "root")
    language = page.get_by_label("Language")
    await expect(language).to_be_visible()

    await page.get_by_label("What is asked for").select_option("plan")
    await expect(language).to_be_hidden()


async def test_the_bench_works_without_script(visit, rejected):
    page = await visit("/policies/bench", "root", java_script_enabled=False)

    await fill(page, "tool_call", '{"tool": "report", "arguments": {}}')

    await expect(page.locator(".verdict h2")).to_have_text(
        "It is approved at once. Nobody is asked."
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [{"width": 1440, "height": 900}, PHONE])
async def test_axe_finds_nothing_where_a_policy_was_tried(visit, rejected, scheme, viewport):
    page = await visit(
        "/policies/backtest?policy=draft&days=1", "root", color_scheme=scheme, viewport=viewport
    )
    assert await serious(page) == []

    await page.get_by_role("link", name="Step by step").click()
    await page.locator(".verdict").wait_for()
    assert await serious(page) == []
