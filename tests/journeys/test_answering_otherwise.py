"""What else than Approve a person can answer; the agent has it word by word."""

from approval_client import ApprovalRequest
from approval_client.wire import Status
from tests.chromium import expect

STEPS = [
    {"capability": "archiver_read", "task": "Read the vacuum logs"},
    {"capability": "send_mail", "task": "Send them to everybody"},
]


async def test_rejected_with_a_reason(admin, agent):
    asked = agent.ask(ApprovalRequest.code("print('to sector 3')", "python"))
    await admin.opens("to sector 3")

    await admin.presses(admin.page.get_by_text("Reject…"))
    await admin.types("Sector 3 is in use. Ask at 15:00.", admin.page.get_by_label("Why not?"))
    await admin.presses(admin.button("Reject"))
    await admin.sees("Rejected by you")

    answer = await agent.answer_to(asked)
    assert (answer.status, answer.approved) == (Status.REJECTED, False)
    assert answer.reason == "Sector 3 is in use. Ask at 15:00."


async def test_approved_with_a_note(admin, agent):
    asked = agent.ask(ApprovalRequest.code("print('with a note')", "python"))
    await admin.opens("with a note")

    await admin.presses(admin.page.get_by_text("Note…"))
    await admin.types("Only until 15:00.", admin.page.get_by_label("Note to the agent"))
    await admin.approves()

    answer = await agent.answer_to(asked)
    assert (answer.approved, answer.reason) == (True, "Only until 15:00.")


async def test_edited_by_one_and_approved_by_another(admin, ben, agent):
    refund = ApprovalRequest.tool_call("refund", {"order": 48213, "euro": 250}, accepts_edits=True)
    asked = agent.ask(refund)
    await admin.opens("48213")

    await admin.presses(admin.link("Edit"))
    text = admin.page.get_by_role("textbox", name="arguments")
    await admin.types('{"order": 48213, "euro": 25', text)
    async with admin.is_refused(422, "/edit", told="Nothing was recorded"):
        await admin.presses(admin.button("Preview changes"))
    await admin.types('{"order": 48213, "euro": 25}', text)
    await admin.presses(admin.button("Preview changes"))
    await admin.sees("the policy requires another person to approve it")
    await ben.opens("48213")
    await ben.presses(ben.link("Preview it"))
    await ben.sees("A change")
    await ben.presses(ben.button("Approve this change"))
    await ben.sees("Approved by you")

    answer = await agent.answer_to(asked)
    assert (answer.approved, answer.decided_by) == (True, "ben")
    assert answer.content == {"tool": "refund", "arguments": {"order": 48213, "euro": 25}}


async def test_some_steps_of_a_plan(admin, ben, agent):
    asked = agent.ask(ApprovalRequest.plan(STEPS, accepts_edits=True))
    await admin.opens("Plan", reads="Read the vacuum logs")

    await admin.presses(admin.page.get_by_role("group", name="Step 2").get_by_label("Refuse"))
    await admin.presses(admin.button("Approve 1 of 2 steps…"))
    await admin.sees("Changes")
    await ben.opens("Plan", reads="Read the vacuum logs")
    await ben.presses(ben.link("Preview it"))
    await ben.sees("A part of the plan")
    await ben.presses(ben.button("Approve 1 of 2 steps"))
    await ben.sees("Approved by you")

    answer = await agent.answer_to(asked)
    assert (answer.approved, answer.decided_by) == (True, "ben")
    assert answer.content == {"steps": STEPS[:1]}


async def test_a_plan_with_a_refused_step_is_not_approved_by_the_key(admin, agent):
    asked = agent.ask(ApprovalRequest.plan(STEPS, accepts_edits=True))
    await admin.opens("Plan", reads="Read the vacuum logs")
    await admin.presses(admin.page.get_by_role("group", name="Step 2").get_by_label("Refuse"))

    await admin.page.locator("#request-title").click()
    await admin.keys("a", "Enter")
    await admin.sees("another person to approve it")
    await admin.presses(admin.link("Back to the request"))
    await admin.sees("Preview it")
    await admin.presses(admin.page.get_by_text("Reject…"))
    await admin.presses(admin.button("Reject"))
    await admin.sees("Rejected by you")

    assert (await agent.answer_to(asked)).status == Status.REJECTED


async def test_a_plan_with_a_refused_step_is_not_approved_by_a_hold(on_a_phone, agent):
    asked = agent.ask(ApprovalRequest.plan(STEPS, accepts_edits=True))
    await on_a_phone.taps(on_a_phone.row("Plan").locator(".item-link"))
    await on_a_phone.reads("Read the vacuum logs")
    second = on_a_phone.page.get_by_role("group", name="Step 2")
    await on_a_phone.taps(second.get_by_text("Refuse"))

    await on_a_phone.holds(on_a_phone.button("Approve 1 of 2 steps…"))
    await on_a_phone.sees("another person to approve it")
    await on_a_phone.taps(on_a_phone.link("Back to the request"))
    await on_a_phone.taps(on_a_phone.page.get_by_text("Reject…"))
    await on_a_phone.taps(on_a_phone.button("Reject"))
    await on_a_phone.sees("Rejected by you")

    assert (await agent.answer_to(asked)).status == Status.REJECTED


async def test_a_plan_that_is_taken_whole_is_rejected_with_the_answers(admin, agent):
    asked = agent.ask(ApprovalRequest.plan(STEPS))
    await admin.opens("Plan", reads="Read the vacuum logs")

    await admin.presses(admin.page.get_by_role("group", name="Step 2").get_by_label("Refuse"))
    await admin.sees("This agent takes whole plans only: reject with these answers.")
    await expect(admin.page.locator(".decide > [value=approve]")).to_be_disabled()
    await admin.types("Nobody needs a mail.", admin.page.get_by_label("Why, about step 2"))
    await admin.presses(admin.page.get_by_text("Reject…"))
    await admin.sees("Your answers to 1 of 2 steps go with the rejection.")
    await admin.presses(admin.button("Reject"))
    await admin.sees("Rejected by you")

    answer = await agent.answer_to(asked)
    assert answer.status == Status.REJECTED
    assert answer.reason == "Step 1 is held back.\nStep 2 is refused: Nobody needs a mail."
