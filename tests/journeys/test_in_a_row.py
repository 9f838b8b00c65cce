"""Twenty requests one after the other: after each decision the next one opens by itself."""

import asyncio

from approval_client import ApprovalRequest
from tests.chromium import expect

COUNT = 20


def ask_many(agent):
    codes = [f"print('number {n} of a row')" for n in range(COUNT)]
    return [agent.ask(ApprovalRequest.code(c, "python", time_limit_s=1200)) for c in codes]


async def opens_the_first(person, press):
    rows = person.row("of a row")
    await expect(rows).to_have_count(COUNT, timeout=60_000)
    await press(rows.first.locator(".item-link"))
    await person.reads("of a row")


async def open_id(person):
    return await person.page.locator("#request").get_attribute("data-id")


async def all_approved(agent, asked):
    answers = await asyncio.gather(*map(agent.answer_to, asked))
    return [answer.approved for answer in answers] == [True] * COUNT


async def test_by_keyboard_with_two_presses_each(admin, agent):
    asked = ask_many(agent)
    await opens_the_first(admin, admin.presses)
    answered = set()

    for _ in range(COUNT - 1):
        here = await open_id(admin)
        await admin.keys("a", "Enter")
        await admin.page.locator(f"#request:not([data-id='{here}'])").wait_for()
        answered.add(here)
    await admin.keys("a", "Enter")
    await admin.sees("Approved by you")

    assert len(answered) == COUNT - 1
    assert await all_approved(agent, asked)


async def test_on_a_phone_with_a_hold_each(on_a_phone, agent):
    asked = ask_many(agent)
    await opens_the_first(on_a_phone, on_a_phone.taps)

    for _ in range(COUNT - 1):
        here = await open_id(on_a_phone)
        await on_a_phone.swipes_until(on_a_phone.button("Approve"))
        await on_a_phone.holds(on_a_phone.button("Approve"))
        await on_a_phone.page.locator(f"#request:not([data-id='{here}'])").wait_for()
    await on_a_phone.swipes_until(on_a_phone.button("Approve"))
    await on_a_phone.holds(on_a_phone.button("Approve"))
    await on_a_phone.sees("Approved by you")

    assert await all_approved(agent, asked)


async def test_the_bar_says_what_became_of_the_last_one_and_u_leads_back(admin, agent):
    first = agent.ask(ApprovalRequest.code("print('first')", "python", time_limit_s=600))
    agent.ask(ApprovalRequest.code("print('second')", "python", time_limit_s=900))
    await admin.row("second").wait_for()
    await admin.opens("first")

    await admin.keys("a", "Enter")

    await admin.reads("second")
    await agent.answer_to(first)
    await admin.sees("approved, started", "#last-decision")
    await admin.keys("u")
    await admin.reads("first")
    await admin.sees("Approved by you", "#request-bar")
