"""The first minutes of somebody who follows the README, and of whom they invite."""

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest_asyncio

from approval_client import ApprovalRequest
from tests.journeys.conftest import signs_in
from tests.journeys.product import started

README = (Path(__file__).parents[2] / "README.md").read_text()
ASKS_ITSELF = re.search(r'\.venv/bin/python -c "\n(.*?)"\n```', README, re.DOTALL)[1]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def demo(installed):
    """The product with an agent that asks by itself."""
    with started("--demo") as running:
        yield running


async def test_a_newcomer_approves_what_the_demo_asks(demo, browse):
    newcomer = await browse(demo.first_link)
    await signs_in(newcomer, "admin")

    await newcomer.opens("only staff", reads="def may_enter")
    await newcomer.scrolls_until(newcomer.button("Approve"))
    await newcomer.approves()

    await printed(demo, "demo agent: approved by admin · Tidy up the function")
    await newcomer.goes()
    assert demo.troubles() == []


async def printed(product, words):
    async with asyncio.timeout(20):
        while words not in product.printed:
            await asyncio.sleep(0.04)


async def test_what_somebody_asks_themselves_with_the_lines_of_the_readme(admin, product):
    asking = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", ASKS_ITSELF),
        env=os.environ | product.settings,
        stdout=asyncio.subprocess.PIPE,
    )

    await admin.opens("print(6 * 7)")
    await admin.approves()

    async with asyncio.timeout(20):
        said, _ = await asking.communicate()
    assert (asking.returncode, "approved" in said.decode().lower()) == (0, True)


async def test_a_second_person_who_was_invited_in_the_pages_approves(ben, agent):
    asked = agent.ask(ApprovalRequest.code("print('for two')", "python"))

    await ben.opens("for two")
    await ben.approves()

    answer = await agent.answer_to(asked)
    assert (answer.approved, answer.decided_by) == (True, "ben")
