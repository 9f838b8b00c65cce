"""Ways to a request, other than choosing it from the first list."""

from approval_client import ApprovalRequest
from tests.chromium import expect


def call(tool, **arguments):
    return ApprovalRequest.tool_call(tool, arguments, time_limit_s=600)


async def test_by_searching(admin, agent):
    kept = agent.ask(call("move_stage", axis="x9"))
    agent.ask(call("read_archive", channel="SR:7"))
    await admin.row("read_archive").wait_for()
    await admin.row("move_stage").wait_for()

    await admin.types("move_stage", admin.page.get_by_role("searchbox"))
    await expect(admin.row("read_archive")).to_have_count(0)
    await admin.opens("move_stage")
    await admin.approves()

    assert (await agent.answer_to(kept)).approved


async def test_what_was_decided(admin, agent):
    asked = agent.ask(call("log_shift", text="calm"))
    await admin.opens("log_shift")
    await admin.approves()
    await agent.answer_to(asked)

    await admin.presses(admin.link("decided"))
    await admin.opens("log_shift")

    await admin.sees("Approved by you")


async def test_what_was_snoozed(admin, agent):
    asked = agent.ask(call("restart_ioc", ioc="SR-7"))
    await admin.opens("restart_ioc")
    await admin.presses(admin.page.locator("#snooze > summary"))
    await admin.presses(admin.page.locator("#snooze button").first)
    await admin.presses(admin.link("snoozed"))

    await admin.opens("restart_ioc")
    await admin.approves()

    assert (await agent.answer_to(asked)).approved
