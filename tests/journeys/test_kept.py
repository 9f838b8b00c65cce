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


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def dora_state(browse, admin_state, product):
    """What the browser of a person keeps whose session ends in a journey."""
    return await invited("dora", browse, admin_state, product)


@pytest_asyncio.fixture(loop_scope="session")
async def dora(arrives, dora_state):
    """Somebody whose session ends during the journey."""
    return await arrives(dora_state)


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


async def is_asked_to_sign_in(person, by):
    """The session is gone: what they press next leads to the door."""
    await person.page.context.clear_cookies(name=SESSION)
    await person.presses(by)
    await person.page.get_by_label("Password").wait_for()


async def signs_in_again(person, product):
    await person.follows(await asyncio.to_thread(product.link_for, "dora"))
    await signs_in(person, "dora")


async def test_a_reason_after_the_session_ended(dora, agent, product):
    asked = agent.ask(code("print('the session ends')"))
    await dora.opens("the session ends")
    await writes_why_not(dora)

    await is_asked_to_sign_in(dora, by=dora.button("Reject"))
    assert not asked.done()
    await signs_in_again(dora, product)
    await dora.opens("the session ends")
    await finds_it(dora)
    await dora.rejects()

    assert (await agent.answer_to(asked)).reason == REASON


async def test_a_note_after_the_session_ended(dora, agent, product):
    asked = agent.ask(code("print('the session ends at a note')"))
    await dora.opens("ends at a note")
    await dora.presses(dora.page.get_by_text("Note…"))
    await dora.types("Only until 15:00.", dora.page.get_by_label("Note to the agent"))

    await is_asked_to_sign_in(dora, by=dora.button("Approve"))
    assert not asked.done()
    await signs_in_again(dora, product)
    await dora.opens("ends at a note")
    note = dora.page.get_by_label("Note to the agent")
    await expect(note).to_be_visible()
    await expect(note).to_have_value("Only until 15:00.")
    await dora.sees("What you wrote here before is back.", "#request-bar")
    await dora.approves()

    answer = await agent.answer_to(asked)
    assert (answer.approved, answer.reason) == (True, "Only until 15:00.")


async def test_the_text_of_the_editor_after_the_session_ended(dora, admin, agent, product):
    asked = agent.ask(code("second = 1", accepts_edits=True))
    await dora.opens("second = 1")
    await dora.presses(dora.link("Edit"))
    text = dora.page.get_by_role("textbox", name="code")
    await dora.types("second = 7", text)

    await is_asked_to_sign_in(dora, by=dora.button("Preview changes"))
    await signs_in_again(dora, product)
    await dora.opens("second = 1")
    await expect(dora.link("Preview it")).to_have_count(0)  # nothing of it was sent
    await dora.presses(dora.link("Edit"))
    await expect(text).to_have_value("second = 7")
    await dora.presses(dora.button("Preview changes"))
    await dora.sees("Your change")
    await admin.opens("second = 1")
    await admin.presses(admin.link("Preview it"))
    await admin.presses(admin.button("Approve this change"))

    answer = await agent.answer_to(asked)
    assert (answer.edited, answer.content["code"]) == (True, "second = 7")


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
