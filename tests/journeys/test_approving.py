"""However a person came to a request, Approve reaches the agent that waits for it."""

from approval_client import ApprovalRequest
from approval_client.wire import Status

LONG = "".join(f"caput('SR:C01:COR:{n}', 0.0)\n" for n in range(1_200))


def code(text):
    return ApprovalRequest.code(text, "python", time_limit_s=600)


async def approved(agent, asked):
    answer = await agent.answer_to(asked)
    assert (answer.status, answer.approved, answer.decided_by) == (Status.APPROVED, True, "admin")


async def test_from_the_list(admin, agent):
    asked = agent.ask(code("print('from the list')"))

    await admin.opens("from the list")
    await admin.approves()

    await approved(agent, asked)


async def test_from_the_button_for_the_most_urgent(admin, agent):
    asked = agent.ask(code("print('most urgent')"))
    await admin.sees("1 request waits for an answer")

    await admin.presses(admin.link("Open the most urgent"))
    await admin.reads("most urgent")
    await admin.approves()

    await approved(agent, asked)


async def test_the_next_request(admin, agent):
    first, second = agent.ask(code("print('first')")), agent.ask(code("print('second')"))
    await admin.row("second").wait_for()
    await admin.opens("first")
    await admin.approves()
    await approved(agent, first)

    await admin.reads("second")
    await admin.approves()

    await approved(agent, second)


async def test_after_going_back_and_forward(admin, agent):
    first, second = agent.ask(code("print('first')")), agent.ask(code("print('second')"))
    await admin.row("second").wait_for()
    await admin.opens("first")
    await admin.opens("second")

    await admin.goes_back()
    await admin.reads("first")
    await admin.goes_forward()
    await admin.reads("second")
    await admin.approves()
    await approved(agent, second)
    await admin.reads("first")
    await admin.approves()

    await approved(agent, first)


async def test_by_keys_alone(admin, agent):
    asked = {name: agent.ask(code(f"print('{name} by keys')")) for name in ("one", "two")}
    await admin.row("one by keys").wait_for()
    await admin.row("two by keys").wait_for()

    await admin.keys("j")
    for name in await shown_in_this_order(admin, asked):
        await admin.reads(f"{name} by keys")
        async with admin.is_told("approved"):
            await admin.keys("a", "Enter")

        await approved(agent, asked[name])


async def shown_in_this_order(person, names):
    rows = await person.page.locator(".item").all_inner_texts()
    return [name for row in rows for name in names if f"{name} by keys" in row]


async def test_on_a_phone(on_a_phone, agent):
    asked = agent.ask(code("x = 1\n" * 60 + "print('on a phone')"))
    await on_a_phone.row("print('on a phone')").or_(on_a_phone.row("x = 1")).wait_for()

    await on_a_phone.taps(on_a_phone.row("x = 1").locator(".item-link"))
    await on_a_phone.reads("on a phone")
    await on_a_phone.swipes_until(on_a_phone.button("Approve"))
    await on_a_phone.holds(on_a_phone.button("Approve"))
    await on_a_phone.sees("Approved by you")

    await approved(agent, asked)


async def test_what_arrives_while_the_page_is_open(admin, agent):
    await admin.sees("No requests are waiting.")

    asked = agent.ask(code("print('just now')"))
    await admin.opens("just now")
    await admin.approves()

    await approved(agent, asked)


async def test_what_is_long_part_by_part(admin, agent):
    asked = agent.ask(code(LONG))
    await admin.opens("SR:C01:COR:0'")

    await admin.sees_all()
    await admin.reads("SR:C01:COR:1199'")
    await admin.approves()

    await approved(agent, asked)


async def test_many_that_are_alike(admin, agent):
    asked = [
        agent.ask(ApprovalRequest.tool_call("read_file", {"path": f"/data/run-{n}.csv"}))
        for n in range(3)
    ]
    fold = admin.row("read_file ×3 alike")
    await fold.wait_for()

    await admin.presses(fold.locator(".item-link"))
    await admin.scrolls_until(admin.button("Approve all 3"))
    await admin.presses(admin.button("Approve all 3"))

    for one in asked:
        await approved(agent, one)
