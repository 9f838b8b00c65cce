"""A policy that an admin writes in the pages holds for the next request."""

from approval_client import ApprovalRequest

TOOL = "wire_money"  # nothing else asks for it, so the rule may stay


def wire(euro):
    return ApprovalRequest.tool_call(TOOL, {"euro": euro}, time_limit_s=600)


async def test_from_a_draft_to_two_votes(admin, ben, agent):
    await admin.goes_to("Policy")
    await admin.presses(admin.button("Change the policy"))
    await admin.presses(admin.link("Add a rule"))
    page = admin.page
    await admin.types("Money needs two", page.get_by_label("Name", exact=True))
    tools = page.get_by_label("Tools", exact=True)
    if not await tools.is_visible():
        await admin.presses(page.locator("details").filter(has=tools).locator("> summary"))
    await admin.types(TOOL, tools)
    await admin.presses(page.get_by_label("Review: people are asked"))
    await admin.types("2", page.get_by_label("Approvals needed"))
    await admin.presses(admin.button("Save rule"))
    await admin.presses(page.get_by_role("button", name="Publish as revision"))
    await admin.sees("Money needs two")

    asked = agent.ask(wire(2))
    await ben.opens(TOOL)
    await ben.presses(ben.button("Approve"))
    assert not asked.done()
    await admin.goes_to("Queue")
    await admin.opens(TOOL)
    await admin.presses(admin.button("Approve"))
    assert (await agent.answer_to(asked)).approved
