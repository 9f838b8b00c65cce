"""Requests that are alike, answered on one page: each agent is told of its own."""

import asyncio

from approval_client import ApprovalRequest
from approval_client.wire import Status
from tests.chromium import PHONE, expect

COUNT = 3


def ask_alike(agent, tool):
    calls = [
        ApprovalRequest.tool_call(tool, {"path": f"/data/run-{n}.csv"}, time_limit_s=600 + n)
        for n in range(COUNT)
    ]
    return [agent.ask(call) for call in calls]


async def fold_of(person, tool):
    fold = person.row(f"{tool} ×{COUNT} alike")
    await fold.wait_for()
    return fold.locator(".item-link")


async def outcomes(person):
    """What the page says of each, in order."""
    await person.sees("Answered together")
    return await person.page.locator(".bulk-done .badge").all_inner_texts()


def in_sight(box):
    ends = box["x"] + box["width"], box["y"] + box["height"]
    return box["x"] >= 0 and box["y"] >= 0 and ends <= (PHONE["width"], PHONE["height"])


async def test_what_was_answered_or_withdrawn_in_between_is_left_as_it_is(admin, ben, agent):
    first, second, third = asked = ask_alike(agent, "read_stale")
    await admin.presses(await fold_of(admin, "read_stale"))
    await admin.sees(f"{COUNT} alike")
    second.cancel()
    await expect(ben.row(f"×{COUNT} alike")).to_have_count(0)  # two are no fold
    await ben.opens("run-0.csv")
    await ben.presses(ben.page.get_by_text("Reject…"))
    await ben.rejects()

    await admin.scrolls_until(admin.button("Approve all 3"))
    await admin.presses(admin.button("Approve all 3"))

    # Asked at once, they may come in any order.
    assert sorted(await outcomes(admin)) == ["approved", "not recorded", "not recorded"]
    await admin.sees("was rejected already")
    answers = await asyncio.gather(*map(agent.answer_to, (first, third)))
    assert [answer.status for answer in answers] == [Status.REJECTED, Status.APPROVED]
    assert [answer.decided_by for answer in answers] == ["ben", "admin"]
    assert asked[1].cancelled()


async def test_what_is_edited_meanwhile_is_approved_as_the_page_showed_it(admin, ben, agent):
    calls = [
        ApprovalRequest.tool_call("read_both", {"path": f"/{n}"}, accepts_edits=True)
        for n in range(COUNT)
    ]
    asked = [agent.ask(call) for call in calls]
    await admin.presses(await fold_of(admin, "read_both"))
    await admin.sees(f"{COUNT} alike")
    await ben.presses(await fold_of(ben, "read_both"))
    await ben.presses(ben.link("Open").first)
    await ben.presses(ben.link("Edit"))
    await ben.types('{"path": "/9"}', ben.page.get_by_role("textbox", name="arguments"))
    await ben.presses(ben.button("Preview changes"))
    await ben.sees("the policy requires another person to approve it")

    await admin.scrolls_until(admin.button("Approve all 3"))
    await admin.presses(admin.button("Approve all 3"))

    assert await outcomes(admin) == ["approved"] * COUNT
    answers = await asyncio.gather(*map(agent.answer_to, asked))
    assert [answer.content["arguments"] for answer in answers] == [
        {"path": f"/{n}"} for n in range(COUNT)
    ]
    assert not any(answer.edited for answer in answers)


async def test_on_a_phone_approved_by_a_hold_where_approve_is_in_sight(on_a_phone, agent):
    asked = ask_alike(agent, "read_phone")
    await on_a_phone.taps(await fold_of(on_a_phone, "read_phone"))
    await on_a_phone.sees(f"{COUNT} alike")
    approve = on_a_phone.page.locator("#bulk-form [value=approve]")
    await expect(approve).to_have_text("Approve all 3")
    assert in_sight(await approve.bounding_box())  # before anything was moved

    await on_a_phone.swipes_until(approve)
    assert in_sight(await approve.bounding_box())
    await on_a_phone.holds(approve)

    assert await outcomes(on_a_phone) == ["approved"] * COUNT
    answers = await asyncio.gather(*map(agent.answer_to, asked))
    assert [answer.approved for answer in answers] == [True] * COUNT


async def test_on_a_phone_only_those_that_stay_ticked_are_rejected(on_a_phone, agent):
    first, second, third = ask_alike(agent, "read_ticked")
    await on_a_phone.taps(await fold_of(on_a_phone, "read_ticked"))
    await on_a_phone.sees(f"{COUNT} alike")

    second_tick = on_a_phone.page.get_by_role("checkbox", name="Request 2", exact=True)
    await on_a_phone.taps(second_tick)
    await on_a_phone.types("Not now.", on_a_phone.page.get_by_label("One reason for all"))
    await on_a_phone.taps(on_a_phone.button("Reject these 2"))

    assert await outcomes(on_a_phone) == ["rejected"] * 2
    answers = await asyncio.gather(*map(agent.answer_to, (first, third)))
    assert [answer.reason for answer in answers] == ["Not now."] * 2
    assert not second.done()
