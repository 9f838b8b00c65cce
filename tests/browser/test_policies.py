"""An admin writes a rule, switches the gate off, and goes back to an old revision."""

import pytest

from tests.browser.conftest import PHONE, expect
from tests.browser.test_looks import serious

EVERYTHING = """
from dashboard.accounts.models import User
from dashboard.policies.models import PolicyDraft
from tests import make
PolicyDraft.objects.filter(author__username="ruth").delete()
make.in_force()
"""
NO_PLANS = """
from tests import make
make.in_force()
make.in_force({"name": "No plans", "effect": "reject", "when": {"kinds": ["plan"]}})
"""
EVERY_PAGE = """
from django.utils import timezone
from dashboard.accounts.models import Group, User
from dashboard.policies.evaluate import Policy, parse_rule
from dashboard.policies.models import PolicyProposal
from dashboard.policies.services.drafts import replace_draft
from dashboard.policies.starters import CONTROL_WRITES, DANGEROUS, READ_ONLY, add
from tests import make
ruth, alice = (User.objects.get(username=name) for name in ("ruth", "alice"))
group = Group.objects.filter(name="operators").first() or make.group("operators", alice)
rules = [
    {"name": "Reports", "effect": "approve", "when": {"tools": ["report", "mail_*"]}},
    {"name": "Pay", "effect": "review", "demands": {"groups": ["bankers"], "approvals": 2},
     "when": {"tools": ["pay"], "arguments": [{"path": "to", "test": "over", "value": 9}]}},
]
revision = make.in_force(*rules)
policy = Policy.from_json(revision.document)
for starter in (DANGEROUS, READ_ONLY, CONTROL_WRITES):
    policy = add(policy, starter)
replace_draft(ruth, policy, stamp="")
proposal = PolicyProposal.objects.create(
    document=policy.to_json(), note="Fewer waits", author=alice,
    based_on=revision.number, proposed_at=timezone.now(),
)
print(f"PAGES /policies/revisions/{revision.number} /policies/proposals/{proposal.pk}")
print(f"PAGES /policies/revisions/{revision.number - 1} /people/groups/{group.pk}")
"""
RAMP = "- kind: tool_call\n  content:\n    tool: ramp_up\n    arguments: {}\n"
TOLD = "Ask the shift leader."
OSPREY = "approval: {global_mode: disabled}\nllm: {}\n"


@pytest.fixture
def ruth(house, cookies):
    """An admin who drafts; whatever she does to the policy ends with the test."""
    if "ruth" not in cookies:
        cookies["ruth"] = house.sign_in("ruth", ["admin"])
    yield "ruth"
    house.shell(EVERYTHING)


async def begin(page):
    await page.get_by_role("button", name="Change the policy").click()
    await page.get_by_role("heading", name="Draft", exact=True).wait_for()


async def save_rule(page):
    await page.get_by_role("button", name="Save rule").click()


async def write_failing_rule(page):
    """Write a rule that rejects, with an example that it does not match."""
    await page.get_by_role("link", name="Add a rule").click()
    await page.get_by_label("Name").fill("No ramps")
    await page.get_by_label("Reject, whatever").check()
    await page.get_by_text("What is asked", exact=True).click()
    await page.get_by_label("Tools", exact=True).fill("ramp_down")
    await page.get_by_label("What the agent is told").fill(TOLD)
    await page.get_by_label("Must match").fill(RAMP)
    await save_rule(page)
    refusal = page.get_by_role("alert").filter(has_text="Rule 'No ramps': example 1")
    await refusal.filter(has_text="Nothing was saved.").wait_for()


async def test_a_failing_example_is_said_and_nothing_is_lost(visit, ruth):
    page = await visit("/policies", ruth)
    await begin(page)

    await write_failing_rule(page)

    assert await page.get_by_label("Reject, whatever").is_checked()
    assert await page.get_by_label("Tools", exact=True).input_value() == "ramp_down"
    assert await page.get_by_label("What the agent is told").input_value() == TOLD
    assert await page.get_by_label("Must match").input_value() == RAMP


async def test_a_rule_whose_example_failed_is_mended_and_published(visit, ruth):
    page = await visit("/policies", ruth)
    await begin(page)
    await write_failing_rule(page)

    await page.get_by_label("Tools", exact=True).fill("ramp_*")
    await save_rule(page)
    await page.get_by_text("The rule 'No ramps' is saved in the draft.").wait_for()
    await page.get_by_label("Why (optional)").fill("Too many ramps.")
    await page.get_by_role("button", name="Publish as revision").click()

    await page.get_by_text("is in force.").first.wait_for()
    rule = page.locator(".rule").filter(has_text="No ramps")
    await expect(rule).to_contain_text("Calls of tools like ramp_*: rejected.")
    newest = page.locator("#history tbody tr").first
    await expect(newest).to_contain_text("Why: Too many ramps.")


async def test_switching_the_gate_off_is_typed_and_turns_open_pages_red(visit, ruth):
    other = await visit("/", "alice")
    await expect(other.locator(".gate")).to_have_count(0)
    page = await visit("/policies", ruth)
    await begin(page)
    await page.get_by_text("Change the modes").click()
    await page.get_by_label("Ask nobody about anything (disabled)").check()
    await page.get_by_role("button", name="Save modes").click()
    await page.get_by_text("The modes are saved in the draft.").wait_for()

    await page.get_by_role("button", name="Publish as revision").click()
    await page.get_by_text("to confirm that this is what you want").wait_for()
    await expect(page.locator(".gate")).to_have_count(0)

    await page.get_by_label("Type disabled to confirm").fill("disabled")
    await page.get_by_role("button", name="Publish as revision").click()
    await page.locator(".gate").get_by_text("The gate is off.").wait_for()
    await other.locator(".gate").get_by_text("The gate is off.").wait_for()
    await page.locator("#history tbody tr").first.get_by_text("loosens").wait_for()


async def test_an_old_revision_is_published_again(house, visit, ruth):
    house.shell(NO_PLANS)
    page = await visit("/policies", ruth)
    await expect(page.locator(".rule")).to_have_count(1)

    await page.get_by_role("link", name="Publish again").first.click()
    await page.get_by_label("Why (optional)").fill("Plans are fine.")
    await page.get_by_label("Type loosen to confirm").fill("loosen")
    await page.get_by_role("button", name="Publish as a new revision").click()

    await page.get_by_text("is in force.").first.wait_for()
    newest = page.locator("#history tbody tr").first
    await expect(newest).to_contain_text("Rule 'No plans' was removed.")
    await expect(page.locator(".rule")).to_have_count(0)
    await expect(newest).to_contain_text("Why: Plans are fine.")


async def test_rules_are_written_and_ordered_without_script(visit, ruth):
    page = await visit("/policies", ruth, java_script_enabled=False)
    await begin(page)
    for name in ("First", "Second"):
        await page.get_by_role("link", name="Add a rule").click()
        await page.get_by_label("Name").fill(name)
        await page.get_by_label("Review: people are asked").check()
        await page.get_by_label("Approvals needed").fill("2")
        await save_rule(page)
        await page.get_by_text(f"The rule '{name}' is saved in the draft.").wait_for()

    await page.get_by_role("button", name="Up: rule 2").click()

    await page.locator("#rule-1").get_by_text("Second", exact=True).wait_for()
    caution = page.locator("#rule-2 .caution")
    await expect(caution).to_contain_text("It is never reached: rule 'Second'")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 900}, PHONE])
async def test_axe_finds_nothing_where_policies_are_made(house, visit, ruth, scheme, viewport):
    printed = house.shell(EVERY_PAGE).split()
    paths = [word for word in printed if word.startswith("/")]
    page = await visit("/policies", ruth, color_scheme=scheme, viewport=viewport)
    found, widths = {}, {}
    rule = "/policies/draft/rules/"
    for path in ["/policies", "/policies/draft", f"{rule}new", f"{rule}1", f"{rule}4", *paths]:
        await page.goto(house.url + path)
        await page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        found[path] = await serious(page)
        widths[path] = await page.evaluate("document.documentElement.scrollWidth")

    assert {path: faults for path, faults in found.items() if faults} == {}
    assert max(widths.values()) <= viewport["width"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_where_something_was_refused_or_read(house, visit, ruth, scheme):
    page = await visit("/policies", ruth, color_scheme=scheme)
    await begin(page)
    await page.goto(f"{house.url}/policies/draft/rules/new")
    await page.get_by_label("Must match").fill("kind: plan")
    await save_rule(page)
    await page.get_by_text("each example begins with a hyphen").wait_for()
    assert await serious(page) == []

    await page.goto(f"{house.url}/policies/draft/import")
    await page.get_by_label("Paste YAML").fill(OSPREY)
    await page.get_by_role("button", name="Check").click()
    await page.get_by_role("heading", name="What it means").wait_for()
    assert await serious(page) == []
