"""What somebody wrote and did not send is there again, wherever they were in the meantime."""

import asyncio
import re

import pytest_asyncio

from approval_client import ApprovalRequest
from approval_client.wire import Status
from tests.chromium import expect
from tests.journeys.conftest import invited, signs_in

SESSION = re.compile("^approvals-[0-9a-f]{8}$")  # not the one of forms
REASON = "Sector 3 is in use. Ask at 15:00."


@pytest_asyncio.fixture(loop_scope="session")
async def dora(arrives, browse, admin_state, product):
    """Somebody whose session ends during the journey."""
    return await arrives(await invited("dora", browse, admin_state, product))


def code(text, **options):
    return ApprovalRequest.code(text, "python", **{"time_limit_s": 600, **options})


async def writes_why_not(person):
    await person.presses(person.page.get_by_text("Reject…"))
    await person.types(REASON, person.page.get_by_label("Why not?"))


async def finds_it(person):
    await expect(person.page.get_by_label("Why not?")).to_have_value(REASON)


async def test_a_reason_after_a_reload_and_another_request(admin, agent):
    asked = agent.ask(code("print('kept')"))
    agent.ask(code("print('another')", time_limit_s=900))
    await admin.row("another").wait_for()
    await admin.opens("kept")
    await writes_why_not(admin)

    await admin.page.reload()
    await finds_it(admin)
    await admin.opens("another")
    await admin.opens("kept")
    await finds_it(admin)
    await admin.rejects()

    answer = await agent.answer_to(asked)
    assert (answer.status, answer.reason) == (Status.REJECTED, REASON)


async def test_a_reason_after_the_session_ended(dora, agent, product):
    asked = agent.ask(code("print('the session ends')"))
    await dora.opens("the session ends")
    await writes_why_not(dora)

    await dora.page.context.clear_cookies(name=SESSION)
    await dora.presses(dora.button("Reject"))
    await dora.page.get_by_label("Password").wait_for()
    assert not asked.done()
    await dora.follows(await asyncio.to_thread(product.link_for, "dora"))
    await signs_in(dora, "dora")
    await dora.opens("the session ends")
    await finds_it(dora)
    await dora.rejects()

    assert (await agent.answer_to(asked)).reason == REASON


async def test_a_reason_for_what_was_withdrawn_can_be_copied(admin, agent):
    asked = agent.ask(code("print('withdrawn')"))
    await admin.opens("withdrawn")
    await writes_why_not(admin)

    asked.cancel()

    await admin.sees("Withdrawn by the agent")
    await expect(admin.page.get_by_label("You wrote this and did not send it")).to_have_value(
        REASON
    )
    await admin.presses(admin.button("Discard"))


async def test_the_text_of_the_editor_after_the_way_back(admin, agent):
    asked = agent.ask(code("first = 1", accepts_edits=True))
    await admin.opens("first = 1")
    await admin.presses(admin.link("Edit"))
    await admin.types("first = 7", admin.page.get_by_role("textbox", name="code"))

    await admin.presses(admin.link("Back to the request"))
    await admin.presses(admin.link("Edit"))

    await expect(admin.page.get_by_role("textbox", name="code")).to_have_value("first = 7")
    asked.cancel()
