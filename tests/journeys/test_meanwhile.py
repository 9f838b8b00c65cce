"""What happens elsewhere while somebody has a request open: the page says so by itself."""

from approval_client import ApprovalRequest
from approval_client.wire import Status
from tests.chromium import expect


def code(text, **options):
    return ApprovalRequest.code(text, "python", **{"time_limit_s": 600, **options})


async def nothing_to_press(person):
    await expect(person.button("Approve")).to_have_count(0)
    await expect(person.page.get_by_text("Reject…")).to_have_count(0)


async def test_somebody_else_approves(admin, ben, agent):
    asked = agent.ask(code("print('both of us')"))
    await admin.opens("both of us")
    await ben.opens("both of us")

    await ben.approves()

    await admin.sees("Approved by ben")
    await nothing_to_press(admin)
    assert (await agent.answer_to(asked)).decided_by == "ben"


async def test_it_expires(admin, agent):
    asked = agent.ask(code("print('too late')", time_limit_s=6))
    await admin.opens("too late")

    await admin.sees("Expired")

    await nothing_to_press(admin)
    assert (await agent.answer_to(asked)).status == Status.EXPIRED


async def test_the_agent_withdraws_it(admin, agent):
    asked = agent.ask(code("print('never mind')"))
    await admin.opens("never mind")

    asked.cancel()

    await admin.sees("Withdrawn by the agent")
    await nothing_to_press(admin)


async def test_somebody_else_assigns_it_to_themselves(admin, ben, agent):
    asked = agent.ask(code("print('mine now')"))
    await admin.opens("mine now")
    await ben.opens("mine now")

    await ben.presses(ben.page.get_by_label("More"))
    await ben.presses(ben.button("Assign to me"))

    await admin.sees("Assigned to ben")
    await ben.approves()
    assert (await agent.answer_to(asked)).decided_by == "ben"


async def test_an_admin_holds_everything_and_lets_it_go_on(admin, ben, agent):
    asked = agent.ask(code("print('on hold')"))
    await ben.opens("on hold")

    await admin.goes_to("Hold")
    await admin.presses(admin.button("Stop all approvals"))
    await expect(ben.button("Approve")).to_be_disabled()
    await admin.presses(admin.button("Lift the hold"))

    await expect(ben.button("Approve")).to_be_enabled()
    await ben.approves()
    assert (await agent.answer_to(asked)).approved


async def test_a_reload(admin, agent):
    asked = agent.ask(code("print('the same again')"))
    await admin.opens("the same again")

    await admin.page.reload()

    await admin.reads("the same again")
    await admin.approves()
    assert (await agent.answer_to(asked)).approved


async def test_signing_out_in_another_tab(cara, agent):
    agent.ask(code("print('nobody is here')"))
    await cara.opens("nobody is here")
    other = await cara.opens_another_tab()

    await other.presses(other.page.get_by_text("cara", exact=True))
    await other.presses(other.button("Sign out"))

    await cara.sees("Sign in")
    await nothing_to_press(cara)
