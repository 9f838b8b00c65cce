"""Plans of which a step is held, or has no answer: what the button names is what is recorded."""

import pytest_asyncio

from approval_client import ApprovalRequest
from approval_client.wire import Status
from tests.chromium import expect

STEPS = [
    {"capability": "archiver_read", "task": "Read the vacuum logs"},
    {"capability": "valve_close", "task": "Close the valves of sector 3"},
    {"capability": "send_mail", "task": "Send the logs to the shift"},
]
WHOLE = {"steps": STEPS}
WITHOUT_THE_SECOND = {"steps": [STEPS[0], STEPS[2]]}


def plan(**options):
    return ApprovalRequest.plan(STEPS, time_limit_s=600, **options)


def step(person, number):
    return person.page.get_by_role("group", name=f"Step {number}")


async def opens_the_plan(person):
    await person.opens("Plan", reads="Read the vacuum logs")


async def holds_the_second(person, why="After the shift."):
    """Hold step 2, and say nothing of the others."""
    await person.presses(step(person, 2).get_by_label("Hold"))
    await person.types(why, person.page.get_by_label("Why, about step 2"))


async def answers_on_the_page(person):
    """What the page that is open says became of each step."""
    return await person.page.locator(".answered-step .badge").all_inner_texts()


async def rejects_the_plan(person):
    await person.presses(person.page.get_by_text("Reject…"))
    await person.presses(person.button("Reject"))


async def test_a_held_step_stands_in_the_shorter_plan_as_held(admin, ben, agent):
    asked = agent.ask(plan(accepts_edits=True))
    await opens_the_plan(admin)

    await holds_the_second(admin)
    await admin.sees("Steps without an answer stay in the plan.", "#request-bar")
    await admin.presses(admin.button("Approve 2 of 3 steps…"))
    await admin.sees("Changes")
    assert await answers_on_the_page(admin) == ["Allowed", "Held", "Allowed"]
    await opens_the_plan(ben)
    await ben.presses(ben.link("Preview it"))
    await ben.sees("After the shift.")
    await ben.presses(ben.button("Approve 2 of 3 steps"))
    await ben.sees("Approved by you, with a change")

    answer = await agent.answer_to(asked)
    assert (answer.approved, answer.edited, answer.decided_by) == (True, True, "ben")
    assert answer.content == WITHOUT_THE_SECOND
    assert answer.steps == (
        {"index": 0, "answer": "allowed"},
        {"index": 1, "answer": "held", "note": "After the shift."},
        {"index": 2, "answer": "allowed"},
    )


async def test_steps_without_an_answer_stay_in_the_plan_that_is_approved_whole(admin, agent):
    asked = agent.ask(plan(accepts_edits=True))
    await opens_the_plan(admin)

    await admin.presses(step(admin, 1).get_by_label("Allow"))
    await expect(admin.button("Approve")).to_be_enabled()
    await admin.approves()

    answer = await agent.answer_to(asked)
    assert (answer.approved, answer.edited) == (True, False)
    assert answer.content == WHOLE


async def test_a_step_that_is_held_and_allowed_again_leaves_the_plan_whole(admin, agent):
    asked = agent.ask(plan())
    await opens_the_plan(admin)

    await admin.presses(step(admin, 2).get_by_label("Hold"))
    await admin.sees("This agent takes whole plans only: reject with these answers.")
    await admin.presses(step(admin, 2).get_by_label("Allow"))
    await admin.approves()

    answer = await agent.answer_to(asked)
    assert (answer.approved, answer.content) == (True, WHOLE)


async def test_a_rejection_tells_which_step_is_held_and_which_has_no_answer(admin, agent):
    asked = agent.ask(plan())
    await opens_the_plan(admin)

    await admin.presses(step(admin, 1).get_by_label("Allow"))
    await holds_the_second(admin)
    await expect(admin.page.locator(".decide > [value=approve]")).to_be_disabled()
    await admin.presses(admin.page.get_by_text("Reject…"))
    await admin.sees("Your answers to 2 of 3 steps go with the rejection.")
    await admin.presses(admin.button("Reject"))
    await admin.sees("Rejected by you")

    answer = await agent.answer_to(asked)
    assert (answer.status, answer.content) == (Status.REJECTED, None)
    assert answer.reason == (
        "Step 1 may stay as it is.\nStep 2 is held back: After the shift.\nStep 3 is held back."
    )


# --- pages that are behind ---------------------------------------------------------------------


@pytest_asyncio.fixture(loop_scope="session")
async def behind(admin):
    """The first person, whose page hears nothing from the moment in which they open a plan."""

    async def open_plan():
        await opens_the_plan(admin)
        await admin.hears_nothing()
        return admin

    return open_plan


async def test_a_part_of_a_plan_that_another_approved_whole_is_not_recorded(behind, ben, agent):
    asked = agent.ask(plan(accepts_edits=True))
    admin = await behind()
    await holds_the_second(admin)
    await opens_the_plan(ben)
    await ben.approves()

    async with admin.is_refused(409, "/decide", told="was approved already"):
        await admin.presses(admin.button("Approve 2 of 3 steps…"))

    await admin.sees("Approved by ben")
    answer = await agent.answer_to(asked)
    assert (answer.edited, answer.content, answer.steps) == (False, WHOLE, ())


async def test_a_part_of_a_plan_that_was_withdrawn_is_not_recorded(behind, agent):
    asked = agent.ask(plan(accepts_edits=True))
    admin = await behind()
    await holds_the_second(admin)
    asked.cancel()
    # The list of another tab of the same person still hears: it is gone from there.
    other = await admin.opens_another_tab()
    await other.sees("Withdrawn by the agent")
    await other.page.close()

    async with admin.is_refused(409, "/decide", told="Nothing was recorded"):
        await admin.presses(admin.button("Approve 2 of 3 steps…"))

    await admin.sees("Withdrawn by the agent")
    await expect(admin.link("Preview it")).to_have_count(0)


async def test_a_plan_is_approved_as_it_was_asked_although_a_part_was_suggested(
    behind, ben, agent
):
    asked = agent.ask(plan(accepts_edits=True))
    admin = await behind()
    await opens_the_plan(ben)
    await holds_the_second(ben)
    await ben.presses(ben.button("Approve 2 of 3 steps…"))
    await ben.sees("Changes")

    await admin.approves()

    answer = await agent.answer_to(asked)
    assert (answer.decided_by, answer.edited, answer.content) == ("admin", False, WHOLE)
    await ben.presses(ben.link("Back to the request"))
    await ben.sees("Approved by admin")


async def test_a_part_is_not_approved_on_a_page_from_before_the_rejection(admin, ben, agent):
    asked = agent.ask(plan(accepts_edits=True))
    await opens_the_plan(admin)
    await holds_the_second(admin)
    await admin.presses(admin.button("Approve 2 of 3 steps…"))
    await admin.sees("Changes")
    await opens_the_plan(ben)
    await ben.presses(ben.link("Preview it"))
    await ben.sees("A part of the plan")
    await ben.hears_nothing()
    await admin.presses(admin.link("Back to the request"))
    await rejects_the_plan(admin)
    await admin.sees("Rejected by you")

    number = ben.page.url.rpartition("/")[2].partition("?")[0]
    async with ben.is_refused(409, f"/edits/{number}", told="was rejected already"):
        await ben.presses(ben.button("Approve 2 of 3 steps"))

    await ben.sees("Rejected by admin")
    answer = await agent.answer_to(asked)
    assert (answer.status, answer.content) == (Status.REJECTED, None)
