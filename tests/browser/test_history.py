"""What came before: the difference on a request, the story of its run, and the history."""

import json
from urllib.parse import urlencode

import pytest

from tests.browser.conftest import PHONE, WIDE, expect
from tests.browser.test_looks import serious

RUN = "morning <b>run</b> & 7f3a"
TRIM = """from epics import caget, caput

CORRECTOR = "SR:C01-MG:G02A{HCor:L2}Fld-SP"
for step in (0.05, 0.05, -0.10):
    caput(CORRECTOR, caget(CORRECTOR) + step, wait=True)
print("done")
"""
AGAIN = TRIM.replace("SR:C01", "SR:C02").replace("-0.10", "-0.20")
REJECTED = """
from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest
from tests import make
first, second = {ids!r}
alice = User.objects.get(username="alice")
make.decided(ApprovalRequest.objects.get(pk=first), alice, "rejected", reason="Wrong sector.")
make.decided(ApprovalRequest.objects.get(pk=second), alice, "approved", reason="Right sector.")
"""


@pytest.fixture(scope="module")
def asked(house, cookies):
    """A run: rejected, mended and approved and run, something else that waits, once more."""

    def ask(code):
        return house.submit(content={"code": code, "language": "python"}, run_id=RUN)

    first, second = ask(TRIM), ask(AGAIN)
    house.shell(REJECTED.format(ids=[first["id"], second["id"]]))
    house.report(second, "started")
    house.report(second, "finished", exit_code=0, duration_s=2.5)
    third = ask(TRIM.replace("print", "\u202eprint"))
    mail = house.submit("tool_call", {"tool": "mail", "arguments": {"to": "shift"}}, run_id=RUN)
    fourth = ask(TRIM)
    yield {"first": first, "second": second, "third": third, "fourth": fourth}
    for waiting in (third, mail, fourth):
        house.cancel(waiting)


@pytest.fixture
def paths(asked):
    """Where what came before is shown: name -> path."""
    run = f"/runs/agent-0?{urlencode({'run': RUN})}"
    return {
        "rejected before": f"/approvals/{asked['third']['id']}",
        "the same before": f"/approvals/{asked['fourth']['id']}",
        "run": run,
        "no run": "/runs/agent-0?run=nothing",
        "history": "/history",
        "history filtered": "/history?status=rejected&agent=agent-0",
        "history empty": "/history?kind=memory&until=2001-01-01",
        "history refused": "/history?since=never&kind=none&after=x",
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [WIDE, PHONE])
async def test_axe_finds_nothing_where_the_past_is_shown(house, visit, paths, scheme, viewport):
    page = await visit("/", color_scheme=scheme, viewport=viewport)
    found = {}
    for name, path in paths.items():
        await page.goto(house.url + path)
        found[name] = await serious(page)

    assert {name: faults for name, faults in found.items() if faults} == {}


async def test_none_of_it_is_wider_than_a_phone(house, visit, paths):
    page = await visit("/", viewport=PHONE)
    widths = {}
    for name, path in paths.items():
        await page.goto(house.url + path)
        widths[name] = await page.evaluate("document.documentElement.scrollWidth")

    assert {name: width for name, width in widths.items() if width > 390} == {}


async def test_what_changed_since_a_rejection_is_one_press_away(visit, paths):
    page = await visit(paths["rejected before"])

    chain = page.get_by_role("region", name="Earlier version")
    await expect(chain.locator(".chain-why")).to_have_text("Wrong sector.")
    await chain.locator("summary").click()
    await expect(chain.get_by_role("insertion")).to_have_text(['added: RLOprint("done")'])
    await expect(chain.get_by_role("deletion")).to_be_visible()


async def test_a_request_leads_to_its_run_and_a_step_back_to_its_request(visit, paths, asked):
    page = await visit(paths["rejected before"])
    await page.locator(".request-run").get_by_role("link", name="run").click()
    await page.wait_for_url("**/runs/agent-0?run=*")

    steps = page.locator(".told")
    await expect(steps).to_have_count(5)
    await expect(steps.nth(1)).to_contain_text("It finished after 2.5 s, exit code 0")
    await steps.nth(1).get_by_role("link", name="Code").click()
    await page.wait_for_url(f"**/approvals/{asked['second']['id']}")


async def test_the_history_is_filtered_without_script_and_exported(visit, asked):
    page = await visit("/", "aud", java_script_enabled=False)
    await page.get_by_role("link", name="History").click()
    await page.get_by_label("Status").select_option("Rejected")
    await page.get_by_role("button", name="Show").click()
    await page.wait_for_url("**/history?*status=rejected*")

    async with page.expect_download() as begun:
        await page.get_by_role("button", name="Export as JSON lines").click()
    file = await (await begun.value).path()

    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert {row["status"] for row in rows} == {"rejected"}
    assert asked["first"]["id"] in {row["id"] for row in rows}
