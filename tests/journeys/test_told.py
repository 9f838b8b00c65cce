"""Somebody is told while no page is open, comes by the link of the message, and approves."""

import asyncio
import re

import pytest_asyncio

from approval_client import ApprovalRequest
from tests.journeys.agents import Agent
from tests.journeys.product import started
from tests.notifications.inbox import Inbox, mail_server

PASSWORD = "correct horse battery"
ARRIVES_WITHIN_S = 10


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def inbox():
    """The mail of everybody; ``port`` is where it is served."""
    inbox = Inbox()
    with mail_server(inbox) as inbox.port:
        yield inbox


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def mailing(installed, inbox):
    """The product with a mail server."""
    with started(EMAIL_URL=f"smtp://127.0.0.1:{inbox.port}") as running:
        yield running


async def text_of(inbox, subject):
    """Wait for a mail whose subject has these words, and read it."""
    async with asyncio.timeout(ARRIVES_WITHIN_S):
        while True:
            for mail in inbox.mails:
                if subject in mail["Subject"]:
                    return mail["Subject"] + "\n" + mail.get_body(("plain",)).get_content()
            await asyncio.sleep(0.04)


async def test_an_admin_adds_a_channel_and_somebody_comes_by_its_message(mailing, inbox, browse):
    admin = await browse(mailing.first_link)
    await admin.presses(admin.button("Sign in as admin"))
    for field in ("New password", "New password, again"):
        await admin.types(PASSWORD, admin.page.get_by_label(field, exact=True))
    await admin.presses(admin.button("Set password"))

    await admin.presses(admin.link("Add a channel"))
    await admin.presses(admin.link("E-mail"))
    await admin.types("On call", admin.page.get_by_label("Name", exact=True))
    await admin.types("oncall@example.org", admin.page.get_by_label("E-mail address"))
    await admin.presses(admin.button("Add channel"))
    await admin.presses(admin.button("Send a test message"))
    await admin.sees("The test message was sent")
    assert "This channel works." in await text_of(inbox, "Test message from Approvals")
    await admin.goes()

    agent = Agent(mailing.settings)
    asked = agent.ask(ApprovalRequest.code("print('at night')", "python", time_limit_s=600))
    link = re.search(r"\S+/approvals/\S+", await text_of(inbox, "waits for approval"))[0]

    woken = await browse(link)
    await woken.types("admin", woken.page.get_by_label("Name", exact=True))
    await woken.types(PASSWORD, woken.page.get_by_label("Password", exact=True))
    await woken.presses(woken.button("Sign in"))
    await woken.reads("at night")
    await woken.approves()

    assert (await agent.answer_to(asked)).decided_by == "admin"
    await woken.goes()
    await agent.go()
    assert mailing.troubles() == []


async def test_a_reviewer_confirms_an_address_and_is_told_what_they_chose(mailing, inbox, browse):
    person = await browse(mailing.link_for("admin"))
    await person.presses(person.button("Sign in as admin"))
    if not await person.page.locator("#list").count():  # nobody has chosen a password before
        await person.presses(person.link("Not now"))
    await person.presses(person.page.get_by_text("admin", exact=True))
    await person.presses(person.link("Tell me"))
    await person.types("ada@example.org", person.page.get_by_label("Address", exact=True))
    await person.presses(person.page.get_by_label("All that I may approve"))
    await person.presses(person.button("Send the code"))
    code = re.search(r"(\d{4} \d{4})", await text_of(inbox, "Your code for Approvals"))[1]
    await person.types(code, person.page.get_by_label("Code", exact=True))
    await person.presses(person.button("Confirm"))
    await person.sees("You are told there from now on.", "body")
    await person.goes()

    agent = Agent(mailing.settings)
    agent.ask(ApprovalRequest.code("print('for ada')", "python", time_limit_s=600))
    async with asyncio.timeout(ARRIVES_WITHIN_S):
        while not any(
            m["To"] == "ada@example.org" and "waits" in m["Subject"] for m in inbox.mails
        ):
            await asyncio.sleep(0.04)
    await agent.go()
    assert mailing.troubles() == []
